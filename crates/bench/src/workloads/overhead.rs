//! The cost of measuring: the same operations on a null engine, in a loop without events and in one that records them, in
//! turns.
//!
//! The null engine copies the bytes of a field into memory and forgets them. Nothing is faster, so the time of a store
//! cannot hide the time of the clock.

use std::{hint::black_box, io::Write, time::Instant};

use clap::Args;
use serde::Serialize;

use crate::{
    Result,
    harness::{
        events::{Clock, Recorder, Timer},
        noise,
        output::{json, print_line, size_text},
        spread::median,
    },
    workloads::client::field_size,
};

/// The smallest memory that bytes are copied into: larger than caches.
const AREA_MIN: usize = 64 << 20;
/// Rounds of each kind, in turns: many short ones, so that other work on the machine disturbs few of them.
const ROUNDS: usize = 401;
/// The bytes of a round, approximately, and the largest number of its operations.
const BYTES: usize = 32 << 20;
const OPERATIONS_MAX: usize = 100_000;
/// The goal: the largest cost relative to an operation on a field of at least that size.
const GOAL: (f64, usize) = (0.02, 1 << 20);

/// Options of `overhead`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OverheadArgs {
    /// Sizes of fields, in bytes
    #[arg(long = "size", value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20, 4096], value_parser = field_size)]
    sizes: Vec<usize>,
    /// One JSON object per line for each size, instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Cost {
    size: usize,
    operations: usize,
    rounds: usize,
    /// Microseconds per operation, medians of rounds.
    without_us: f64,
    with_us: f64,
    /// The median of the ratios of neighbouring rounds, minus one.
    overhead: f64,
}

pub(crate) fn run(args: &OverheadArgs, out: &mut impl Write) -> Result<()> {
    for size in &args.sizes {
        let cost = measure(*size)?;
        print_line(&if args.json { json(&cost)? } else { cost.text() }, out)?;
    }
    Ok(())
}

impl Cost {
    fn text(&self) -> String {
        let Self { size, without_us, with_us, overhead, rounds, operations } = self;
        let size = size_text(*size);
        let percent = overhead * 100.0;
        let goal = self.goal();
        format!(
            "{size}: {without_us:.2} us without events, {with_us:.2} us with them: {percent:+.2} % (medians of {rounds} rounds of {operations} operations){goal}"
        )
    }

    /// Whether the goal is reached, for sizes that have one.
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
    let mut engine = Null { area: vec![1; AREA_MIN.max(size)], at: 0 };
    let bytes = noise::block(size);
    let (mut without, mut with, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..=ROUNDS {
        // The order alternates, so a change of the machine affects both alike.
        let (plain, recorded) = if number % 2 == 0 {
            let plain = engine.plain(&bytes, operations);
            (plain, engine.recorded(&bytes, operations)?)
        } else {
            let recorded = engine.recorded(&bytes, operations)?;
            (engine.plain(&bytes, operations), recorded)
        };
        // The first round allocates memory.
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

struct Null {
    area: Vec<u8>,
    at: usize,
}

impl Null {
    /// The offset of the next bytes.
    fn offset(&self, length: usize) -> usize {
        if self.at + length > self.area.len() { 0 } else { self.at }
    }

    fn take(&mut self, bytes: &[u8], at: usize) {
        self.area[at..at + bytes.len()].copy_from_slice(black_box(bytes));
    }

    fn leave(&mut self, at: usize) {
        self.at = black_box(at);
    }

    fn plain(&mut self, bytes: &[u8], operations: usize) -> f64 {
        let began = Instant::now();
        for _ in 0..operations {
            let at = self.offset(bytes.len());
            self.take(bytes, at);
            self.leave(at + bytes.len());
        }
        began.elapsed().as_secs_f64()
    }

    fn recorded(&mut self, bytes: &[u8], operations: usize) -> Result<f64> {
        let mut recorder = Recorder::new(Clock::start(), 0);
        let began = Instant::now();
        for _ in 0..operations {
            recorder.operation(|timer| self.write(bytes, timer))?;
        }
        let seconds = began.elapsed().as_secs_f64();
        black_box(recorder.operations);
        Ok(seconds)
    }

    /// An operation with all moments.
    fn write(&mut self, bytes: &[u8], timer: &mut Timer) -> Result<()> {
        let at = timer.open(|| Ok(self.offset(bytes.len())))?;
        timer.transfer(bytes.len() as u64, || {
            self.take(bytes, at);
            Ok(())
        })?;
        timer.close(|| {
            self.leave(at + bytes.len());
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_engine_copies_every_byte_and_wraps_around() {
        let mut engine = Null { area: vec![0; 10], at: 0 };
        let mut recorder = Recorder::new(Clock::start(), 0);
        for byte in [1, 2, 3] {
            recorder.operation(|timer| engine.write(&[byte; 4], timer)).unwrap();
        }
        assert_eq!(engine.area, [3, 3, 3, 3, 2, 2, 2, 2, 0, 0]);
        assert!(
            recorder.operations.iter().all(|one| one.bytes == 4 && one.times.iter().all(|time| *time > 0))
        );
    }

    #[test]
    fn a_cost_is_one_line() {
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
