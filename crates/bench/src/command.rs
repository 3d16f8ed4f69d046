//! The `bench` command: its subcommands, and what each of them runs.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use isotach_object::Registry;

use crate::{
    Error, Result,
    harness::{
        driver::Terminal,
        launcher::{self, Process, Task},
        output::print_line,
        study::{self, Cleaned, Work, run_process},
    },
    peers::{self, PeersArgs},
    workloads::{
        alignment::{self, AlignmentArgs},
        client::{self, ClientArgs},
        entries::{self, EntriesArgs},
        field_io::{self, FieldIoArgs},
        hammer::{self, HammerArgs},
        ior::{self, IorArgs},
        kernels::{self, KernelsArgs},
        method::{self, MethodArgs},
        operational::{self, OperationalArgs},
        overhead::{self, OverheadArgs},
        plain,
        suite::{self, SuiteArgs},
        transfer::{
            self, TransferArgs,
            mpi::{RankArgs, run_rank},
            tcp,
        },
    },
};

/// `bench`: measures the field store beside plain writes and reads of the same bytes.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    /// What to run; the whole suite if left out.
    #[command(subcommand)]
    command: Option<Command>,
    /// Options of the suite.
    #[command(flatten)]
    suite: SuiteArgs,
}

#[derive(Debug, Clone, Subcommand)]
enum Command {
    /// Archive, retrieve and list beside plain writes and reads (the default)
    Store(SuiteArgs),
    /// One client for a driver that compares field stores: prints READY, waits for a line, works, prints one JSON line
    Client(ClientArgs),
    /// Fill one container with many entries, then open it and look keys up in processes that have just been started
    Entries(EntriesArgs),
    /// Fields on the object model, in the layouts and access patterns of Field I/O, timed event by event
    FieldIo(FieldIoArgs),
    /// What three scientific programs read and write: checkpoints of a mesh, sharded regions, decomposed variables
    Kernels(KernelsArgs),
    /// ECMWF's FDB beside Isotach and beside plain writes and reads, in the same run: archive, retrieve, list, and readers
    /// beside writers
    Peers(PeersArgs),
    /// The published method, stage by stage: how long a run must be, processes per node, client nodes per server, sizes and object
    /// classes, scaling. An interrupted run can be resumed
    Method(MethodArgs),
    /// What recording events costs, on an engine that keeps nothing
    Overhead(OverheadArgs),
    /// IOR: blocks of one size, in segments and repetitions, on the object model and on plain files, with IOR's options
    Ior(IorArgs),
    /// Fields of a forecast on the field API, from a GRIB template: written, read and listed, as fdb-hammer does
    Hammer(HammerArgs),
    /// Writers stream ensemble members step by step while readers take each step across all of them as soon as it is available
    Operational(OperationalArgs),
    /// Messages between pairs of processes over TCP and MPI: the ceiling that the network sets to a store
    Transfer(TransferArgs),
    /// What the place of a buffer in its page costs when bytes are copied from and to the page cache
    Alignment(AlignmentArgs),
    /// Remove what a run has kept, or has left when it was interrupted
    Clean(CleanArgs),
    /// A node of a run: starts processes and forwards their messages
    #[command(hide = true)]
    Node,
    /// A process of a run
    #[command(hide = true)]
    Process,
    /// A rank of a transfer, which an MPI launcher starts
    #[command(hide = true)]
    TransferRank(RankArgs),
    /// The version of FDB that the loader finds
    #[command(hide = true)]
    FdbVersion,
}

/// Options of `clean`.
#[derive(Debug, Clone, Args)]
struct CleanArgs {
    /// Folders with records of runs
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
}

/// Runs the command. Figures go to standard output, progress to standard error.
///
/// The program must offer [`BenchArgs`] as its subcommand [`COMMAND`](crate::COMMAND), because it starts itself again for
/// nodes and processes.
///
/// # Errors
/// [`Error`]: what a store, the file system or a process reports, or a figure that would be of wrong data.
pub fn run(args: &BenchArgs, registry: &Registry) -> Result<()> {
    // Not locked: a node writes messages from several threads.
    let out = &mut io::stdout();
    match &args.command {
        Some(Command::Node) => launcher::run_node(),
        Some(Command::Process) => launcher::run_process(|process, task| run_task(process, task, registry)),
        None => suite::run(&args.suite, out),
        Some(Command::Store(suite)) => suite::run(suite, out),
        Some(Command::Client(client)) => client::run(client, registry, &mut Terminal(out)),
        Some(Command::Entries(entries)) => entries::run(entries, registry, out),
        Some(Command::FieldIo(args)) => field_io::run(args, registry, out),
        Some(Command::Kernels(args)) => kernels::run(args, registry, out),
        Some(Command::Method(args)) => method::run(args, registry, out),
        Some(Command::Peers(args)) => peers::run(args, registry, out),
        Some(Command::Overhead(args)) => overhead::run(args, out),
        Some(Command::FdbVersion) => peers::print_version(out),
        Some(Command::Ior(args)) => ior::run(args, registry, out),
        Some(Command::Hammer(args)) => hammer::run(args, registry, out),
        Some(Command::Operational(args)) => operational::run(args, registry, out),
        Some(Command::Transfer(args)) => transfer::run(args, out),
        Some(Command::TransferRank(args)) => run_rank(args),
        Some(Command::Alignment(args)) => alignment::run(args, out),
        Some(Command::Clean(args)) => clean(args, registry, out),
    }
}

fn run_task(process: &mut Process, task: Task, registry: &Registry) -> Result<()> {
    match &*task.workload {
        client::NAME => client::run(&task.input()?, registry, process),
        plain::NAME => plain::run(&task.input()?, process),
        entries::NAME => entries::open(&task.input()?, registry, process),
        field_io::Run::NAME => run_process::<field_io::Run>(process, task, registry),
        ior::Test::NAME => run_process::<ior::Test>(process, task, registry),
        hammer::Run::NAME => run_process::<hammer::Run>(process, task, registry),
        operational::Run::NAME => run_process::<operational::Run>(process, task, registry),
        tcp::NAME => tcp::run(&task.input()?, process),
        kernels::Run::NAME => run_process::<kernels::Run>(process, task, registry),
        other => Err(Error::invalid(format!("a task of {other}"), "a workload of this program")),
    }
}

fn clean(args: &CleanArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    for run in &args.runs {
        let Cleaned { removed, missing } = study::clean(run, registry)?;
        for location in missing {
            print_line(&format!("{}: {location} did not exist", run.display()), out)?;
        }
        let word = if removed == 1 { "pool" } else { "pools" };
        print_line(&format!("{}: removed {removed} {word}", run.display()), out)?;
    }
    Ok(())
}
