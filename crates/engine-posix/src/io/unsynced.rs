//! Containers that were created without waiting for the device (FORMAT.md section 8.8).
//!
//! What must stay true: such a container has the file `unsynced` before it has its label, and loses it only after its first files and its
//! label are durable. So a flush that waits for the device keeps its promise, whoever created the container.

use std::{path::Path, sync::Arc};

use isotach_object::{Error, Result};

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
/// Bytes of the mark, if a sync has failed: the number of that start of the machine.
const BOOT: usize = 8;

/// The first files of such a container, open, and the folder with its label.
#[derive(Debug)]
pub(crate) struct Unsettled<'c> {
    container: &'c Directory,
    files: Vec<Arc<dyn File>>,
    labels: Box<dyn Folder>,
    /// A sync has failed since the machine was started: a second one would prove nothing, because the system reports a lost write once.
    has_failed: bool,
}

impl<'c> Unsettled<'c> {
    /// `None` for a container that is durable, and for a handle that does not wait.
    ///
    /// Fails for a writer that may not read the folder with the label.
    pub(crate) fn of(disk: &dyn Folder, container: &'c Directory, waits: bool) -> Result<Option<Self>> {
        if !waits {
            return Ok(None);
        }
        let failed = |error| container.failed("read", FILE, error);
        let Some(mark) = if_there(container.read_all(FILE, BOOT)).map_err(failed)? else { return Ok(None) };
        let has_failed = is_of_this_boot(container, &mark);
        let log = log::file_name(GENERATION);
        let open = |name: &str| container.read(name).map_err(|error| container.failed("open", name, error));
        let files = [superblock::FILE, &log, flush_notes::FILE].into_iter().map(open);
        let files = files.collect::<Result<_>>()?;
        let labels = above(container.path()).unwrap_or(container.path());
        let labels = disk.folder(labels, true).map_err(failing("open", labels))?;
        Ok(Some(Self { container, files, labels, has_failed }))
    }

    /// Syncs what the creator left unsynced. After a failure nobody appends until the machine restarts.
    pub(crate) fn settle(&self) -> Result<()> {
        if self.has_failed {
            return Err(self.refused());
        }
        let synced = self.files.iter().try_for_each(|file| file.sync());
        let synced = synced.and_then(|()| self.container.sync()).and_then(|()| self.labels.sync());
        if let Err(error) = synced {
            // If the mark cannot be written, only this handle stops.
            let mark = self.container.change(FILE);
            let _ = mark.and_then(|mark| mark.write_all_at(&boot(self.container), 0));
            return Err(self.container.failed("sync", "", error));
        }
        // Another handle may have been told of the failure meanwhile.
        if self.container.read_all(FILE, BOOT).is_ok_and(|mark| is_of_this_boot(self.container, &mark)) {
            return Err(self.refused());
        }
        // If the file stays, the next writer only syncs again.
        let _ = self.container.remove(FILE);
        Ok(())
    }

    fn refused(&self) -> Error {
        Error::Poisoned { what: self.container.path().display().to_string() }
    }
}

/// Whether a mark says that a sync has failed since the machine was started, or may have.
fn is_of_this_boot(container: &Directory, mark: &[u8]) -> bool {
    let boot = boot(container);
    !mark.is_empty() && (boot.is_empty() || mark == boot)
}

/// This start of the machine, as a mark has it; empty if it is unknown.
fn boot(container: &Directory) -> Vec<u8> {
    container.boot().ok().flatten().map(u64::to_le_bytes).map_or_else(Vec::new, Vec::from)
}

/// Makes the container at a path durable, which another process has created. One that cannot be opened, or not be made durable by this user, is
/// left to those that write to it.
pub(crate) fn settle_at(disk: &dyn Folder, path: &Path) -> Result<()> {
    disk.sync_name(path).map_err(failing("sync", path))?;
    let Ok(container) = Directory::open(disk, path) else { return Ok(()) };
    match Unsettled::of(disk, &container, true) {
        Ok(Some(unsettled)) => unsettled.settle(),
        Ok(None) | Err(_) => Ok(()),
    }
}
