//! Containers that were created without waiting for the device (FORMAT.md section 8.8).
//!
//! What must stay true: such a container has the file `unsynced` before it has its label, and loses it only after its first files and its
//! label are durable. So a flush that waits for the device keeps its promise, whoever created the container.

use std::{path::Path, sync::Arc};

use isotach_object::Result;

use crate::{
    format::superblock,
    io::{
        directory::Directory,
        disk::{File, Folder, above, failing, if_there},
        flush_notes,
        log::{self, GENERATION},
    },
};

/// The file that marks such a container.
pub(crate) const FILE: &str = "unsynced";

/// The first files of such a container, open.
#[derive(Debug)]
pub(crate) struct Unsettled<'c> {
    container: &'c Directory,
    files: Vec<Arc<dyn File>>,
}

impl<'c> Unsettled<'c> {
    /// `None` for a container that is durable, and for who does not wait for the device.
    pub(crate) fn of(container: &'c Directory, waits: bool) -> Result<Option<Self>> {
        if !waits {
            return Ok(None);
        }
        let mark = if_there(container.stat(FILE)).map_err(|error| container.failed("stat", FILE, error))?;
        if mark.is_none() {
            return Ok(None);
        }
        let log = log::file_name(GENERATION);
        let open = |name: &str| container.read(name).map_err(|error| container.failed("open", name, error));
        let files = [superblock::FILE, &log, flush_notes::FILE].into_iter().map(open);
        Ok(Some(Self { container, files: files.collect::<Result<_>>()? }))
    }

    /// Syncs what the creator left unsynced. After a failure another attempt would prove nothing: the system reports a lost write once.
    pub(crate) fn settle(&self, disk: &dyn Folder) -> Result<()> {
        let path = self.container.path();
        let synced = self.files.iter().try_for_each(|file| file.sync());
        let synced = synced.and_then(|()| self.container.sync());
        synced.map_err(failing("sync", path))?;
        // A writer that may not read the folder with the labels cannot make this one durable.
        let labels = above(path).unwrap_or(path);
        disk.sync_folder(labels).map_err(failing("sync", labels))?;
        // If the file stays, the next writer only syncs again.
        let _ = self.container.remove(FILE);
        Ok(())
    }
}

/// Makes the container at a path durable, which another process has created. One that cannot be opened is left to those that use it.
pub(crate) fn settle_at(disk: &dyn Folder, path: &Path) -> Result<()> {
    disk.sync_name(path).map_err(failing("sync", path))?;
    let Ok(container) = Directory::open(disk, path) else { return Ok(()) };
    match Unsettled::of(&container, true) {
        Ok(Some(unsettled)) => unsettled.settle(disk),
        Ok(None) | Err(_) => Ok(()),
    }
}
