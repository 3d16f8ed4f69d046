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
mod cast;
mod client;
mod entries;
mod error;
mod events;
mod field_io;
mod forecast;
mod hammer;
mod ior;
mod kernels;
mod load;
mod machine;
mod measure;
mod metrics;
mod operational;
mod overhead;
mod peers;
mod plain;
mod plan;
mod protocol;
mod report;
mod results;
mod study;
mod suite;
mod table;
mod team;
mod workload;

use std::io::{self, Write};

use isotach_object::Registry;
use serde::{Deserialize, Serialize};

pub use args::{
    BenchArgs, CleanArgs, ClientArgs, ClientOp, Command, EntriesArgs, OpenerArgs, PlainArgs, PlainOp,
    SuiteArgs,
};
pub use error::{Error, Result};
pub use field_io::{Classes, FieldIoArgs};
pub use forecast::{ForecastArgs, PaceArgs};
pub use hammer::HammerArgs;
pub use ior::IorArgs;
pub use kernels::KernelsArgs;
pub use operational::OperationalArgs;
pub use overhead::OverheadArgs;
pub use peers::PeersArgs;
pub use plan::PlanArgs;
pub use report::{ReportArgs, report};
pub use study::{SiteArgs, StudyArgs};

/// The name under which a program offers [`BenchArgs`]. Workers are started as `PROGRAM bench ...`.
pub const COMMAND: &str = "bench";

/// Does what the command line asks for. Figures go to standard output, progress to standard error.
///
/// The program must offer [`BenchArgs`] as its subcommand [`COMMAND`], because it starts itself again for workers.
///
/// # Errors
/// [`Error`]: what a store, the file system or a worker reports, or a figure that would be of wrong data.
pub fn run(args: &BenchArgs, registry: &Registry) -> Result<()> {
    match &args.command {
        // These write to standard output line by line, from several threads.
        Some(Command::Node) => return cast::run_node(),
        Some(Command::Process) => return cast::process(|stage, task| play(stage, task, registry)),
        _ => {}
    }
    let mut out = io::stdout().lock();
    match &args.command {
        None => suite::run(&args.suite, &mut out),
        Some(Command::Store(suite)) => suite::run(suite, &mut out),
        Some(Command::Client(client)) => client::run(client, registry, &mut out),
        Some(Command::Entries(entries)) => entries::run(entries, registry, &mut out),
        Some(Command::Opener(opener)) => entries::open(opener, registry, &mut out),
        Some(Command::FieldIo(args)) => field_io::run(args, registry, &mut out),
        Some(Command::Kernels(args)) => kernels::run(args, registry, &mut out),
        Some(Command::Plan(args)) => plan::run(args, registry, &mut out),
        Some(Command::Peers(args)) => peers::run(args, registry, &mut out),
        Some(Command::Overhead(args)) => overhead::run(args, &mut out),
        Some(Command::FdbVersion) => peers::print_version(&mut out),
        Some(Command::Ior(args)) => ior::run(args, registry, &mut out),
        Some(Command::Hammer(args)) => hammer::run(args, registry, &mut out),
        Some(Command::Operational(args)) => operational::run(args, registry, &mut out),
        Some(Command::Clean(args)) => clean(args, registry, &mut out),
        Some(Command::Worker(plain)) => plain::run(plain, &mut out),
        Some(Command::Node | Command::Process) => Ok(()),
    }
}

/// What a process of a run does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    FieldIo(field_io::Task),
    Ior(ior::Task),
    Hammer(hammer::Task),
    Operational(operational::Task),
    Kernels(kernels::Task),
}

fn play(stage: &mut cast::Stage, task: serde_json::Value, registry: &Registry) -> Result<()> {
    let task = serde_json::from_value(task);
    match task.map_err(|error| Error::invalid(format!("a task ({error})"), "a task of this program"))? {
        Task::FieldIo(task) => field_io::play(&task, stage, registry),
        Task::Ior(task) => ior::play(&task, stage, registry),
        Task::Hammer(task) => hammer::play(&task, stage, registry),
        Task::Operational(task) => operational::play(&task, stage, registry),
        Task::Kernels(task) => kernels::play(&task, stage, registry),
    }
}

fn clean(args: &CleanArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    for run in &args.runs {
        let study::Cleaned { removed, missing } = study::clean(run, registry)?;
        for place in missing {
            writeln!(out, "{}: {place} was not there", run.display()).map_err(Error::Output)?;
        }
        let word = if removed == 1 { "pool" } else { "pools" };
        writeln!(out, "{}: removed {removed} {word}", run.display()).map_err(Error::Output)?;
    }
    Ok(())
}
