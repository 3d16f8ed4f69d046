//! The commands `bench` and `plan` by themselves, with the posix and memory engines:
//! `cargo run --release -p isotach-bench --example bench -- bench --quick`.

use std::{process::ExitCode, sync::Arc};

use clap::Parser;
use isotach_bench::{BenchArgs, Error, PlanArgs};
use isotach_engine_posix::Posix;
use isotach_object::{Registry, memory::Memory};

#[derive(Parser)]
enum Program {
    /// Measure the field store beside plain writes and reads
    Bench(Box<BenchArgs>),
    /// Predict whether fields fit in a window of time
    Plan(Box<PlanArgs>),
}

fn main() -> ExitCode {
    let registry = Registry::new().with(Arc::new(Posix)).with(Arc::new(Memory::new()));
    let done = match Program::parse() {
        Program::Bench(args) => isotach_bench::run(&args, &registry),
        Program::Plan(args) => isotach_bench::plan(&args, &mut std::io::stdout().lock()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(if matches!(error, Error::Invalid { .. }) { 2 } else { 1 })
        }
    }
}
