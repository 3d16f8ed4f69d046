//! The suite: each figure of the field store beside its limit, repetition by repetition.
//!
//! One repetition measures everything once before the next begins, and a limit comes right before its figure, so a change
//! of the machine affects both alike.

mod table;

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use serde::Serialize;

use crate::{
    Error, Result,
    harness::{
        folders::{self, create_folders, prepare_memory, scratch},
        launcher::{Launcher, Task, this_program},
        machine::Machine,
        measurement::{Case, Measurement},
        output::{json, print_line},
        parse::process_count,
    },
    workloads::{
        client::{ClientArgs, ClientMode, ClientOp, field_size},
        ensemble::FIELDS_PER_STEP,
        load::{Load, client_tasks, plain_tasks, store},
        plain::PlainOp,
    },
};

/// Bytes of a field of the listing.
const LISTED_SIZE: usize = 100;
/// Ensemble members of the listing, divided among the processes that archive them.
const LISTED_NUMBERS: u32 = 50;
/// Processes that archive the listing.
const LISTED_WRITERS: u32 = 2;

/// Options of the suite.
#[derive(Debug, Clone, Args)]
pub(crate) struct SuiteArgs {
    /// Folders to measure in: each gets a temporary folder of its own [default: /dev/shm and the current folder]
    #[arg(long = "where", value_name = "FOLDER", value_delimiter = ',')]
    pub(super) places: Vec<PathBuf>,
    /// Sizes of fields, in bytes
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20, 4096], value_parser = field_size)]
    pub(super) sizes: Vec<usize>,
    /// Numbers of processes
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [1, 4], value_parser = process_count)]
    pub(super) procs: Vec<usize>,
    /// Repetitions of each figure; the median is shown
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) repetitions: u32,
    /// The number of fields to list; 0 leaves the listing out
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000)]
    pub(super) list: u64,
    /// Also archive with a transaction for each step, beside archiving with a flush for each
    #[arg(long)]
    pub(super) transactions: bool,
    /// A tenth of the fields: for a trial, not for figures to quote
    #[arg(long)]
    pub(super) quick: bool,
    /// One JSON object per line for each measurement, instead of tables
    #[arg(long)]
    pub(super) json: bool,
    /// Also append the measurements, as with --json, to this file
    #[arg(long, value_name = "FILE")]
    pub(super) save: Option<PathBuf>,
}

pub(crate) fn run(args: &SuiteArgs, out: &mut impl Write) -> Result<()> {
    let machine = Machine::this();
    let launcher = Launcher::local(this_program()?)?;
    let mut suite = Suite { args, out, launcher, all: Vec::new() };
    suite.emit(&serde_json::json!({ "what": "machine", "machine": machine }))?;
    let folders = folders::given_or_default(&args.places)?;
    for repetition in 1..=args.repetitions {
        for folder in &folders {
            for size in &args.sizes {
                for procs in &args.procs {
                    suite.measure_size(folder, *size, *procs, repetition)?;
                }
            }
            suite.measure_listing(folder, repetition)?;
        }
    }
    if !args.json {
        table::print(&machine, &suite.all, suite.out).map_err(Error::Output)?;
    }
    Ok(())
}

struct Suite<'a, W> {
    args: &'a SuiteArgs,
    out: &'a mut W,
    launcher: Launcher,
    all: Vec<Measurement>,
}

impl<W: Write> Suite<'_, W> {
    /// Archive and retrieve of fields of one size, each after its limit.
    fn measure_size(&mut self, parent: &Path, size: usize, procs: usize, repetition: u32) -> Result<()> {
        let load = Load::new(size, procs, self.args.quick);
        let folder = scratch(parent)?;
        let sync = !folders::is_memory(parent);
        let case = Case { place: folders::title(parent), size, sync, repetition, procs };
        let [plain, root, atomic] = create_folders(folder.path(), ["plain", "store", "atomic"])?;
        let archive = |modes: &[ClientMode], root: Option<&Path>| {
            let store = root.map(|root| store(root, sync));
            client_tasks(load.clients(ClientOp::Archive, 1), modes, store.as_deref())
        };
        prepare_memory(folder.path(), load.bytes())?;
        let write = plain_tasks(&load.plain(PlainOp::Write, &plain, sync))?;
        let limit = self.add("plain write", &case, write, None)?;
        prepare_memory(folder.path(), load.bytes())?;
        let archived = self.add("archive", &case, archive(&[], Some(&root))?, Some(&limit))?;
        if self.args.transactions {
            prepare_memory(folder.path(), load.bytes())?;
            let steps = archive(&[ClientMode::Atomic], Some(&atomic))?;
            self.add("archive, transactions, of archive", &case, steps, Some(&archived))?;
            fs::remove_dir_all(&atomic).map_err(Error::io("remove", &atomic))?;
        }
        for (what, op) in [("retrieve", ClientOp::Retr1), ("retrieve, one request", ClientOp::Bulk)] {
            let read = plain_tasks(&load.plain(PlainOp::Read, &plain, false))?;
            let limit = self.add("plain read", &case, read, None)?;
            let clients = client_tasks(load.clients(op, 1), &[], Some(&store(&root, sync)))?;
            self.add(what, &case, clients, Some(&limit))?;
        }
        if procs == 1 {
            self.add("harness alone", &case, archive(&[ClientMode::Null], None)?, None)?;
        }
        Ok(())
    }

    /// Listing many small fields, by processes that have just been started.
    fn measure_listing(&mut self, parent: &Path, repetition: u32) -> Result<()> {
        let fields = if self.args.quick { self.args.list / 10 } else { self.args.list };
        if fields == 0 {
            return Ok(());
        }
        let folder = scratch(parent)?;
        let steps = fields.div_ceil(u64::from(LISTED_NUMBERS) * FIELDS_PER_STEP) as u32;
        let each = LISTED_NUMBERS / LISTED_WRITERS;
        // A listing does not depend on syncs, so no time is spent on them.
        let store = store(folder.path(), false);
        let client = |op: ClientOp, first_number: u32, numbers: u32| {
            let (size, modes, store) = (LISTED_SIZE, Vec::new(), Some(store.clone()));
            ClientArgs { op, size, first_number, numbers, first_step: 0, steps, modes, store }.task()
        };
        let (place, procs) = (folders::title(parent), LISTED_WRITERS as usize);
        let case = Case { place, size: LISTED_SIZE, sync: false, repetition, procs };
        let writers = (0..LISTED_WRITERS).map(|writer| client(ClientOp::Archive, 1 + writer * each, each));
        self.add("archive to be listed", &case, writers.collect::<Result<_>>()?, None)?;
        for (what, op) in
            [("list", ClientOp::List), ("list again", ClientOp::List), ("list as JSON", ClientOp::Listjson)]
        {
            self.add(what, &case, vec![client(op, 1, LISTED_NUMBERS)?], None)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        what: &'static str,
        case: &Case,
        tasks: Vec<Task>,
        limit: Option<&Measurement>,
    ) -> Result<Measurement> {
        let total = self.launcher.total(tasks)?;
        let one = Measurement::new(what, case, &total, limit);
        self.emit(&one)?;
        if !self.args.json {
            let _ = writeln!(std::io::stderr(), "{}", one.progress(self.args.repetitions));
        }
        self.all.push(one.clone());
        Ok(one)
    }

    /// Writes a line of JSON to standard output and to the file of `--save`, where they are wanted.
    fn emit(&mut self, value: &impl Serialize) -> Result<()> {
        let line = json(value)?;
        if self.args.json {
            print_line(&line, self.out)?;
        }
        if let Some(path) = &self.args.save {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let mut file = file.map_err(Error::io("open", path))?;
            writeln!(file, "{line}").map_err(Error::io("append to", path))?;
        }
        Ok(())
    }
}
