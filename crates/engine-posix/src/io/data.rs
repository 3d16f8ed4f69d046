//! Data files: the bytes of arrays and of large values (FORMAT.md section 6).
//!
//! Each writing handle has files of its own, with random numbers as names, and only appends to them.
//!
//! What must stay true: bytes that a frame of the log refers to, or may refer to, never change, and their file never ends before them,
//! because readers map them ([`crate::io::map`]). A file is truncated in one place: after a failed write, to where that write began
//! ([`Current::free`]), and only if nothing was placed behind it. Everything that frames refer to is before that: an extent is written out
//! before its frame is appended, and the end moves back ([`DataWriter::rewind`]) only over extents of a frame that was not appended. If that
//! is unknown, the handle writes no more, and frees nothing. Where bytes were placed behind a failed write, its space is punched out, to which
//! nothing refers. A purge removes whole files and truncates none.

use std::{
    collections::HashMap,
    fs::TryLockError,
    io,
    path::PathBuf,
    sync::{Arc, PoisonError},
};

use isotach_engine_kit::random;
use isotach_object::{Error, Result, SharedBytes};

use crate::{
    format::extent::{CHUNK, Extent, ExtentPart, Sums},
    io::{directory::Directory, disk::File},
    sync::Mutex,
};

/// The folder of a container's data files.
pub(crate) const FOLDER: &str = "data";
/// Writes of this size and more go straight to the file. Smaller ones are gathered.
pub(crate) const DIRECT: usize = 128 * 1024;
/// Extents begin at multiples of this, as buffers do ([`isotach_engine_kit::aligned`]): copies between other places can be slower.
const ALIGNMENT: u64 = 64;
/// Extents of less than this begin anywhere, since the space before them would count.
const ALIGNED_MIN: u64 = 4096;
/// Gathered bytes are written when there are this many.
const GATHER: usize = 1 << 20;
/// The device starts on bytes that will be synced once there are this many. It works while more are gathered, and the sync waits only for
/// the last of them.
const BEGIN_SYNC: u64 = 4 << 20;
/// A file that has grown past this is followed by a new one, so that a purge can remove what a writer wrote long ago. On a nearly full disk
/// the limit is a share of the space that was free when the file was begun: a purge has to copy the live part of one file.
const ROLL: u64 = 256 << 20;
const ROLL_SHARE: u64 = 16;
const ROLL_MIN: u64 = 1 << 20;
/// How often a data file is created again because a purge took it before it was locked.
const CREATE_TRIES: usize = 20;
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

/// Appends to a handle's own data files. A file is created at the first write.
#[derive(Debug)]
pub(crate) struct DataWriter {
    folder: Arc<Directory>,
    current: Option<Current>,
    /// All files that it has created.
    made: Vec<u64>,
    /// Full files that are not synced.
    rolled: Vec<Full>,
    /// Full files, open so that they stay locked until everything that refers to them is in the log.
    held: Vec<Full>,
    /// Of how many of the files the names are durable.
    named: usize,
    /// The number of writes.
    writes: u64,
    /// Whether the data will be synced.
    sync: bool,
}

/// A full file, and the number of the last write to it that is known.
#[derive(Debug, Clone)]
struct Full {
    file: Arc<dyn File>,
    last_write: u64,
}

/// What a sync has to make durable. It needs no access to the writer, which goes on meanwhile.
#[derive(Debug)]
pub(crate) struct Unsynced {
    folder: Arc<Directory>,
    files: Vec<Arc<dyn File>>,
    /// How many files the writer had made.
    made: usize,
    has_new_names: bool,
    /// The number of writes that it includes.
    writes: u64,
}

impl Unsynced {
    /// Makes it durable.
    pub(crate) fn sync(&self) -> Result<()> {
        let failed = |error| Error::from_io(error, format!("sync {}", self.folder.path().display()));
        self.files.iter().try_for_each(|file| file.sync()).map_err(failed)?;
        if self.has_new_names { self.folder.sync().map_err(failed) } else { Ok(()) }
    }
}

#[derive(Debug)]
struct Current {
    number: u64,
    file: Arc<dyn File>,
    /// The length after which another file follows.
    roll: u64,
    /// Bytes in the file. The gathered bytes come after them.
    written: u64,
    /// Up to here the device has started to write.
    begun: u64,
    gathered: Vec<u8>,
    /// The number of the last write, unless it is synced.
    unsynced: Option<u64>,
}

impl Current {
    fn write_gathered(&mut self, folder: &Directory, writes: &mut u64) -> Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let gathered = std::mem::take(&mut self.gathered);
        let region = self.region_at(self.written, gathered.len() as u64);
        *writes += 1;
        self.unsynced = Some(*writes);
        let outcome = region.write(folder, &gathered).inspect_err(|_| self.free(&region));
        self.gathered = gathered;
        outcome?;
        self.gathered.clear();
        Ok(())
    }

    /// Takes `length` bytes from `position` on, where nothing is gathered and which is not before the end.
    fn region_at(&mut self, position: u64, length: u64) -> Region {
        let (file, number, from) = (Arc::clone(&self.file), self.number, self.written);
        self.written = position + length;
        Region { file, number, from, position, length }
    }

    /// Frees the space of a failed write: the end moves back to it, unless something was placed behind it meanwhile.
    fn free(&mut self, region: &Region) {
        if self.written == region.end() && self.gathered.is_empty() {
            let _ = self.file.set_length(region.from);
            self.written = region.from;
            self.begun = self.begun.min(region.from);
        } else {
            let _ = self.file.punch(region.position, region.length);
        }
    }

    /// What the device may start on, once that is worth a call.
    fn begin_sync(&mut self) -> Option<Region> {
        let (from, length) = (self.begun, self.written.saturating_sub(self.begun));
        (length >= BEGIN_SYNC).then(|| {
            self.begun = self.written;
            Region { file: Arc::clone(&self.file), number: self.number, from, position: from, length }
        })
    }
}

/// A part of a data file.
#[derive(Debug)]
pub(crate) struct Region {
    file: Arc<dyn File>,
    number: u64,
    /// The end of the file before it, where its alignment begins.
    from: u64,
    position: u64,
    length: u64,
}

impl Region {
    fn end(&self) -> u64 {
        self.position + self.length
    }

    /// Fills it.
    pub(crate) fn write(&self, folder: &Directory, data: &[u8]) -> Result<()> {
        let outcome = self.file.write_all_at(data, self.position);
        outcome.map_err(|error| folder.failed("write", &file_name(self.number), error))
    }

    /// Lets the device start on its bytes.
    pub(crate) fn begin_sync(&self) {
        self.file.begin_sync(self.position, self.length);
    }

    /// The extent in it.
    pub(crate) fn extent(&self, sums: Sums) -> Extent {
        Extent { file: self.number, position: self.position, length: self.length, sums }
    }
}

/// A position for [`DataWriter::rewind`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(Option<(u64, u64)>);

impl DataWriter {
    /// `sync` says whether the data will be synced.
    pub(crate) fn new(folder: &Arc<Directory>, sync: bool) -> Self {
        Self {
            folder: Arc::clone(folder),
            sync,
            current: None,
            made: Vec::new(),
            rolled: Vec::new(),
            held: Vec::new(),
            named: 0,
            writes: 0,
        }
    }

    fn current(&mut self) -> Result<&mut Current> {
        let is_full = |current: &mut Current| current.written > current.roll && current.gathered.is_empty();
        if let Some(Current { file, unsynced, .. }) = self.current.take_if(is_full) {
            let full = Full { file, last_write: unsynced.unwrap_or(self.writes) };
            self.rolled.extend(unsynced.map(|_| full.clone()));
            self.held.push(full);
        }
        match self.current {
            Some(ref mut current) => Ok(current),
            None => {
                let current = create(&self.folder)?;
                self.made.push(current.number);
                Ok(self.current.insert(current))
            }
        }
    }

    /// Takes a copy of `data`. Returns where it is or will be.
    pub(crate) fn append(&mut self, data: &[u8]) -> Result<Extent> {
        if data.len() >= DIRECT {
            let region = self.reserve(data.len() as u64)?;
            if let Err(error) = region.write(&self.folder, data) {
                self.free(&region);
                return Err(error);
            }
            if let Some(begun) = self.filled(&region) {
                begun.begin_sync();
            }
            return Ok(region.extent(Sums::of(data)));
        }
        let sync = self.sync;
        if self.current()?.gathered.len() + data.len() > GATHER {
            self.write_out()?;
        }
        let current = self.current()?;
        let end = current.written + current.gathered.len() as u64;
        let position = aligned(end, data.len() as u64);
        current.gathered.resize(current.gathered.len() + (position - end) as usize, 0);
        current.gathered.extend_from_slice(data);
        if let Some(begun) = current.begin_sync().filter(|_| sync) {
            begun.begin_sync();
        }
        Ok(Extent { file: current.number, position, length: data.len() as u64, sums: Sums::of(data) })
    }

    /// A region for `length` bytes, which another thread may fill while this writer goes on. The caller passes it to [`filled`](Self::filled)
    /// or [`free`](Self::free), unless the writer may write no more.
    pub(crate) fn reserve(&mut self, length: u64) -> Result<Region> {
        self.write_out()?;
        let current = self.current()?;
        Ok(current.region_at(aligned(current.written, length), length))
    }

    /// Notes that a region is filled: the next sync is of its file, too, and until everything that refers to it is in the log the file stays
    /// locked. Returns what the device should start on.
    pub(crate) fn filled(&mut self, region: &Region) -> Option<Region> {
        self.writes += 1;
        match self.current.as_mut().filter(|current| current.number == region.number) {
            Some(current) => {
                current.unsynced = Some(self.writes);
                current.begin_sync().filter(|_| self.sync)
            }
            None => {
                let full = Full { file: Arc::clone(&region.file), last_write: self.writes };
                self.rolled.push(full.clone());
                self.held.push(full);
                None
            }
        }
    }

    /// Gives a region back that could not be filled.
    pub(crate) fn free(&mut self, region: &Region) {
        if let Some(current) = self.current.as_mut().filter(|current| current.number == region.number) {
            current.free(region);
        }
    }

    /// The present end, for [`rewind`](Self::rewind).
    pub(crate) fn mark(&self) -> Mark {
        Mark(
            self.current
                .as_ref()
                .map(|current| (current.number, current.written + current.gathered.len() as u64)),
        )
    }

    /// Discards the bytes since `mark`, to which no frame refers. The next write replaces them. After a frame that may have been appended
    /// the caller writes no more.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        let Mark(Some((number, end))) = mark else { return };
        if let Some(current) = self.current.as_mut().filter(|current| current.number == number) {
            current.gathered.truncate(end.saturating_sub(current.written) as usize);
            current.written = current.written.min(end);
            current.begun = current.begun.min(end);
        }
    }

    /// The files that it has created.
    pub(crate) fn made(&self) -> &[u64] {
        &self.made
    }

    /// Removes the files. No frame refers to them that counts or ever will.
    pub(crate) fn discard(&mut self) {
        (self.current, self.named) = (None, 0);
        for number in self.made.drain(..) {
            // A file that stays takes space and has no other effect.
            let _ = self.folder.remove(&file_name(number));
        }
    }

    /// Does not sync the full files.
    pub(crate) fn leave_unsynced(&mut self) {
        self.rolled.clear();
    }

    /// Unlocks the full files that are in `unsynced`, so that purges can remove them: everything that refers to them is in the log.
    pub(crate) fn release(&mut self, unsynced: &Unsynced) {
        self.held.retain(|full| full.last_write > unsynced.writes);
    }

    /// Writes everything to the files, so that other processes can read it.
    pub(crate) fn write_out(&mut self) -> Result<()> {
        self.current.as_mut().map_or(Ok(()), |current| current.write_gathered(&self.folder, &mut self.writes))
    }

    /// What is written out and not known to be durable.
    pub(crate) fn unsynced(&self) -> Unsynced {
        let current =
            self.current.iter().filter(|current| current.unsynced.is_some()).map(|current| &current.file);
        let files = self.rolled.iter().map(|full| &full.file).chain(current).map(Arc::clone).collect();
        let (made, writes) = (self.made.len(), self.writes);
        Unsynced { folder: Arc::clone(&self.folder), files, made, has_new_names: made > self.named, writes }
    }

    /// Notes that it is durable. Later writes to the same files are not.
    pub(crate) fn synced(&mut self, unsynced: &Unsynced) {
        self.rolled.retain(|full| full.last_write > unsynced.writes);
        if let Some(current) =
            self.current.as_mut().filter(|current| current.unsynced <= Some(unsynced.writes))
        {
            current.unsynced = None;
            current.begun = current.written;
        }
        self.named = self.named.max(unsynced.made);
    }

    /// Makes everything that is written out durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let unsynced = self.unsynced();
        unsynced.sync()?;
        self.synced(&unsynced);
        Ok(())
    }
}

/// The first position from `end` on where an extent of this length may begin.
fn aligned(end: u64, length: u64) -> u64 {
    if length < ALIGNED_MIN { end } else { end.next_multiple_of(ALIGNMENT) }
}

/// The limit of a file that is begun now. A disk that does not report its free space counts as large.
fn roll_of(folder: &Directory) -> u64 {
    folder.free().map_or(ROLL, |free| (free / ROLL_SHARE).clamp(ROLL_MIN, ROLL))
}

/// Creates a data file and locks it, so that a purge does not take it for one without a writer.
fn create(folder: &Directory) -> Result<Current> {
    let failed = |what: &'static str, name: &str| {
        let name = name.to_owned();
        move |error| folder.failed(what, &name, error)
    };
    for _ in 0..CREATE_TRIES {
        let number = random::number()?;
        let name = file_name(number);
        let file = folder.create(&name).map_err(failed("create", &name))?;
        // Where there are no locks there is no purge either.
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            let own = file.stat().map_err(failed("stat", &name))?.identity;
            match folder.stat(&name) {
                Ok(named) if named.identity == own => {
                    let (written, begun, gathered) = (0, 0, Vec::new());
                    let roll = roll_of(folder);
                    return Ok(Current { number, file, roll, written, begun, gathered, unsynced: None });
                }
                // A purge removed it before it was locked.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("stat", &name)(error));
                }
                _ => {}
            }
        }
        let _ = folder.remove(&name);
    }
    let what = format!("a data file in {}: purges took {CREATE_TRIES} of them away", folder.path().display());
    Err(Error::Conflict { what })
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

#[cfg(test)]
mod tests;
