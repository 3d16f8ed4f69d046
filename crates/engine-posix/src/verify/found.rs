//! The findings and the progress of a verification, which several threads share.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use isotach_object::{Error, Finding, FoundCell, ObjectType, Part, Result, VerifyProgress};

use super::unnamed::Named;
use crate::format::path;

/// The maximum number of reported findings.
const FINDINGS_MAX: usize = 10_000;

/// Findings so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    reported: Mutex<Vec<Finding>>,
    more: AtomicU64,
}

impl Findings {
    pub(crate) fn add(
        &self,
        part: Part,
        what: impl Into<String>,
        place: impl Into<String>,
        byte: Option<u64>,
        cell: Option<FoundCell>,
    ) {
        let finding = Finding { part, what: what.into(), place: place.into(), byte, cell };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.len() < FINDINGS_MAX {
            reported.push(finding);
        } else {
            self.more.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether damage of the history was found at this byte of the log.
    pub(super) fn has_history_at(&self, position: u64) -> bool {
        let reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.iter().any(|finding| finding.part == Part::History && finding.byte == Some(position))
    }

    /// Adds a finding for an error that means damage. Returns other errors.
    pub(crate) fn take(&self, part: Part, cell: Option<FoundCell>, error: Error) -> Result<()> {
        let (what, place) = match error {
            Error::Corrupt { what, place } => (what, place),
            // A sector that cannot be read is damage, too.
            Error::Io { what, source } => ("cannot be read".to_owned(), format!("{what}: {source}")),
            other => return Err(other),
        };
        self.add(part, what, place, None, cell);
        Ok(())
    }

    /// The findings by part, place and byte, and the number of further ones.
    pub(super) fn finish(self) -> (Vec<Finding>, u64) {
        let mut reported = self.reported.into_inner().unwrap_or_else(PoisonError::into_inner);
        reported.sort_by(|a, b| (a.part, &a.place, a.byte).cmp(&(b.part, &b.place, b.byte)));
        (reported, self.more.into_inner())
    }
}

/// Counts the bytes that were read, and reports the progress.
pub(crate) struct Meter<'p> {
    done: AtomicU64,
    total: AtomicU64,
    progress: VerifyProgress<'p>,
}

impl<'p> Meter<'p> {
    pub(super) fn new(progress: VerifyProgress<'p>) -> Self {
        Self { done: AtomicU64::new(0), total: AtomicU64::new(0), progress }
    }

    /// Adds bytes that will be read.
    pub(super) fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds bytes that were read.
    pub(crate) fn read(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (self.progress)(done, self.total.load(Ordering::Relaxed).max(done));
    }

    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

/// Where the parts of a verification report.
#[derive(Clone, Copy)]
pub(crate) struct Report<'v> {
    pub(crate) found: &'v Findings,
    pub(super) named: &'v Named,
    pub(crate) meter: &'v Meter<'v>,
}

/// The cell with this path.
pub(crate) fn cell_of(path: &[u8]) -> Option<FoundCell> {
    let object = path::object_of(path)?;
    let rest = &path[path::ID..];
    let (dkey, akey) = match object.otype() {
        ObjectType::General => path::split_dkey(path)
            .map_or((Vec::new(), Vec::new()), |(end, dkey)| (dkey, path[end..].to_vec())),
        _ => (rest.to_vec(), Vec::new()),
    };
    Some(FoundCell { object, dkey, akey })
}
