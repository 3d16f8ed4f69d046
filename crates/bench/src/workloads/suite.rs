//! The suite: each figure of the field store beside its limit, repetition by repetition.
//!
//! One repetition measures everything once before the next begins, and a limit comes right before its figure, so that a
//! machine that grows slower or busier meanwhile does so for both.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;
use tempfile::TempDir;

use crate::{
    Error, Result, SuiteArgs,
    harness::{
        load::{Load, make_memory_ready, numbers_of, with, words},
        machine::{self, Machine},
        results::{Case, Measurement},
        team::{self, Line, On, Store},
    },
    report::table,
    workloads::ensemble::FIELDS_PER_STEP,
};

/// Bytes of a field of the listing.
const LISTED_SIZE: usize = 100;
/// Ensemble members of the listing, shared out to the processes that archive it.
const LISTED_NUMBERS: u64 = 50;
/// Processes that archive what is listed.
const LISTED_WRITERS: u64 = 2;

/// Runs the suite.
pub(crate) fn run(args: &SuiteArgs, out: &mut impl Write) -> Result<()> {
    let machine = Machine::this();
    let mut suite = Suite { args, out, all: Vec::new() };
    suite.emit(&serde_json::json!({ "what": "machine", "machine": machine }))?;
    let places = places(&args.places)?;
    for repetition in 1..=args.repetitions {
        for place in &places {
            for size in &args.sizes {
                for procs in &args.procs {
                    suite.measure_size(place, *size, *procs, repetition)?;
                }
            }
            suite.measure_listing(place, repetition)?;
        }
    }
    if !args.json {
        table::print(&machine, &suite.all, suite.out).map_err(Error::Output)?;
    }
    Ok(())
}

/// The folders to measure in: those given, or memory and the current one.
pub(crate) fn places(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let memory = Path::new("/dev/shm");
    let places = match given.is_empty() {
        false => given.to_vec(),
        true => memory.is_dir().then(|| memory.to_owned()).into_iter().chain([PathBuf::from(".")]).collect(),
    };
    let absolute = |place: PathBuf| place.canonicalize().map_err(Error::io("find", &place));
    places.into_iter().map(absolute).collect()
}

/// A folder of a measurement's own; removed with everything in it.
pub(crate) fn scratch(place: &Path) -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix("isotach-bench-").tempdir_in(place);
    made.map_err(Error::io("make a folder in", place))
}

struct Suite<'a, W> {
    args: &'a SuiteArgs,
    out: &'a mut W,
    all: Vec<Measurement>,
}

impl<W: Write> Suite<'_, W> {
    /// Archive and retrieve of fields of one size, each after its limit.
    fn measure_size(&mut self, place: &Path, size: usize, procs: usize, repetition: u32) -> Result<()> {
        let load = Load::new(size, procs, self.args.quick);
        let folder = scratch(place)?;
        let sync = !machine::is_memory(place);
        let case = Case { place: machine::place(place), size, sync, repetition, procs };
        let [plain, root, atomic] = ["plain", "store", "atomic"].map(|name| folder.path().join(name));
        for folder in [&plain, &root, &atomic] {
            fs::create_dir(folder).map_err(Error::io("make", folder))?;
        }
        let store = On::Store(Store { root: &root, sync: case.sync });
        make_memory_ready(folder.path(), load.bytes())?;
        let limit =
            self.add("plain write", &case, &load.plain("write", &plain, case.sync), On::Nothing, None)?;
        make_memory_ready(folder.path(), load.bytes())?;
        let archive = self.add("archive", &case, &load.clients("archive"), store, Some(&limit))?;
        if self.args.transactions {
            make_memory_ready(folder.path(), load.bytes())?;
            let steps = load.clients("archive").into_iter().map(|line| with(line, ["atomic"]));
            let store = On::Store(Store { root: &atomic, sync: case.sync });
            let steps: Vec<Line> = steps.collect();
            self.add("archive, transactions, of archive", &case, &steps, store, Some(&archive))?;
            fs::remove_dir_all(&atomic).map_err(Error::io("remove", &atomic))?;
        }
        for (what, op) in [("retrieve", "retr1"), ("retrieve, one request", "bulk")] {
            let limit =
                self.add("plain read", &case, &load.plain("read", &plain, false), On::Nothing, None)?;
            self.add(what, &case, &load.clients(op), store, Some(&limit))?;
        }
        if procs == 1 {
            let null: Vec<Line> =
                load.clients("archive").into_iter().map(|line| with(line, ["null"])).collect();
            self.add("harness alone", &case, &null, On::Nothing, None)?;
        }
        Ok(())
    }

    /// Listing many small fields, by processes that have just been started.
    fn measure_listing(&mut self, place: &Path, repetition: u32) -> Result<()> {
        let fields = if self.args.quick { self.args.list / 10 } else { self.args.list };
        if fields == 0 {
            return Ok(());
        }
        let folder = scratch(place)?;
        let steps = fields.div_ceil(LISTED_NUMBERS * FIELDS_PER_STEP);
        let each = LISTED_NUMBERS / LISTED_WRITERS;
        let client = |op: &str, first: u64, numbers: u64| {
            words(["client", op])
                .chain(numbers_of([LISTED_SIZE as u64, first, numbers, 0, steps]))
                .collect::<Line>()
        };
        // What is listed does not depend on whether it was synced, so no time is spent on that.
        let place = machine::place(place);
        let case = Case { place, size: LISTED_SIZE, sync: false, repetition, procs: LISTED_WRITERS as usize };
        let store = On::Store(Store { root: folder.path(), sync: false });
        let writers: Vec<Line> =
            (0..LISTED_WRITERS).map(|writer| client("archive", 1 + writer * each, each)).collect();
        self.add("archive to be listed", &case, &writers, store, None)?;
        for (what, op) in [("list", "list"), ("list again", "list"), ("list as JSON", "listjson")] {
            self.add(what, &case, &[client(op, 1, LISTED_NUMBERS)], store, None)?;
        }
        Ok(())
    }

    /// Measures once and records it.
    fn add(
        &mut self,
        what: &'static str,
        case: &Case,
        lines: &[Line],
        on: On<'_>,
        limit: Option<&Measurement>,
    ) -> Result<Measurement> {
        let total = team::run(lines, on)?;
        let one = Measurement::new(what, case, &total, limit);
        self.emit(&one)?;
        if !self.args.json {
            // Progress is only for whoever looks on.
            let _ = writeln!(std::io::stderr(), "{}", table::progress(&one, self.args.repetitions));
        }
        self.all.push(one.clone());
        Ok(one)
    }

    /// Writes a line of JSON to wherever they are wanted.
    fn emit(&mut self, what: &impl Serialize) -> Result<()> {
        let line =
            serde_json::to_string(what).map_err(std::io::Error::from).map_err(Error::pipe("encode"))?;
        if self.args.json {
            writeln!(self.out, "{line}").map_err(Error::Output)?;
        }
        if let Some(path) = &self.args.save {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let mut file = file.map_err(Error::io("open", path))?;
            writeln!(file, "{line}").map_err(Error::io("append to", path))?;
        }
        Ok(())
    }
}
