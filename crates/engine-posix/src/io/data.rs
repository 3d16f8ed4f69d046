//! Data files: the bytes of arrays and of large values (FORMAT.md section 6).
//!
//! Each writing handle has files of its own, with random numbers as names, and only appends to them ([`writer`]).
//!
//! What must stay true: bytes that a frame of the log refers to, or may refer to, never change, and their file never ends before them,
//! because readers map them ([`crate::io::map`]). A purge removes whole files and truncates none.

use std::{
    collections::HashMap,
    io,
    path::PathBuf,
    sync::{Arc, PoisonError},
};

use isotach_object::{Error, Result, SharedBytes};

use crate::{
    format::extent::{CHUNK, Extent, ExtentPart},
    io::{directory::Directory, disk::File},
    sync::Mutex,
};

mod writer;

pub(crate) use writer::{DIRECT, DataWriter, Mark, Region, Unsynced};

/// The folder of a container's data files.
pub(crate) const FOLDER: &str = "data";
/// Files kept open for reading, per handle.
const OPEN_MAX: usize = 64;
/// Bytes that are read in one call before they are checked, while they are still in the processor's cache.
const STEP: u64 = 16 * CHUNK;

pub(crate) fn file_name(number: u64) -> String {
    format!("{number:016x}")
}

/// The number in a file name, if it is a data file's.
pub(crate) fn of_file_name(name: &str) -> Option<u64> {
    let number = u64::from_str_radix(name, 16).ok()?;
    (file_name(number) == name).then_some(number)
}

/// Reads the data files of a container.
#[derive(Debug)]
pub(crate) struct DataReader {
    folder: Arc<Directory>,
    open: Mutex<HashMap<u64, Arc<dyn File>>>,
}

impl DataReader {
    pub(crate) fn new(folder: &Arc<Directory>) -> Self {
        Self { folder: Arc::clone(folder), open: Mutex::new(HashMap::new()) }
    }

    /// Closes all files, so that the space of those that a purge removed is freed.
    pub(crate) fn close(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The folder of the files.
    pub(crate) fn folder(&self) -> &Arc<Directory> {
        &self.folder
    }

    /// A data file's path, for messages.
    pub(crate) fn path(&self, number: u64) -> PathBuf {
        self.folder.path_of(&file_name(number))
    }

    /// The open file with a number.
    pub(crate) fn file(&self, number: u64) -> Result<Arc<dyn File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&number) {
            return Ok(Arc::clone(file));
        }
        let name = file_name(number);
        let file = self.folder.read(&name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Error::corrupt("a data file is missing", self.path(number).display().to_string())
            }
            _ => self.folder.failed("open", &name, error),
        })?;
        if open.len() >= OPEN_MAX {
            let any = open.keys().next().copied();
            any.map(|number| open.remove(&number));
        }
        open.insert(number, Arc::clone(&file));
        Ok(file)
    }

    /// The length of a data file now.
    pub(crate) fn length(&self, number: u64) -> Result<u64> {
        self.file(number)?.length().map_err(|error| Error::from_io(error, "stat a data file"))
    }

    /// All bytes of an extent, checked.
    pub(crate) fn read_extent(&self, extent: &Extent) -> Result<Vec<u8>> {
        self.check_length(extent)?;
        let mut bytes = vec![0; extent.length as usize];
        let part = ExtentPart { offset: 0, length: extent.length, skip: 0, extent: extent.clone() };
        self.read_part(&part, &mut bytes)?;
        Ok(bytes)
    }

    /// Refuses an extent that its file does not contain, before memory is allocated for it.
    pub(crate) fn check_length(&self, extent: &Extent) -> Result<()> {
        let length = self.length(extent.file)?;
        if extent.position + extent.length > length {
            return Err(self.cut_short(extent, length));
        }
        Ok(())
    }

    fn cut_short(&self, extent: &Extent, length: u64) -> Error {
        let end = extent.position + extent.length;
        let what = format!("the data file has {length} bytes and should have at least {end}");
        Error::corrupt(what, self.path(extent.file).display().to_string())
    }

    /// Reads the bytes of a part into `out`, which has the part's length. Whole chunks are read in place. A chunk that is wanted in part is
    /// read into a buffer, because only a whole chunk can be checked.
    pub(crate) fn read_part(&self, part: &ExtentPart, out: &mut [u8]) -> Result<()> {
        let extent = &part.extent;
        let file = self.file(extent.file)?;
        let (mut at, end) = (part.skip, part.skip + part.length);
        let mut chunk_bytes = Vec::new();
        while at < end {
            let target = (at - part.skip) as usize;
            let chunk = at - at % CHUNK;
            let whole_to = if end == extent.length { end } else { end - end % CHUNK };
            if at == chunk && whole_to > at {
                let stop = whole_to.min(at + STEP);
                let slice = &mut out[target..target + (stop - at) as usize];
                self.read_chunks(&*file, extent, at, slice)?;
                at = stop;
            } else {
                let stop = extent.length.min(chunk + CHUNK);
                chunk_bytes.resize((stop - chunk) as usize, 0);
                self.read_chunks(&*file, extent, chunk, &mut chunk_bytes)?;
                let wanted = &chunk_bytes[(at - chunk) as usize..(end.min(stop) - chunk) as usize];
                out[target..target + wanted.len()].copy_from_slice(wanted);
                at += wanted.len() as u64;
            }
        }
        Ok(())
    }

    /// Lends the checked bytes of a part.
    pub(crate) fn share(&self, part: &ExtentPart) -> Result<SharedBytes> {
        let extent = &part.extent;
        if part.length == 0 {
            return Ok(Vec::new().into());
        }
        self.check_length(extent)?;
        let start = part.skip - part.skip % CHUNK;
        let end = (part.skip + part.length).next_multiple_of(CHUNK).min(extent.length);
        let place = self.path(extent.file).display().to_string();
        let file = self.file(extent.file)?;
        let chunks = file.share(extent.position + start, end - start);
        let chunks = chunks.map_err(|error| Error::from_io(error, format!("map {place}")))?;
        self.check_chunks(extent, start, &chunks)?;
        let from = (part.skip - start) as usize;
        let outside = || Error::corrupt("a map shorter than asked for", place);
        chunks.part(from..from + part.length as usize).ok_or_else(outside)
    }

    /// Reads and checks whole chunks of an extent, from its byte `at` on.
    fn read_chunks(&self, file: &dyn File, extent: &Extent, at: u64, out: &mut [u8]) -> Result<()> {
        self.read_raw(file, extent, at, out)?;
        self.check_chunks(extent, at, out)
    }

    /// Reads bytes of an extent, from its byte `at` on.
    fn read_raw(&self, file: &dyn File, extent: &Extent, at: u64, out: &mut [u8]) -> Result<()> {
        file.read_exact_at(out, extent.position + at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.cut_short(extent, file.stat().map_or(0, |stat| stat.length)),
            _ => Error::from_io(error, format!("read {}", self.path(extent.file).display())),
        })
    }

    /// Checks whole chunks of an extent, which begin at its byte `at`.
    pub(crate) fn check_chunks(&self, extent: &Extent, at: u64, bytes: &[u8]) -> Result<()> {
        let Some(position) = bad_chunk(extent, at, bytes) else { return Ok(()) };
        let place = format!("{} at byte {position}", self.path(extent.file).display());
        Err(Error::corrupt("stored bytes fail their checksum", place))
    }

    /// Reads every chunk that a part uses. Returns the position in the file of the first damaged one.
    pub(crate) fn find_bad_chunk(
        &self,
        part: &ExtentPart,
        buffer: &mut Vec<u8>,
        was_read: impl Fn(u64),
    ) -> Result<Option<u64>> {
        let extent = &part.extent;
        let file = self.file(extent.file)?;
        let mut at = part.skip - part.skip % CHUNK;
        let end = (part.skip + part.length).next_multiple_of(CHUNK).min(extent.length);
        while at < end {
            let stop = end.min(at + STEP);
            buffer.resize((stop - at) as usize, 0);
            self.read_raw(&*file, extent, at, buffer)?;
            was_read(stop - at);
            if let Some(position) = bad_chunk(extent, at, buffer) {
                return Ok(Some(position));
            }
            at = stop;
        }
        Ok(None)
    }
}

/// The position in the file of the first damaged chunk among whole chunks of an extent, which begin at its byte `at`.
fn bad_chunk(extent: &Extent, at: u64, bytes: &[u8]) -> Option<u64> {
    let sums = extent.sums.as_slice().iter().skip((at / CHUNK) as usize);
    let mut chunks = bytes.chunks(CHUNK as usize).zip(sums);
    let number = chunks.position(|(chunk, sum)| isotach_engine_kit::checksum::crc32c(chunk) != *sum)?;
    Some(extent.position + at + number as u64 * CHUNK)
}
