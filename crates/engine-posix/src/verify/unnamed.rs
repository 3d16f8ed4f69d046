//! Bytes of data files that no entry names.
//!
//! A writer appends to its data file and then names the bytes in the log. Bytes behind the last named one, in a file whose writer is gone,
//! were never flushed or have lost their entries. Unneeded bytes before it were replaced and wait for a purge.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
};

use isotach_object::{Result, Unnamed};

use crate::{
    format::{
        extent::Extent,
        record::{CellChange, Record, Stored},
    },
    io::{
        data,
        directory::Directory,
        disk::{Stat, if_there},
        storage::Storage,
    },
    purge::manifest::Ends,
};

/// The end of the named bytes of each data file.
#[derive(Debug, Default)]
pub(crate) struct Named(Mutex<HashMap<u64, u64>>);

impl Named {
    /// Notes an extent.
    pub(crate) fn extent(&self, extent: &Extent) {
        self.up_to(extent.file, extent.position.saturating_add(extent.length));
    }

    /// Notes all extents in a record.
    pub(crate) fn record(&self, record: &Record<'_>) {
        match record {
            Record::Segment(extent)
            | Record::Change(
                _,
                CellChange::Put(Stored::Extent(extent, _)) | CellChange::Write { extent, .. },
            ) => {
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

    /// Notes what was named when a purge published `ends`. Without `ends` everything counts as named.
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

    /// The ends for all existing data files, including those that a purge is about to remove.
    pub(crate) fn into_ends(self, storage: &Storage) -> Result<Ends> {
        let names = storage.data.folder().names()?;
        let there: HashSet<u64> = names.iter().filter_map(|name| data::of_file_name(name)).collect();
        let ends = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(ends.into_iter().filter(|(file, _)| there.contains(file)).collect())
    }

    /// Data files with unnamed bytes at their end. Files with a writer are left out, unless the log has lost entries.
    pub(crate) fn tails(&self, storage: &Storage, is_cut: bool) -> Result<Vec<Tail>> {
        let folder = storage.data.folder();
        let mut tails = Vec::new();
        let mut names = folder.names()?;
        names.sort();
        for name in names {
            let Some(file) = data::of_file_name(&name) else { continue };
            let stat = if_there(folder.stat(&name)).map_err(|error| folder.failed("stat", &name, error))?;
            let Some(Stat { length, .. }) = stat else { continue };
            if length > self.end_of(file) && (is_cut || is_finished(folder, &name)) {
                tails.push(Tail { file, length });
            }
        }
        Ok(tails)
    }

    /// The bytes of these files that are still unnamed.
    pub(crate) fn unnamed(&self, storage: &Storage, tails: &[Tail]) -> Vec<Unnamed> {
        let unnamed = tails.iter().map(|Tail { file, length }| {
            let from = self.end_of(*file);
            let place = storage.data.path(*file).display().to_string();
            Unnamed { place, from, length: length.saturating_sub(from) }
        });
        unnamed.filter(|unnamed| unnamed.length > 0).collect()
    }
}

/// A data file with unnamed bytes at its end.
#[derive(Debug)]
pub(crate) struct Tail {
    file: u64,
    /// The length of the file when it was measured.
    length: u64,
}

/// Whether a data file has no writer. If that is unknown it may have one.
fn is_finished(folder: &Directory, name: &str) -> bool {
    folder.read(name).is_ok_and(|file| file.try_lock().is_ok())
}
