//! A study: the cases of a workload with several numbers of processes in several stores, repeated, recorded and shown.
//!
//! What must stay true: a pool is created for one repetition and destroyed after it. It is on record from before it is
//! created, so `bench clean` finds everything that an interrupted study leaves; a pool that is kept stays on record. What
//! was measured stays on record, whatever fails later.

mod extras;
mod limit;
mod location;
mod options;
mod outcome;
mod record;
mod stores;
mod table;

use std::{
    io::{self, IsTerminal, Write, stderr},
    path::Path,
};

use isotach_object::{Pool, PoolUri, Registry};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

pub(crate) use extras::Extras;
pub(crate) use limit::{IS_POOR as IS_LIMIT_POOR, LIMIT, LIMIT_ERROR, limit_fields};
pub(crate) use location::Location;
pub(crate) use options::{SiteArgs, StudyArgs};
pub(crate) use record::{
    CaseRecord, CaseResults, Cleaned, Description, Record, ResultRecord, clean, events_path, labels, text_of,
};
pub(crate) use table::{common as common_labels, labels_text, print as print_table};

use self::{limit::Limit, stores::Store};
use crate::{
    Error, Result,
    harness::{
        folders::prepare_memory,
        launcher::{Host, Launcher, Process, RunOutcome, Task},
    },
};

/// The work of a run: a case has one run or several, each with processes of its own, which get the work as their task.
pub(crate) trait Work: Serialize + DeserializeOwned {
    const NAME: &'static str;

    /// Where a run in this pool keeps its data.
    fn location(&self, pool: &PoolUri) -> Location {
        Location::Pool(pool.clone())
    }

    fn bytes_written(&self, processes: u64) -> u64;

    /// Runs one process on the data in a location.
    fn run(&self, location: &Location, process: &mut Process, registry: &Registry) -> Result<()>;
}

pub(crate) fn run_process<W: Work>(process: &mut Process, task: Task, registry: &Registry) -> Result<()> {
    let (location, work): (String, W) = task.input()?;
    work.run(&Location::parse(&location)?, process, registry)
}

/// A case, apart from the store and the number of processes.
pub(crate) struct Case<W> {
    /// The labels that distinguish it from other cases.
    pub(crate) labels: Map<String, Value>,
    pub(crate) runs: Vec<W>,
    /// Operations of a process between two flushes, if the limit is to be measured beside the case.
    pub(crate) flush_every: Option<u64>,
}

pub(crate) struct Study<'s> {
    site: &'s SiteArgs,
    registry: &'s Registry,
    stores: Vec<Store>,
    /// Folders that the study has created for its stores, and removes at its end.
    folders: Vec<Location>,
    launcher: Launcher,
    record: Record,
    pub(crate) retention: Retention,
    /// Whether the figures of each iteration are recorded.
    pub(crate) records_iterations: bool,
    /// Whether the current phase is shown on the terminal.
    pub(crate) shows_progress: bool,
}

/// What happens to the pools or folders of a study.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Retention {
    /// Each is created for a repetition and removed after it.
    #[default]
    Remove,
    /// Each is created and kept.
    Keep,
    /// Each must exist and is kept.
    Existing,
}

/// The number of nodes, and of processes on each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCounts {
    pub(crate) nodes: usize,
    pub(crate) per_node: usize,
}

impl<'s> Study<'s> {
    pub(crate) fn begin(workload: &str, site: &'s SiteArgs, registry: &'s Registry) -> Result<Self> {
        Self::with_record(site, registry, |hosts| Record::begin(workload, site.out.as_deref(), hosts))
    }

    fn with_record(
        site: &'s SiteArgs,
        registry: &'s Registry,
        record: impl FnOnce(Vec<Host>) -> Result<Record>,
    ) -> Result<Self> {
        let stores = stores::named(&site.pools, registry)?;
        let launcher = Launcher::start(&site.hosts, &site.launcher)?;
        let record = record(launcher.hosts())?;
        let mut study = Self {
            site,
            registry,
            stores,
            folders: Vec::new(),
            launcher,
            record,
            retention: Retention::default(),
            records_iterations: false,
            shows_progress: stderr().is_terminal(),
        };
        if study.stores.is_empty() {
            study.stores = stores::create(&mut study.record, registry, &mut study.folders)?;
        }
        Ok(study)
    }

    /// Begins a study that can be resumed, or resumes the interrupted one in `folder`, which must have been begun with the
    /// same options.
    pub(crate) fn resumable(
        workload: &str,
        site: &'s SiteArgs,
        registry: &'s Registry,
        options: Map<String, Value>,
        folder: Option<&Path>,
    ) -> Result<Self> {
        let Some(folder) = folder else {
            let mut study = Self::begin(workload, site, registry)?;
            study.record.update(|run| run.options = options)?;
            return Ok(study);
        };
        // The leftovers of the run are removed only after its record has proved to be that of such a run.
        Self::with_record(site, registry, |hosts| {
            Record::resume(workload, folder, &hosts, &options)?;
            clean(folder, registry)?;
            Record::resume(workload, folder, &hosts, &options)
        })
    }

    /// Records that everything is measured.
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

    /// Measures a case once in the first store, unless these phases of it are on record. Returns the number of the case.
    pub(crate) fn measure_once<W: Work>(
        &mut self,
        counts: ProcessCounts,
        repetition: u32,
        (case, phases): (&Case<W>, &[&str]),
        prepare: impl Fn(&dyn Pool) -> Result<()>,
    ) -> Result<u32> {
        let number = self.add_case(0, counts, case);
        if !self.record.has(number, repetition, phases) {
            self.record.remove_results(number, repetition);
            let title = self.record.title(number);
            let at = Repetition { case: number, repetition, counts, title };
            self.measure_in_store(0, case, &at, &prepare)?;
        }
        Ok(number)
    }

    /// Measures all cases, each once before any of them again, so that a change of the machine affects all cases alike.
    /// `prepare` creates in a new pool what all processes need.
    pub(crate) fn run<W: Work>(
        &mut self,
        args: &StudyArgs,
        cases: &[Case<W>],
        prepare: impl Fn(&dyn Pool) -> Result<()>,
    ) -> Result<()> {
        let all = self.stores.len() * args.processes.len() * cases.len() * args.repetitions as usize;
        let mut done = 0;
        for repetition in 0..args.repetitions {
            for store in 0..self.stores.len() {
                for per_node in &args.processes {
                    let nodes = self.record.description().hosts.len();
                    let counts = ProcessCounts { nodes, per_node: *per_node };
                    for case in cases {
                        done += 1;
                        let number = self.add_case(store, counts, case);
                        let title = format!("{done}/{all} {}", self.record.title(number));
                        let at = Repetition { case: number, repetition, counts, title };
                        self.measure_in_store(store, case, &at, &prepare)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a case to the record and returns its number.
    fn add_case<W>(&mut self, store: usize, counts: ProcessCounts, case: &Case<W>) -> u32 {
        let mut labels = case.labels.clone();
        labels.insert("store".to_owned(), self.stores[store].name.clone().into());
        if let Some(servers) = self.site.servers {
            labels.insert("servers".to_owned(), servers.into());
        }
        labels.insert("nodes".to_owned(), counts.nodes.into());
        labels.insert("processes_per_node".to_owned(), counts.per_node.into());
        self.record.add_case(labels)
    }

    /// Measures a repetition with its limit beside it.
    fn measure_in_store<W: Work>(
        &mut self,
        store: usize,
        case: &Case<W>,
        at: &Repetition,
        prepare: &impl Fn(&dyn Pool) -> Result<()>,
    ) -> Result<()> {
        let Some(first) = case.runs.first() else { return Ok(()) };
        let location = first.location(&self.stores[store].uri.parse()?);
        let task = |run| Task::new(W::NAME, &(location.to_string(), run));
        let tasks = case.runs.iter().map(task).collect::<Result<Vec<_>>>()?;
        let processes = (at.counts.nodes * at.counts.per_node) as u64;
        let bytes = case.runs.iter().fold(0_u64, |sum, run| sum.saturating_add(run.bytes_written(processes)));
        // Files of other machines cannot be measured here, and existing data may be on the device where plain files are in
        // memory.
        let is_comparable = self.site.hosts.is_empty() && self.retention != Retention::Existing;
        let flush_every = case.flush_every.filter(|_| is_comparable);
        let mut limit = flush_every.and_then(|flush_every| Limit::beside(&location, flush_every));
        let outcome = self.measure(&location, at, (&tasks, bytes), prepare, &mut limit);
        let removed = limit.map_or(Ok(()), |mut limit| limit.remove(&mut self.record, self.registry));
        outcome.and(removed)
    }

    fn measure(
        &mut self,
        location: &Location,
        at: &Repetition,
        (tasks, bytes): (&[Task], u64),
        prepare: &impl Fn(&dyn Pool) -> Result<()>,
        limit: &mut Option<Limit>,
    ) -> Result<()> {
        let refused =
            |what: &str, expected: &str| Err(Error::invalid(format!("{location} {what}"), expected));
        match (location.exists(self.registry)?, self.retention) {
            (true, Retention::Existing) => return self.run_all(at, tasks, limit),
            (false, Retention::Existing) => {
                return refused("does not exist", "one that was written and kept");
            }
            (true, _) => return refused("exists", "one that can be made and removed"),
            (false, _) => {}
        }
        let pool = self.record.create(location, self.registry)?;
        let folder = location.folder().filter(|_| self.site.hosts.is_empty());
        let outcome = pool
            .map_or(Ok(()), |pool| prepare(&*pool))
            .and_then(|()| folder.map_or(Ok(()), |folder| prepare_memory(folder, bytes)))
            .and_then(|()| self.run_all(at, tasks, limit));
        if self.retention == Retention::Keep {
            return outcome;
        }
        let removed = location.remove(self.registry).and_then(|_| self.record.has_removed(location));
        // The failure of a run says more than the failure to remove its data, which stay on record.
        outcome.and(removed)
    }

    fn run_all(&mut self, at: &Repetition, tasks: &[Task], limit: &mut Option<Limit>) -> Result<()> {
        let shows_progress = self.shows_progress;
        let mut all = Vec::new();
        for task in tasks {
            let outcome = self.launcher.run(at.counts.nodes, at.counts.per_node, task, |phase| {
                if shows_progress {
                    let _ = write!(stderr(), "\r\x1b[K{}: {phase}", at.title);
                }
            })?;
            self.record.add_outcome((at.case, at.repetition), &outcome, self.records_iterations)?;
            if !outcome.problems.is_empty() {
                return Err(Error::Incomplete { problems: outcome.problems });
            }
            all.push(outcome);
        }
        // After all runs: plain files would displace the data of the case in memory.
        if let Some(limit) = limit {
            for together in all.iter().flat_map(RunOutcome::together) {
                let record = (&mut self.record, self.registry);
                limit.measure(&mut self.launcher, record, (at.case, at.repetition), &together)?;
            }
        }
        if shows_progress {
            let _ = write!(stderr(), "\r\x1b[K");
        }
        Ok(())
    }

    /// Ends the study and shows the results with `print`, or as JSON. Fails if an operation has read wrong bytes.
    pub(crate) fn finish<O: Write>(
        mut self,
        args: &StudyArgs,
        out: &mut O,
        print: impl FnOnce(&Record, &mut O) -> io::Result<()>,
    ) -> Result<()> {
        self.end()?;
        match args.json {
            true => self.record.print_lines(out)?,
            false => print(&self.record, out).map_err(Error::Output)?,
        }
        for location in &self.record.description().pools {
            let run = self.record.folder().display();
            let _ = writeln!(stderr(), "kept {location}; `isotach bench clean {run}` removes it");
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

struct Repetition {
    case: u32,
    repetition: u32,
    counts: ProcessCounts,
    title: String,
}
