//! The `bench` command by itself, with the posix and memory engines:
//! `cargo run --release -p isotach-bench --example bench -- bench --quick`.

use std::{process::ExitCode, sync::Arc};

use clap::Parser;
use isotach_bench::{BenchArgs, Error};
use isotach_engine_posix::Posix;
use isotach_object::{Registry, memory::Memory};

#[derive(Parser)]
enum Program {
    /// Measure the field store beside plain writes and reads
    Bench(BenchArgs),
}

fn main() -> ExitCode {
    let Program::Bench(args) = Program::parse();
    let registry = Registry::new().with(Arc::new(Posix)).with(Arc::new(Memory::new()));
    match isotach_bench::run(&args, &registry) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(if matches!(error, Error::Invalid { .. }) { 2 } else { 1 })
        }
    }
}
