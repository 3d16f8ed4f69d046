//! Writing data files: each handle appends to files of its own.
//!
//! What must stay true: bytes that a frame of the log refers to, or may refer to, never change, and their file never ends before them. A file
//! is truncated in one place: after a failed write, to where that write began ([`Current::free`]), and only if nothing was placed behind
//! it. Everything that frames refer to is before that: an extent is written out before its frame is appended, and the end moves back
//! ([`DataWriter::rewind`]) only over extents of a frame that was not appended. If that is unknown, the handle writes no more, and frees
//! nothing. Where bytes were placed behind a failed write, its space is punched out, to which nothing refers.

use std::{fs::TryLockError, io, sync::Arc};

use isotach_engine_kit::random;
use isotach_object::{Error, Result};

use super::file_name;
use crate::{
    format::extent::{Extent, Sums},
    io::{directory::Directory, disk::File},
};

/// Writes of this size and more go straight to the file. Smaller ones are gathered.
pub(crate) const DIRECT: usize = 128 * 1024;
/// Extents begin at multiples of this, as buffers do ([`isotach_engine_kit::aligned`]): copies between other places can be slower.
const ALIGNMENT: u64 = 64;
/// Extents begin at least this far behind the start of a page of their file. Buffers often begin 16 bytes behind one (`malloc`) or 48 (Python's
/// `bytes`), and AMD's processors copy five times as slowly if the destination begins 1 to 31 bytes further behind its page than the source
/// (`isotach bench alignment`). With [`ALIGNMENT`], it costs at most 191 bytes of space.
const PAGE_LEAD: u64 = 128;
const PAGE: u64 = 4096;
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
    if length < ALIGNED_MIN {
        return end;
    }
    let line = end.next_multiple_of(ALIGNMENT);
    line + PAGE_LEAD.saturating_sub(line % PAGE)
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

#[cfg(test)]
mod tests;
