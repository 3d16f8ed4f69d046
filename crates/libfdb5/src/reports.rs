//! Reports of wipes and purges: lines of text.

use std::{collections::VecDeque, ffi::CString};

use isotach_capi_kit::{Failure, Result, c_text};
use isotach_fields::{Answer, ContainerUri, PurgedDataset, WipeReport};

/// What `fdb_wipe_iterator_t` and `fdb_purge_iterator_t` are.
#[derive(Debug, Default)]
pub(crate) struct Report(VecDeque<Result<CString>>);

impl Report {
    fn line(&mut self, text: &str) {
        self.0.push_back(Ok(c_text(text)));
    }

    fn containers(&mut self, catalogue: &ContainerUri, store: &ContainerUri, before: &str) {
        self.line(&format!("{before}{catalogue}"));
        if store != catalogue {
            self.line(&format!("{before}{store}"));
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<CString>> {
        self.0.pop_front().transpose()
    }
}

/// The datasets and collocations that a wipe removes; `porcelain` leaves the containers of whole datasets alone.
pub(crate) fn of_wipe(wiped: &WipeReport, porcelain: bool) -> Report {
    let mut report = Report::default();
    let verb = if wiped.done { "wiped" } else { "to wipe" };
    for dataset in &wiped.datasets {
        if porcelain {
            if dataset.is_whole {
                report.containers(&dataset.catalogue, &dataset.store, "");
            }
            continue;
        }
        let counts = dataset.counts;
        let (fields, bytes) = (counts.fields + counts.replaced_fields, counts.bytes + counts.replaced_bytes);
        report.line(&format!("dataset {}: {verb}: {fields} fields, {bytes} bytes", dataset.key));
        if dataset.is_whole {
            report.containers(&dataset.catalogue, &dataset.store, "  container ");
        } else {
            dataset.collocations.iter().for_each(|key| report.line(&format!("  collocation {key}")));
        }
    }
    report
}

/// What a purge frees in each dataset, and then the datasets that could not be purged.
pub(crate) fn of_purge(purged: Answer<PurgedDataset>, porcelain: bool) -> Report {
    let mut report = Report::default();
    for dataset in &purged.found {
        let PurgedDataset { key, replaced_fields, replaced_bytes, freed, .. } = dataset;
        match porcelain {
            true => report.line(&key.to_string()),
            false => report.line(&format!(
                "dataset {key}: {replaced_fields} replaced fields, {replaced_bytes} bytes; {freed} bytes of storage freed"
            )),
        }
    }
    report.0.extend(purged.unusable.into_iter().map(|error| Err(Failure::from(error))));
    report
}
