//! The command line of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::{
    peers::PeersArgs,
    workloads::{
        ensemble::{SIZE_MAX, SIZE_MIN},
        field_io::FieldIoArgs,
        hammer::HammerArgs,
        ior::IorArgs,
        kernels::KernelsArgs,
        operational::OperationalArgs,
        overhead::OverheadArgs,
        plan::PlanArgs,
    },
};

/// Processes of a measurement, at most.
const PROCESSES_MAX: usize = 1 << 16;

/// `bench`: measures the field store beside plain writes and reads of the same bytes.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    /// What to run; the whole suite if left out.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the suite.
    #[command(flatten)]
    pub suite: SuiteArgs,
}

/// What `bench` can run.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
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
    /// classes, scaling. One that was interrupted can be gone on with
    Plan(PlanArgs),
    /// What writing events down costs, on an engine that keeps nothing
    Overhead(OverheadArgs),
    /// IOR: blocks of one size, in segments and repetitions, on the object model and on plain files, with IOR's options
    Ior(IorArgs),
    /// Fields of a forecast on the field API, from a GRIB template: written, read and listed, as fdb-hammer does
    Hammer(HammerArgs),
    /// Writers stream ensemble members step by step while readers take each step across all of them as soon as it is there
    Operational(OperationalArgs),
    /// Remove what a run has kept, or has left when it was interrupted
    Clean(CleanArgs),
    /// A node of a run: starts processes, and passes on what they say
    #[command(hide = true)]
    Node,
    /// A process of a run
    #[command(hide = true)]
    Process,
    /// The version of FDB that the loader finds
    #[command(hide = true)]
    FdbVersion,
    /// One process of plain writes or reads
    #[command(hide = true)]
    Worker(PlainArgs),
    /// One process that opens the container of `entries`
    #[command(hide = true)]
    Opener(OpenerArgs),
}

/// Options of the suite.
#[derive(Debug, Clone, Args)]
pub struct SuiteArgs {
    /// Folders to measure in: each gets a temporary folder of its own [default: /dev/shm and the current folder]
    #[arg(long = "where", value_name = "FOLDER", value_delimiter = ',')]
    pub places: Vec<PathBuf>,
    /// Sizes of fields, in bytes
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20, 4096], value_parser = field_size)]
    pub sizes: Vec<usize>,
    /// Numbers of processes
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [1, 4], value_parser = process_count)]
    pub procs: Vec<usize>,
    /// How often each figure is measured; the median is shown
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub repetitions: u32,
    /// How many fields to list; 0 leaves the listing out
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000)]
    pub list: u64,
    /// Also archive with a transaction for each step, beside archiving with a flush for each
    #[arg(long)]
    pub transactions: bool,
    /// A tenth of the fields: to try it out, not to quote
    #[arg(long)]
    pub quick: bool,
    /// One JSON object per line for each measurement, instead of tables
    #[arg(long)]
    pub json: bool,
    /// Also append the measurements, as with --json, to this file
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

pub(crate) fn field_size(text: &str) -> Result<usize, String> {
    within(SIZE_MIN, SIZE_MAX, text)
}

pub(crate) fn process_count(text: &str) -> Result<usize, String> {
    within(1, PROCESSES_MAX, text)
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, as in 0.5, at most 1000000".to_owned())
}

pub(crate) fn within(least: usize, most: usize, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("expected a number, at least {least} and at most {most}"))
}

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClientOp {
    /// Archive the fields, one flush per step of a number
    Archive,
    /// Retrieve the fields one by one
    Retr1,
    /// Retrieve all fields with one request
    Bulk,
    /// List all fields with their keys and locations
    List,
    /// The same as `list`
    Listkeys,
    /// List all fields as lines of JSON, and throw the lines away
    Listjson,
    /// Remove the dataset that all fields are in
    Wipe,
}

/// How a client goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClientMode {
    /// Open a new handle for each step
    Fresh,
    /// Archive each step in a transaction
    Atomic,
    /// Start over until another line, or the end of input, comes on standard input
    Loop,
    /// No store at all: what the harness itself costs
    Null,
    /// ECMWF's FDB, by its C library and whatever settings its variables name, in place of Isotach
    Fdb,
}

/// The client: 100 fields (10 levels by 10 parameters) for each step of each number.
#[derive(Debug, Clone, Args)]
pub struct ClientArgs {
    /// What to do
    pub op: ClientOp,
    /// Bytes per field
    #[arg(value_parser = field_size)]
    pub size: usize,
    /// The first number (ensemble member)
    pub first_number: u32,
    /// How many numbers
    pub numbers: u32,
    /// The first step
    pub first_step: u32,
    /// How many steps
    pub steps: u32,
    /// How
    pub modes: Vec<ClientMode>,
    /// The store, as the URI of a pool of any engine; whoever comes first makes it. A memory: store serves one client alone [default:
    /// a posix store in the empty directory that PEER_ROOT names, where with PEER_SYNC=0 flush does not wait for the device]
    #[arg(long, value_name = "URI")]
    pub store: Option<String>,
}

/// What a plain worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlainOp {
    /// write(2) to one file
    Write,
    /// read(2) of one file
    Read,
    /// Copies in memory, from one area to another that are both larger than a cache
    Copy,
}

/// A plain worker.
#[derive(Debug, Clone, Args)]
pub struct PlainArgs {
    /// What to do
    pub op: PlainOp,
    /// The file; of copies in memory any name
    pub path: PathBuf,
    /// How many blocks
    pub count: u64,
    /// Bytes per block
    pub size: usize,
    /// fdatasync after so many blocks; 0 for never
    pub sync_every: u64,
    /// Read over and over, until another line comes on standard input
    #[arg(long = "loop")]
    pub looping: bool,
    /// The processor to stay on
    #[arg(long)]
    pub cpu: Option<usize>,
}

/// Options of `entries`.
#[derive(Debug, Clone, Args)]
pub struct EntriesArgs {
    /// How many entries
    #[arg(default_value_t = 25_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub count: u64,
    /// The folder to measure in, which gets a temporary folder for it
    #[arg(long = "where", value_name = "FOLDER", default_value = ".")]
    pub place: PathBuf,
    /// How many processes open it, one after the other; the median is shown
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub repetitions: u32,
    /// One JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// A process that opens the container of `entries`.
#[derive(Debug, Clone, Args)]
pub struct OpenerArgs {
    /// The pool
    pub pool: String,
    /// How many entries there are
    pub count: u64,
    /// How many keys to look up
    pub look_ups: u64,
}

/// Options of `clean`.
#[derive(Debug, Clone, Args)]
pub struct CleanArgs {
    /// Folders with records of runs
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
}
