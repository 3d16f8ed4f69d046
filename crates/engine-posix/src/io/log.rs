//! The log file: appending and reading frames.
//!
//! The file is opened with `O_APPEND`, so the kernel places each frame after all others, and the descriptor's offset then tells where it
//! ended. Appends of a handle share that offset and go through one lock. Readers use positioned reads, which do not change it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
};

use isotach_engine_kit::{bytes::Put, checksum::crc32c};
use isotach_object::{Error, Result};

use crate::{
    format::{check, checked},
    io::{
        directory::Directory,
        disk::{File, Folder, if_there},
    },
    sync::AtomicBool,
};

/// The log's generation. Compaction will begin others.
pub(crate) const GENERATION: u64 = 1;
/// Bytes of a log file before its first frame.
pub(crate) const HEADER: usize = 64;
const MAGIC: &[u8; 8] = b"ISOTLOG1";
/// Bytes of the log before a run's end whose checksum the run contains.
const KNOWN_BY: u64 = 4096;
/// Holes begin and end at multiples of this.
pub(crate) const BLOCK: u64 = 4096;
/// How often a frame that was cut short is appended again.
const APPEND_TRIES: usize = 5;

/// An open log.
#[derive(Debug)]
pub(crate) struct Log {
    file: Arc<dyn File>,
    disk: Arc<dyn Folder>,
    path: PathBuf,
    /// The epoch of the first byte of the file.
    base: u64,
    writable: bool,
    /// The end of the log for a handle on the past.
    end: Option<u64>,
    /// A sync has failed. What was appended may be lost, and the system reports that only once.
    failed: AtomicBool,
}

/// The name of the log of a generation.
pub(crate) fn file_name(generation: u64) -> String {
    format!("log.{generation:016x}")
}

/// The header of the log of `generation`, whose first byte is at epoch `base`.
pub(crate) fn header(uuid: [u8; 16], generation: u64, base: u64) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(MAGIC);
    header.put_u64(generation);
    header.put_u64(base);
    header.extend_from_slice(&uuid);
    checked(header, HEADER)
}

fn base_of(bytes: &[u8; HEADER], uuid: [u8; 16], generation: u64) -> Option<u64> {
    let mut reader = check(bytes)?;
    let right = reader.take(8)? == MAGIC && reader.u64()? == generation;
    let base = reader.u64()?;
    (right && reader.take(16)? == uuid).then_some(base)
}

impl Log {
    /// Opens the log of a generation, for reading only where writing is not permitted.
    pub(crate) fn open(
        disk: &Arc<dyn Folder>,
        directory: &Directory,
        uuid: [u8; 16],
        generation: u64,
    ) -> Result<Self> {
        let name = file_name(generation);
        let path = directory.path_of(&name);
        let fail = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Error::corrupt("the log is missing", path.display().to_string()),
            _ => directory.failed("open", &name, error),
        };
        let (file, writable) = match directory.append(&name) {
            Ok(file) => (file, true),
            Err(error) if is_refusal(&error) => (directory.read(&name).map_err(fail)?, false),
            Err(error) => return Err(fail(error)),
        };
        let mut bytes = [0; HEADER];
        let damaged = || Error::corrupt("the header of the log", path.display().to_string());
        file.read_exact_at(&mut bytes, 0).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(),
            _ => directory.failed("read", &name, error),
        })?;
        let base = base_of(&bytes, uuid, generation).ok_or_else(damaged)?;
        let disk = Arc::clone(disk);
        Ok(Self { file, disk, path, base, writable, end: None, failed: AtomicBool::new(false) })
    }

    /// The log when it had this length: without the frames that end later, and read-only. Only losses in a power failure are judged by
    /// later frames (see `lost`). No other verdict changes.
    pub(crate) fn ended_at(
        &self,
        position: u64,
        directory: &Arc<Directory>,
        uuid: [u8; 16],
        generation: u64,
    ) -> Result<Self> {
        let log = self.again(directory, uuid, generation)?;
        Ok(Self { writable: false, end: Some(position.max(HEADER as u64)), ..log })
    }

    /// The same log, opened again and without an end.
    pub(crate) fn again(&self, directory: &Directory, uuid: [u8; 16], generation: u64) -> Result<Self> {
        Self::open(&self.disk, directory, uuid, generation)
    }

    /// The disk that it is on.
    pub(crate) fn disk(&self) -> &dyn Folder {
        &*self.disk
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    /// The epoch at which the log of a handle on the past ends.
    pub(crate) fn past(&self) -> Option<u64> {
        self.end.map(|end| self.epoch_at(end))
    }

    /// Frees the space before a position, except the first block, which contains the header. False if the file system cannot.
    pub(crate) fn punch(&self, until: u64) -> Result<bool> {
        let Some(length) = until.checked_sub(BLOCK).filter(|length| *length > 0) else { return Ok(true) };
        match self.file.punch(BLOCK, length) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(false),
            Err(error) => Err(self.error("punch a hole into", error)),
        }
    }

    /// Refuses to write where the system does, and in the past.
    pub(crate) fn check_writable(&self) -> Result<()> {
        match (self.writable, self.end) {
            (true, _) => Ok(()),
            (false, Some(end)) => {
                let what =
                    format!("write to the past, {} up to epoch {}", self.path.display(), self.base + end);
                Err(Error::PermissionDenied { what, source: None })
            }
            (false, None) => Err(self.error("append to", io::ErrorKind::PermissionDenied.into())),
        }
    }

    /// The epoch of a position in the file.
    pub(crate) fn epoch_at(&self, position: u64) -> u64 {
        self.base + position
    }

    /// The position in the file of an epoch.
    pub(crate) fn position_of(&self, epoch: u64) -> Option<u64> {
        epoch.checked_sub(self.base)
    }

    /// The present length of the log. Takes a third of a microsecond.
    pub(crate) fn length(&self) -> Result<u64> {
        let length = self.whole_length()?;
        Ok(self.end.map_or(length, |end| end.min(length)))
    }

    /// The present length of the file, also for a handle on the past.
    pub(crate) fn whole_length(&self) -> Result<u64> {
        self.file.length().map_err(|error| self.error("stat", error))
    }

    /// The error for an epoch that a run reaches and the log does not.
    pub(crate) fn unreached(&self, epoch: u64) -> Error {
        Error::corrupt(
            format!("a checkpoint goes to epoch {epoch}, which the log does not reach"),
            self.path.display().to_string(),
        )
    }

    fn error(&self, what: &str, error: io::Error) -> Error {
        Error::from_io(error, format!("{what} {}", self.path.display()))
    }

    /// Appends a frame and returns the position of its end. The caller holds the handle's writer lock.
    ///
    /// A write that is cut short leaves a torn frame, which no reader counts. The whole frame is then appended again.
    pub(crate) fn append(&self, frame: &[u8]) -> Result<u64> {
        self.check_writable()?;
        if self.failed.load(Ordering::Acquire) {
            return Err(Error::Poisoned { what: self.path.display().to_string() });
        }
        for _ in 0..APPEND_TRIES {
            match self.file.append(frame) {
                Ok(Some(end)) => return Ok(end),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.error("append to", error)),
            }
        }
        Err(Error::NoSpace { what: format!("appends to {} were cut short", self.path.display()) })
    }

    /// Makes everything appended so far durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|error| {
            self.failed.store(true, Ordering::Release);
            self.error("sync", error)
        })
    }

    /// Reads from `position`, at most to the end of the file. Returns the number of bytes.
    pub(crate) fn read(&self, position: u64, buffer: &mut [u8]) -> Result<usize> {
        self.file.read_full_at(buffer, position).map_err(|error| self.error("read", error))
    }

    /// The checksum of the last bytes before an epoch, by which a run recognises its log.
    pub(crate) fn sum_before(&self, epoch: u64) -> Result<u32> {
        let end = self.position_of(epoch).unwrap_or(0);
        let start = end.saturating_sub(KNOWN_BY).max(HEADER as u64);
        let mut bytes = vec![0; end.saturating_sub(start) as usize];
        let filled = self.read(start, &mut bytes)?;
        Ok(crc32c(&bytes[..filled]))
    }

    /// Whether the file is still the container's log. The container may have been removed.
    pub(crate) fn is_current(&self) -> Result<bool> {
        let failed = |error| self.error("stat", error);
        let open = self.file.stat().map_err(failed)?;
        let named = if_there(self.disk.stat(&self.path)).map_err(failed)?;
        Ok(named.is_some_and(|named| named.identity == open.identity))
    }
}

/// Whether an error means that writing is not permitted.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
