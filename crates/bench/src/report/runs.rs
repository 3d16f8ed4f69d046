//! The runs of a report, read from their folders.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::{Result, harness::study::Description};

#[derive(Debug)]
pub(crate) struct Run {
    /// Its name in the report: its folder.
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) record: Description,
    /// Errors of reading its events.
    pub(crate) unread: Vec<String>,
}

impl Run {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let record = Description::read(folder)?;
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = whole.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| folder.display().to_string());
        Ok(Self { name, folder: folder.to_owned(), record, unread: Vec::new() })
    }

    /// The largest number of processors of a node.
    pub(crate) fn processors(&self) -> usize {
        let of_host =
            self.record.hosts.iter().map(|host| host.sockets.iter().map(|one| one.cpus.len()).sum());
        of_host.max().unwrap_or(0)
    }

    /// Warnings about the figures.
    pub(crate) fn notices(&self) -> Vec<String> {
        let record = &self.record;
        let mut notices = Vec::new();
        if !record.complete {
            notices
                .push("the run is not complete: these are the results that it had when it ended".to_owned());
        }
        let wrong: u64 = record.results.iter().map(|result| result.figures.wrong).sum();
        if wrong > 0 {
            notices.push(format!("{wrong} operations read other bytes than had been written"));
        }
        let poor = record.results.iter().filter(|result| result.figures.is_overlap_poor).count();
        if poor > 0 {
            let all = record.results.len();
            let marked = "these have a triangle in plots and are named in the table of all results";
            notices.push(format!("in {poor} of {all} results the processes did not overlap well: {marked}"));
        }
        if record.results.is_empty() {
            notices.push("the run has no results".to_owned());
        }
        notices.extend(self.unread.iter().cloned());
        notices
    }
}

/// Numbers runs whose folders have the same name.
pub(crate) fn name_apart(runs: &mut [Run]) {
    let names: BTreeSet<&String> = runs.iter().map(|run| &run.name).collect();
    if names.len() < runs.len() {
        runs.iter_mut()
            .enumerate()
            .for_each(|(number, run)| run.name = format!("{} {}", number + 1, run.name));
    }
}
