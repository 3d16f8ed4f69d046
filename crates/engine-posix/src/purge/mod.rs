//! Purging: giving back the room of what was replaced or removed (docs/decisions/011-purge.md, FORMAT.md section 7.6).
//!
//! What must stay true at every moment, whoever dies: the floor that counts has its runs, and all that they and the log
//! behind it refer to is there. So everything new is on the device before the floor is published, and only then is anything
//! removed. What may be removed is what no valid run and no frame behind the floor refers to; that a data file is such is
//! known because its writer has given up its lock before the log was read to its end, and because nothing that is parked names it.

mod clean;
mod copy;
mod live;
mod segments;

use std::{collections::HashSet, fs::TryLockError};

use isotach_object::{Error, Purged, Result};

use self::{copy::Copier, live::Live};
use crate::{
    checkpoint, data,
    disk::{File, Folder, Hidden, may_open_no_more},
    filesystem,
    floor::Floor,
    log::{BLOCK, HEADER},
    parked, random, snapshot,
    state::{Place, State},
    superblock,
};

/// Bytes of the log before the floor that are kept, so that only who was stopped for long misses a verdict.
pub(crate) const KEPT: u64 = 1 << 20;
/// A data file is chosen when more than one part in so many of it is dead.
const DEAD_SHARE: u64 = 20;
/// Names of what a purge is making.
const TEMPORARY: &str = "purge.";

/// Purges a container, or tells what that would give back.
pub(crate) fn purge(disk: &dyn Folder, place: &Place, carry_out: bool) -> Result<Purged> {
    filesystem::check_locks(disk, place.directory.path())?;
    place.log.check_writable()?;
    let _only_one = lock(place)?;
    let tag = random::number()?.max(1);
    let temporary = format!("{TEMPORARY}{tag:016x}");
    // Who has given up its lock by now has nothing to append any more that refers to the file.
    let files = DataFile::list(place)?;
    let state = checkpoint::make_all(place, &temporary)?;
    let old = Floor::current(place)?;
    let plan = Plan::new(place, &state, old, files)?;
    if !carry_out {
        return Ok(plan.expected());
    }
    let mut purged = Purged { before: plan.before, held: plan.held(), ..Purged::default() };
    let mut made = 0;
    let mut floor = old;
    let mut chosen = HashSet::new();
    if plan.is_worth_it() {
        let copier = Copier::new(place, plan.chosen(), tag, temporary);
        (made, chosen) = copier.publish(&state, plan.floor(tag))?;
        floor = Some(plan.floor(tag));
    }
    if floor == old {
        // Whoever published it may have died before its name was durable.
        place.directory.sync().map_err(|error| place.directory.failed("sync", "", error))?;
    }
    let cleaned = clean::clean(place, floor.as_ref(), &chosen)?;
    let hole = floor.map_or(0, |floor| floor.hole_end) - old.map_or(0, |old| old.hole_end);
    purged.history_stays = !cleaned.punched;
    let hole = if cleaned.punched { hole } else { 0 };
    purged.freed = (cleaned.removed + hole).saturating_sub(made);
    Ok(purged)
}

fn size(place: &Place) -> Result<u64> {
    let path = place.directory.path();
    let size = place.log.disk().size_of_all(path, Hidden::Refused);
    size.map_err(|error| Error::from_io(error, format!("measure {}", path.display())))
}

/// Takes the lock that one purge of a container has.
fn lock(place: &Place) -> Result<std::sync::Arc<dyn File>> {
    let name = superblock::FILE;
    let file = place.directory.read(name).map_err(|error| place.directory.failed("open", name, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let what = format!("another purge of {} is under way", place.directory.path().display());
            Err(Error::Conflict { what })
        }
        Err(TryLockError::Error(error)) => Err(place.directory.failed("lock", name, error)),
    }
}

/// A data file that holds something.
struct DataFile {
    number: u64,
    length: u64,
    /// A writer is at it, or readers of the log's end need it.
    held: bool,
}

impl DataFile {
    fn list(place: &Place) -> Result<Vec<Self>> {
        let folder = place.data.folder();
        let mut files = Vec::new();
        for name in folder.names()? {
            let Some(number) = data::of_file_name(&name) else { continue };
            let file = match folder.read(&name) {
                Err(error) if may_open_no_more(&error) => return Err(folder.failed("open", &name, error)),
                // Another's, or gone meanwhile.
                Err(_) => continue,
                Ok(file) => file,
            };
            let failed = |error| folder.failed("stat", &name, error);
            let length = file.stat().map_err(failed)?.length;
            // A writer locks its file before it writes to it, so an empty one may be about to be locked.
            if length > 0 {
                let held = match file.try_lock() {
                    Ok(()) => false,
                    Err(TryLockError::WouldBlock) => true,
                    Err(TryLockError::Error(error)) => return Err(folder.failed("lock", &name, error)),
                };
                files.push(Self { number, length, held });
            }
        }
        Ok(files)
    }
}

/// What a purge would do.
struct Plan {
    old: Option<Floor>,
    /// The end of the runs.
    end: u64,
    /// What the container takes now.
    before: u64,
    /// What its runs take now.
    runs: u64,
    hole_end: u64,
    files: Vec<DataFile>,
    live: Live,
}

impl Plan {
    fn new(place: &Place, state: &State, old: Option<Floor>, mut files: Vec<DataFile>) -> Result<Self> {
        // What is parked may be committed after the floor, by a frame that says where its bytes are now.
        let parked = parked::files(state)?;
        files.retain(|file| !parked.contains(&file.number));
        let end = state.covered(place);
        let position = place.log.position_of(end).unwrap_or(0).saturating_sub(KEPT);
        let hole = (position - position % BLOCK).max(BLOCK);
        let hole = if hole == BLOCK { 0 } else { place.log.epoch_at(hole) };
        let hole_end = hole.max(old.map_or(0, |old| old.hole_end));
        let [first, last] = [hole_end, end].map(|epoch| place.log.position_of(epoch).unwrap_or(0));
        let needed = segments::files(place, first.max(HEADER as u64)..last)?;
        files.iter_mut().for_each(|file| file.held |= needed.contains(&file.number));
        Ok(Self {
            old,
            end,
            before: size(place)?,
            runs: clean::size_of_runs(place)?,
            hole_end,
            files,
            live: live::measure(&stretches(state)?)?,
        })
    }

    fn floor(&self, tag: u64) -> Floor {
        let sequence = self.old.map_or(0, |old| old.sequence) + 1;
        Floor { sequence, epoch: self.end, hole_end: self.hole_end, tag }
    }

    fn dead(&self, file: &DataFile) -> u64 {
        file.length.saturating_sub(self.live.in_file(file.number))
    }

    fn worth_copying(&self) -> impl Iterator<Item = &DataFile> {
        self.files.iter().filter(|file| !file.held && self.dead(file) > file.length / DEAD_SHARE)
    }

    fn chosen(&self) -> HashSet<u64> {
        self.worth_copying().map(|file| file.number).collect()
    }

    fn held(&self) -> u64 {
        self.files.iter().filter(|file| file.held).map(|file| self.dead(file)).sum()
    }

    fn hole(&self) -> u64 {
        self.hole_end - self.old.map_or(0, |old| old.hole_end)
    }

    fn is_worth_it(&self) -> bool {
        self.end > 0 && (self.worth_copying().next().is_some() || self.hole() > 0)
    }

    fn expected(&self) -> Purged {
        let mut purged = Purged { before: self.before, held: self.held(), ..Purged::default() };
        if self.is_worth_it() {
            let dead: u64 = self.worth_copying().map(|file| self.dead(file)).sum();
            purged.freed = dead + self.hole() + self.runs.saturating_sub(self.live.run_bytes);
        }
        purged
    }
}

/// Runs that one of the new generation takes the place of.
type Stretch = Vec<std::sync::Arc<crate::run::Run>>;

/// The runs of a state, divided at the live snapshots.
fn stretches(state: &State) -> Result<Vec<Stretch>> {
    let cuts: HashSet<u64> = snapshot::all(state)?.iter().map(|snapshot| snapshot.epoch.0).collect();
    let mut stretches = vec![Stretch::new()];
    for run in &state.runs {
        if let Some(last) = stretches.last_mut() {
            last.push(std::sync::Arc::clone(run));
        }
        if cuts.contains(&run.span().to) {
            stretches.push(Stretch::new());
        }
    }
    stretches.retain(|stretch| !stretch.is_empty());
    Ok(stretches)
}
