//! Claims: the temporary file of a run shows other processes that one of them is already making it.
//!
//! A claim saves work, and correctness does not depend on it. Its owner holds a lock on the file, so the claim of a process that died is
//! recognised at once. Where the file system has no locks, and for a process that was stopped, the age of the file decides. That age is
//! measured by the clock of the file system alone, which dates the claims. The name of a claim is unique to its owner: an owner that was
//! wrongly taken for dead cannot give the run's name to the file of another process, because its rename fails.

use std::{
    fs::TryLockError,
    sync::Arc,
    time::{Duration, SystemTime},
};

use isotach_engine_kit::random;
use isotach_object::Result;

use crate::io::{
    directory::Directory,
    disk::{File, Stat},
};

/// A claim that its owner has not touched for this long is abandoned. A living owner touches it every few megabytes. The longest pause is a
/// sync.
const ABANDONED: Duration = Duration::from_secs(10);

/// Creates the temporary file of a run that begins at `from`, unless another process has one.
///
/// It may be that none of several processes that try at the same moment succeeds. A later attempt will.
pub(super) fn claim(directory: &Directory, from: u64) -> Result<Option<(String, Arc<dyn File>)>> {
    let prefix = format!("tmp.{from:016x}.");
    let is_taken = living(directory)?.iter().any(|name| name.starts_with(&prefix));
    if is_taken {
        return Ok(None);
    }
    let name = format!("{prefix}{:016x}", random::number()?);
    let file = directory.create(&name).map_err(|error| directory.failed("create", &name, error))?;
    let is_held = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    // Of several processes that came at the same moment the first by name continues. A claim that another process found without its lock,
    // and took for abandoned, does not exist any more.
    let first =
        directory.names().map(|names| names.into_iter().filter(|name| name.starts_with(&prefix)).min());
    if is_held && matches!(&first, Ok(Some(first)) if *first == name) {
        return Ok(Some((name, file)));
    }
    let _ = directory.remove(&name);
    first.map(|_| None)
}

/// The claims of living processes, on any run. Removes those of dead processes.
fn living(directory: &Directory) -> Result<Vec<String>> {
    let claims = directory.names()?.into_iter().filter(|name| name.starts_with("tmp."));
    // A lock that is free has no owner. It is released again when the file is closed.
    let is_unlocked = |name: &String| directory.read(name).is_ok_and(|file| file.try_lock().is_ok());
    let (mut dead, mut living): (Vec<String>, Vec<String>) = claims.partition(is_unlocked);
    if !living.is_empty()
        && let Some(now) = now(directory)
    {
        dead.extend(living.extract_if(.., |name| is_abandoned(directory, name, now)));
    }
    for name in dead {
        let _ = directory.remove(&name);
    }
    Ok(living)
}

/// The time by the clock that dates the claims: that of the file system, which a new file shows. `None` if no file can be created.
fn now(directory: &Directory) -> Option<SystemTime> {
    let name = format!("tmp.clock.{:016x}", random::number().ok()?);
    let file = directory.create(&name).ok()?;
    let _ = directory.remove(&name);
    Some(file.stat().ok()?.modified)
}

/// Whether the owner of a claim has not touched it for long. A claim from the future was dated before the clock was set back, and counts as
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
        index::run::RunWriter,
        io::disk::{self, Naming},
        simulation::SimulatedDisk,
    };

    #[test]
    fn a_claim_ends_with_its_run_its_process_or_its_age() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Arc::new(Directory::open(&*disk::system(), folder.path()).unwrap());
        let claim = |from| RunWriter::claim(&directory, [1; 16], from, 0).unwrap();
        let first = claim(7).unwrap();
        assert!(claim(7).is_none());
        assert!(claim(8).is_some(), "another run is nobody's");
        // A dead process leaves a file without a lock.
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
        // The owner that was taken for dead continues, and its rename is refused.
        assert!(stopped.finish(20, 0).is_err());
        assert_eq!(taken_over.finish(30, 0).unwrap().span().to, 30);
        assert!(directory.names().unwrap().iter().all(|name| !name.starts_with("tmp.")));
    }

    #[test]
    fn the_clock_of_the_file_system_alone_decides_how_old_a_claim_is() {
        let disk = SimulatedDisk::new();
        let folder = disk.folder();
        folder.make_folder(Path::new("c"), Naming::Shared).unwrap();
        let directory = Arc::new(Directory::open(&*folder, Path::new("c")).unwrap());
        let claim = || RunWriter::claim(&directory, [1; 16], 7, 0).unwrap();
        let day = Duration::from_secs(24 * 3600);
        disk.set_clock_ahead(day);
        let first = claim().unwrap();
        assert!(claim().is_none(), "by the clock of the disk it is new");
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
    fn simultaneous_claims_do_not_block_the_next_one() {
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
