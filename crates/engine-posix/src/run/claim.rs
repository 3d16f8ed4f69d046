//! Claiming the making of a run: the temporary file says that somebody is at it.
//!
//! A claim saves work and nothing depends on it. Its maker holds a lock on it, so that the claim of a process that died is
//! known at once; where there are no such locks, and for a process that was stopped, time tells: that of the file system, by a
//! file that is made to see how it is dated. Its name is its maker's
//! alone, so one that was taken for dead and is not never gives its run's name to the file of another: its rename fails.

use std::{
    fs::TryLockError,
    sync::Arc,
    time::{Duration, SystemTime},
};

use isotach_object::Result;

use crate::{
    directory::Directory,
    disk::{File, Stat},
    random,
};

/// A claim that nobody has touched for this long is given up. One that is alive touches it every few
/// megabytes; the longest in between is a sync.
const ABANDONED: Duration = Duration::from_secs(10);

/// Makes the temporary file of a run that begins at `from`, unless another process has one.
///
/// It may be that none of several that try at the same moment succeeds; there will be another moment.
pub(super) fn claim(directory: &Directory, from: u64) -> Result<Option<(String, Arc<dyn File>)>> {
    let prefix = format!("tmp.{from:016x}.");
    let is_taken = living(directory)?.iter().any(|name| name.starts_with(&prefix));
    if is_taken {
        return Ok(None);
    }
    let name = format!("{prefix}{:016x}", random::number()?);
    let file = directory.create(&name).map_err(|error| directory.failed("create", &name, error))?;
    let is_held = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    // Of several that came here together the first by name goes on; and one that somebody met without its lock, and took
    // for dead, is not there any more.
    let first =
        directory.names().map(|names| names.into_iter().filter(|name| name.starts_with(&prefix)).min());
    if is_held && matches!(&first, Ok(Some(first)) if *first == name) {
        return Ok(Some((name, file)));
    }
    let _ = directory.remove(&name);
    first.map(|_| None)
}

/// The claims of living processes, on whatever run. What dead ones left is removed.
fn living(directory: &Directory) -> Result<Vec<String>> {
    let (dead, mut living): (Vec<String>, Vec<String>) =
        directory.names()?.into_iter().filter(|name| name.starts_with("tmp.")).partition(|name| {
            // A lock that can be had is nobody's. It is given back when the file is closed.
            directory.read(name).is_ok_and(|file| file.try_lock().is_ok())
        });
    let remove = |name: &String| drop(directory.remove(name));
    dead.iter().for_each(remove);
    if let Some(now) = (!living.is_empty()).then(|| now(directory)).flatten() {
        let (old, touched) = living.into_iter().partition(|name| is_abandoned(directory, name, now));
        let old: Vec<String> = old;
        old.iter().for_each(remove);
        living = touched;
    }
    Ok(living)
}

/// The time, by the clock that also dates the claims. This process's may be another. None if no file can be made.
fn now(directory: &Directory) -> Option<SystemTime> {
    let name = format!("tmp.clock.{:016x}", random::number().ok()?);
    let file = directory.create(&name).ok()?;
    let _ = directory.remove(&name);
    Some(file.stat().ok()?.modified)
}

/// Whether the maker of a claim has not touched it for long. One from the future was dated before the clock was set back, and counts as
/// old.
fn is_abandoned(directory: &Directory, name: &str, now: SystemTime) -> bool {
    directory.stat(name).is_ok_and(|Stat { modified, .. }| {
        let age = now.duration_since(modified).unwrap_or_else(|future| future.duration());
        age > ABANDONED
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, time::UNIX_EPOCH};

    use super::*;
    use crate::{
        disk::{self, Naming},
        run::RunWriter,
        simulation::SimulatedDisk,
    };

    #[test]
    fn one_claims_a_run_until_it_ends_or_dies_or_was_not_seen_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Arc::new(Directory::open(&*disk::system(), folder.path()).unwrap());
        let claim = |from| RunWriter::claim(&directory, [1; 16], from, 0).unwrap();
        let first = claim(7).unwrap();
        assert!(claim(7).is_none());
        assert!(claim(8).is_some(), "another run is nobody's");
        // What a dead process leaves: a file that nobody has locked.
        let left = format!("tmp.{:016x}.{:016x}", 7, 0);
        drop(first);
        drop(directory.create(&left).unwrap());
        let stopped = claim(7).unwrap();
        assert!(!directory.names().unwrap().contains(&left));
        for name in directory.names().unwrap().iter().filter(|name| name.starts_with("tmp.")) {
            let file = fs::File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_modified(UNIX_EPOCH).unwrap();
        }
        let taken_over = claim(7).unwrap();
        // The one that was taken for dead goes on, and is refused its run's name.
        assert!(stopped.finish(20, 0).is_err());
        assert_eq!(taken_over.finish(30, 0).unwrap().span().to, 30);
        assert!(directory.names().unwrap().iter().all(|name| !name.starts_with("tmp.")));
    }

    #[test]
    fn a_claim_is_as_old_as_the_clock_says_that_dated_it_whatever_this_process_thinks() {
        let disk = SimulatedDisk::new();
        let folder = disk.folder();
        folder.make_folder(Path::new("c"), Naming::Shared).unwrap();
        let directory = Arc::new(Directory::open(&*folder, Path::new("c")).unwrap());
        let claim = || RunWriter::claim(&directory, [1; 16], 7, 0).unwrap();
        let day = Duration::from_secs(24 * 3600);
        disk.set_clock_ahead(day);
        let first = claim().unwrap();
        assert!(claim().is_none(), "it was made just now by the clock of the disk");
        disk.set_clock_ahead(day + ABANDONED / 2);
        assert!(claim().is_none());
        disk.set_clock_ahead(day + 2 * ABANDONED);
        let second = claim().unwrap();
        assert!(first.finish(20, 0).is_err());
        // The clock of the disk is set back.
        disk.set_clock_ahead(Duration::ZERO);
        let third = claim().unwrap();
        assert!(second.finish(20, 0).is_err());
        assert_eq!(third.finish(30, 0).unwrap().span().to, 30);
        assert!(directory.names().unwrap().iter().all(|name| !name.starts_with("tmp.")));
    }

    #[test]
    fn those_that_claim_at_the_same_moment_leave_nothing_in_the_way_of_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Arc::new(Directory::open(&*disk::system(), folder.path()).unwrap());
        let claim = || RunWriter::claim(&directory, [1; 16], 7, 0).unwrap();
        for round in 0..200 {
            std::thread::scope(|scope| {
                [(); 3].map(|()| scope.spawn(|| drop(claim()))).map(|thread| thread.join().unwrap())
            });
            assert!(claim().is_some(), "round {round}");
        }
    }
}
