//! Peers: ECMWF's FDB, Isotach and plain writes and reads on the same fields, with the same flushes and the same durability,
//! in the same run.
//!
//! What must stay true: a repetition measures all peers before the next begins, each beside a limit of its own right
//! before it; the order of the peers changes from repetition to repetition. What a peer cannot do is on record, and the
//! others continue.

mod cold;
mod fdb;
mod figure;
mod hammer;
mod setup;
mod table;

use std::{
    env, fs,
    io::{Write, stderr},
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;
use isotach_object::Registry;
use serde::Serialize;
use serde_json::{Map, Value, json};

pub(crate) use self::fdb::{Fdb, Library};

use self::{
    figure::{LIST, MEMORY_COPY, labels_of},
    hammer::{Action, FdbHammer},
    setup::{Installation, Libraries, Setting, settings_of_fdb, settings_of_isotach},
};
use crate::{
    Error, Result,
    harness::{
        folders::{self, create_folders, prepare_memory},
        launcher::{Host, Launcher, Task, this_program},
        machine::Machine,
        measurement::{Case, Measurement, Peer},
        output::{self, print_line},
        parse::process_count,
        study::{Location, Record},
        usage::Total,
    },
    workloads::{
        client::{ClientArgs, ClientMode, ClientOp, field_size},
        load::{Load, client_tasks, plain_tasks, store},
        plain::{Plain, PlainOp},
    },
};

/// Options of `peers`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PeersArgs {
    /// Folders to measure in: each gets a temporary folder of its own [default: /dev/shm and the current folder]
    #[arg(long = "where", value_name = "FOLDER", value_delimiter = ',')]
    places: Vec<PathBuf>,
    /// Sizes of fields, in bytes
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20, 4096], value_parser = field_size)]
    sizes: Vec<usize>,
    /// Numbers of processes
    #[arg(short = 'n', long = "processes", value_name = "COUNT", value_delimiter = ',', default_values_t = [1, 4], value_parser = process_count)]
    processes: Vec<usize>,
    /// Repetitions of each figure; medians are shown
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// The folder of Python packages with fdb5lib [default: that of the active environment, else the system's FDB]
    #[arg(long, value_name = "FOLDER")]
    fdb: Option<PathBuf>,
    /// ECMWF's fdb-hammer, as of Debian's package fdb5, to run beside `bench hammer` [default: the one on PATH, if any]
    #[arg(long, value_name = "PROGRAM")]
    fdb_hammer: Option<PathBuf>,
    /// Another build of this program, to measure in the same run, as before and after a change. With --cold one that has --cold itself
    #[arg(long, value_name = "PROGRAM")]
    before: Option<PathBuf>,
    /// Isotach and the limit alone
    #[arg(long, conflicts_with_all = ["fdb", "fdb_hammer"])]
    without_fdb: bool,
    /// Retrieve with nothing in the page cache, in place of all rows but archive: all fields, every tenth of them, and all from the last to
    /// the first. In folders on a device [default: the current folder]
    #[arg(long, conflicts_with = "fdb_hammer")]
    cold: bool,
    /// A tenth of the fields: for a trial, not for figures to quote
    #[arg(long)]
    quick: bool,
    /// The folder for the record of the run, for `isotach report`; it must not exist [default: bench-peers-TIME]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// One JSON object per line for each measurement, instead of a table
    #[arg(long)]
    json: bool,
}

/// The most fields that a hammer writes.
const HAMMERED_MAX: u64 = 2000;

pub(crate) fn run(args: &PeersArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let (mut libraries, mut hammer) = (None, None);
    if !args.without_fdb {
        libraries = Some(Libraries::find(args.fdb.as_deref())?);
        hammer = if args.cold { None } else { FdbHammer::find(args.fdb_hammer.as_deref())? };
    }
    let folders = places(args)?;
    let version = libraries.as_ref().map(|fdb| fdb.version.clone());
    let settings = settings(version.as_deref(), (!args.without_fdb && !args.cold).then_some(hammer.as_ref()));
    let mut record = Record::begin("peers", args.out.as_deref(), vec![Host::this()])?;
    record.update(|run| run.settings = settings.clone())?;
    let launcher = Launcher::local(this_program()?)?;
    let (all, problems) = (Vec::new(), Vec::new());
    let mut comparison =
        Comparison { args, registry, launcher, fdb: None, hammer, out, record, folders: 0, all, problems };
    let machine = Machine::this();
    if let Some(program) = &args.before {
        // A program that cannot be started is reported before anything is measured.
        Launcher::local(Command::new(program))?;
        if args.cold {
            cold::check_build(program)?;
        }
    }
    comparison
        .emit(&json!({ "what": "machine", "machine": machine, "fdb": version, "settings": settings }))?;
    comparison.try_hammer()?;
    match libraries {
        None => comparison.measure_folders(&folders)?,
        Some(libraries) => comparison.in_folder(&env::temp_dir(), |comparison, folder| {
            comparison.fdb = Some(Installation::create(libraries, folder)?);
            comparison.measure_folders(&folders)
        })?,
    }
    let Comparison { mut record, all, problems, out, .. } = comparison;
    if problems.is_empty() {
        record.end()?;
    }
    if !args.json {
        table::print(&record, &all, problems.len(), out).map_err(Error::Output)?;
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Incomplete { problems }) }
}

/// The folders to measure in.
fn places(args: &PeersArgs) -> Result<Vec<PathBuf>> {
    if !args.cold {
        return folders::given_or_default(&args.places);
    }
    let here = [PathBuf::from(".")];
    let folders = folders::given_or_default(if args.places.is_empty() { &here } else { &args.places })?;
    folders.iter().try_for_each(|folder| cold::check_device(folder))?;
    Ok(folders)
}

fn settings(fdb: Option<&str>, hammer: Option<Option<&FdbHammer>>) -> Map<String, Value> {
    let mut all = Map::from_iter([(Peer::Isotach.to_string(), settings_of_isotach())]);
    for (peer, setting) in [(Peer::Fdb, Setting::Default), (Peer::FdbTuned, Setting::Tuned)] {
        if let Some(version) = fdb {
            all.insert(peer.to_string(), settings_of_fdb(version, setting));
        }
    }
    let absent = || "none on PATH, so its rows are left out; --fdb-hammer names one".into();
    if let Some(hammer) = hammer {
        all.insert(Peer::FdbHammer.to_string(), hammer.map_or_else(absent, FdbHammer::settings));
    }
    all
}

/// Prints the version of the FDB that the loader finds.
pub(crate) fn print_version(out: &mut impl Write) -> Result<()> {
    print_line(&Library::load()?.version()?, out)
}

struct Comparison<'a, W> {
    args: &'a PeersArgs,
    registry: &'a Registry,
    launcher: Launcher,
    fdb: Option<Installation>,
    hammer: Option<FdbHammer>,
    out: &'a mut W,
    record: Record,
    /// The number of folders that were created, for their names.
    folders: u32,
    all: Vec<Measurement>,
    problems: Vec<String>,
}

impl<W: Write> Comparison<'_, W> {
    /// Runs fdb-hammer on one step before anything is measured, and leaves it out if it fails.
    fn try_hammer(&mut self) -> Result<()> {
        let Some(hammer) = self.hammer.take() else { return Ok(()) };
        let (folder, load) = (env::temp_dir(), Load { size: 4096, procs: 1, steps: 1 });
        let place = folders::title(&folder);
        let case = Case { place, size: load.size, sync: false, repetition: 1, procs: load.procs };
        match self.in_folder(&folder, |_, folder| hammer.run(Action::Write, folder, &load, false).map(drop)) {
            Ok(()) => self.hammer = Some(hammer),
            Err(error) => self.problem(Peer::FdbHammer, &case, &error)?,
        }
        Ok(())
    }

    fn measure_folders(&mut self, folders: &[PathBuf]) -> Result<()> {
        for repetition in 1..=self.args.repetitions {
            for folder in folders {
                for size in &self.args.sizes {
                    for processes in &self.args.processes {
                        self.measure_all(folder, *size, *processes, repetition)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Works in a new folder, which is on record as long as it exists.
    fn in_folder(&mut self, parent: &Path, work: impl FnOnce(&mut Self, &Path) -> Result<()>) -> Result<()> {
        self.folders += 1;
        let path = parent.join(format!("isotach-bench-{}-{}", std::process::id(), self.folders));
        let location = Location::Folder(path.clone());
        self.record.will_create(&location)?;
        location.create(self.registry)?;
        let outcome = work(self, &path);
        let removed = location.remove(self.registry).and_then(|_| self.record.has_removed(&location));
        // The failure of the work says more than the failure to remove its folder, which stays on record.
        outcome.and(removed)
    }

    /// Works in a new folder for one peer. Its failure does not keep the others from their work.
    fn attempt(
        &mut self,
        peer: Peer,
        parent: &Path,
        case: &Case,
        work: impl FnOnce(&mut Self, &Path) -> Result<()>,
    ) -> Result<()> {
        match self.in_folder(parent, work) {
            Err(Error::Output(error)) => Err(Error::Output(error)),
            Err(error) => self.problem(peer, case, &error),
            Ok(()) => Ok(()),
        }
    }

    /// Records the failure of a peer.
    fn problem(&mut self, peer: Peer, case: &Case, error: &Error) -> Result<()> {
        let Case { place, size, repetition, procs, .. } = case;
        let what = format!("{peer}, {procs} x fields of {size} bytes in {place}: {error}");
        let number = self.record.add_case(labels_of(Some(peer), case, *procs));
        self.record.add_problem(number, repetition - 1, &what)?;
        let _ = writeln!(stderr(), "{what}");
        self.problems.push(what);
        Ok(())
    }

    /// Measures all peers on fields of one size.
    fn measure_all(&mut self, parent: &Path, size: usize, procs: usize, repetition: u32) -> Result<()> {
        let mut order = vec![Peer::Isotach];
        order.extend(self.args.before.as_ref().map(|_| Peer::Before));
        if self.fdb.is_some() {
            order.extend([Peer::FdbTuned, Peer::Fdb]);
        }
        let first = repetition as usize % order.len();
        order.rotate_left(first);
        let sync = !folders::is_memory(parent);
        let case = Case { place: folders::title(parent), size, sync, repetition, procs };
        let load = Load::new(size, procs, self.args.quick);
        self.limit(MEMORY_COPY, &case, &load.plain(PlainOp::Copy, Path::new("memory"), false))?;
        for peer in order {
            self.attempt(peer, parent, &case, |this, folder| this.measure(peer, folder, &case, &load))?;
        }
        if self.hammer.is_none() {
            return Ok(());
        }
        let mut order = [Peer::Isotach, Peer::FdbHammer];
        order.rotate_left(repetition as usize % 2);
        order.into_iter().try_for_each(|peer| {
            self.attempt(peer, parent, &case, |this, folder| this.measure_hammer(peer, folder, &case, &load))
        })
    }

    /// Measures one peer: each operation right after its limit.
    fn measure(&mut self, peer: Peer, folder: &Path, case: &Case, load: &Load) -> Result<()> {
        let [plain, root] = create_folders(folder, ["plain", "store"])?;
        let mut clients = self.clients_of(peer, &root, case.sync)?;
        prepare_memory(folder, load.bytes())?;
        let write = self.limit("archive", case, &load.plain(PlainOp::Write, &plain, case.sync))?;
        prepare_memory(folder, load.bytes())?;
        self.one("archive", &mut clients, case, load.clients(ClientOp::Archive, 1), Some(&write))?;
        if self.args.cold {
            return self.measure_cold(&mut clients, case, load, folder, &plain);
        }
        for (what, op) in [("retrieve", ClientOp::Retr1), ("retrieve, one request", ClientOp::Bulk)] {
            let read = self.limit(what, case, &load.plain(PlainOp::Read, &plain, false))?;
            self.one(what, &mut clients, case, load.clients(op, 1), Some(&read))?;
        }
        self.one(LIST, &mut clients, case, vec![load.list()], None)?;
        self.measure_together(&mut clients, case, load, &plain)
    }

    fn clients_of(&self, peer: Peer, root: &Path, sync: bool) -> Result<Clients> {
        let setting = match peer {
            Peer::FdbTuned => Setting::Tuned,
            Peer::Fdb => Setting::Default,
            _ => {
                let other = self.args.before.as_ref().filter(|_| peer == Peer::Before);
                let launcher = other.map(|program| Launcher::local(Command::new(program))).transpose()?;
                return Ok(Clients { peer, launcher, mode: None, store: Some(store(root, sync)) });
            }
        };
        let command = self.fdb.as_ref().map(|fdb| fdb.command(setting, root, sync)).transpose()?;
        let launcher = command.map(Launcher::local).transpose()?;
        Ok(Clients { peer, launcher, mode: Some(ClientMode::Fdb), store: None })
    }

    /// Measures a hammer on fewer fields, because fdb-hammer takes a millisecond for each.
    fn measure_hammer(&mut self, peer: Peer, folder: &Path, case: &Case, load: &Load) -> Result<()> {
        let load = load.at_most(HAMMERED_MAX);
        let [plain] = create_folders(folder, ["plain"])?;
        let actions = [(Action::Write, PlainOp::Write, case.sync), (Action::Read, PlainOp::Read, false)];
        for (action, op, sync) in actions {
            let written = if action == Action::Write { load.bytes() } else { 0 };
            prepare_memory(folder, written)?;
            let limit = self.limit(action.what(), case, &load.plain(op, &plain, sync))?;
            prepare_memory(folder, written)?;
            let total = match (peer, &self.hammer) {
                (Peer::FdbHammer, Some(hammer)) => hammer.run(action, folder, &load, case.sync)?,
                _ => hammer::hammer(action, folder, &load, case.sync)?,
            };
            self.add(action.what(), peer, case, &total, Some(&limit))?;
        }
        Ok(())
    }

    /// Measures readers of existing fields beside as many writers of new ones.
    fn measure_together(
        &mut self,
        clients: &mut Clients,
        case: &Case,
        load: &Load,
        plain: &Path,
    ) -> Result<()> {
        let pairs = (load.procs / 2).max(1);
        let [beside] = create_folders(plain, ["beside"])?;
        let repeated = |plain| Plain { repeats: true, ..plain };
        let reads =
            load.plain(PlainOp::Read, plain, false).into_iter().take(pairs).map(repeated).collect::<Vec<_>>();
        let writes = &load.plain(PlainOp::Write, &beside, case.sync)[..pairs];
        prepare_memory(&beside, load.bytes())?;
        let [write, read] = run_beside(&mut self.launcher, plain_tasks(writes)?, plain_tasks(&reads)?)?;
        let write = self.add("archive beside readers", Peer::Limit, case, &write, None)?;
        let read = self.add("retrieve beside writers", Peer::Limit, case, &read, None)?;
        // This frees memory. On a device with discard the first sync would wait for it.
        if !case.sync {
            fs::remove_dir_all(&beside).map_err(Error::io("remove", &beside))?;
        }
        prepare_memory(plain, load.bytes())?;
        let writers =
            load.clients(ClientOp::Archive, 1 + load.procs as u32).into_iter().take(pairs).collect();
        let repeated = |client| ClientArgs { modes: vec![ClientMode::Loop], ..client };
        let readers = load.clients(ClientOp::Retr1, 1).into_iter().take(pairs).map(repeated).collect();
        let (writers, readers) = (clients.tasks(writers)?, clients.tasks(readers)?);
        let launcher = clients.launcher.as_mut().unwrap_or(&mut self.launcher);
        let [archived, retrieved] = run_beside(launcher, writers, readers)?;
        self.add("archive beside readers", clients.peer, case, &archived, Some(&write))?;
        self.add("retrieve beside writers", clients.peer, case, &retrieved, Some(&read))?;
        Ok(())
    }

    fn limit(&mut self, what: &'static str, case: &Case, all: &[Plain]) -> Result<Measurement> {
        let total = self.launcher.total(plain_tasks(all)?)?;
        self.add(what, Peer::Limit, case, &total, None)
    }

    fn one(
        &mut self,
        what: &'static str,
        clients: &mut Clients,
        case: &Case,
        all: Vec<ClientArgs>,
        limit: Option<&Measurement>,
    ) -> Result<Measurement> {
        let tasks = clients.tasks(all)?;
        let total = clients.launcher.as_mut().unwrap_or(&mut self.launcher).total(tasks)?;
        self.add(what, clients.peer, case, &total, limit)
    }

    fn add(
        &mut self,
        what: &'static str,
        peer: Peer,
        case: &Case,
        total: &Total,
        limit: Option<&Measurement>,
    ) -> Result<Measurement> {
        let measured = Measurement { peer: Some(peer), ..Measurement::new(what, case, total, limit) };
        self.emit(&measured)?;
        figure::add(&measured, &mut self.record)?;
        if !self.args.json {
            let _ = writeln!(stderr(), "{peer}: {}", measured.progress(self.args.repetitions));
        }
        self.all.push(measured.clone());
        Ok(measured)
    }

    fn emit(&mut self, value: &impl Serialize) -> Result<()> {
        if self.args.json { print_line(&output::json(value)?, self.out) } else { Ok(()) }
    }
}

struct Clients {
    peer: Peer,
    /// That of a peer whose program or environment is its own.
    launcher: Option<Launcher>,
    mode: Option<ClientMode>,
    store: Option<String>,
}

impl Clients {
    fn tasks(&self, all: Vec<ClientArgs>) -> Result<Vec<Task>> {
        client_tasks(all, self.mode.as_slice(), self.store.as_deref())
    }
}

/// Runs processes together with others that work until these have finished.
fn run_beside(launcher: &mut Launcher, tasks: Vec<Task>, others: Vec<Task>) -> Result<[Total; 2]> {
    let count = tasks.len();
    let all = launcher.measure(tasks.into_iter().chain(others).map(|task| (task, None)).collect())?;
    let (own, others) = all.split_at(count);
    Ok([own, others].map(Total::of))
}
