//! The record of a run: a folder with `run.json`, which holds machines, cases, results and problems, and `events/` with a
//! Parquet file for each phase of each repetition of each case.

use std::{
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_object::{Pool, Registry};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{extras::Extras, location::Location};
use crate::{
    Error, Result,
    harness::{
        launcher::Host,
        machine::Machine,
        metrics::{Figures, Iteration},
        output::{json, print_line},
    },
};

const FILE: &str = "run.json";
const EVENTS: &str = "events";

/// The contents of `run.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) workload: String,
    /// The program and the machine that drove the run.
    pub(crate) driver: String,
    pub(crate) command: Vec<String>,
    /// The options that the run must be resumed with, if it can be resumed.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) options: Map<String, Value>,
    /// The start of the run, in seconds since 1970.
    pub(crate) began: u64,
    pub(crate) complete: bool,
    pub(crate) hosts: Vec<Host>,
    /// The settings of each store, where a run compares several.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) settings: Map<String, Value>,
    pub(crate) cases: Vec<CaseRecord>,
    pub(crate) results: Vec<ResultRecord>,
    pub(crate) problems: Vec<Problem>,
    /// Pools and folders that the run has created and not removed.
    pub(super) pools: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CaseRecord {
    pub(crate) number: u32,
    #[serde(flatten)]
    pub(crate) labels: Map<String, Value>,
}

/// The figures of a phase of a repetition.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ResultRecord {
    pub(crate) case: u32,
    pub(crate) repetition: u32,
    pub(crate) phase: String,
    #[serde(flatten)]
    pub(crate) figures: Figures,
    /// The figures of each iteration, where the workload records them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) iterations: Vec<Iteration>,
    #[serde(flatten)]
    pub(crate) extras: Extras,
    /// Further fields, such as the limit.
    #[serde(flatten)]
    pub(crate) more: Map<String, Value>,
}

/// A failure in a repetition.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) case: u32,
    pub(crate) repetition: u32,
    pub(crate) what: String,
}

impl Description {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Error::invalid(
                format!("{} does not exist", path.display()),
                "a folder that a study of `bench` has written",
            ),
            _ => Error::io("read", &path)(error),
        })?;
        let description = serde_json::from_str(&text);
        description.map_err(|error| {
            Error::wrong(
                format!("{} ({error})", path.display()),
                "the record of a run, as this version writes it",
            )
        })
    }
}

/// The labels of a case, or further fields of a result.
pub(crate) fn labels<const N: usize>(all: [(&str, Value); N]) -> Map<String, Value> {
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The labels and results of a case, which a table shows in a row.
pub(crate) type CaseResults<'r> = (&'r CaseRecord, Vec<&'r ResultRecord>);

pub(crate) fn events_path(folder: &Path, case: u32, repetition: u32, phase: &str) -> PathBuf {
    folder.join(EVENTS).join(format!("{case}-{repetition}-{phase}.parquet"))
}

#[derive(Debug)]
pub(crate) struct Record {
    folder: PathBuf,
    description: Description,
}

impl Record {
    /// Creates the folder of a new record.
    pub(crate) fn begin(workload: &str, folder: Option<&Path>, hosts: Vec<Host>) -> Result<Self> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let began = now.map_or(0, |since| since.as_secs());
        let folder = folder.map_or_else(|| format!("bench-{workload}-{began}").into(), Path::to_owned);
        fs::create_dir(&folder).map_err(Error::io("create", &folder))?;
        let events = folder.join(EVENTS);
        fs::create_dir(&events).map_err(Error::io("create", &events))?;
        let description = Description {
            workload: workload.to_owned(),
            driver: Machine::this().text(),
            command: std::env::args().collect(),
            began,
            hosts,
            ..Description::default()
        };
        let record = Self { folder, description };
        record.save()?;
        Ok(record)
    }

    /// Continues the record of an interrupted run.
    pub(crate) fn resume(
        workload: &str,
        folder: &Path,
        hosts: &[Host],
        options: &Map<String, Value>,
    ) -> Result<Self> {
        let description = Description::read(folder)?;
        let names = |hosts: &[Host]| hosts.iter().map(|host| host.name.clone()).collect::<Vec<_>>();
        if description.workload != workload || names(&description.hosts) != names(hosts) {
            let what =
                format!("a run of {} on {}", description.workload, names(&description.hosts).join(", "));
            return Err(Error::invalid(what, format!("one of {workload} on {}", names(hosts).join(", "))));
        }
        if description.complete {
            let what = format!("{}, which is complete", folder.display());
            return Err(Error::invalid(what, "a run that was interrupted"));
        }
        check_options(folder, &description.options, options)?;
        Ok(Self { folder: folder.to_owned(), description })
    }

    /// Changes the description and saves it.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Description)) -> Result<()> {
        change(&mut self.description);
        self.save()
    }

    /// Whether these phases of a repetition are on record, without a problem.
    pub(crate) fn has(&self, case: u32, repetition: u32, phases: &[&str]) -> bool {
        let is_it = |problem: &Problem| (problem.case, problem.repetition) == (case, repetition);
        !self.description.problems.iter().any(is_it)
            && phases.iter().all(|phase| self.figures(case, repetition, phase).is_some())
    }

    pub(crate) fn figures(&self, case: u32, repetition: u32, phase: &str) -> Option<&Figures> {
        let is_it =
            |one: &&ResultRecord| (one.case, one.repetition, &*one.phase) == (case, repetition, phase);
        self.description.results.iter().find(is_it).map(|one| &one.figures)
    }

    /// Removes the results of an interrupted repetition.
    pub(crate) fn remove_results(&mut self, case: u32, repetition: u32) {
        self.description.results.retain(|one| (one.case, one.repetition) != (case, repetition));
        self.description.problems.retain(|one| (one.case, one.repetition) != (case, repetition));
    }

    /// Replaces the file atomically, so a crash leaves a whole one.
    fn save(&self) -> Result<()> {
        let (path, new) = (self.folder.join(FILE), self.folder.join("run.json.new"));
        let text = serde_json::to_string_pretty(&self.description).map_err(std::io::Error::from);
        let text = text.map_err(Error::pipe("encode the record"))?;
        fs::write(&new, text).map_err(Error::io("write", &new))?;
        fs::rename(&new, &path).map_err(Error::io("write", &path))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    /// Adds a case unless it is on record, and returns its number.
    pub(crate) fn add_case(&mut self, labels: Map<String, Value>) -> u32 {
        if let Some(known) = self.description.cases.iter().find(|case| case.labels == labels) {
            return known.number;
        }
        let number = self.description.cases.len() as u32;
        self.description.cases.push(CaseRecord { number, labels });
        number
    }

    /// The title of a case: its labels.
    pub(crate) fn title(&self, case: u32) -> String {
        let labels = &self.description.cases[case as usize].labels;
        labels.values().map(text_of).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn cases(&self) -> impl Iterator<Item = CaseResults<'_>> {
        self.description.cases.iter().map(|case| {
            let of_case = self.description.results.iter().filter(|result| result.case == case.number);
            (case, of_case.collect())
        })
    }

    /// Records a location and creates it, in this order. A location that another program has created first stays off the
    /// record, and so does a folder that could not be created.
    pub(crate) fn create(
        &mut self,
        location: &Location,
        registry: &Registry,
    ) -> Result<Option<Arc<dyn Pool>>> {
        self.will_create(location)?;
        let created = location.create(registry);
        let is_no_folder = matches!(location, Location::Folder(path) if !path.exists());
        if created.as_ref().is_err_and(|error| error.is_already_exists() || is_no_folder) {
            self.has_removed(location)?;
        }
        created
    }

    pub(crate) fn will_create(&mut self, location: &Location) -> Result<()> {
        self.update(|run| run.pools.push(location.to_string()))
    }

    pub(crate) fn has_removed(&mut self, location: &Location) -> Result<()> {
        let location = location.to_string();
        self.update(|run| run.pools.retain(|known| *known != location))
    }

    pub(crate) fn events(&self, case: u32, repetition: u32, phase: &str) -> PathBuf {
        events_path(&self.folder, case, repetition, phase)
    }

    pub(crate) fn add_result(&mut self, result: ResultRecord) -> Result<()> {
        self.update(|run| run.results.push(result))
    }

    /// Adds fields to the result of a phase, which may depend on its figures.
    pub(crate) fn add_fields(
        &mut self,
        case: u32,
        repetition: u32,
        phase: &str,
        more: impl FnOnce(&Figures) -> Map<String, Value>,
    ) -> Result<()> {
        let is_it =
            |one: &&mut ResultRecord| (one.case, one.repetition, &*one.phase) == (case, repetition, phase);
        if let Some(result) = self.description.results.iter_mut().find(is_it) {
            result.more.extend(more(&result.figures));
        }
        self.save()
    }

    pub(crate) fn add_problem(&mut self, case: u32, repetition: u32, what: &str) -> Result<()> {
        let problem = Problem { case, repetition, what: what.to_owned() };
        self.update(|run| run.problems.push(problem))
    }

    pub(crate) fn end(&mut self) -> Result<()> {
        self.update(|run| run.complete = true)
    }

    /// Fails if an operation has read wrong bytes.
    pub(crate) fn check_right(&self) -> Result<()> {
        match self.description.results.iter().map(|result| result.figures.wrong).sum() {
            0_u64 => Ok(()),
            wrong => Err(Error::wrong(format!("{wrong} operations"), "the bytes that were written")),
        }
    }

    /// Prints each result with the labels of its case as a line of JSON.
    pub(crate) fn print_lines(&self, out: &mut impl Write) -> Result<()> {
        for (case, results) in self.cases() {
            for result in results {
                let mut line = case.labels.clone();
                let result = serde_json::to_value(result).map_err(std::io::Error::from);
                if let Value::Object(result) = result.map_err(Error::pipe("encode a result"))? {
                    line.extend(result);
                }
                print_line(&json(&line)?, out)?;
            }
        }
        Ok(())
    }
}

/// Refuses to resume a run with other options than it was begun with.
fn check_options(folder: &Path, begun: &Map<String, Value>, now: &Map<String, Value>) -> Result<()> {
    let mut names = begun.keys().chain(now.keys());
    let Some(name) = names.find(|name| begun.get(*name) != now.get(*name)) else { return Ok(()) };
    let option = name.replace('_', "-");
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => format!("without --{option}"),
        Some(value) => format!("with --{option} {value}"),
    };
    Err(Error::invalid(
        format!("{}, begun {} and now {}", folder.display(), text(begun.get(name)), text(now.get(name))),
        "the options that it was begun with, which run.json has",
    ))
}

/// A label as text, without the quotation marks of JSON.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[derive(Debug, Default)]
pub(crate) struct Cleaned {
    pub(crate) removed: usize,
    /// What was on record and does not exist.
    pub(crate) missing: Vec<String>,
}

/// Removes the pools and folders that are on record as remaining.
pub(crate) fn clean(folder: &Path, registry: &Registry) -> Result<Cleaned> {
    let mut record = Record { folder: folder.to_owned(), description: Description::read(folder)? };
    let mut cleaned = Cleaned::default();
    // The last ones may be inside the first ones.
    while let Some(location) = record.description.pools.pop() {
        // The record is saved after the removal, so what cannot be removed stays on record.
        match Location::parse(&location)?.remove(registry)? {
            true => cleaned.removed += 1,
            false => cleaned.missing.push(location),
        }
        record.save()?;
    }
    Ok(cleaned)
}

#[cfg(test)]
mod tests {
    use isotach_object::{Engine, memory::Memory};

    use super::*;

    fn result(phase: &str) -> ResultRecord {
        ResultRecord { repetition: 1, phase: phase.to_owned(), ..ResultRecord::default() }
    }

    #[test]
    fn a_location_that_another_program_created_first_is_never_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let mut record = Record::begin("test", Some(&run), Vec::new()).unwrap();
        let (engine, uri) = (Arc::new(Memory::new()), "memory:theirs".parse().unwrap());
        let registry = Registry::new().with(engine.clone());
        engine.create_pool(&uri).unwrap();
        let theirs = folder.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        let ours = Location::Folder(folder.path().join("ours"));
        record.create(&ours, &registry).unwrap();
        let nowhere = Location::Folder(folder.path().join("missing/folder"));
        assert!(record.create(&nowhere, &registry).is_err(), "it has no parent");
        for location in [Location::Pool(uri.clone()), Location::Folder(theirs.clone())] {
            assert!(record.create(&location, &registry).is_err_and(|error| error.is_already_exists()));
        }
        assert_eq!(record.description().pools, [ours.to_string()]);
        let cleaned = clean(&run, &registry).unwrap();
        assert_eq!((cleaned.removed, cleaned.missing.len()), (1, 0));
        assert!(engine.open_pool(&uri).is_ok() && theirs.exists());
    }

    #[test]
    fn clean_reports_missing_folders_and_removes_inner_ones_first() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let mut record = Record::begin("test", Some(&run), Vec::new()).unwrap();
        let registry = Registry::new();
        let outer = Location::Folder(folder.path().join("outer"));
        let inner = Location::Folder(folder.path().join("outer/inner"));
        let gone = Location::Folder(folder.path().join("gone"));
        [&outer, &inner].iter().for_each(|location| drop(record.create(location, &registry).unwrap()));
        record.will_create(&gone).unwrap();
        let cleaned = clean(&run, &registry).unwrap();
        assert_eq!((cleaned.removed, cleaned.missing), (2, vec![gone.to_string()]));
        assert_eq!(clean(&run, &registry).unwrap().removed, 0, "it is no longer on record");
    }

    #[test]
    fn a_repetition_with_a_problem_does_not_count_as_measured() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::begin("test", Some(&folder.path().join("run")), Vec::new()).unwrap();
        let phases = ["write", "read"];
        record.add_result(result("write")).unwrap();
        assert!(!record.has(0, 1, &phases));
        record.add_result(result("read")).unwrap();
        assert!(record.has(0, 1, &phases) && !record.has(0, 0, &phases));
        record.add_problem(0, 1, "process 3 died").unwrap();
        assert!(!record.has(0, 1, &phases), "its figures are incomplete");
        record.remove_results(0, 1);
        phases.iter().for_each(|phase| record.add_result(result(phase)).unwrap());
        assert!(record.has(0, 1, &phases), "it was measured again");
    }
}
