//! What measuring costs: the same operations on a null engine, in a loop that knows nothing of measuring and in one that
//! writes events down, in turns.
//!
//! The null engine takes the bytes of a field into memory and forgets them, so that nothing is quicker and no store's own
//! time hides what the clock takes.

use std::{hint::black_box, io::Write, time::Instant};

use clap::Args;
use serde::Serialize;

use crate::{
    Error, Result,
    harness::{
        events::{Clock, Doing, Recorder},
        results::median,
    },
    workloads::ensemble,
};

/// How large the memory is that bytes are taken into, at least: more than caches hold.
const AREA: usize = 64 << 20;
/// Rounds of each kind, in turns: many and short, so that other work on the machine disturbs few of them.
const ROUNDS: usize = 401;
/// Bytes moved in a round, about, and operations at most.
const BYTES: usize = 32 << 20;
const OPERATIONS_MAX: usize = 100_000;
/// What measuring may cost at most, of an operation on a field of that size or more.
const GOAL: (f64, usize) = (0.02, 1 << 20);

/// Options of `overhead`.
#[derive(Debug, Clone, Args)]
pub struct OverheadArgs {
    /// Sizes of fields, in bytes
    #[arg(long = "size", value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20, 4096], value_parser = crate::args::field_size)]
    sizes: Vec<usize>,
    /// One JSON object per line for each size, instead of text
    #[arg(long)]
    json: bool,
}

/// The cost at one size.
#[derive(Debug, Serialize)]
struct Cost {
    size: usize,
    operations: usize,
    rounds: usize,
    /// Microseconds of an operation, medians of rounds.
    without_us: f64,
    with_us: f64,
    /// The median of the ratios of neighbouring rounds, less one.
    overhead: f64,
}

/// Measures and prints.
pub(crate) fn run(args: &OverheadArgs, out: &mut impl Write) -> Result<()> {
    for size in &args.sizes {
        let cost = measure(*size)?;
        let line = match args.json {
            true => {
                serde_json::to_string(&cost).map_err(std::io::Error::from).map_err(Error::pipe("encode"))?
            }
            false => cost.text(),
        };
        writeln!(out, "{line}").map_err(Error::Output)?;
    }
    Ok(())
}

impl Cost {
    fn text(&self) -> String {
        let Self { size, without_us, with_us, overhead, rounds, operations } = self;
        let size = crate::report::table::size_text(*size);
        let percent = overhead * 100.0;
        let goal = self.goal();
        format!(
            "{size}: {without_us:.2} us without events, {with_us:.2} us with them: {percent:+.2} % (medians of {rounds} rounds of {operations} operations){goal}"
        )
    }

    /// Whether the goal is reached, where it holds.
    fn goal(&self) -> String {
        let (most, from) = GOAL;
        match self.size >= from {
            true => {
                let outcome = if self.overhead < most { "reached" } else { "missed" };
                format!("; goal, under {:.0} %: {outcome}", most * 100.0)
            }
            false => String::new(),
        }
    }
}

fn measure(size: usize) -> Result<Cost> {
    let operations = (BYTES / size).clamp(1, OPERATIONS_MAX);
    let mut engine = Null { area: vec![1; AREA.max(size)], at: 0 };
    let bytes = ensemble::block(size);
    let (mut without, mut with, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..=ROUNDS {
        // Which of the two comes first changes, so that a machine that grows slower does so for both.
        let (plain, recorded) = if number % 2 == 0 {
            let plain = engine.plain(&bytes, operations);
            (plain, engine.recorded(&bytes, operations)?)
        } else {
            let recorded = engine.recorded(&bytes, operations)?;
            (engine.plain(&bytes, operations), recorded)
        };
        // The first finds no memory in place yet.
        if number > 0 {
            without.push(plain);
            with.push(recorded);
            ratios.push(recorded / plain);
        }
    }
    let us = |seconds: f64| seconds * 1e6 / operations as f64;
    let (without_us, with_us) = (us(median(without)), us(median(with)));
    Ok(Cost { size, operations, rounds: ROUNDS, without_us, with_us, overhead: median(ratios) - 1.0 })
}

/// An engine that keeps nothing.
struct Null {
    area: Vec<u8>,
    at: usize,
}

impl Null {
    /// Where so many bytes go.
    fn place(&self, length: usize) -> usize {
        if self.at + length > self.area.len() { 0 } else { self.at }
    }

    fn take(&mut self, bytes: &[u8], at: usize) {
        self.area[at..at + bytes.len()].copy_from_slice(black_box(bytes));
    }

    fn leave(&mut self, at: usize) {
        self.at = black_box(at);
    }

    /// The seconds that so many operations take.
    fn plain(&mut self, bytes: &[u8], operations: usize) -> f64 {
        let began = Instant::now();
        for _ in 0..operations {
            let at = self.place(bytes.len());
            self.take(bytes, at);
            self.leave(at + bytes.len());
        }
        began.elapsed().as_secs_f64()
    }

    /// The same, written down.
    fn recorded(&mut self, bytes: &[u8], operations: usize) -> Result<f64> {
        let mut recorder = Recorder::going_on(Clock::start(), 0);
        let began = Instant::now();
        for _ in 0..operations {
            recorder.operation(|doing| self.write(bytes, doing))?;
        }
        let seconds = began.elapsed().as_secs_f64();
        black_box(recorder.operations);
        Ok(seconds)
    }

    /// An operation with all moments that one can have.
    fn write(&mut self, bytes: &[u8], doing: &mut Doing) -> Result<()> {
        let at = doing.open(|| Ok(self.place(bytes.len())))?;
        doing.transfer(bytes.len() as u64, || {
            self.take(bytes, at);
            Ok(())
        })?;
        doing.close(|| {
            self.leave(at + bytes.len());
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_engine_takes_every_byte_and_begins_again_where_its_memory_ends() {
        let mut engine = Null { area: vec![0; 10], at: 0 };
        let mut recorder = Recorder::going_on(Clock::start(), 0);
        for byte in [1, 2, 3] {
            recorder.operation(|doing| engine.write(&[byte; 4], doing)).unwrap();
        }
        assert_eq!(engine.area, [3, 3, 3, 3, 2, 2, 2, 2, 0, 0]);
        assert!(
            recorder.operations.iter().all(|one| one.bytes == 4 && one.times.iter().all(|time| *time > 0))
        );
    }

    #[test]
    fn a_cost_is_told_in_one_line() {
        let cost = Cost {
            size: 1 << 20,
            operations: 256,
            rounds: 41,
            without_us: 100.0,
            with_us: 100.4,
            overhead: 0.004,
        };
        assert!(
            cost.text().contains("1 MiB: 100.00 us without events, 100.40 us with them: +0.40 %"),
            "{}",
            cost.text()
        );
    }
}
