//! Containers that were created without waiting for the device (FORMAT.md section 8.8).
//!
//! What must stay true:
//! - Such a container has the file `unsynced` before it has its label, and loses it only after its first files and its label are durable. So a
//!   flush that waits for the device keeps its promise, whoever created the container.
//! - The system reports a lost write once. Whoever syncs the first files holds the lock of `unsynced`, and writes into it that a sync has failed.

use std::{
    fs::TryLockError,
    io,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use isotach_object::{Error, Result};
use rustix::io::Errno;

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
/// What is in it: the number of the start of the machine in which a sync has failed, or 0. It is there from the beginning, so that where files
/// are overwritten in place the number needs no space.
pub(crate) const NONE_FAILED: [u8; 8] = 0_u64.to_le_bytes();
/// The number where it is not known which start this is.
const UNKNOWN: u64 = u64::MAX;
/// How long another handle may take to settle the container: the syncs of a busy device may take minutes.
const PATIENCE: Duration = Duration::from_secs(600);
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// Such a container: its mark, locked, its first files, open, and the folder with its label.
#[derive(Debug)]
pub(crate) struct Unsettled<'c> {
    container: &'c Directory,
    mark: Arc<dyn File>,
    /// This start of the machine.
    boot: u64,
    files: Vec<Arc<dyn File>>,
    labels: Box<dyn Folder>,
}

impl<'c> Unsettled<'c> {
    /// `None` for a container that is durable, and for a handle that does not wait for the device.
    ///
    /// Waits while another handle settles the container, and fails if that takes ten minutes. Fails for a writer that may not read the folder with
    /// the label.
    pub(crate) fn of(disk: &dyn Folder, container: &'c Directory, waits: bool) -> Result<Option<Self>> {
        if !waits {
            return Ok(None);
        }
        let failed = |error| container.failed("open", FILE, error);
        let Some(mark) = if_there(container.change(FILE)).map_err(failed)? else { return Ok(None) };
        let boot = container.boot().map_err(failed)?.unwrap_or(UNKNOWN);
        let log = log::file_name(GENERATION);
        let open = |name: &str| container.read(name).map_err(|error| container.failed("open", name, error));
        let files = [superblock::FILE, &log, flush_notes::FILE].into_iter().map(open);
        let files = files.collect::<Result<_>>()?;
        let labels = above(container.path()).unwrap_or(container.path());
        let labels = disk.folder(labels, true).map_err(failing("open", labels))?;
        let unsettled = Self { container, mark, boot, files, labels };
        let is_there = unsettled.lock().map_err(|error| container.failed("lock", FILE, error))?;
        Ok(is_there.then_some(unsettled))
    }

    /// Takes the lock of the mark. Returns whether the mark is still there.
    fn lock(&self) -> io::Result<bool> {
        let (began, mut pause) = (Instant::now(), Duration::from_millis(1));
        loop {
            let is_locked = match self.mark.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => false,
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => false,
                // Where there are no locks, two handles may settle a container at once.
                Err(TryLockError::Error(error)) if has_no_locks(&error) => true,
                Err(TryLockError::Error(error)) => return Err(error),
            };
            let is_there = if_there(self.container.stat(FILE))?.is_some();
            if is_locked || !is_there {
                return Ok(is_there);
            }
            if began.elapsed() > PATIENCE {
                let what = "another handle has held the lock for ten minutes; end its process";
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            thread::sleep(pause);
            pause = PAUSE_MAX.min(pause * 2);
        }
    }

    /// Syncs what the creator left unsynced. After a failure no handle that waits appends until the machine restarts.
    pub(crate) fn settle(&self) -> Result<()> {
        self.check_usable()?;
        let synced = self.files.iter().try_for_each(|file| file.sync());
        let synced = synced.and_then(|()| self.container.sync()).and_then(|()| self.labels.sync());
        if let Err(error) = synced {
            // If the mark cannot be written, only this handle stops.
            let _ = self.mark.write_all_at(&self.boot.to_le_bytes(), 0);
            return Err(self.container.failed("sync", "", error));
        }
        // Where there are no locks, another handle may have been told of a failure meanwhile.
        self.check_usable()?;
        // If the file stays, the next writer only syncs again.
        let _ = self.container.remove(FILE);
        Ok(())
    }

    /// Fails if a sync has failed since the machine was started. A second one would prove nothing.
    fn check_usable(&self) -> Result<()> {
        let mut noted = NONE_FAILED;
        self.mark.read_full_at(&mut noted, 0).map_err(|error| self.container.failed("read", FILE, error))?;
        let noted = u64::from_le_bytes(noted);
        if !counts(noted, self.boot) {
            return Ok(());
        }
        let remedy = match noted == self.boot && noted != UNKNOWN {
            true => "restart the machine",
            false => "empty its file `unsynced`",
        };
        let what = format!(
            "a sync of it has failed, so what was written before may be lost; it can be read and copied; to write to it, {remedy}"
        );
        Err(self.container.failed("write to", "", io::Error::other(what)))
    }
}

/// Whether a failure to lock means that there are no locks.
fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(Errno::NOLCK.raw_os_error())
}

/// Whether a noted failure was in this start of the machine, or may have been.
fn counts(noted: u64, boot: u64) -> bool {
    noted != 0 && (noted == boot || [noted, boot].contains(&UNKNOWN))
}

/// Makes the container at a path durable, which another process has created: only its name, if this user may not open it. One that this user may
/// open and not write to is left to those who may write, if it has a mark.
pub(crate) fn settle_at(disk: &dyn Folder, path: &Path) -> Result<()> {
    let sync_name = || disk.sync_name(path).map_err(failing("sync", path));
    let container = match Directory::open(disk, path) {
        Err(error @ Error::TooManyOpen { .. }) => return Err(error),
        Err(_) => return sync_name(),
        Ok(container) => container,
    };
    match Unsettled::of(disk, &container, true) {
        Ok(Some(unsettled)) => unsettled.settle(),
        Ok(None) => sync_name(),
        Err(error @ (Error::Io { .. } | Error::TooManyOpen { .. })) => Err(error),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{ContainerOptions, PoolUri};

    use super::*;
    use crate::simulation::SimulatedDisk;

    #[test]
    fn a_writer_waits_for_another_that_settles_the_container_and_heeds_its_failure() {
        let (disk, uri) = (SimulatedDisk::new(), "posix:/pool?sync=no".parse::<PoolUri>().unwrap());
        disk.engine().create_pool(&uri).unwrap();
        let pool = disk.engine().open_pool(&uri).unwrap();
        pool.create_container(&"a".parse().unwrap(), &ContainerOptions::default()).unwrap();
        let root = disk.folder();
        let container = Directory::open(&*root, "/pool/containers/a".as_ref()).unwrap();
        let other = container.change(FILE).unwrap();
        other.try_lock().unwrap();
        let outcome = thread::scope(|scope| {
            let (calls, changes) = (disk.calls(), disk.changes());
            let writer = scope.spawn(|| Unsettled::of(&*root, &container, true).unwrap().unwrap().settle());
            // Six calls come before the first try, and each try takes two.
            while disk.calls() < calls + 20 {
                assert!(!writer.is_finished(), "it did not wait");
                thread::yield_now();
            }
            assert_eq!(disk.changes(), changes, "it has synced nothing");
            other.write_all_at(&container.boot().unwrap().unwrap().to_le_bytes(), 0).unwrap();
            drop(other);
            writer.join().unwrap()
        });
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("a sync of it has failed") && text.contains("restart the machine"), "{text}");
    }

    #[test]
    fn a_failure_counts_in_its_own_start_and_where_either_start_is_unknown() {
        let noted = [(0, 7), (0, UNKNOWN), (8, 7), (7, 7), (UNKNOWN, 7), (7, UNKNOWN), (UNKNOWN, UNKNOWN)];
        let noted = noted.map(|(noted, boot)| counts(noted, boot));
        assert_eq!(noted, [false, false, false, true, true, true, true]);
    }
}
