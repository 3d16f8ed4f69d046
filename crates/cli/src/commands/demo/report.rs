//! What the demo prints while it runs: a row for each step as soon as all have read it, and one for all.

use std::{collections::BTreeMap, time::Duration};

use isotach_fields::FieldStore;
use serde_json::{Value, json};

use super::{
    plan::Plan,
    task::{Did, Event},
};
use crate::{
    failure::Outcome,
    output::{Bytes, count, outln, print_json, seconds},
};

/// What is known of a step, or of all.
#[derive(Debug, Clone, Default)]
struct Sum {
    write: Side,
    read: Side,
}

/// What the writers did, or the readers.
#[derive(Debug, Clone, Default)]
struct Side {
    /// How many processes have told.
    told: u32,
    fields: u64,
    bytes: u64,
    /// Bytes a second, all processes together while they were in the store.
    rate: f64,
    /// When the last of them ended.
    ended_us: u64,
}

impl Side {
    fn add(&mut self, event: &Event) {
        self.told += 1;
        self.fields += event.fields;
        self.bytes += event.bytes;
        self.rate += event.bytes as f64 / (event.busy_us.max(1) as f64 / 1e6);
        self.ended_us = self.ended_us.max(event.ended_us);
    }
}

/// Gathers events and prints.
pub(crate) struct Report<'p> {
    plan: &'p Plan,
    as_json: bool,
    steps: BTreeMap<u32, Sum>,
    /// Time in the store by writers and by readers, in microseconds.
    busy_us: [u64; 2],
    latencies_ms: Vec<f64>,
}

impl<'p> Report<'p> {
    pub(crate) fn new(plan: &'p Plan, as_json: bool) -> Self {
        Self { plan, as_json, steps: BTreeMap::new(), busy_us: [0; 2], latencies_ms: Vec::new() }
    }

    /// Says what is about to happen.
    pub(crate) fn introduce(&self, store: &FieldStore) -> Outcome {
        if self.as_json {
            return Ok(());
        }
        let plan = self.plan;
        let pools: Vec<String> = store.spaces().iter().map(|space| space.store.to_string()).collect();
        outln!(
            "{plan}: {} of {}",
            count(plan.fields(), "field"),
            Bytes(plan.bytes() / plan.fields().max(1))
        )?;
        let (writers, readers) = (count(plan.writers.into(), "writer"), count(plan.readers.into(), "reader"));
        outln!("{writers} and {readers}, each a process of its own, on {}\n", pools.join(", "))?;
        outln!(
            "{}",
            line(["step", "fields", "bytes", "write rate", "read rate", "last flush to last read"])
        )?;
        outln!("{}", "─".repeat(WIDTHS.iter().sum()))
    }

    /// Takes an event, and prints the step that it completes.
    pub(crate) fn take(&mut self, event: Event) -> Outcome {
        let sum = self.steps.entry(event.step).or_default();
        match event.did {
            Did::Write => sum.write.add(&event),
            Did::Read => sum.read.add(&event),
        }
        self.busy_us[usize::from(event.did == Did::Read)] += event.busy_us;
        if sum.write.told < self.plan.writers || sum.read.told < self.plan.readers {
            return Ok(());
        }
        let latency_ms = latency_ms(sum);
        self.latencies_ms.extend(latency_ms);
        let (name, sum) = (event.step.to_string(), sum.clone());
        self.print(&name, &json!(event.step), &sum, latency_ms)
    }

    /// Prints all steps together.
    pub(crate) fn finish(&self, elapsed: Duration) -> Outcome {
        let mut all = Sum::default();
        for sum in self.steps.values() {
            for (whole, part) in [(&mut all.write, &sum.write), (&mut all.read, &sum.read)] {
                whole.fields += part.fields;
                whole.bytes += part.bytes;
            }
        }
        // Of the mean time that a process was in the store.
        all.write.rate = mean_rate(all.write.bytes, self.busy_us[0], self.plan.writers);
        all.read.rate = mean_rate(all.read.bytes, self.busy_us[1], self.plan.readers);
        let worst_ms = self.latencies_ms.iter().copied().reduce(f64::max);
        if !self.as_json {
            outln!("{}", "─".repeat(WIDTHS.iter().sum()))?;
        }
        self.print("all", &json!("all"), &all, worst_ms)?;
        if !self.as_json {
            let read = if self.plan.readers > 0 {
                let times = count(self.plan.readers.into(), "time");
                format!("; each field was read {times}, {} in all, and checked", Bytes(all.read.bytes))
            } else {
                String::new()
            };
            outln!("\n{} archived in {}{read}", Bytes(all.write.bytes), seconds(elapsed))?;
            outln!("rates: all processes together, of the time they spent in the store, flushing included")?;
        }
        Ok(())
    }

    fn print(&self, name: &str, id: &Value, sum: &Sum, latency_ms: Option<f64>) -> Outcome {
        if self.as_json {
            return print_json(&json!({
                "step": id,
                "fields": sum.write.fields,
                "bytes": sum.write.bytes,
                "fields_read": sum.read.fields,
                "bytes_read": sum.read.bytes,
                "write_bytes_per_second": sum.write.rate.round(),
                "read_bytes_per_second": sum.read.rate.round(),
                "latency_ms": latency_ms,
            }));
        }
        let latency = latency_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"));
        let (fields, bytes) = (sum.write.fields.to_string(), Bytes(sum.write.bytes).to_string());
        outln!("{}", line([name, &fields, &bytes, &rate(&sum.write), &rate(&sum.read), &latency]))
    }
}

/// The columns' widths. Rows are printed as they come, so the widths are fixed.
const WIDTHS: [usize; 6] = [5, 9, 12, 14, 14, 26];

fn line(cells: [&str; 6]) -> String {
    cells.iter().zip(WIDTHS).map(|(cell, width)| format!("{cell:>width$}")).collect()
}

fn rate(side: &Side) -> String {
    if side.fields == 0 { "-".to_owned() } else { format!("{}/s", Bytes(side.rate as u64)) }
}

fn mean_rate(bytes: u64, busy_us: u64, processes: u32) -> f64 {
    bytes as f64 / (busy_us.max(1) as f64 / 1e6 / f64::from(processes.max(1)))
}

/// From the last writer's flush to the last reader's last field.
fn latency_ms(sum: &Sum) -> Option<f64> {
    (sum.read.told > 0).then(|| sum.read.ended_us.saturating_sub(sum.write.ended_us) as f64 / 1e3)
}
