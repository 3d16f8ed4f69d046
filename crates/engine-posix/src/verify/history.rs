//! Verifying that the runs agree with the log, and building the state that readers should see.
//!
//! The log is replayed from its beginning. At the end of each run, the entries gathered since the previous one are compared with the run. A
//! run that agrees replaces what was gathered. So memory is bounded by a piece of the log. Larger pieces are written as runs in a temporary
//! folder outside the pool.

use std::sync::Arc;

use isotach_object::{Error, Part, Result};

use super::found::{Report, cell_of};
use crate::{
    index::{
        chain, checkpoint,
        entry::{Entry, Versioned},
        merge::Merge,
        ops::Resolved,
        raw::LazyEntry,
        run::{Run, RunWriter},
        state::{NOBODY, READ_SET_WINDOW, State},
        table::Table,
    },
    io::{directory::Directory, disk, log, storage::Storage},
    purge::manifest::PurgeManifest,
};

/// How many checkpoint intervals of the log are held in memory, and the maximum of bytes.
const INTERVALS: u64 = 64;
const PIECE_MAX: u64 = 64 << 20;

/// Replays the log up to byte `end` and compares the sound runs with it. Returns the state up to where the log is damaged, or up to the end
/// if sound runs reach past the damage.
pub(super) fn follow(
    storage: &Storage,
    sound: &[Arc<Run>],
    manifest: Option<&PurgeManifest>,
    end: u64,
    seen: &Report<'_>,
) -> Result<State> {
    let piece = storage.options.checkpoint.saturating_mul(INTERVALS).min(PIECE_MAX);
    let base = purged_runs(storage, sound);
    let reach = base.last().map_or(storage.log.epoch_at(0), |run| run.span().to);
    let start = storage.log.position_of(reach).unwrap_or(0).max(log::HEADER as u64);
    let state = State::at_runs(base, start, NOBODY);
    if let Err(error) = chain::check_reach(storage, reach, manifest) {
        seen.found.take(Part::History, None, error)?;
        return Ok(state);
    }
    let mut replay = Replay { storage, seen, piece, state, folder: None };
    let spans: Vec<_> = sound.iter().map(|run| run.span()).collect();
    for run in &chain::runs_from(sound, &spans, reach) {
        let to = storage.log.position_of(run.span().to).unwrap_or(0);
        let base = replay.state.runs.len();
        if !replay.to(to, base)? {
            // The log is damaged before the end of the run, so only the run is left.
            let runs = replay.state.runs.drain(..base).chain([Arc::clone(run)]).collect();
            replay.state = State::at_runs(runs, to, NOBODY);
            continue;
        }
        let wrong = compare(&replay.state, base, run)?;
        if let Some((count, path)) = wrong {
            let what = format!("{count} entries of a run are not what the log says");
            seen.found.add(Part::Derived, what, run.place(), None, cell_of(&path));
            replay.put_down(base)?;
        } else {
            replay.state.runs.truncate(base);
            replay.state.runs.push(Arc::clone(run));
            replay.state.table = Table::new(false);
        }
    }
    let base = replay.state.runs.len();
    replay.to(end, base)?;
    let Replay { state, .. } = replay;
    Ok(state)
}

/// The chain of runs that a purge made, and those merged with them. The log does not contain their entries any more.
fn purged_runs(storage: &Storage, sound: &[Arc<Run>]) -> Vec<Arc<Run>> {
    let tagged: Vec<_> = sound.iter().map(|run| run.span()).filter(|span| span.tag != 0).collect();
    chain::runs_from(sound, &tagged, storage.log.epoch_at(0))
}

struct Replay<'v> {
    storage: &'v Storage,
    seen: &'v Report<'v>,
    piece: u64,
    state: State,
    /// The folder for pieces. Open runs outlive their names.
    folder: Option<(tempfile::TempDir, Arc<Directory>)>,
}

impl Replay<'_> {
    /// Replays up to byte `end`. The runs from number `base` on are pieces of this. False if the log is damaged before.
    fn to(&mut self, end: u64, base: usize) -> Result<bool> {
        let mut began = self.state.position;
        loop {
            let before = self.state.position;
            match self.state.replay_to(self.storage, end.min(before.saturating_add(self.piece))) {
                Ok(()) => {}
                Err(Error::Corrupt { what, place }) => {
                    self.report(&what, &place);
                    return Ok(false);
                }
                Err(other) => return Err(other),
            }
            self.seen.meter.read(self.state.position.saturating_sub(before));
            if self.state.position >= end || self.state.position == before {
                return Ok(true);
            }
            if self.state.position - began >= self.piece {
                self.put_down(base)?;
                began = self.state.position;
            }
        }
    }

    /// Reports what stops the replay, such as a damaged segment, unless the scan of the log has reported it.
    fn report(&self, what: &str, damaged: &str) {
        let position = self.state.position;
        if self.seen.found.has_history_at(position) {
            return;
        }
        let place = self.storage.log.path().display().to_string();
        let what = if damaged.starts_with(&place) { what.to_owned() } else { format!("{what} in {damaged}") };
        self.seen.found.add(Part::History, what, place, Some(position), None);
    }

    /// Writes the table as a run, after those from number `base` on.
    fn put_down(&mut self, base: usize) -> Result<()> {
        let (from, to) = (self.state.covered(self.storage), self.storage.log.epoch_at(self.state.position));
        if to <= from {
            return Ok(());
        }
        let failed = |error| Error::from_io(error, "make a temporary folder");
        let folder = match &self.folder {
            Some((_, folder)) => Arc::clone(folder),
            None => {
                let temporary = tempfile::tempdir().map_err(failed)?;
                let folder = Arc::new(Directory::open(&*disk::system(), temporary.path())?);
                self.folder = Some((temporary, Arc::clone(&folder)));
                folder
            }
        };
        let Some(writer) = RunWriter::claim(&folder, self.storage.uuid, from, 0)? else { return Ok(()) };
        let bottom = self.state.runs.is_empty();
        let run = checkpoint::copy(Merge::of_table(&self.state.table), writer, bottom, to, 0)?;
        self.state.runs.push(Arc::new(run));
        self.state.table = Table::new(false);
        self.merge_small(&folder, base)
    }

    /// Merges pieces of similar size, so that their number is logarithmic in the length of the log.
    fn merge_small(&mut self, folder: &Arc<Directory>, base: usize) -> Result<()> {
        let runs = &mut self.state.runs;
        let entries: Vec<u64> = runs[base..].iter().map(|run| run.entries()).collect();
        let first = runs.len() - checkpoint::mergeable(&entries);
        let [oldest, .., newest] = &runs[first..] else { return Ok(()) };
        let (from, to) = (oldest.span().from, newest.span().to);
        let Some(writer) = RunWriter::claim(folder, self.storage.uuid, from, 0)? else { return Ok(()) };
        let merged = checkpoint::copy(Merge::of_runs(&runs[first..])?, writer, first == 0, to, 0)?;
        for old in runs.drain(first..) {
            // Frees its space. After a failure it is removed with the folder.
            let _ = folder.remove(&old.span().file_name());
        }
        runs.push(Arc::new(merged));
        Ok(())
    }
}

/// Compares a run with what was gathered since the previous one, in the table and in the runs from `base` on. Returns the number of
/// different entries, and the path of the first.
fn compare(state: &State, base: usize, run: &Arc<Run>) -> Result<Option<(u64, Vec<u8>)>> {
    let to = run.span().to;
    let bottom = base == 0;
    let mut log = Side { merge: Merge::of_layers(&state.runs[base..], Some(&state.table))?, bottom, to };
    let mut run = Side { merge: Merge::of_runs(std::slice::from_ref(run))?, bottom, to };
    let (mut count, mut first) = (0, None);
    let (mut expected, mut found) = (log.next()?, run.next()?);
    loop {
        let order = match (&expected, &found) {
            (None, None) => return Ok(first.map(|path| (count, path))),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((a, ..)), Some((b, ..))) => a.cmp(b),
        };
        let differ = order.is_ne() || expected != found;
        if differ {
            count += 1;
            let path = if order.is_gt() { &found } else { &expected };
            first = first.or_else(|| path.as_ref().map(|(path, ..)| path.clone()));
        }
        if order.is_le() {
            expected = log.next()?;
        }
        if order.is_ge() {
            found = run.next()?;
        }
    }
}

/// A path, the epoch of its last change, and its contents.
type Compared = (Vec<u8>, u64, Normal);

/// One side of the comparison.
struct Side<'s> {
    merge: Merge<'s>,
    bottom: bool,
    to: u64,
}

impl Side<'_> {
    /// The next entry that both sides must have.
    fn next(&mut self) -> Result<Option<Compared>> {
        while let Some((path, entry)) = self.merge.next()? {
            let entry = if self.bottom { entry.settled()? } else { entry };
            // A run with nothing under it may leave out old removals.
            if self.bottom && !entry.is_live()? && entry.epoch().saturating_add(READ_SET_WINDOW) <= self.to {
                continue;
            }
            let path = path.to_vec();
            let (epoch, normal) = normal(entry)?;
            return Ok(Some((path, epoch, normal)));
        }
        Ok(None)
    }
}

/// An entry in a form that does not depend on its history.
#[derive(PartialEq)]
enum Normal {
    /// Complete bytes, as the result of their operations.
    Bytes(Resolved),
    Other(Entry),
}

fn normal(entry: LazyEntry<'_>) -> Result<(u64, Normal)> {
    let Versioned { epoch, entry } = entry.into_versioned()?;
    let normal = match entry {
        // A cell that was removed and then punched is as empty as one that was only removed.
        Entry::Bytes(bytes) if bytes.complete => {
            bytes.resolve().map_or(Normal::Other(Entry::Removed), Normal::Bytes)
        }
        other => Normal::Other(other),
    };
    Ok((epoch, normal))
}
