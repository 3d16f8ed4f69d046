//! The suite: each figure of the field store beside its limit, repetition by repetition.
//!
//! One repetition measures everything once before the next begins, and a limit comes right before its figure, so that a
//! machine that grows slower or busier meanwhile does so for both.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;
use tempfile::TempDir;

use crate::{
    Error, Result, SuiteArgs,
    machine::{self, Machine},
    results::{Case, Measurement},
    table,
    team::{self, Line, Store},
    workload::FIELDS_PER_STEP,
};

/// Bytes that the processes of one measurement move in all, about.
const BYTES: u64 = 1 << 30;
/// Fields that they move in all, at most.
const FIELDS_MAX: u64 = 100_000;
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
    let places = places(args)?;
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

/// The folders to measure in.
fn places(args: &SuiteArgs) -> Result<Vec<PathBuf>> {
    let memory = Path::new("/dev/shm");
    let places = match args.places.is_empty() {
        false => args.places.clone(),
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

/// Writes as many bytes as a measurement will, to a file that is then removed. A virtual machine gets memory from its
/// host when it is first used, and may give back what is free; whoever comes first would pay for that. Memory that was
/// taken in another way, or for something else, is not what the next file gets.
fn make_memory_ready(folder: &Path, bytes: u64) -> Result<()> {
    let path = folder.join("ready");
    let mut file = File::create(&path).map_err(Error::io("create", &path))?;
    let block = vec![0x5a; 1 << 20];
    for _ in 0..bytes.div_ceil(block.len() as u64) {
        file.write_all(&block).map_err(Error::io("write", &path))?;
    }
    fs::remove_file(&path).map_err(Error::io("remove", &path))
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
        let case = Case { place: machine::place(place), size, sync: !machine::is_memory(place), repetition };
        let [plain, root, atomic] = ["plain", "store", "atomic"].map(|name| folder.path().join(name));
        for folder in [&plain, &root, &atomic] {
            fs::create_dir(folder).map_err(Error::io("make", folder))?;
        }
        let store = Store { root: &root, sync: case.sync };
        make_memory_ready(folder.path(), load.bytes())?;
        let limit = self.add("plain write", &case, &load.plain("write", &plain, case.sync), None, None)?;
        make_memory_ready(folder.path(), load.bytes())?;
        let archive = self.add("archive", &case, &load.clients("archive"), Some(store), Some(&limit))?;
        if self.args.transactions {
            make_memory_ready(folder.path(), load.bytes())?;
            let steps = load.clients("archive").into_iter().map(|line| with(line, ["atomic"]));
            let store = Store { root: &atomic, sync: case.sync };
            let steps: Vec<Line> = steps.collect();
            self.add("archive, transactions, of archive", &case, &steps, Some(store), Some(&archive))?;
            fs::remove_dir_all(&atomic).map_err(Error::io("remove", &atomic))?;
        }
        let limit = self.add("plain read", &case, &load.plain("read", &plain, false), None, None)?;
        self.add("retrieve", &case, &load.clients("retr1"), Some(store), Some(&limit))?;
        self.add("retrieve, one request", &case, &load.clients("bulk"), Some(store), Some(&limit))?;
        if procs == 1 {
            let null: Vec<Line> =
                load.clients("archive").into_iter().map(|line| with(line, ["null"])).collect();
            self.add("harness alone", &case, &null, None, None)?;
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
        let case = Case { place: machine::place(place), size: LISTED_SIZE, sync: false, repetition };
        let store = Some(Store { root: folder.path(), sync: false });
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
        store: Option<Store<'_>>,
        limit: Option<&Measurement>,
    ) -> Result<Measurement> {
        let total = team::run(lines, store)?;
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

/// What the processes of one measurement move.
#[derive(Debug, Clone, Copy)]
struct Load {
    size: usize,
    procs: usize,
    /// Steps of [`FIELDS_PER_STEP`] fields for each process.
    steps: u64,
}

impl Load {
    fn new(size: usize, procs: usize, quick: bool) -> Self {
        let fields = (BYTES / size.max(1) as u64).clamp(FIELDS_PER_STEP, FIELDS_MAX);
        let fields = if quick { fields / 10 } else { fields };
        Self { size, procs, steps: (fields / FIELDS_PER_STEP / procs.max(1) as u64).max(1) }
    }

    fn bytes(&self) -> u64 {
        self.procs as u64 * self.steps * FIELDS_PER_STEP * self.size as u64
    }

    /// Plain workers: the same bytes, one file per process, one sync per step.
    fn plain(&self, op: &str, folder: &Path, sync: bool) -> Vec<Line> {
        let sync_every = if sync { FIELDS_PER_STEP } else { 0 };
        let line = |number: usize| {
            let path = folder.join(number.to_string());
            let numbers = numbers_of([self.steps * FIELDS_PER_STEP, self.size as u64, sync_every]);
            words(["worker", op]).chain([path.into_os_string()]).chain(numbers).collect()
        };
        (0..self.procs).map(line).collect()
    }

    /// Clients: each process has a number of its own.
    fn clients(&self, op: &str) -> Vec<Line> {
        let line = |number: usize| {
            let numbers = numbers_of([self.size as u64, number as u64, 1, 0, self.steps]);
            words(["client", op]).chain(numbers).collect()
        };
        (1..=self.procs).map(line).collect()
    }
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = OsString> {
    words.into_iter().map(OsString::from).collect::<Vec<_>>().into_iter()
}

fn numbers_of<const N: usize>(numbers: [u64; N]) -> impl Iterator<Item = OsString> {
    numbers.into_iter().map(|number| number.to_string().into())
}

fn with<'a>(mut line: Line, more: impl IntoIterator<Item = &'a str>) -> Line {
    line.extend(words(more));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &Line) -> String {
        line.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn a_figure_and_its_limit_move_the_same_bytes_with_the_same_syncs() {
        let load = Load::new(1 << 20, 4, false);
        let plain = load.plain("write", Path::new("/data"), true);
        let clients = load.clients("archive");
        assert_eq!((plain.len(), clients.len()), (4, 4));
        assert_eq!(text(&plain[3]), "worker write /data/3 200 1048576 100");
        assert_eq!(text(&clients[3]), "client archive 1048576 4 1 0 2");
    }

    #[test]
    fn every_process_has_a_step_however_large_its_fields_are() {
        assert_eq!(Load::new(1 << 30, 16, true).steps, 1);
        assert_eq!(Load::new(4096, 1, false).steps, 1000);
    }
}
