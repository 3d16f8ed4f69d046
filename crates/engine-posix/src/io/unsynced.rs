//! Containers that were created without waiting for the device (FORMAT.md section 8.8).
//!
//! What must stay true: such a container has the file `unsynced` before it has its label, and loses it only after its first files and its
//! label are durable. So a flush that waits for the device keeps its promise, whoever created the container.

use std::path::Path;

use isotach_object::Result;

use crate::{
    format::superblock,
    io::{
        directory::Directory,
        disk::{Folder, failing, if_there},
        flush_notes,
        log::{self, GENERATION},
    },
};

/// The file that marks such a container.
pub(crate) const FILE: &str = "unsynced";

/// Makes what its creator did not sync durable: the first files of the container, and the names that lead to them.
pub(crate) fn settle(disk: &dyn Folder, container: &Directory) -> Result<()> {
    if if_there(container.stat(FILE)).map_err(|error| container.failed("stat", FILE, error))?.is_none() {
        return Ok(());
    }
    for name in [superblock::FILE, &log::file_name(GENERATION), flush_notes::FILE] {
        let synced = container.read(name).and_then(|file| file.sync());
        synced.map_err(|error| container.failed("sync", name, error))?;
    }
    container.sync().map_err(failing("sync", container.path()))?;
    disk.sync_name(container.path()).map_err(failing("sync", container.path()))?;
    // Without the file nobody syncs them again. That is all it costs to leave it.
    let _ = container.remove(FILE);
    Ok(())
}

/// As [`settle`], for the container at a path.
pub(crate) fn settle_at(disk: &dyn Folder, container: &Path) -> Result<()> {
    disk.sync_name(container).map_err(failing("sync", container))?;
    // Whoever uses one that cannot be opened is told.
    Directory::open(disk, container).map_or(Ok(()), |container| settle(disk, &container))
}
