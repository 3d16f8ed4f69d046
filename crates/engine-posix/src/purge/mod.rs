//! Purging: freeing the space of what was replaced or removed (docs/decisions/011-purge.md, FORMAT.md section 7.6).
//!
//! What must stay true at every moment, even if a process dies: the manifest that counts has its runs, and everything exists that they and
//! the log behind its epoch refer to. So everything new is durable before the manifest is published, and only then are files removed. A
//! file may be removed if no valid run, no frame behind the manifest's epoch and no prepared transaction refers to it. That no later frame
//! will is known because its writer released its lock before the log was read to its end.
//!
//! A purge works in rounds. One round is enough where there is space for all copies. Otherwise the first round frees what needs no copy
//! (see `dead`), and each later round copies as much as fits.

mod clean;
mod copy;
mod dead;
mod live;
pub(crate) mod manifest;
mod plan;
pub(crate) mod reserve;
mod segments;

use std::{collections::HashSet, fs::TryLockError, sync::Arc};

use isotach_engine_kit::random;
use isotach_object::{Error, Purged, Result};

use self::{
    clean::Cleaned,
    copy::Copier,
    plan::{DataFile, Plan},
};
use crate::{
    format::superblock,
    index::{
        checkpoint,
        run::Run,
        state::{NOBODY, State},
    },
    io::{
        directory::Directory,
        disk::{File, Folder},
        filesystem, flush_notes,
        storage::Storage,
    },
    purge::manifest::{PurgeManifest, temporary},
    verify,
};

/// How often the state is read again because another purge changed the files meanwhile.
const TRIES: usize = 20;

/// Purges a container, or reports the expected result without writing anything.
pub(crate) fn purge(disk: &dyn Folder, storage: &Storage, carry_out: bool) -> Result<Purged> {
    if !carry_out {
        return expected(storage);
    }
    filesystem::check_locks(disk, storage.directory.path())?;
    storage.log.check_writable()?;
    let _only_one = lock(&storage.directory)?;
    // Data files that the lost end of a log named look dead.
    flush_notes::check(storage)?;
    if reserve::is_short(&storage.directory) {
        // The caller may have to write something first that makes more data dead.
        reserve::give_up_reserve(&storage.directory);
    }
    let mut job =
        Job { storage, purged: Purged::default(), stay: HashSet::new(), made_way: false, limit: u64::MAX };
    let outcome = job.run();
    reserve::make_reserve_again(&storage.directory);
    outcome.map(|()| job.purged)
}

/// Publishes a generation of these runs, which replaces everything in the log up to their end. The caller holds the lock of purges, and has
/// filled the log up to there.
pub(crate) fn republish(storage: &Storage, runs: Vec<Arc<Run>>) -> Result<()> {
    let old = PurgeManifest::current(storage)?;
    let tag = random::number()?.max(1);
    let end = runs.last().map_or(0, |run| run.span().to);
    let state = State::at_runs(runs, storage.log.position_of(end).unwrap_or(0), NOBODY);
    let (sequence, hole_end) = old.map_or((1, 0), |old| (old.sequence + 1, old.hole_end));
    let manifest = PurgeManifest { sequence, epoch: end, hole_end, tag };
    let copier =
        Copier::new(storage, HashSet::new(), tag, temporary(tag), verify::named_by(storage, &state.runs)?);
    copier.publish(&state, manifest).map(drop)
}

/// The expected result of a purge.
fn expected(storage: &Storage) -> Result<Purged> {
    flush_notes::check(storage)?;
    for _ in 0..TRIES {
        let manifest = PurgeManifest::current(storage)?;
        let told = survey(storage, &HashSet::new(), false).map(|(_, plan)| plan.expected());
        let is_damage = matches!(told, Err(Error::Corrupt { .. } | Error::NotFound { .. }));
        if !is_damage || PurgeManifest::current(storage)? == manifest {
            return told;
        }
    }
    survey(storage, &HashSet::new(), false).map(|(_, plan)| plan.expected())
}

/// The present state, and the plan for it. Data files in `stay` are not chosen.
fn survey(storage: &Storage, stay: &HashSet<u64>, carry_out: bool) -> Result<(State, Plan)> {
    // A writer that has released its lock appends no more frames that refer to the file.
    let files = DataFile::list(storage, carry_out)?;
    let state = checkpoint::at_end(storage)?;
    let old = PurgeManifest::current(storage)?;
    let plan = Plan::new(storage, &state, old, files, stay)?;
    Ok((state, plan))
}

/// Takes the exclusive lock of a purge or repair.
pub(crate) fn lock(container: &Directory) -> Result<Arc<dyn File>> {
    let name = superblock::FILE;
    let file = container.read(name).map_err(|error| container.failed("open", name, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let what = format!("a purge or a repair of {} is under way", container.path().display());
            Err(Error::Conflict { what })
        }
        Err(TryLockError::Error(error)) => Err(container.failed("lock", name, error)),
    }
}

/// A purge in progress.
struct Job<'p> {
    storage: &'p Storage,
    purged: Purged,
    /// Data files that cannot be removed, because they are damaged.
    stay: HashSet<u64>,
    /// Whether what needs no copy was removed.
    made_way: bool,
    /// The space that the next round may use.
    limit: u64,
}

impl Job<'_> {
    fn run(&mut self) -> Result<()> {
        while self.round()? {}
        Ok(())
    }

    /// Does as much as there is space for. True if more is left to do.
    fn round(&mut self) -> Result<bool> {
        let (state, plan) = survey(self.storage, &self.stay, true)?;
        if self.purged.before == 0 {
            self.purged.before = plan.before;
        }
        self.purged.held = plan.held();
        if !plan.is_worth_it() {
            self.clean(plan.old, plan.old, &HashSet::new(), 0)?;
            return Ok(false);
        }
        let free = self.storage.directory.free()?.min(self.limit);
        let chosen = plan.chosen(free);
        let is_all = chosen.as_ref() == Some(&plan.all());
        if !is_all && !self.made_way {
            self.make_way(&plan)?;
            return Ok(true);
        }
        let tried = chosen.clone().unwrap_or_default();
        let outcome = match chosen {
            Some(chosen) => self.carry_out(&state, &plan, &chosen),
            None => Err(plan.no_space(self.storage, free)),
        };
        match outcome {
            Ok(freed) => Ok(!is_all && freed),
            // Other processes took the space meanwhile.
            Err(Error::NoSpace { .. }) if !self.made_way => {
                self.make_way(&plan)?;
                Ok(true)
            }
            // Less may be free than the file system reports, because of quotas.
            Err(Error::NoSpace { .. }) if self.halve(&plan, &tried) => Ok(true),
            // What was freed so far stays freed.
            Err(Error::NoSpace { .. }) if self.purged.freed > 0 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets the next round copy half of what did not fit. False if it would not write less: nothing was copied, or the bytes of one file.
    fn halve(&mut self, plan: &Plan, tried: &HashSet<u64>) -> bool {
        let copied = plan.to_copy(tried);
        self.limit = plan.needed_for_runs() + copied / 2;
        tried.len() > 1 && copied > 0
    }

    /// Frees what needs no copy, and the reserve.
    fn make_way(&mut self, plan: &Plan) -> Result<()> {
        self.made_way = true;
        let storage = self.storage;
        if PurgeManifest::current(storage)? != plan.old {
            // Only the sync of its name failed: the plan is outdated.
            return Ok(());
        }
        self.clean(plan.old, plan.old, &HashSet::new(), 0)?;
        reserve::give_up_reserve(&storage.directory);
        self.purged.freed += dead::remove(storage, plan)?;
        storage.data.close();
        Ok(())
    }

    /// Copies the live bytes of the chosen files and removes the files. True if that freed space.
    fn carry_out(&mut self, state: &State, plan: &Plan, chosen: &HashSet<u64>) -> Result<bool> {
        let tag = random::number()?.max(1);
        // A manifest must never refer to a part of the log that a power failure can take.
        self.storage.log.sync()?;
        let named = verify::named(self.storage, plan.old)?;
        let copier = Copier::new(self.storage, chosen.clone(), tag, temporary(tag), named);
        let (made, gone) = copier.publish(state, plan.manifest(tag))?;
        self.stay.extend(chosen - &gone);
        self.storage.data.close();
        let freed = self.purged.freed;
        self.clean(plan.old, Some(plan.manifest(tag)), &gone, made)?;
        Ok(self.purged.freed > freed)
    }

    /// Cleans up after the purge that published the manifest `now`, for which `made` bytes were written, and those before it.
    fn clean(
        &mut self,
        old: Option<PurgeManifest>,
        now: Option<PurgeManifest>,
        gone: &HashSet<u64>,
        made: u64,
    ) -> Result<()> {
        let directory = &self.storage.directory;
        if now == old {
            // Its publisher may have died before its name was durable.
            directory.sync().map_err(|error| directory.failed("sync", "", error))?;
        }
        let Cleaned { removed, punched } = clean::clean(self.storage, now.as_ref(), gone)?;
        let hole = now.map_or(0, |manifest| manifest.hole_end) - old.map_or(0, |old| old.hole_end);
        self.purged.history_stays = !punched;
        let hole = if punched { hole } else { 0 };
        self.purged.freed += (removed + hole).saturating_sub(made);
        Ok(())
    }
}
