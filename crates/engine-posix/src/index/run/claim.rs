//! Claiming the making of a run: the temporary file says that somebody is at it.
//!
//! A claim saves work and nothing depends on it. Its maker holds a lock on it, so that the claim of a process that died is
//! known at once; where there are no such locks, and for a process that was stopped, time tells. Its name is its maker's
//! alone, so one that was taken for dead and is not never gives its run's name to the file of another: its rename fails.

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
    let claims = directory.names()?.into_iter().filter(|name| name.starts_with("tmp."));
    let (abandoned, living): (Vec<String>, Vec<String>) =
        claims.partition(|name| is_abandoned(directory, name));
    for name in abandoned {
        let _ = directory.remove(&name);
    }
    Ok(living)
}

/// Whether the maker of a claim is dead, or has not touched it for long. One from the future has a wrong clock behind it and counts as old.
fn is_abandoned(directory: &Directory, name: &str) -> bool {
    let now = SystemTime::now();
    let is_old = directory.stat(name).is_ok_and(|Stat { modified, .. }| {
        let age = now.duration_since(modified).unwrap_or_else(|future| future.duration());
        age > ABANDONED
    });
    // A lock that can be had is nobody's. It is given back when the file is closed.
    is_old || directory.read(name).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::{fs, time::UNIX_EPOCH};

    use super::*;
    use crate::{index::run::RunWriter, io::disk};

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
