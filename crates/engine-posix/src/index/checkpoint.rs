//! Checkpoints: writing the state of the log as runs.
//!
//! Any process may write a run at any time, and nothing waits for it. It is made from a state of its own, which may begin as a copy of a
//! handle's. A process first claims the work, so that only one of many replays the log for it. A run only repeats the log, so two processes
//! that still write overlapping runs do no harm.

use std::{collections::HashSet, env, ops::Range, path::Path, sync::Arc};

use isotach_object::Result;

use crate::{
    index::{
        chain,
        merge::Merge,
        raw::LazyEntry,
        run::{Run, RunWriter, Span},
        state::{NOBODY, READ_SET_WINDOW, State},
        system,
        table::Table,
    },
    io::{directory::Directory, disk, log, storage::Storage},
    purge::reserve,
};

/// A run is merged with those after it unless it has this many times the entries of all of them. So an entry is rewritten once each time a
/// container doubles, and the number of runs is the number of doublings.
const TIER_RATIO: u64 = 2;
/// Runs are merged when more than one in this many is new. Merging looks at all runs, and there are many where there are many snapshots.
const MERGE_SHARE: usize = 8;
/// Bytes of log per run, so that a long log needs little memory.
const PIECE: u64 = 16 << 20;
/// Bytes of log above which runs outside the pool are made in a folder.
const IN_MEMORY: u64 = 64 << 20;

/// Writes runs until they reach to within an interval of the log's end, unless another process does. Returns the final runs. `begun`
/// may have a state at the end of these runs that has replayed some of the log behind them, up to so many bytes.
pub(crate) fn make(
    storage: &Storage,
    begun: impl FnOnce(&[Span], u64) -> Result<Option<State>>,
) -> Result<Vec<Arc<Run>>> {
    let (before, _) = chain::spans(storage)?;
    let mut state = begun(&before, PIECE)?.map_or_else(|| State::open(storage, NOBODY, &[]), Ok)?;
    // An old container has none, nor has one after a purge on a full disk.
    reserve::make_reserve_again(&storage.directory);
    let mut new = 0;
    while extend(&mut state, storage, &before)? {
        new += 1;
        if new > state.runs.len() / MERGE_SHARE {
            merge_small(&mut state, storage)?;
            new = 0;
        }
    }
    if new > 0 {
        merge_small(&mut state, storage)?;
    }
    Ok(state.runs)
}

/// Writes the next run, unless the log's end is near or another process does. `before` are the spans that others had written.
fn extend(state: &mut State, storage: &Storage, before: &[Span]) -> Result<bool> {
    let from = state.covered(storage);
    let end = storage.log.epoch_at(storage.log.length()?);
    if end < from + storage.options.checkpoint || !reserve::is_enough_for_run(storage, PIECE.min(end - from))
    {
        return Ok(false);
    }
    let Some(writer) = RunWriter::claim(&storage.directory, storage.uuid, from, 0)? else { return Ok(false) };
    // The owner of a claim that is gone may have just finished.
    let (now, _) = chain::spans(storage)?;
    if now.iter().any(|span| span.from == from && !before.contains(span)) {
        return Ok(false);
    }
    let until = storage.log.position_of(from).unwrap_or(state.position).saturating_add(PIECE);
    state.replay_to(storage, until)?;
    if storage.log.epoch_at(state.position) == from {
        // The frame there is not whole yet.
        return Ok(false);
    }
    write(state, storage, writer)?;
    Ok(true)
}

/// A directory outside the pool for runs of what no run of the container contains. Open runs outlive it.
struct TemporaryRuns {
    directory: Arc<Directory>,
    _temporary: Option<tempfile::TempDir>,
}

impl TemporaryRuns {
    /// In a temporary folder for more than [`IN_MEMORY`] bytes of log if it has that much free space, otherwise in memory: the full disk
    /// that is to be purged may contain the folder, too.
    fn new(bytes: u64) -> Self {
        let temporary = (bytes > IN_MEMORY).then(|| Self::in_folder(&env::temp_dir(), bytes)).flatten();
        temporary.unwrap_or_else(|| Self { directory: Arc::new(Directory::in_memory()), _temporary: None })
    }

    /// In a new folder in this one, if that has this many free bytes.
    fn in_folder(folder: &Path, bytes: u64) -> Option<Self> {
        let temporary = tempfile::tempdir_in(folder).ok()?;
        let directory = Arc::new(Directory::open(&*disk::system(), temporary.path()).ok()?);
        let has_space = directory.free().is_ok_and(|free| free > bytes);
        has_space.then_some(Self { directory, _temporary: Some(temporary) })
    }
}

/// The state at the log's end, all of it in runs. What no run of the container contains is in runs outside the pool: nothing is written
/// there.
pub(crate) fn at_end(storage: &Storage) -> Result<State> {
    let mut state = State::open(storage, NOBODY, &[])?;
    let temporary = TemporaryRuns::new(storage.log.length()?.saturating_sub(state.position));
    loop {
        let from = state.covered(storage);
        state.replay_to(storage, state.position.saturating_add(PIECE))?;
        let to = storage.log.epoch_at(state.position);
        if to <= from.max(storage.log.epoch_at(log::HEADER as u64)) {
            return Ok(state);
        }
        let writer =
            RunWriter::unclaimed(&temporary.directory, format!("tmp.{from:016x}"), storage.uuid, from, 0)?;
        let run = copy(Merge::of_table(&state.table), writer, state.runs.is_empty(), to, 0)?;
        state.runs.push(Arc::new(run));
        state.table = Table::new(false);
    }
}

/// Writes the table as a run, and begins another table on it.
fn write(state: &mut State, storage: &Storage, writer: RunWriter) -> Result<()> {
    let to = storage.log.epoch_at(state.position);
    // A run must never contain a part of the log that a power failure can take.
    storage.log.sync()?;
    let sum = storage.log.sum_before(to)?;
    let run = copy(Merge::of_table(&state.table), writer, state.runs.is_empty(), to, sum)?;
    state.runs.push(Arc::new(run));
    state.table = Table::new(false);
    Ok(())
}

/// Writes a run up to epoch `to`; `bottom` if no run lies under it. `log_sum` is the checksum of the log's last bytes before `to`.
pub(crate) fn copy(
    mut from: Merge<'_>,
    mut run: RunWriter,
    bottom: bool,
    to: u64,
    log_sum: u32,
) -> Result<Run> {
    while let Some((path, entry)) = from.next()? {
        if let Some(entry) = needed(entry, bottom, to)? {
            run.push(path, &entry)?;
        }
    }
    run.finish(to, log_sum)
}

/// The form of an entry in a run up to epoch `to`; `None` if the run does not need it. `bottom` if no run lies under it.
pub(crate) fn needed(entry: LazyEntry<'_>, bottom: bool, to: u64) -> Result<Option<LazyEntry<'_>>> {
    if !bottom {
        return Ok(Some(entry));
    }
    let entry = entry.settled()?;
    Ok((entry.is_live()? || entry.epoch() + READ_SET_WINDOW > to).then_some(entry))
}

/// How many of the newest runs to merge, given the number of entries of each, oldest first.
pub(crate) fn mergeable(entries: &[u64]) -> usize {
    let Some((newest, older)) = entries.split_last() else { return 0 };
    let mut sum = *newest;
    let more = older.iter().rev().take_while(|entries| {
        let small = **entries < TIER_RATIO.saturating_mul(sum.max(1));
        sum += **entries;
        small
    });
    1 + more.count()
}

/// Merges small runs, but none across the epoch of a snapshot: readers of the past need the runs before it. So runs long before the last
/// may become mergeable when a snapshot between them is removed. Removes the runs that were merged.
fn merge_small(state: &mut State, storage: &Storage) -> Result<()> {
    let snapshots: HashSet<u64> = system::snapshots(state)?.iter().map(|snapshot| snapshot.epoch.0).collect();
    let mut end = state.runs.len();
    while end > 0 {
        let begins_at_one = |run: &Arc<Run>| snapshots.contains(&run.span().from);
        let start = state.runs[..end].iter().rposition(begins_at_one).unwrap_or(0);
        let entries: Vec<u64> = state.runs[start..end].iter().map(|run| run.entries()).collect();
        let first = end - mergeable(&entries);
        if end - first > 1 {
            merge(state, storage, first..end)?;
        }
        end = first;
    }
    chain::remove_narrow(storage, &state.runs)
}

/// Replaces these runs of the state by one.
fn merge(state: &mut State, storage: &Storage, which: Range<usize>) -> Result<()> {
    let which = fitting(state, storage, which);
    let merging = &state.runs[which.clone()];
    let [oldest, .., newest] = merging else { return Ok(()) };
    let (Span { from, tag, .. }, to) = (oldest.span(), newest.span().to);
    let Some(writer) = RunWriter::claim(&storage.directory, storage.uuid, from, tag)? else { return Ok(()) };
    let bottom = which.start == 0;
    let merged = copy(Merge::of_runs(merging)?, writer, bottom, to, storage.log.sum_before(to)?)?;
    state.runs.splice(which, [Arc::new(merged)]);
    Ok(())
}

/// The newest of these runs of the state, as many as there is space to merge. The oldest are the largest.
fn fitting(state: &State, storage: &Storage, which: Range<usize>) -> Range<usize> {
    let size =
        |run: &Arc<Run>| storage.directory.stat(&run.span().file_name()).map_or(0, |stat| stat.allocated);
    let sizes: Vec<u64> = state.runs[which.clone()].iter().map(size).collect();
    let left_out =
        (0..sizes.len()).find(|first| reserve::is_enough_for_run(storage, sizes[*first..].iter().sum()));
    which.start + left_out.unwrap_or(sizes.len())..which.end
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn runs_are_merged_up_to_a_much_larger_one() {
        for (entries, count) in [
            (&[][..], 0),
            (&[5], 1),
            (&[5, 5], 2),
            (&[10, 5], 1),
            (&[28, 9, 5], 2),
            (&[27, 9, 5], 3),
            (&[9, 0, 0], 2),
        ] {
            assert_eq!(mergeable(entries), count, "{entries:?}");
        }
    }

    #[test]
    fn a_temporary_folder_without_enough_space_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        assert!(TemporaryRuns::in_folder(folder.path(), 1).is_some());
        assert!(TemporaryRuns::in_folder(folder.path(), u64::MAX).is_none());
        assert!(TemporaryRuns::in_folder(&folder.path().join("missing"), 1).is_none());
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing stays there");
    }
}
