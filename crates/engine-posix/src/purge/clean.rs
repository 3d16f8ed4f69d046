//! Removing what is not needed any more. It is idempotent, and also cleans up after a purge that was killed.

use std::collections::HashSet;

use isotach_object::Result;

use crate::{
    index::run::Span,
    io::{data, directory::Directory, disk::if_there, storage::Storage},
    purge::manifest::{PurgeManifest, TEMPORARY},
};

/// The result of a clean-up.
pub(super) struct Cleaned {
    /// Bytes of the files that were removed.
    pub(super) removed: u64,
    /// Whether the unneeded part of the log was freed.
    pub(super) punched: bool,
}

/// Bytes of all runs, including invalid ones.
pub(super) fn size_of_runs(storage: &Storage) -> Result<u64> {
    let names = storage.directory.names()?;
    let runs = names.iter().filter(|name| Span::of_file_name(name).is_some());
    Ok(runs.filter_map(|name| Some(storage.directory.stat(name).ok()?.allocated)).sum())
}

/// Cleans up after the purge that published `manifest`, and those before it. Nothing refers to the data files in `dead`.
pub(super) fn clean(
    storage: &Storage,
    manifest: Option<&PurgeManifest>,
    dead: &HashSet<u64>,
) -> Result<Cleaned> {
    let mut removed = 0;
    for name in storage.directory.names()? {
        let is_stale_run =
            Span::of_file_name(&name).is_some_and(|span| !PurgeManifest::validates(manifest, &span));
        let is_old_manifest = PurgeManifest::of_file_name(&name)
            .is_some_and(|sequence| manifest.is_some_and(|manifest| sequence < manifest.sequence));
        if is_stale_run || is_old_manifest || name.starts_with(TEMPORARY) {
            removed += remove(&storage.directory, &name)?;
        }
    }
    let folder = storage.data.folder();
    for name in dead.iter().map(|number| data::file_name(*number)) {
        removed += remove(folder, &name)?;
    }
    remove_empty(folder)?;
    let hole_end = manifest.and_then(|manifest| storage.log.position_of(manifest.hole_end)).unwrap_or(0);
    Ok(Cleaned { removed, punched: storage.log.punch(hole_end)? })
}

/// Removes data files that their writers created and never wrote to. The lock protects a new file, or its writer finds the name gone after
/// locking it.
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

/// Removes a file, if it exists, and returns its allocated bytes.
pub(super) fn remove(directory: &Directory, name: &str) -> Result<u64> {
    let size = directory.stat(name).map_or(0, |stat| stat.allocated);
    let removed =
        if_there(directory.remove(name)).map_err(|error| directory.failed("remove", name, error))?;
    Ok(removed.map_or(0, |()| size))
}
