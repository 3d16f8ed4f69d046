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
mod error;
mod harness;
mod peers;
mod report;
mod workloads;

use std::io::{self, Write};

use harness::{launcher, study};
use isotach_object::Registry;
use serde::{Deserialize, Serialize};

pub use args::{
    BenchArgs, CleanArgs, ClientArgs, ClientOp, Command, EntriesArgs, OpenerArgs, PlainArgs, PlainOp,
    SuiteArgs,
};
use workloads::{client, entries, field_io, hammer, ior, kernels, operational, overhead, plain, plan, suite};

pub use error::{Error, Result};
pub use harness::study::{SiteArgs, StudyArgs};
pub use peers::PeersArgs;
pub use report::{ReportArgs, report};
pub use workloads::field_io::{Classes, FieldIoArgs};
pub use workloads::forecast::{ForecastArgs, PaceArgs};
pub use workloads::hammer::HammerArgs;
pub use workloads::ior::IorArgs;
pub use workloads::kernels::KernelsArgs;
pub use workloads::operational::OperationalArgs;
pub use workloads::overhead::OverheadArgs;
pub use workloads::plan::PlanArgs;

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
        Some(Command::Node) => return launcher::run_node(),
        Some(Command::Process) => return launcher::process(|stage, task| play(stage, task, registry)),
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

fn play(stage: &mut launcher::Stage, task: serde_json::Value, registry: &Registry) -> Result<()> {
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
