//! Removing what nothing needs any more. It can be done again and again, also for a purge that was killed.

use std::{collections::HashSet, io};

use isotach_object::Result;

use crate::{
    index::run::Span,
    io::{data, directory::Directory, storage::Storage},
    purge::manifest::{Floor, TEMPORARY},
};

/// What came of it.
pub(super) struct Cleaned {
    /// Bytes of the files that were removed.
    pub(super) removed: u64,
    /// Whether the log gave back the room that it has no use for.
    pub(super) punched: bool,
}

/// Bytes of all runs, also of those that do not count.
pub(super) fn size_of_runs(storage: &Storage) -> Result<u64> {
    let names = storage.directory.names()?;
    let runs = names.iter().filter(|name| Span::of_file_name(name).is_some());
    Ok(runs.filter_map(|name| Some(storage.directory.stat(name).ok()?.room)).sum())
}

/// Cleans up after the purge that published `floor`, and those before it. `dead` are data files to which nothing refers.
pub(super) fn clean(storage: &Storage, floor: Option<&Floor>, dead: &HashSet<u64>) -> Result<Cleaned> {
    let mut removed = 0;
    for name in storage.directory.names()? {
        let is_stale_run = Span::of_file_name(&name).is_some_and(|span| !Floor::admits(floor, &span));
        let is_old_floor = Floor::of_file_name(&name)
            .is_some_and(|sequence| floor.is_some_and(|floor| sequence < floor.sequence));
        if is_stale_run || is_old_floor || name.starts_with(TEMPORARY) {
            removed += remove(&storage.directory, &name)?;
        }
    }
    let folder = storage.data.folder();
    for name in dead.iter().map(|number| data::file_name(*number)) {
        removed += remove(folder, &name)?;
    }
    remove_empty(folder)?;
    let hole_end = floor.and_then(|floor| storage.log.position_of(floor.hole_end)).unwrap_or(0);
    Ok(Cleaned { removed, punched: storage.log.punch(hole_end)? })
}

/// Removes data files that their writers made and never wrote to. One that has just been made is told from them by its lock, or
/// its writer notices that it is gone when it has locked it.
fn remove_empty(folder: &Directory) -> Result<()> {
    for name in folder.names()? {
        let is_empty = || folder.stat(&name).is_ok_and(|stat| stat.length == 0);
        let is_one = data::of_file_name(&name).is_some() && is_empty();
        let Some(file) = is_one.then(|| folder.read(&name).ok()).flatten() else { continue };
        if file.try_lock().is_ok() && is_empty() {
            remove(folder, &name)?;
        }
    }
    Ok(())
}

/// Removes a file, if it is there, and gives the room it took.
pub(super) fn remove(directory: &Directory, name: &str) -> Result<u64> {
    let room = directory.stat(name).map_or(0, |stat| stat.room);
    match directory.remove(name) {
        Ok(()) => Ok(room),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(directory.failed("remove", name, error)),
    }
}
