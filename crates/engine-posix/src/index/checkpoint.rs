//! Checkpoints: writing down as runs what the log amounts to.
//!
//! Any process may write one at any time, and nothing waits for it: it is made of a state of its own, beside what the
//! handles of any process read from. A process first claims the work, so that of many that see the log grown one
//! replays it. A run says only what the log says, so two that write runs of overlapping spans all the same do no harm.

use std::{env, ops::Range, path::Path, sync::Arc};

use isotach_object::Result;

use crate::{
    index::{
        chain,
        merge::Merge,
        raw::Kept,
        run::{Run, RunWriter, Span},
        state::{NOBODY, READ_SET_WINDOW, State},
        system,
        table::Table,
    },
    io::{directory::Directory, disk, log, storage::Storage},
    purge::reserve,
};

/// A run is merged with those after it unless it has this many times the entries of all of them. So an entry is written
/// once more each time a container doubles, and as many runs are looked into as it has doubled.
const TIER_RATIO: u64 = 2;
/// Bytes of log that one run is made from, so that a long log needs little memory.
const PIECE: u64 = 16 << 20;
/// Bytes of log from which runs outside the pool are made in memory.
const IN_MEMORY: u64 = 64 << 20;

/// Writes runs until they reach to within an interval of the log's end, unless another process is at it. Gives the
/// runs there were when it ended.
pub(crate) fn make(storage: &Storage) -> Result<Vec<Arc<Run>>> {
    let (before, _) = chain::spans(storage)?;
    let mut state = State::open(storage, NOBODY, &[])?;
    // A container has none that was made before there were any, and after a purge on a full disk.
    reserve::make_reserve_again(&storage.directory);
    loop {
        let from = state.covered(storage);
        let end = storage.log.epoch_at(storage.log.length()?);
        if end < from + storage.options.checkpoint {
            return Ok(state.runs);
        }
        if !reserve::is_enough_for_run(storage, PIECE.min(end - from)) {
            return Ok(state.runs);
        }
        let Some(writer) = RunWriter::claim(&storage.directory, storage.uuid, from, 0)? else {
            return Ok(state.runs);
        };
        // Whoever had the claim before may have just finished.
        let (now, _) = chain::spans(storage)?;
        if now.iter().any(|span| span.from == from && !before.contains(span)) {
            return Ok(state.runs);
        }
        state.replay_to(storage, state.position.saturating_add(PIECE))?;
        if storage.log.epoch_at(state.position) == from {
            // What stands there is not whole yet.
            return Ok(state.runs);
        }
        write(&mut state, storage, writer)?;
        merge_small(&mut state, storage)?;
        chain::remove_narrow(storage, &state.runs)?;
    }
}

/// A place for runs of what no run of the container holds yet. It is outside the pool, and open runs outlive it.
struct Aside {
    directory: Arc<Directory>,
    _temporary: Option<tempfile::TempDir>,
}

impl Aside {
    /// In a temporary folder if it is for more than [`IN_MEMORY`] bytes of log and as many are free there, else in memory: a disk
    /// that is full and to be purged may be the one that has the folder, too.
    fn new(bytes: u64) -> Self {
        let temporary = (bytes > IN_MEMORY).then(|| Self::in_folder(&env::temp_dir(), bytes)).flatten();
        temporary.unwrap_or_else(|| Self { directory: Arc::new(Directory::in_memory()), _temporary: None })
    }

    /// In a new folder in this one, if that has so many bytes of room.
    fn in_folder(folder: &Path, bytes: u64) -> Option<Self> {
        let temporary = tempfile::tempdir_in(folder).ok()?;
        let directory = Arc::new(Directory::open(&*disk::system(), temporary.path()).ok()?);
        let has_room = directory.free().is_ok_and(|free| free > bytes);
        has_room.then_some(Self { directory, _temporary: Some(temporary) })
    }
}

/// The state at the log's end as it is when it gets there, all of it in runs. What the container has no runs of is in runs
/// outside the pool: nothing is written there.
pub(crate) fn at_end(storage: &Storage) -> Result<State> {
    let mut state = State::open(storage, NOBODY, &[])?;
    let aside = Aside::new(storage.log.length()?.saturating_sub(state.position));
    loop {
        let from = state.covered(storage);
        state.replay_to(storage, state.position.saturating_add(PIECE))?;
        let to = storage.log.epoch_at(state.position);
        if to <= from.max(storage.log.epoch_at(log::HEADER as u64)) {
            return Ok(state);
        }
        let writer =
            RunWriter::unclaimed(&aside.directory, format!("tmp.{from:016x}"), storage.uuid, from, 0)?;
        let run = copy(Merge::of_table(&state.table), writer, state.runs.is_empty(), to, 0)?;
        state.runs.push(Arc::new(run));
        state.table = Table::new(false);
    }
}

/// Writes the table as a run, and begins another table on it.
fn write(state: &mut State, storage: &Storage, writer: RunWriter) -> Result<()> {
    let to = storage.log.epoch_at(state.position);
    // A run must never speak of a part of the log that a power failure can take away.
    storage.log.sync()?;
    let sum = storage.log.sum_before(to)?;
    let run = copy(Merge::of_table(&state.table), writer, state.runs.is_empty(), to, sum)?;
    state.runs.push(Arc::new(run));
    state.table = Table::new(false);
    Ok(())
}

/// Writes a run that goes up to epoch `to`, with `bottom` as one with nothing under it. `log_sum` is the checksum of the
/// log's last bytes before `to`.
pub(crate) fn copy(
    mut from: Merge<'_>,
    mut run: RunWriter,
    bottom: bool,
    to: u64,
    log_sum: u32,
) -> Result<Run> {
    while let Some((path, kept)) = from.next()? {
        if let Some(kept) = needed(kept, bottom, to)? {
            run.push(path, &kept)?;
        }
    }
    run.finish(to, log_sum)
}

/// What a run that goes up to epoch `to` holds of an entry, with `bottom` as one with nothing under it.
pub(crate) fn needed(kept: Kept<'_>, bottom: bool, to: u64) -> Result<Option<Kept<'_>>> {
    if !bottom {
        return Ok(Some(kept));
    }
    let kept = kept.settled()?;
    Ok((kept.is_live()? || kept.epoch() + READ_SET_WINDOW > to).then_some(kept))
}

/// How many of the newest runs are merged, given the entries of each, oldest first.
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

/// Merges small runs, but none across the epoch of a snapshot: from the runs before it the past is made. So runs that end
/// long before the last may become mergeable, when a snapshot between them is removed.
fn merge_small(state: &mut State, storage: &Storage) -> Result<()> {
    let kept: Vec<u64> = system::snapshots(state)?.iter().map(|snapshot| snapshot.epoch.0).collect();
    let mut end = state.runs.len();
    while end > 0 {
        let begins_at_one = |run: &Arc<Run>| kept.contains(&run.span().from);
        let start = state.runs[..end].iter().rposition(begins_at_one).unwrap_or(0);
        let entries: Vec<u64> = state.runs[start..end].iter().map(|run| run.entries()).collect();
        let first = end - mergeable(&entries);
        merge(state, storage, first..end)?;
        end = first;
    }
    Ok(())
}

/// Puts one run in the place of these of the state.
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

/// The newest of these runs of the state, as many as there is room to merge. The oldest are the largest.
fn fitting(state: &State, storage: &Storage, which: Range<usize>) -> Range<usize> {
    let size = |run: &Arc<Run>| storage.directory.stat(&run.span().file_name()).map_or(0, |stat| stat.room);
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
    fn runs_are_merged_up_to_one_that_is_much_larger_than_all_after_it() {
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
    fn a_folder_without_room_for_what_a_purge_reads_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Aside::in_folder(folder.path(), 1).is_some());
        assert!(Aside::in_folder(folder.path(), u64::MAX).is_none());
        assert!(Aside::in_folder(&folder.path().join("missing"), 1).is_none());
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing stays there");
    }
}
