//! Verifying the bytes that readers can reach.

use std::{
    collections::HashMap,
    slice,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use isotach_object::{Error, Part, Result, Verify};

use super::{
    found::{Report, cell_of},
    unnamed::Named,
};
use crate::{
    format::extent::{Extent, ExtentPart},
    index::{entry::Entry, merge::Merge, raw::LazyEntry, run::Run, state::State},
    io::storage::Storage,
};

/// How many cells a thread gets at once.
const BATCH: usize = 64;

/// A cell and its parts of data files.
type Job = (Vec<u8>, Vec<ExtentPart>);

/// Checks every extent that a reader of `state` can reach. Values are always read, and bytes of arrays and records if `how` says so. What a
/// `newer` state has in common was checked there. Returns the number of extents.
pub(super) fn check(
    storage: &Storage,
    state: &State,
    newer: Option<&State>,
    how: Verify,
    seen: &Report<'_>,
) -> Result<u64> {
    let (give, take) = sync_channel::<Vec<Job>>(2 * how.threads.max(1));
    let take = Mutex::new(take);
    thread::scope(|scope| {
        let take = &take;
        let readers: Vec<_> = (0..how.threads.max(1))
            .map(|_| {
                scope.spawn(move || {
                    // The sending thread must not wait for one that takes no more batches.
                    read_all(storage, take, seen).inspect_err(|_| while next(take).is_some() {})
                })
            })
            .collect();
        let walked = Newer::of(newer).and_then(|newer| walk(storage, state, newer, how, seen, &give));
        drop(give);
        for reader in readers {
            reader.join().map_err(|_| Error::corrupt("a thread that reads has failed", "memory"))??;
        }
        walked
    })
}

/// Sends the batches to read.
fn walk(
    storage: &Storage,
    state: &State,
    mut newer: Newer<'_>,
    how: Verify,
    seen: &Report<'_>,
    give: &SyncSender<Vec<Job>>,
) -> Result<u64> {
    let mut lengths = Lengths::of(storage);
    let mut extents = 0;
    let mut batch = Vec::with_capacity(BATCH);
    let mut merge = Merge::of_state(state, &[])?;
    while let Some((path, entry)) = merge.next()? {
        if newer.has(path, entry.epoch())? {
            continue;
        }
        let Some((is_value, parts)) = parts_of(entry)? else { continue };
        extents += parts.len() as u64;
        parts.iter().for_each(|part| seen.named.extent(&part.extent));
        let lost = parts.iter().find_map(|part| lengths.lost(&part.extent).transpose()).transpose()?;
        if let Some((what, place)) = lost {
            seen.found.add(Part::Bytes, what, place, None, cell_of(path));
        } else if (is_value || how.data) && !parts.is_empty() {
            batch.push((path.to_vec(), parts));
        }
        if batch.len() >= BATCH {
            let _ = give.send(std::mem::take(&mut batch));
        }
    }
    let _ = give.send(batch);
    Ok(extents)
}

/// Names every extent of a run.
pub(super) fn name(run: &Arc<Run>, named: &Named) -> Result<()> {
    let mut merge = Merge::of_runs(slice::from_ref(run))?;
    while let Some((_, entry)) = merge.next()? {
        let parts = parts_of(entry)?.map(|(_, parts)| parts).unwrap_or_default();
        parts.iter().for_each(|part| named.extent(&part.extent));
    }
    Ok(())
}

/// A newer state, walked beside an older one.
struct Newer<'s> {
    merge: Option<Merge<'s>>,
    path: Vec<u8>,
    epoch: u64,
}

impl<'s> Newer<'s> {
    fn of(state: Option<&'s State>) -> Result<Self> {
        let merge = state.map(|state| Merge::of_state(state, &[])).transpose()?;
        Ok(Self { merge, path: Vec::new(), epoch: 0 })
    }

    /// Whether it has the entry of an older state at this path. Paths are asked for in order.
    fn has(&mut self, path: &[u8], epoch: u64) -> Result<bool> {
        while let Some(merge) = self.merge.as_mut().filter(|_| *self.path < *path) {
            match merge.next()? {
                Some((next, entry)) => {
                    next.clone_into(&mut self.path);
                    self.epoch = entry.epoch();
                }
                None => self.merge = None,
            }
        }
        Ok(self.path == path && self.epoch == epoch)
    }
}

/// The parts of an entry, and whether it is a value. `None` for an entry without parts.
fn parts_of(entry: LazyEntry<'_>) -> Result<Option<(bool, Vec<ExtentPart>)>> {
    Ok(match entry.into_versioned()?.entry {
        Entry::ValueExtent(extent, _) => {
            Some((true, vec![ExtentPart { offset: 0, length: extent.length, skip: 0, extent }]))
        }
        Entry::Bytes(bytes) => bytes.resolve().map(|resolved| (false, resolved.parts)),
        Entry::Value(_) | Entry::Removed | Entry::Cut => None,
    })
}

/// The lengths of data files.
pub(super) struct Lengths<'v> {
    storage: &'v Storage,
    known: HashMap<u64, u64>,
}

impl<'v> Lengths<'v> {
    pub(super) fn of(storage: &'v Storage) -> Self {
        Self { storage, known: HashMap::new() }
    }

    /// The damage of an extent's file, and its path.
    pub(super) fn lost(&mut self, extent: &Extent) -> Result<Option<(String, String)>> {
        let end = extent.position + extent.length;
        if self.known.get(&extent.file).is_some_and(|length| *length >= end) {
            return Ok(None);
        }
        // The file may have grown since its length was read.
        let length = match self.storage.data.length(extent.file) {
            Ok(length) => length,
            Err(Error::Corrupt { what, place }) => return Ok(Some((what, place))),
            Err(other) => return Err(other),
        };
        self.known.insert(extent.file, length);
        let what = || format!("the data file has {length} bytes and should have at least {end}");
        let place = || self.storage.data.path(extent.file).display().to_string();
        Ok((length < end).then(|| (what(), place())))
    }
}

fn next(take: &Mutex<Receiver<Vec<Job>>>) -> Option<Vec<Job>> {
    take.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Reads the parts of every batch, and reports damage.
fn read_all(storage: &Storage, take: &Mutex<Receiver<Vec<Job>>>, seen: &Report<'_>) -> Result<()> {
    let mut buffer = Vec::new();
    while let Some(batch) = next(take) {
        for (path, part) in batch.iter().flat_map(|(path, parts)| parts.iter().map(move |part| (path, part)))
        {
            let cell = cell_of(path);
            match storage.data.find_bad_chunk(part, &mut buffer, |bytes| seen.meter.read(bytes)) {
                Ok(None) => {}
                Ok(Some(byte)) => {
                    let place = storage.data.path(part.extent.file).display().to_string();
                    seen.found.add(Part::Bytes, "stored bytes fail their checksum", place, Some(byte), cell);
                }
                Err(error) => seen.found.take(Part::Bytes, cell, error)?,
            }
        }
    }
    Ok(())
}
