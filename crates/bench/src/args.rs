//! The command line of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::workload::SIZE_MIN;

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
    /// One client for a driver that compares field stores: prints READY, waits for a line, works, prints one JSON line.
    /// PEER_ROOT names an empty directory for the store; with PEER_SYNC=0 flush does not wait for the device
    Client(ClientArgs),
    /// Fill one container with many entries, then open it and look keys up in processes that have just been started
    Entries(EntriesArgs),
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

fn field_size(text: &str) -> Result<usize, String> {
    at_least(SIZE_MIN, text)
}

fn process_count(text: &str) -> Result<usize, String> {
    at_least(1, text)
}

fn at_least(least: usize, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number >= least);
    number.ok_or_else(|| format!("expected a number, at least {least}"))
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
}

/// The client: 100 fields (10 levels by 10 parameters) for each step of each number.
#[derive(Debug, Clone, Args)]
pub struct ClientArgs {
    /// What to do
    pub op: ClientOp,
    /// Bytes per field, at least 32
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
}

/// What a plain worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlainOp {
    /// write(2) to one file
    Write,
    /// read(2) of one file
    Read,
}

/// A plain worker.
#[derive(Debug, Clone, Args)]
pub struct PlainArgs {
    /// What to do
    pub op: PlainOp,
    /// The file
    pub path: PathBuf,
    /// How many blocks
    pub count: u64,
    /// Bytes per block
    pub size: usize,
    /// fdatasync after so many blocks; 0 for never
    pub sync_every: u64,
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
