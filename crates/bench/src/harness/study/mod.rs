//! A study: cases of a workload, each with several numbers of processes in several places, repeated, recorded and shown.
//!
//! What must stay true: a pool is made for one repetition and destroyed after it, and is on record from before it is made,
//! so that an interrupted study leaves nothing that `bench clean` does not find; one that is kept stays on record. What was measured is kept, whatever fails
//! later.

mod extras;
mod extras_table;
mod limit;
mod place;
mod record;
mod stores;
mod table;

use std::{
    io::{self, IsTerminal, Write, stderr},
    path::{Path, PathBuf},
};

use clap::Args;
use isotach_object::{Pool, PoolUri, Registry};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Error, Result,
    args::process_count,
    harness::{
        events::{EventsFile, Part, Placed},
        launcher::{Cast, Host, Places, Played, PlayedPhase},
        load::make_memory_ready,
        metrics::{self, Together},
    },
};
pub(crate) use extras::Extras;
pub(crate) use limit::{IS_POOR as IS_LIMIT_POOR, LIMIT, LIMIT_ERROR, beside as beside_limit};
pub(crate) use place::Place;
pub(crate) use record::{
    CaseRecord, Cleaned, Description, Record, ResultRecord, clean, events_path, text_of,
};
pub(crate) use table::{
    common as common_labels, print as print_table, said as said_labels, write as write_table,
};

use self::{limit::Limit, stores::Store};

/// Where a study measures, and where its record goes.
#[derive(Debug, Clone, Args, Serialize)]
pub struct SiteArgs {
    /// Pools to measure in, as URIs of any engine: each must not exist, is made for each repetition and removed after it
    /// [default: a new folder in /dev/shm and one in the current folder]
    #[arg(long = "pool", value_name = "URI", value_delimiter = ',')]
    pub(crate) pools: Vec<String>,
    /// Nodes to run on [default: this one]. This program must be there under the same path
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// How nodes are started: ssh, srun, mpirun, or a command line in which {host} stands for the host
    #[arg(long, value_name = "LAUNCHER", default_value = "ssh", requires = "hosts")]
    pub(crate) launcher: String,
    /// Servers that the pool is on, for the report: its bandwidth is shown by them
    #[arg(long, value_name = "COUNT", value_parser = process_count)]
    pub(crate) servers: Option<usize>,
    /// The folder for the record of the run: run.json and events/, which must not be there [default: bench-WORKLOAD-TIME]
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip)]
    pub(crate) out: Option<PathBuf>,
}

/// What the studies of a workload have in common.
#[derive(Debug, Clone, Args)]
pub struct StudyArgs {
    /// Where
    #[command(flatten)]
    pub(crate) site: SiteArgs,
    /// Processes on each node
    #[arg(short = 'n', long = "processes", value_name = "COUNT", value_delimiter = ',', default_values_t = [4], value_parser = process_count)]
    pub(crate) processes: Vec<usize>,
    /// How often each case is measured: all cases once before any of them again
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repetitions: u32,
    /// One JSON object per line for each result, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

impl StudyArgs {
    /// How many processes there are on all nodes together, one value after the other.
    pub(crate) fn totals(&self) -> impl Iterator<Item = usize> {
        let nodes = self.site.hosts.len().max(1);
        self.processes.iter().map(move |count| count * nodes)
    }

    /// That there are two halves, for something that needs them.
    pub(crate) fn check_halves(&self, what: &str) -> Result<()> {
        match self.totals().find(|count| count % 2 == 1) {
            Some(count) => Err(Error::invalid(
                format!("{count} processes, of which half write and half read ({what})"),
                "an even number of processes",
            )),
            None => Ok(()),
        }
    }
}

/// What is measured, whatever the place and the number of processes.
pub(crate) struct Case<P> {
    /// What tells it from others.
    pub(crate) labels: Map<String, Value>,
    /// What its processes do: each play with processes of its own.
    pub(crate) plays: Vec<P>,
    /// How many bytes so many processes write in a play.
    pub(crate) bytes: fn(&P, u64) -> u64,
    /// Operations of a process between two flushes, if the limit is to be measured beside it.
    pub(crate) flush_every: Option<u64>,
}

impl<P> Case<P> {
    fn bytes(&self, seats: Seats) -> u64 {
        let processes = (seats.nodes * seats.processes) as u64;
        self.plays.iter().fold(0, |sum, play| sum.saturating_add((self.bytes)(play, processes)))
    }
}

/// A study that is going on.
pub(crate) struct Study<'s> {
    site: &'s SiteArgs,
    registry: &'s Registry,
    stores: Vec<Store>,
    /// Those that it has made for its stores, and removes at its end.
    folders: Vec<Place>,
    cast: Cast,
    record: Record,
    /// What becomes of pools.
    pub(crate) custody: Custody,
    /// Whether the figures of each iteration are told, too.
    pub(crate) tells_iterations: bool,
    /// Whether it shows what it is at, on a terminal.
    pub(crate) shows: bool,
}

/// What becomes of the pools, or folders, that a study measures in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Custody {
    /// Each is made for a repetition and removed after it.
    #[default]
    Remove,
    /// Each is made, and stays where it is.
    Keep,
    /// Each must be there, and stays.
    Existing,
}

impl<'s> Study<'s> {
    pub(crate) fn begin(workload: &str, site: &'s SiteArgs, registry: &'s Registry) -> Result<Self> {
        Self::with(site, registry, |hosts| Record::begin(workload, site.out.as_deref(), hosts))
    }

    fn with(
        site: &'s SiteArgs,
        registry: &'s Registry,
        record: impl FnOnce(Vec<Host>) -> Result<Record>,
    ) -> Result<Self> {
        let stores = stores::named(&site.pools, registry)?;
        let cast = Cast::start(&Places { hosts: site.hosts.clone(), launcher: site.launcher.clone() })?;
        let record = record(cast.hosts())?;
        let (custody, shows) = (Custody::default(), stderr().is_terminal());
        let (folders, tells_iterations) = (Vec::new(), false);
        let mut study =
            Self { site, registry, stores, folders, cast, record, custody, tells_iterations, shows };
        if study.stores.is_empty() {
            study.stores = stores::make(&mut study.record, registry, &mut study.folders)?;
        }
        Ok(study)
    }

    /// Begins one that can be gone on with, or goes on with the one that was interrupted in that folder, where everything is
    /// that was measured. That one must have been begun with the same options.
    pub(crate) fn resumable(
        workload: &str,
        site: &'s SiteArgs,
        registry: &'s Registry,
        options: Map<String, Value>,
        folder: Option<&Path>,
    ) -> Result<Self> {
        let Some(folder) = folder else {
            let mut study = Self::begin(workload, site, registry)?;
            study.record.keep_options(options)?;
            return Ok(study);
        };
        // Only once it is sure that it is the record of such a run, what that has left is removed.
        Self::with(site, registry, |hosts| {
            Record::resume(workload, folder, &hosts, &options)?;
            clean(folder, registry)?;
            Record::resume(workload, folder, &hosts, &options)
        })
    }

    /// Everything is measured.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.remove_folders()?;
        self.record.end()
    }

    fn remove_folders(&mut self) -> Result<()> {
        while let Some(folder) = self.folders.pop() {
            folder.remove(self.registry)?;
            self.record.has_removed(&folder)?;
        }
        Ok(())
    }

    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    /// Measures a case once in the first store, on the first so many nodes, unless these phases of it are on record; gives its number.
    pub(crate) fn once<P, T: Serialize>(
        &mut self,
        seats: Seats,
        repetition: u32,
        (case, phases): (&Case<P>, &[&str]),
        task: impl Fn(&P, &str) -> T,
        prepare: impl Fn(&dyn Pool) -> Result<()>,
    ) -> Result<u32> {
        let number = self.enter(0, seats, case);
        if self.record.has(number, repetition, phases) {
            return Ok(number);
        }
        self.record.forget(number, repetition);
        let title = self.record.title(number);
        let at = At::of(case, number, repetition, seats, &title);
        let place = Place::Pool(self.stores[0].uri.parse()?);
        let tasks: Vec<T> = case.plays.iter().map(|play| task(play, &place.to_string())).collect();
        self.measure(&place, &at, &tasks, &prepare)?;
        Ok(number)
    }

    /// Measures all cases, each once before any of them again, so that a machine that grows slower does so for all. `task`
    /// makes what the processes of a play are told of the pool; `prepare` makes in a new pool what
    /// must be there before.
    pub(crate) fn run<P, T: Serialize>(
        &mut self,
        args: &StudyArgs,
        cases: &[Case<P>],
        task: impl Fn(&P, &str) -> T,
        prepare: impl Fn(&dyn Pool) -> Result<()>,
    ) -> Result<()> {
        let task = |play: &P, pool: &Place| task(play, &pool.to_string());
        self.run_in(args, cases, |_, pool| Place::Pool(pool.clone()), task, prepare)
    }

    /// As [`Self::run`], in a place that depends on the first play and the pool.
    pub(crate) fn run_in<P, T: Serialize>(
        &mut self,
        args: &StudyArgs,
        cases: &[Case<P>],
        place: impl Fn(&P, &PoolUri) -> Place,
        task: impl Fn(&P, &Place) -> T,
        prepare: impl Fn(&dyn Pool) -> Result<()>,
    ) -> Result<()> {
        let all = self.stores.len() * args.processes.len() * cases.len() * args.repetitions as usize;
        let mut done = 0;
        for repetition in 0..args.repetitions {
            for store in 0..self.stores.len() {
                for processes in &args.processes {
                    let seats = Seats { nodes: self.record.nodes(), processes: *processes };
                    for case in cases {
                        done += 1;
                        let number = self.enter(store, seats, case);
                        let title = format!("{done}/{all} {}", self.record.title(number));
                        let at = At::of(case, number, repetition, seats, &title);
                        if let Some(first) = case.plays.first() {
                            let place = place(first, &self.stores[store].uri.parse()?);
                            let tasks: Vec<T> = case.plays.iter().map(|play| task(play, &place)).collect();
                            self.measure(&place, &at, &tasks, &prepare)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a case on record; gives its number.
    fn enter<P>(&mut self, store: usize, seats: Seats, case: &Case<P>) -> u32 {
        let mut labels = case.labels.clone();
        labels.insert("store".to_owned(), self.stores[store].name.clone().into());
        if let Some(servers) = self.site.servers {
            labels.insert("servers".to_owned(), servers.into());
        }
        labels.insert("nodes".to_owned(), seats.nodes.into());
        labels.insert("processes_per_node".to_owned(), seats.processes.into());
        self.record.enter(labels)
    }

    /// Measures a case once, in a place of its own, with its limit beside it.
    fn measure<T: Serialize>(
        &mut self,
        place: &Place,
        at: &At<'_>,
        tasks: &[T],
        prepare: &impl Fn(&dyn Pool) -> Result<()>,
    ) -> Result<()> {
        // What is on other machines is not at hand; and what others wrote may be on the device, where plain files are in memory.
        let is_comparable = self.site.hosts.is_empty() && self.custody != Custody::Existing;
        let flush_every = at.flush_every.filter(|_| is_comparable);
        let mut limit = flush_every.and_then(|flush_every| Limit::beside(place, flush_every));
        let outcome = self.measure_in(place, at, tasks, prepare, &mut limit);
        let removed = limit.map_or(Ok(()), |mut limit| limit.remove(&mut self.record, self.registry));
        outcome.and(removed)
    }

    fn measure_in<T: Serialize>(
        &mut self,
        place: &Place,
        at: &At<'_>,
        tasks: &[T],
        prepare: &impl Fn(&dyn Pool) -> Result<()>,
        limit: &mut Option<Limit>,
    ) -> Result<()> {
        match (place.is_there(self.registry)?, self.custody) {
            (true, Custody::Existing) => return self.play_all(at, tasks, limit),
            (false, Custody::Existing) => {
                return Err(Error::invalid(format!("{place} is not there"), "one that was written and kept"));
            }
            (true, _) => {
                return Err(Error::invalid(format!("{place} exists"), "one that can be made and removed"));
            }
            (false, _) => {}
        }
        let pool = self.record.make(place, self.registry)?;
        let prepared = pool.map_or(Ok(()), |pool| prepare(&*pool));
        let prepared = prepared.and_then(|()| match place.folder().filter(|_| self.site.hosts.is_empty()) {
            Some(folder) => make_memory_ready(folder, at.bytes),
            // Other machines have memory of their own.
            None => Ok(()),
        });
        let outcome = prepared.and_then(|()| self.play_all(at, tasks, limit));
        if self.custody == Custody::Keep {
            return outcome;
        }
        let removed = place.remove(self.registry).and_then(|_| self.record.has_removed(place));
        // Why a play failed says more than that its place cannot be removed, which is still on record.
        outcome.and(removed)
    }

    fn play_all<T: Serialize>(&mut self, at: &At<'_>, tasks: &[T], limit: &mut Option<Limit>) -> Result<()> {
        let shows = self.shows;
        let mut all = Vec::new();
        for task in tasks {
            let played = self.cast.play(at.seats.nodes, at.seats.processes, task, |phase| {
                if shows {
                    // Only for whoever looks on.
                    let _ = write!(stderr(), "\r\x1b[K{}: {phase}", at.title);
                }
            })?;
            self.keep(at, &played)?;
            if !played.problems.is_empty() {
                return Err(Error::Incomplete { problems: played.problems });
            }
            all.push(played);
        }
        // After all of it: plain files would take the place of the case's own in memory.
        if let Some(limit) = limit {
            for together in all.iter().flat_map(Played::together) {
                let record = (&mut self.record, self.registry);
                limit.measure(record, (at.case, at.repetition), &together)?;
            }
        }
        if shows {
            let _ = write!(stderr(), "\r\x1b[K");
        }
        Ok(())
    }

    /// Writes down what a play brought, and what figures follow from it.
    fn keep(&mut self, at: &At<'_>, played: &Played) -> Result<()> {
        for phase in &played.phases {
            self.keep_events(at, phase)?;
            let parts: Vec<&Part> = phase.all().collect();
            let at_once = played.phases.iter().filter(|other| other.go == phase.go);
            let all: Vec<&Part> = at_once.flat_map(PlayedPhase::all).collect();
            let together = Together { go: phase.go, parts: &all };
            if let Some(figures) = metrics::figures(&parts, together) {
                let extras = Extras::of(phase, played, &figures);
                let (case, repetition, phase) = (at.case, at.repetition, phase.name.clone());
                let iterations = if self.tells_iterations { metrics::iterations(&parts) } else { Vec::new() };
                self.record.add(ResultRecord {
                    case,
                    repetition,
                    phase,
                    figures,
                    iterations,
                    extras,
                    more: Map::new(),
                })?;
            }
        }
        played.problems.iter().try_for_each(|problem| self.record.problem(at.case, at.repetition, problem))
    }

    fn keep_events(&mut self, at: &At<'_>, phase: &PlayedPhase) -> Result<()> {
        let path = self.record.events(at.case, at.repetition, &phase.name);
        let mut file = EventsFile::create(&path)?;
        for (node, process, part) in &phase.parts {
            let (case, repetition, phase) = (at.case, at.repetition, phase.name.clone());
            file.add(&Placed { case, repetition, phase, node: *node, process: *process, part })?;
        }
        file.finish()
    }

    /// Shows the results. Fails if anything that was read was wrong.
    pub(crate) fn finish(self, args: &StudyArgs, out: &mut impl Write) -> Result<()> {
        self.finish_with(args, out, |record, out| print_table(record, false, out))
    }

    /// As [`Self::finish`], with a table of the workload's own.
    pub(crate) fn finish_with<W: Write>(
        mut self,
        args: &StudyArgs,
        out: &mut W,
        print: impl FnOnce(&Record, &mut W) -> io::Result<()>,
    ) -> Result<()> {
        self.end()?;
        match args.json {
            true => self.record.print_lines(out)?,
            false => print(&self.record, out).map_err(Error::Output)?,
        }
        for pool in self.record.kept() {
            // Only for whoever looks on; the record has it, too.
            let run = self.record.folder().display();
            let _ = writeln!(stderr(), "kept {pool}; `isotach bench clean {run}` removes it");
        }
        self.record.check_right()
    }
}

impl Drop for Study<'_> {
    fn drop(&mut self) {
        // What cannot be removed stays on record.
        let _ = self.remove_folders();
    }
}

/// Which repetition of which case.
struct At<'t> {
    case: u32,
    repetition: u32,
    seats: Seats,
    title: &'t str,
    /// How many are written.
    bytes: u64,
    flush_every: Option<u64>,
}

impl<'t> At<'t> {
    fn of<P>(measured: &Case<P>, case: u32, repetition: u32, seats: Seats, title: &'t str) -> Self {
        let (bytes, flush_every) = (measured.bytes(seats), measured.flush_every);
        Self { case, repetition, seats, title, bytes, flush_every }
    }
}

/// How many nodes play, and how many processes on each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seats {
    pub(crate) nodes: usize,
    pub(crate) processes: usize,
}

/// The labels and results of a case, which a table shows in a row.
pub(crate) type OfCase<'r> = (&'r CaseRecord, Vec<&'r ResultRecord>);
