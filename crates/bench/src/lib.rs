//! Benchmarks: workloads through the field API, each beside the limit measured with the same bytes just before.
//!
//! [`BenchArgs`] is the `bench` command; [`run`] does what it says. `docs/benchmarks.md` describes the workloads and
//! what each is unfair to.
//!
//! What must stay true:
//! - Writers and readers are processes, not threads: the program starts itself again (`bench client`, `bench worker`).
//! - A figure and its limit move the same bytes, with as many processes and as many syncs, in the same place, one
//!   right after the other.
//! - Every field read back is checked, so that a fast wrong answer is a failure and not a figure.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod client;
mod entries;
mod error;
mod machine;
mod measure;
mod plain;
mod protocol;
mod results;
mod suite;
mod table;
mod team;
mod workload;

use std::io;

use isotach_object::Registry;

pub use args::{
    BenchArgs, ClientArgs, ClientOp, Command, EntriesArgs, OpenerArgs, PlainArgs, PlainOp, SuiteArgs,
};
pub use error::{Error, Result};

/// The name under which a program offers [`BenchArgs`]. Workers are started as `PROGRAM bench ...`.
pub const COMMAND: &str = "bench";

/// Does what the command line asks for. Figures go to standard output, progress to standard error.
///
/// The program must offer [`BenchArgs`] as its subcommand [`COMMAND`], because it starts itself again for workers.
///
/// # Errors
/// [`Error`]: what a store, the file system or a worker reports, or a figure that would be of wrong data.
pub fn run(args: &BenchArgs, registry: &Registry) -> Result<()> {
    let mut out = io::stdout().lock();
    match &args.command {
        None => suite::run(&args.suite, &mut out),
        Some(Command::Store(suite)) => suite::run(suite, &mut out),
        Some(Command::Client(client)) => client::run(client, registry, &mut out),
        Some(Command::Entries(entries)) => entries::run(entries, registry, &mut out),
        Some(Command::Opener(opener)) => entries::open(opener, registry, &mut out),
        Some(Command::Worker(plain)) => plain::run(plain, &mut out),
    }
}
