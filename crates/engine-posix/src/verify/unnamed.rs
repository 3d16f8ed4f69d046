//! Bytes of data files that no entry names.
//!
//! A writer appends to its data file and then names the bytes in the log. What lies behind the last named byte of a file whose
//! writer is gone was archived and never flushed, or has lost its entries. What lies before is replaced and waits for a purge.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::{Mutex, PoisonError},
};

use isotach_object::{Result, Unnamed};

use crate::{
    format::{
        extent::Extent,
        record::{Change, Record, Stored},
    },
    io::{data, directory::Directory, storage::Storage},
    purge::manifest::Ends,
};

/// How far each data file is named.
#[derive(Debug, Default)]
pub(crate) struct Named(Mutex<HashMap<u64, u64>>);

impl Named {
    /// An extent is named.
    pub(crate) fn extent(&self, extent: &Extent) {
        self.up_to(extent.file, extent.position.saturating_add(extent.length));
    }

    /// All that a record names.
    pub(crate) fn record(&self, record: &Record<'_>) {
        match record {
            Record::Segment(extent)
            | Record::Change(_, Change::Put(Stored::Extent(extent, _)) | Change::Write { extent, .. }) => {
                self.extent(extent);
            }
            _ => {}
        }
    }

    fn up_to(&self, file: u64, end: u64) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let named = ends.entry(file).or_default();
        *named = end.max(*named);
    }

    fn end_of(&self, file: u64) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&file).copied().unwrap_or(0)
    }

    /// What was named when a purge published `ends`; of files that it says nothing of, all, if it says nothing at all.
    pub(crate) fn ends(&self, storage: &Storage, ends: Option<Ends>) -> Result<()> {
        let lengths = || -> Result<Ends> {
            let folder = storage.data.folder();
            let length = |name: &String| Some((data::of_file_name(name)?, folder.stat(name).ok()?.length));
            Ok(folder.names()?.iter().filter_map(length).collect())
        };
        let ends = ends.map_or_else(lengths, Ok)?;
        ends.into_iter().for_each(|(file, end)| self.up_to(file, end));
        Ok(())
    }

    /// How far each data file that is there is named: also of those that a purge removes in a moment.
    pub(crate) fn into_ends(self, storage: &Storage) -> Result<Ends> {
        let names = storage.data.folder().names()?;
        let there: HashSet<u64> = names.iter().filter_map(|name| data::of_file_name(name)).collect();
        let ends = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(ends.into_iter().filter(|(file, _)| there.contains(file)).collect())
    }

    /// The ends of data files that nothing names. One whose writer is at it is left out, unless the log is known to have lost
    /// entries.
    pub(crate) fn tails(&self, storage: &Storage, is_cut: bool) -> Result<Vec<Tail>> {
        let folder = storage.data.folder();
        let mut tails = Vec::new();
        let mut names = folder.names()?;
        names.sort();
        for name in names {
            let Some(file) = data::of_file_name(&name) else { continue };
            let stat = match folder.stat(&name) {
                // Gone meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                stat => stat.map_err(|error| folder.failed("stat", &name, error))?,
            };
            let length = stat.length;
            if length > self.end_of(file) && (is_cut || is_finished(folder, &name)) {
                tails.push(Tail { file, length });
            }
        }
        Ok(tails)
    }

    /// What of these ends nothing names now.
    pub(crate) fn unnamed(&self, storage: &Storage, tails: &[Tail]) -> Vec<Unnamed> {
        let unnamed = tails.iter().map(|Tail { file, length }| {
            let from = self.end_of(*file);
            let place = storage.data.path(*file).display().to_string();
            Unnamed { place, from, length: length.saturating_sub(from) }
        });
        unnamed.filter(|unnamed| unnamed.length > 0).collect()
    }
}

/// A data file whose end nothing names.
#[derive(Debug)]
pub(crate) struct Tail {
    file: u64,
    /// The length of the file when it was looked at.
    length: u64,
}

/// Whether no writer is at a data file. Where nobody can tell one may be.
fn is_finished(folder: &Directory, name: &str) -> bool {
    folder.read(name).is_ok_and(|file| file.try_lock().is_ok())
}
