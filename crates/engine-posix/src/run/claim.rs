//! Claiming the making of a run: the temporary file says that somebody is at it.
//!
//! A claim saves work and nothing depends on it. Its name is its maker's alone, so one that was taken for dead and is not
//! never gives its run's name to the file of another: its rename fails.

use std::{
    fs::File,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use isotach_object::Result;

use crate::{directory::Directory, random};

/// A claim that nobody has touched for this long belongs to a process that died. One that is alive touches it every few
/// megabytes; the longest in between is a sync.
const ABANDONED: Duration = Duration::from_secs(10);

/// Makes the temporary file of a run that begins at `from`, unless another process has one.
pub(super) fn claim(directory: &Directory, from: u64) -> Result<Option<(String, File)>> {
    if !claims(directory, from)?.is_empty() {
        return Ok(None);
    }
    let name = format!("{}{:016x}", prefix(from), random::number()?);
    let file = directory.create(&name).map_err(|error| directory.failed("create", &name, error))?;
    // Of several that looked at the same moment, the first by name goes on.
    let is_first = claims(directory, from).map(|claims| claims.iter().all(|other| *other >= name));
    if !matches!(is_first, Ok(true)) {
        let _ = directory.remove(&name);
    }
    Ok(is_first?.then_some((name, file)))
}

fn prefix(from: u64) -> String {
    format!("tmp.{from:016x}.")
}

/// The claims of living processes on a run that begins at `from`. What dead ones left, of any run, is removed.
fn claims(directory: &Directory, from: u64) -> Result<Vec<String>> {
    let prefix = prefix(from);
    let (abandoned, living): (Vec<String>, Vec<String>) = directory
        .names()?
        .into_iter()
        .filter(|name| name.starts_with("tmp."))
        .partition(|name| is_abandoned(directory, name));
    for name in abandoned {
        let _ = directory.remove(&name);
    }
    Ok(living.into_iter().filter(|name| name.starts_with(&prefix)).collect())
}

/// Whether a file was not touched for long. One from the future has a wrong clock behind it and counts as old.
fn is_abandoned(directory: &Directory, name: &str) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let touched = directory.stat(name).ok().and_then(|stat| u64::try_from(stat.st_mtime).ok());
    touched.is_some_and(|at| now.abs_diff(Duration::from_secs(at)) > ABANDONED)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::run::RunWriter;

    #[test]
    fn one_claims_a_run_until_it_ends_or_was_not_seen_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Arc::new(Directory::open(folder.path()).unwrap());
        let claim = |from| RunWriter::claim(&directory, [1; 16], from).unwrap();
        let first = claim(7).unwrap();
        assert!(claim(7).is_none());
        assert!(claim(8).is_some(), "another run is nobody's");
        drop(first);
        let stopped = claim(7).unwrap();
        for name in directory.names().unwrap().iter().filter(|name| name.starts_with("tmp.")) {
            let file = File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_modified(UNIX_EPOCH).unwrap();
        }
        let taken_over = claim(7).unwrap();
        // The one that was taken for dead goes on, and is refused its run's name.
        assert!(stopped.finish(20, 0).is_err());
        assert_eq!(taken_over.finish(30, 0).unwrap().to, 30);
        assert!(directory.names().unwrap().iter().all(|name| !name.starts_with("tmp.")));
    }

    #[test]
    fn of_those_that_claim_at_the_same_moment_at_least_one_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let directory = Directory::open(folder.path()).unwrap();
        for from in 0..200 {
            let granted = std::thread::scope(|scope| {
                let claims = [(); 3].map(|()| scope.spawn(|| claim(&directory, from).unwrap().is_some()));
                claims.into_iter().map(|thread| thread.join().unwrap()).filter(|own| *own).count()
            });
            assert!(granted >= 1, "run {from}: everyone gave way");
        }
    }
}
