//! Peers: ECMWF's FDB, Isotach and plain writes and reads on the same fields, with the same rhythm of flushes and the same
//! durability, in the same run.
//!
//! What must stay true: a repetition measures all of them before the next begins, each beside a limit of its own that is
//! measured right before; who comes first changes from repetition to repetition. What one cannot do is put on record, and
//! the others go on.

mod fdb;
mod hammer;
mod setup;
mod table;

use std::{
    env, fmt, fs,
    io::{Write, stderr},
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_object::Registry;
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use self::{
    fdb::{Fdb, Library},
    setup::without_foreign,
};

use self::hammer::{Act, FdbHammer};
use self::setup::{Installation, Libraries, Setting, settings_of_fdb, settings_of_isotach};
use crate::{
    Error, Result,
    args::{field_size, process_count},
    harness::{
        launcher::Host,
        load::{Load, make_memory_ready, with},
        machine::{self, Machine},
        metrics::Figures,
        results::{Case, Measurement},
        study::{Extras, Place, Record, ResultRecord, beside_limit},
        team::{self, Line, On, Store, Total},
    },
    report::table::progress,
    workloads::suite::places,
};

/// Options of `peers`.
#[derive(Debug, Clone, Args)]
pub struct PeersArgs {
    /// Folders to measure in: each gets a temporary folder of its own [default: /dev/shm and the current folder]
    #[arg(long = "where", value_name = "FOLDER", value_delimiter = ',')]
    places: Vec<PathBuf>,
    /// Sizes of fields, in bytes
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20, 4096], value_parser = field_size)]
    sizes: Vec<usize>,
    /// Numbers of processes
    #[arg(short = 'n', long = "processes", value_name = "COUNT", value_delimiter = ',', default_values_t = [1, 4], value_parser = process_count)]
    processes: Vec<usize>,
    /// How often each figure is measured; medians are shown
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// The folder of Python packages with fdb5lib [default: that of the active environment, else the system's FDB]
    #[arg(long, value_name = "FOLDER")]
    fdb: Option<PathBuf>,
    /// ECMWF's fdb-hammer, as of Debian's package fdb5, to run beside `bench hammer` [default: the one on PATH, if there is one]
    #[arg(long, value_name = "PROGRAM")]
    fdb_hammer: Option<PathBuf>,
    /// Isotach and the limit alone
    #[arg(long, conflicts_with_all = ["fdb", "fdb_hammer"])]
    without_fdb: bool,
    /// A tenth of the fields: to try it out, not to quote
    #[arg(long)]
    quick: bool,
    /// The folder for the record of the run, for `isotach report`; it must not be there [default: bench-peers-TIME]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// One JSON object per line for each measurement, instead of a table
    #[arg(long)]
    json: bool,
}

/// What listing is called.
pub(super) const LIST: &str = "list";
/// What copies in memory are called.
const MEMORY_COPY: &str = "memory copy";
/// Fields that a hammer writes, at most.
const HAMMERED_MAX: u64 = 2000;

/// Whose figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Who {
    Limit,
    Isotach,
    FdbTuned,
    Fdb,
    FdbHammer,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Limit => "limit",
            Self::Isotach => "Isotach",
            Self::FdbTuned => "FDB tuned",
            Self::Fdb => "FDB",
            Self::FdbHammer => "fdb-hammer",
        })
    }
}

/// A figure, and whose.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Figure {
    peer: Who,
    #[serde(flatten)]
    measured: Measurement,
}

/// Runs the comparison.
pub(crate) fn run(args: &PeersArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let libraries = match args.without_fdb {
        true => None,
        false => Some(Libraries::find(args.fdb.as_deref())?),
    };
    let hammer = if args.without_fdb { None } else { FdbHammer::find(args.fdb_hammer.as_deref())? };
    let places = places(&args.places)?;
    let version = libraries.as_ref().map(|fdb| fdb.version.clone());
    let settings = settings(version.as_deref(), (!args.without_fdb).then_some(hammer.as_ref()));
    let mut record = Record::begin("peers", args.out.as_deref(), vec![Host::this()])?;
    record.set(settings.clone())?;
    let machine = Machine::this();
    let (all, problems) = (Vec::new(), Vec::new());
    let mut contest = Contest { args, registry, fdb: None, hammer, out, record, folders: 0, all, problems };
    contest.emit(
        &serde_json::json!({ "what": "machine", "machine": machine, "fdb": version, "settings": settings }),
    )?;
    contest.try_hammer()?;
    match libraries {
        None => contest.go_through(&places)?,
        Some(libraries) => contest.in_folder(&env::temp_dir(), |contest, folder| {
            contest.fdb = Some(Installation::make(libraries, folder)?);
            contest.go_through(&places)
        })?,
    }
    let Contest { mut record, all, problems, out, .. } = contest;
    if problems.is_empty() {
        record.end()?;
    }
    if !args.json {
        let shown = table::Shown { machine: &machine, record: &record, settings: &settings, all: &all };
        shown.print(problems.len(), out).map_err(Error::Output)?;
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Incomplete { problems }) }
}

/// Of each that is compared, all that it is told.
fn settings(fdb: Option<&str>, hammer: Option<Option<&FdbHammer>>) -> Map<String, Value> {
    let mut all = Map::from_iter([(Who::Isotach.to_string(), settings_of_isotach())]);
    for (who, setting) in [(Who::Fdb, Setting::Default), (Who::FdbTuned, Setting::Tuned)] {
        if let Some(version) = fdb {
            all.insert(who.to_string(), settings_of_fdb(version, setting));
        }
    }
    let absent = || "none on PATH, so its rows are left out; --fdb-hammer names one".into();
    if let Some(hammer) = hammer {
        all.insert(Who::FdbHammer.to_string(), hammer.map_or_else(absent, FdbHammer::settings));
    }
    all
}

/// Prints the version of the FDB that the loader finds.
pub(crate) fn print_version(out: &mut impl Write) -> Result<()> {
    let version = Library::load()?.version()?;
    writeln!(out, "{version}").map_err(Error::Output)
}

struct Contest<'a, W> {
    args: &'a PeersArgs,
    registry: &'a Registry,
    fdb: Option<Installation>,
    hammer: Option<FdbHammer>,
    out: &'a mut W,
    record: Record,
    /// How many folders it has made, each with a name of its own.
    folders: u32,
    all: Vec<Figure>,
    /// What could not be done.
    problems: Vec<String>,
}

impl<W: Write> Contest<'_, W> {
    /// Lets fdb-hammer write one step, so that one that cannot work is known before anything is measured, and left out.
    fn try_hammer(&mut self) -> Result<()> {
        let Some(hammer) = self.hammer.take() else { return Ok(()) };
        let (folder, load) = (env::temp_dir(), Load { size: 4096, procs: 1, steps: 1 });
        let place = machine::place(&folder);
        let case = Case { place, size: load.size, sync: false, repetition: 1, procs: load.procs };
        match self.in_folder(&folder, |_, folder| hammer.run(Act::Write, folder, &load, false).map(drop)) {
            Ok(()) => self.hammer = Some(hammer),
            Err(error) => self.problem(Who::FdbHammer, &case, &error)?,
        }
        Ok(())
    }

    fn go_through(&mut self, places: &[PathBuf]) -> Result<()> {
        for repetition in 1..=self.args.repetitions {
            for place in places {
                for size in &self.args.sizes {
                    for processes in &self.args.processes {
                        self.measure_all(place, *size, *processes, repetition)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Works in a new folder, which is on record while it is there.
    fn in_folder(&mut self, parent: &Path, work: impl FnOnce(&mut Self, &Path) -> Result<()>) -> Result<()> {
        self.folders += 1;
        let path = parent.join(format!("isotach-bench-{}-{}", std::process::id(), self.folders));
        let place = Place::Folder(path.clone());
        self.record.will_make(&place)?;
        place.make(self.registry)?;
        let outcome = work(self, &path);
        let removed = place.remove(self.registry).and_then(|_| self.record.has_removed(&place));
        // Why the work failed says more than that its folder, which is still on record, cannot be removed.
        outcome.and(removed)
    }

    /// Works in a new folder for one of them; that it cannot does not keep the others from it.
    fn attempt(
        &mut self,
        who: Who,
        place: &Path,
        case: &Case,
        work: impl FnOnce(&mut Self, &Path) -> Result<()>,
    ) -> Result<()> {
        match self.in_folder(place, work) {
            Err(Error::Output(error)) => Err(Error::Output(error)),
            Err(error) => self.problem(who, case, &error),
            Ok(()) => Ok(()),
        }
    }

    /// Puts on record what one of them could not do.
    fn problem(&mut self, who: Who, case: &Case, error: &Error) -> Result<()> {
        let Case { place, size, sync, repetition, procs } = case;
        let what = format!("{who}, {procs} x fields of {size} bytes in {place}: {error}");
        let labels = Labels { who, place, size: *size, sync: *sync, at_work: *procs, archived_by: *procs };
        let number = self.record.enter(labels.map());
        self.record.problem(number, repetition - 1, &what)?;
        // Whoever looks on need not wait for the end to know.
        let _ = writeln!(stderr(), "{what}");
        self.problems.push(what);
        Ok(())
    }

    /// All of them on fields of one size.
    fn measure_all(&mut self, place: &Path, size: usize, processes: usize, repetition: u32) -> Result<()> {
        let mut order = vec![Who::Isotach];
        if self.fdb.is_some() {
            order.extend([Who::FdbTuned, Who::Fdb]);
        }
        let first = repetition as usize % order.len();
        order.rotate_left(first);
        let sync = !machine::is_memory(place);
        let case = Case { place: machine::place(place), size, sync, repetition, procs: processes };
        let load = Load::new(size, processes, self.args.quick);
        self.limit(MEMORY_COPY, &case, &load.plain("copy", Path::new("memory"), false))?;
        order.into_iter().try_for_each(|who| {
            self.attempt(who, place, &case, |contest, folder| contest.measure(who, folder, &case, &load))
        })?;
        if self.hammer.is_none() {
            return Ok(());
        }
        let mut order = [Who::Isotach, Who::FdbHammer];
        order.rotate_left(repetition as usize % 2);
        order.into_iter().try_for_each(|who| {
            self.attempt(who, place, &case, |contest, folder| {
                contest.measure_hammer(who, folder, &case, &load)
            })
        })
    }

    /// One of them: each operation right after its limit.
    fn measure(&mut self, who: Who, folder: &Path, case: &Case, load: &Load) -> Result<()> {
        let [plain, root] = ["plain", "store"].map(|name| folder.join(name));
        for folder in [&plain, &root] {
            fs::create_dir(folder).map_err(Error::io("make", folder))?;
        }
        let peer = match (who, &self.fdb) {
            (Who::FdbTuned, Some(fdb)) => Some(fdb.at(Setting::Tuned, &root, case.sync)?),
            (Who::Fdb, Some(fdb)) => Some(fdb.at(Setting::Default, &root, case.sync)?),
            _ => None,
        };
        let on = match &peer {
            Some(peer) => On::Peer(peer),
            None => On::Store(Store { root: &root, sync: case.sync }),
        };
        let of_peer = |line: Line| if peer.is_some() { with(line, ["fdb"]) } else { line };
        let clients = |op: &str| -> Vec<Line> { load.clients(op).into_iter().map(of_peer).collect() };
        make_memory_ready(folder, load.bytes())?;
        let write = self.limit("archive", case, &load.plain("write", &plain, case.sync))?;
        make_memory_ready(folder, load.bytes())?;
        self.one("archive", who, case, &clients("archive"), on, Some(&write))?;
        let read = self.limit("retrieve", case, &load.plain("read", &plain, false))?;
        self.one("retrieve", who, case, &clients("retr1"), on, Some(&read))?;
        let read = self.limit("retrieve, one request", case, &load.plain("read", &plain, false))?;
        self.one("retrieve, one request", who, case, &clients("bulk"), on, Some(&read))?;
        self.one(LIST, who, case, &[of_peer(load.list())], on, None)?;
        self.measure_together(who, case, load, &plain, on)
    }

    /// One of the hammers, on fewer fields: fdb-hammer takes a millisecond for each.
    fn measure_hammer(&mut self, who: Who, folder: &Path, case: &Case, load: &Load) -> Result<()> {
        let load = load.at_most(HAMMERED_MAX);
        let plain = folder.join("plain");
        fs::create_dir(&plain).map_err(Error::io("make", &plain))?;
        for (act, op, sync) in [(Act::Write, "write", case.sync), (Act::Read, "read", false)] {
            let written = if act == Act::Write { load.bytes() } else { 0 };
            make_memory_ready(folder, written)?;
            let limit = self.limit(act.what(), case, &load.plain(op, &plain, sync))?;
            make_memory_ready(folder, written)?;
            let total = match (who, &self.hammer) {
                (Who::FdbHammer, Some(hammer)) => hammer.run(act, folder, &load, case.sync)?,
                _ => hammer::hammer(act, folder, &load, case.sync)?,
            };
            self.add(act.what(), who, case, &total, Some(&limit))?;
        }
        Ok(())
    }

    /// Readers of what is there beside as many writers of more.
    fn measure_together(
        &mut self,
        who: Who,
        case: &Case,
        load: &Load,
        plain: &Path,
        on: On<'_>,
    ) -> Result<()> {
        let pairs = (load.procs / 2).max(1);
        let is_fdb = matches!(on, On::Peer(_));
        let of_peer = |line: Line| if is_fdb { with(line, ["fdb"]) } else { line };
        let writers: Vec<Line> = load.more_clients("archive").into_iter().take(pairs).map(of_peer).collect();
        let readers: Vec<Line> =
            load.clients("retr1").into_iter().take(pairs).map(|line| of_peer(with(line, ["loop"]))).collect();
        let beside = plain.join("beside");
        fs::create_dir(&beside).map_err(Error::io("make", &beside))?;
        let plain_writers = load.plain("write", &beside, case.sync);
        let plain_readers: Vec<Line> =
            load.plain("read", plain, false).into_iter().map(|line| with(line, ["--loop"])).collect();
        make_memory_ready(&beside, load.bytes())?;
        let (write, read) = team::run_beside(&plain_writers[..pairs], &plain_readers[..pairs], On::Nothing)?;
        let write = self.add("archive beside readers", Who::Limit, case, &write, None)?;
        let read = self.add("retrieve beside writers", Who::Limit, case, &read, None)?;
        // In memory it makes room. On a device that is told of what is freed, the first sync would wait for that.
        if !case.sync {
            fs::remove_dir_all(&beside).map_err(Error::io("remove", &beside))?;
        }
        make_memory_ready(plain, load.bytes())?;
        let (archived, retrieved) = team::run_beside(&writers, &readers, on)?;
        self.add("archive beside readers", who, case, &archived, Some(&write))?;
        self.add("retrieve beside writers", who, case, &retrieved, Some(&read))?;
        Ok(())
    }

    fn limit(&mut self, what: &'static str, case: &Case, lines: &[Line]) -> Result<Measurement> {
        self.one(what, Who::Limit, case, lines, On::Nothing, None)
    }

    fn one(
        &mut self,
        what: &'static str,
        peer: Who,
        case: &Case,
        lines: &[Line],
        on: On<'_>,
        limit: Option<&Measurement>,
    ) -> Result<Measurement> {
        self.add(what, peer, case, &team::run(lines, on)?, limit)
    }

    fn add(
        &mut self,
        what: &'static str,
        peer: Who,
        case: &Case,
        total: &Total,
        limit: Option<&Measurement>,
    ) -> Result<Measurement> {
        let measured = Measurement::new(what, case, total, limit);
        let figure = Figure { peer, measured: measured.clone() };
        self.emit(&figure)?;
        self.keep(&figure, total)?;
        if !self.args.json {
            // Progress is only for whoever looks on.
            let _ = writeln!(stderr(), "{peer}: {}", progress(&measured, self.args.repetitions));
        }
        self.all.push(figure);
        Ok(measured)
    }

    fn keep(&mut self, figure: &Figure, total: &Total) -> Result<()> {
        let record = &mut self.record;
        let Figure { peer, measured } = figure;
        let labels = Labels {
            who: *peer,
            place: &measured.place,
            size: measured.size,
            sync: measured.sync,
            at_work: measured.procs * if is_beside(measured) { 2 } else { 1 },
            archived_by: measured.archived_by,
        };
        let case = record.enter(labels.map());
        let (repetition, phase) = (measured.repetition - 1, measured.what.to_owned());
        let (mut figures, mut extras) = (Figures::of_total(total), Extras::default());
        if measured.what == LIST {
            // Fields are counted; none of their bytes is moved.
            (figures.bytes, figures.global_timing_bandwidth, figures.synchronous_bandwidth) = (0, 0.0, 0.0);
            extras.listed_per_s = Some(measured.fields_per_s);
        }
        let more = more_of(measured);
        record.add(ResultRecord { case, repetition, phase, figures, iterations: Vec::new(), extras, more })
    }

    fn emit(&mut self, what: &impl Serialize) -> Result<()> {
        if !self.args.json {
            return Ok(());
        }
        let line =
            serde_json::to_string(what).map_err(std::io::Error::from).map_err(Error::pipe("encode"))?;
        writeln!(self.out, "{line}").map_err(Error::Output)
    }
}

/// Whether it is one half of readers beside as many writers.
fn is_beside(measured: &Measurement) -> bool {
    measured.what.contains(" beside ")
}

/// What tells a case of the record from others.
struct Labels<'l> {
    who: Who,
    place: &'l str,
    size: usize,
    sync: bool,
    /// Processes that work at the same time, whatever they do.
    at_work: usize,
    archived_by: usize,
}

impl Labels<'_> {
    fn map(&self) -> Map<String, Value> {
        let all = [
            ("size", Value::from(self.size)),
            ("store", self.place.into()),
            ("sync", self.sync.into()),
            ("nodes", 1.into()),
            ("processes_per_node", self.at_work.into()),
        ];
        let others = (self.archived_by != self.at_work).then(|| ("archived_by", self.archived_by.into()));
        let who = match self.who {
            Who::Limit => Some(("limit", "plain".into())),
            Who::Isotach => None,
            Who::FdbTuned | Who::Fdb | Who::FdbHammer => Some(("peer", self.who.to_string().into())),
        };
        all.into_iter().chain(others).chain(who).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// What a record has of a figure besides: how it stands to the limit that was measured right before it.
fn more_of(measured: &Measurement) -> Map<String, Value> {
    let figures = [
        ("fields_per_s", Some(measured.fields_per_s.into())),
        ("lifetime_s", measured.lifetime_s.map(Value::from)),
    ];
    let figures = figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let limit = measured.limit_mib_per_s.zip(measured.is_limit_overlap_poor);
    let limit = limit.map(|(limit, is_poor)| beside_limit(measured.mib_per_s, limit, is_poor));
    figures.chain(limit.into_iter().flatten()).collect()
}
