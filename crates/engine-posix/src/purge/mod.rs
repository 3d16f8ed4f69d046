//! Purging: giving back the room of what was replaced or removed (docs/decisions/011-purge.md, FORMAT.md section 7.6).
//!
//! What must stay true at every moment, whoever dies: the floor that counts has its runs, and all that they and the log
//! behind it refer to is there. So everything new is on the device before the floor is published, and only then is anything
//! removed. What may be removed is what no valid run and no frame behind the floor refers to; that a data file is such is
//! known because its writer has given up its lock before the log was read to its end, and because nothing that is prepared names it.
//!
//! A purge goes in rounds. One is enough where there is room for all that it copies. Where there is not, the first gives back
//! what needs no copy (see `dead`), and each of the others copies as much as fits.

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
        filesystem, flushed,
        storage::Storage,
    },
    purge::manifest::{Floor, temporary},
    verify,
};

/// How often the state is read again because another purge changed the files meanwhile.
const TRIES: usize = 20;

/// Purges a container, or tells what that would give back and writes nothing.
pub(crate) fn purge(disk: &dyn Folder, storage: &Storage, carry_out: bool) -> Result<Purged> {
    if !carry_out {
        return expected(storage);
    }
    filesystem::check_locks(disk, storage.directory.path())?;
    storage.log.check_writable()?;
    let _only_one = lock(&storage.directory)?;
    // What a lost end of the log named looks dead.
    flushed::check(storage)?;
    if reserve::is_short(&storage.directory) {
        // Whoever purges may have to write something himself that makes more of it dead.
        reserve::give_up_reserve(&storage.directory);
    }
    let mut job =
        Job { storage, purged: Purged::default(), stay: HashSet::new(), made_way: false, limit: u64::MAX };
    let outcome = job.run();
    reserve::make_reserve_again(&storage.directory);
    outcome.map(|()| job.purged)
}

/// Publishes a generation of what these runs say, in the place of all that the log says up to their end. The caller holds the
/// lock of purges, and has filled the log up to there.
pub(crate) fn republish(storage: &Storage, runs: Vec<Arc<Run>>) -> Result<()> {
    let old = Floor::current(storage)?;
    let tag = random::number()?.max(1);
    let end = runs.last().map_or(0, |run| run.span().to);
    let state = State::at_runs(runs, storage.log.position_of(end).unwrap_or(0), NOBODY);
    let (sequence, hole_end) = old.map_or((1, 0), |old| (old.sequence + 1, old.hole_end));
    let floor = Floor { sequence, epoch: end, hole_end, tag };
    let copier =
        Copier::new(storage, HashSet::new(), tag, temporary(tag), verify::named_by(storage, &state.runs)?);
    copier.publish(&state, floor).map(drop)
}

/// What a purge would give back.
fn expected(storage: &Storage) -> Result<Purged> {
    flushed::check(storage)?;
    for _ in 0..TRIES {
        let floor = Floor::current(storage)?;
        let told = look(storage, &HashSet::new(), false).map(|(_, plan)| plan.expected());
        let is_damage = matches!(told, Err(Error::Corrupt { .. } | Error::NotFound { .. }));
        if !is_damage || Floor::current(storage)? == floor {
            return told;
        }
    }
    look(storage, &HashSet::new(), false).map(|(_, plan)| plan.expected())
}

/// The state as it is now, and what to do about it; data files that are to `stay` are not chosen.
fn look(storage: &Storage, stay: &HashSet<u64>, carry_out: bool) -> Result<(State, Plan)> {
    // Who has given up its lock by now has nothing to append any more that refers to the file.
    let files = DataFile::list(storage, carry_out)?;
    let state = checkpoint::at_end(storage)?;
    let old = Floor::current(storage)?;
    let plan = Plan::new(storage, &state, old, files, stay)?;
    Ok((state, plan))
}

/// Takes the lock that one purge or repair of a container has.
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

/// A purge that is under way.
struct Job<'p> {
    storage: &'p Storage,
    purged: Purged,
    /// Data files that cannot go, because they are damaged.
    stay: HashSet<u64>,
    /// Whether what needs no copy has gone.
    made_way: bool,
    /// How many bytes the next round may take.
    limit: u64,
}

impl Job<'_> {
    fn run(&mut self) -> Result<()> {
        while self.round()? {}
        Ok(())
    }

    /// Does as much as there is room for. True if there is more to do.
    fn round(&mut self) -> Result<bool> {
        let (state, plan) = look(self.storage, &self.stay, true)?;
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
            None => Err(plan.no_room(self.storage, free)),
        };
        match outcome {
            Ok(freed) => Ok(!is_all && freed),
            // Others took the room meanwhile.
            Err(Error::NoSpace { .. }) if !self.made_way => {
                self.make_way(&plan)?;
                Ok(true)
            }
            // Less may be free than the file system says: quotas are not in what it says.
            Err(Error::NoSpace { .. }) if self.halve(&plan, &tried) => Ok(true),
            // What was given back so far stays so.
            Err(Error::NoSpace { .. }) if self.purged.freed > 0 => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets the next round copy half of what did not fit. False if that was one file, or none.
    fn halve(&mut self, plan: &Plan, tried: &HashSet<u64>) -> bool {
        self.limit = plan.needed_for_runs() + plan.to_copy(tried) / 2;
        tried.len() > 1
    }

    /// Gives back what needs no copy, and the room that is kept for this.
    fn make_way(&mut self, plan: &Plan) -> Result<()> {
        self.made_way = true;
        let storage = self.storage;
        if Floor::current(storage)? != plan.old {
            // What failed last was to make its name durable: the plan is of the past.
            return Ok(());
        }
        self.clean(plan.old, plan.old, &HashSet::new(), 0)?;
        reserve::give_up_reserve(&storage.directory);
        self.purged.freed += dead::remove(storage, plan)?;
        storage.data.close();
        Ok(())
    }

    /// Copies what is live in the chosen files, and removes them. True if that gave room back.
    fn carry_out(&mut self, state: &State, plan: &Plan, chosen: &HashSet<u64>) -> Result<bool> {
        let tag = random::number()?.max(1);
        // A floor must never speak of a part of the log that a power failure can take away.
        self.storage.log.sync()?;
        let named = verify::named(self.storage, plan.old)?;
        let copier = Copier::new(self.storage, chosen.clone(), tag, temporary(tag), named);
        let (made, gone) = copier.publish(state, plan.floor(tag))?;
        self.stay.extend(chosen - &gone);
        self.storage.data.close();
        let freed = self.purged.freed;
        self.clean(plan.old, Some(plan.floor(tag)), &gone, made)?;
        Ok(self.purged.freed > freed)
    }

    /// Cleans up after the purge that published the floor `now`, and those before it; `made` bytes were written for it.
    fn clean(
        &mut self,
        old: Option<Floor>,
        now: Option<Floor>,
        gone: &HashSet<u64>,
        made: u64,
    ) -> Result<()> {
        let directory = &self.storage.directory;
        if now == old {
            // Whoever published it may have died before its name was durable.
            directory.sync().map_err(|error| directory.failed("sync", "", error))?;
        }
        let Cleaned { removed, punched } = clean::clean(self.storage, now.as_ref(), gone)?;
        let hole = now.map_or(0, |floor| floor.hole_end) - old.map_or(0, |old| old.hole_end);
        self.purged.history_stays = !punched;
        let hole = if punched { hole } else { 0 };
        self.purged.freed += (removed + hole).saturating_sub(made);
        Ok(())
    }
}
