//! The plan of a purge: the data files to remove, and the space that this takes and frees.

use std::{collections::HashSet, fs::TryLockError};

use isotach_object::{Error, Purged, Result};

use super::{
    clean,
    live::{self, Live, stretches},
    manifest::LOG_KEPT,
    segments,
};
use crate::{
    index::state::State,
    io::{
        data,
        disk::{Unreadable, may_open_no_more},
        log::{BLOCK, HEADER},
        storage::Storage,
    },
    purge::manifest::PurgeManifest,
    transaction::prepared,
};

/// A data file is chosen if more than one part in this many of it is dead.
const DEAD_SHARE: u64 = 20;
/// Space for the last blocks of files, and for names.
const MARGIN: u64 = 32 << 10;

/// A data file that is not empty.
pub(super) struct DataFile {
    pub(super) number: u64,
    length: u64,
    /// A writer has it locked, or readers of the log's end need it.
    in_use: bool,
}

impl DataFile {
    /// The data files of a container. Where locks cannot be tested, that is an error if the plan will be carried out. Otherwise the file
    /// counts as locked.
    pub(super) fn list(storage: &Storage, carry_out: bool) -> Result<Vec<Self>> {
        let folder = storage.data.folder();
        let mut files = Vec::new();
        for name in folder.names()? {
            let Some(number) = data::of_file_name(&name) else { continue };
            let file = match folder.read(&name) {
                Err(error) if may_open_no_more(&error) => return Err(folder.failed("open", &name, error)),
                // A file of another user, or gone meanwhile.
                Err(_) => continue,
                Ok(file) => file,
            };
            let failed = |error| folder.failed("stat", &name, error);
            let length = file.stat().map_err(failed)?.length;
            // A writer locks its file before it writes to it, so an empty file may be about to be locked.
            if length > 0 {
                let in_use = match file.try_lock() {
                    Ok(()) => false,
                    Err(TryLockError::Error(error)) if carry_out => {
                        return Err(folder.failed("lock", &name, error));
                    }
                    Err(_) => true,
                };
                files.push(Self { number, length, in_use });
            }
        }
        Ok(files)
    }
}

pub(super) struct Plan {
    pub(super) old: Option<PurgeManifest>,
    /// The end of the runs.
    end: u64,
    /// The present size of the container.
    pub(super) before: u64,
    /// The present size of its runs.
    runs: u64,
    hole_end: u64,
    files: Vec<DataFile>,
    live: Live,
}

impl Plan {
    pub(super) fn new(
        storage: &Storage,
        state: &State,
        old: Option<PurgeManifest>,
        mut files: Vec<DataFile>,
        stay: &HashSet<u64>,
    ) -> Result<Self> {
        // A prepared transaction may be committed behind the manifest's epoch, by a frame with the present places of its bytes.
        let prepared = prepared::files(state)?;
        files.retain(|file| !prepared.contains(&file.number) && !stay.contains(&file.number));
        let end = state.covered(storage);
        let position = storage.log.position_of(end).unwrap_or(0).saturating_sub(LOG_KEPT);
        let hole = (position - position % BLOCK).max(BLOCK);
        let hole = if hole == BLOCK { 0 } else { storage.log.epoch_at(hole) };
        let hole_end = hole.max(old.map_or(0, |old| old.hole_end));
        let [first, last] = [hole_end, end].map(|epoch| storage.log.position_of(epoch).unwrap_or(0));
        let needed = segments::files(storage, first.max(HEADER as u64)..last)?;
        files.iter_mut().for_each(|file| file.in_use |= needed.contains(&file.number));
        Ok(Self {
            old,
            end,
            before: size(storage)?,
            runs: clean::size_of_runs(storage)?,
            hole_end,
            files,
            live: live::measure(&stretches(state)?)?,
        })
    }

    pub(super) fn manifest(&self, tag: u64) -> PurgeManifest {
        PurgeManifest { sequence: self.next_sequence(), epoch: self.end, hole_end: self.hole_end, tag }
    }

    /// A manifest with the same valid runs and a new sequence.
    pub(super) fn unchanged_manifest(&self, tag: u64) -> PurgeManifest {
        let old = self.old.unwrap_or(PurgeManifest { sequence: 0, epoch: 0, hole_end: 0, tag });
        PurgeManifest { sequence: self.next_sequence(), ..old }
    }

    fn next_sequence(&self) -> u64 {
        self.old.map_or(0, |old| old.sequence) + 1
    }

    fn dead(&self, file: &DataFile) -> u64 {
        file.length.saturating_sub(self.live.in_file(file.number))
    }

    /// The files without references. An array without bytes has a reference and nothing else.
    pub(super) fn unreferenced(&self) -> impl Iterator<Item = &DataFile> {
        self.files.iter().filter(|file| !file.in_use && !self.live.refers_to(file.number))
    }

    /// The part of the log that a reader may replay.
    pub(super) fn log_to_replay(&self, storage: &Storage) -> std::ops::Range<u64> {
        let hole_end = self.old.map_or(0, |old| old.hole_end);
        let [first, last] = [hole_end, self.end].map(|epoch| storage.log.position_of(epoch).unwrap_or(0));
        first.max(HEADER as u64)..last
    }

    fn worth_copying(&self) -> impl Iterator<Item = &DataFile> {
        self.files.iter().filter(|file| !file.in_use && self.dead(file) > file.length / DEAD_SHARE)
    }

    /// All files that are worth copying.
    pub(super) fn all(&self) -> HashSet<u64> {
        self.worth_copying().map(|file| file.number).collect()
    }

    /// The bytes to copy from these files.
    pub(super) fn to_copy(&self, files: &HashSet<u64>) -> u64 {
        files.iter().map(|file| self.live.in_file(*file)).sum()
    }

    /// The space for the runs of a new generation.
    pub(super) fn needed_for_runs(&self) -> u64 {
        self.live.run_bytes + self.live.run_bytes / 8 + MARGIN
    }

    /// The files to remove with this much free space: all that are worth it, or those with the least to copy, so that more is freed than
    /// copied. `None` if there is no space even for the runs, or nothing would be freed.
    pub(super) fn chosen(&self, free: u64) -> Option<HashSet<u64>> {
        let mut files: Vec<&DataFile> = self.worth_copying().collect();
        let live = |file: &DataFile| self.live.in_file(file.number);
        let mut left = free.checked_sub(self.needed_for_runs())?;
        if files.iter().map(|file| live(file)).sum::<u64>() <= left {
            return Some(self.all());
        }
        // Least live share first: a/b < c/d as a*d < c*b.
        files.sort_by_key(|file| u128::from(live(file)) * 1_000_000 / u128::from(file.length.max(1)));
        let (mut chosen, mut freed) = (HashSet::new(), self.hole() + self.runs);
        for file in files {
            let Some(rest) = left.checked_sub(live(file)) else { continue };
            left = rest;
            freed += self.dead(file);
            chosen.insert(file.number);
        }
        (freed > self.live.run_bytes && (!chosen.is_empty() || self.hole() > 0)).then_some(chosen)
    }

    /// The error if nothing can be done.
    pub(super) fn no_space(&self, storage: &Storage, free: u64) -> Error {
        let least = self.worth_copying().map(|file| self.live.in_file(file.number)).min().unwrap_or(0);
        let needed = self.needed_for_runs() + least;
        let path = storage.directory.path().display();
        let what = format!(
            "purging {path} needs {needed} bytes of free space, and {free} are free: free space on this file system, or copy the \
             container to another store, wipe it here, and copy it back"
        );
        Error::NoSpace { what }
    }

    pub(super) fn held(&self) -> u64 {
        self.files.iter().filter(|file| file.in_use).map(|file| self.dead(file)).sum()
    }

    fn hole(&self) -> u64 {
        self.hole_end - self.old.map_or(0, |old| old.hole_end)
    }

    pub(super) fn is_worth_it(&self) -> bool {
        self.end > 0 && (self.worth_copying().next().is_some() || self.hole() > 0)
    }

    pub(super) fn expected(&self) -> Purged {
        let mut purged = Purged { before: self.before, held: self.held(), ..Purged::default() };
        if self.is_worth_it() {
            let dead: u64 = self.worth_copying().map(|file| self.dead(file)).sum();
            purged.freed = (dead + self.hole() + self.runs).saturating_sub(self.live.run_bytes);
        }
        purged
    }
}

fn size(storage: &Storage) -> Result<u64> {
    let path = storage.directory.path();
    let size = storage.log.disk().size_of_all(path, Unreadable::Fail);
    size.map_err(|error| Error::from_io(error, format!("measure {}", path.display())))
}
