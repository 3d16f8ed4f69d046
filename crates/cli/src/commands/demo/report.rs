//! The output of the demo: a row for each step as soon as every reader has read it, and a row for all steps.

use std::{collections::BTreeMap, time::Duration};

use isotach_fields::FieldStore;
use serde_json::{Value, json};

use super::{
    plan::Plan,
    worker::{Event, Role},
};
use crate::{
    failure::Outcome,
    output::{Bytes, count, outln, print_json, seconds},
};

/// The sums of one step, or of all steps.
#[derive(Debug, Clone, Default)]
struct Sum {
    write: Side,
    read: Side,
}

/// The sums of the writers, or of the readers.
#[derive(Debug, Clone, Default)]
struct Side {
    /// The number of processes that have finished the step.
    finished: u32,
    fields: u64,
    bytes: u64,
    /// Bytes per second of all processes together, in the time that they spent in the store.
    rate: f64,
    /// The end of the last process, in microseconds since 1970.
    ended_us: u64,
}

impl Side {
    fn add(&mut self, event: &Event) {
        self.finished += 1;
        self.fields += event.fields;
        self.bytes += event.bytes;
        self.rate += event.bytes as f64 / (event.busy_us.max(1) as f64 / 1e6);
        self.ended_us = self.ended_us.max(event.ended_us);
    }
}

/// Collects events, and prints rows.
pub(crate) struct Report<'p> {
    plan: &'p Plan,
    as_json: bool,
    steps: BTreeMap<u32, Sum>,
    /// The time that writers and readers spent in the store, in microseconds.
    busy_us: [u64; 2],
    latencies_ms: Vec<f64>,
}

impl<'p> Report<'p> {
    pub(crate) fn new(plan: &'p Plan, as_json: bool) -> Self {
        Self { plan, as_json, steps: BTreeMap::new(), busy_us: [0; 2], latencies_ms: Vec::new() }
    }

    /// Prints the plan and the headings.
    pub(crate) fn begin(&self, store: &FieldStore) -> Outcome {
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
        outln!("{writers} and {readers}, each a process of its own, in {}\n", pools.join(", "))?;
        outln!(
            "{}",
            line(["step", "fields", "bytes", "write rate", "read rate", "last flush to last read"])
        )?;
        outln!("{}", "─".repeat(WIDTHS.iter().sum()))
    }

    /// Adds an event. Prints the step if this was its last event.
    pub(crate) fn add(&mut self, event: Event) -> Outcome {
        let sum = self.steps.entry(event.step).or_default();
        let is_reader = event.role == Role::Reader;
        if is_reader { &mut sum.read } else { &mut sum.write }.add(&event);
        self.busy_us[usize::from(is_reader)] += event.busy_us;
        if sum.write.finished < self.plan.writers || sum.read.finished < self.plan.readers {
            return Ok(());
        }
        let latency_ms = latency_ms(sum);
        self.latencies_ms.extend(latency_ms);
        let (name, sum) = (event.step.to_string(), sum.clone());
        self.print(&name, &json!(event.step), &sum, latency_ms)
    }

    /// Prints the row for all steps.
    pub(crate) fn finish(&self, elapsed: Duration) -> Outcome {
        let mut all = Sum::default();
        for sum in self.steps.values() {
            for (whole, part) in [(&mut all.write, &sum.write), (&mut all.read, &sum.read)] {
                whole.fields += part.fields;
                whole.bytes += part.bytes;
            }
        }
        // These rates refer to the mean time that a process spent in the store.
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
            outln!(
                "rates: of all processes together, in the time they spent in the store, flushing included"
            )?;
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

/// The widths of the columns. They are fixed, because rows are printed before the later ones are known.
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
    (sum.read.finished > 0).then(|| sum.read.ended_us.saturating_sub(sum.write.ended_us) as f64 / 1e3)
}
