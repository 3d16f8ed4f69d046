//! Reading a run: the block index is in memory, and blocks are read and checked one by one. A small run is in memory as a whole.
//!
//! Blocks are read, not mapped: the truncation of a file under a reader is an error and not a signal, and a listing's resident memory is
//! what it uses.

use std::{
    cmp::Ordering,
    sync::{Arc, PoisonError, atomic},
};

use isotach_engine_kit::{bytes::Reader, checksum::crc32c};
use isotach_object::{Error, Result};

use super::{ENTRY_HEAD, HEADER, MAGIC, Span};
use crate::{
    format::check,
    index::{
        entry::{BytesRef, Entry, LayerEntry, Versioned, tag},
        ops::Bytes,
        raw::Raw,
    },
    io::{
        directory::Directory,
        disk::{File, InMemory},
    },
    sync::{AtomicUsize, Mutex, MutexGuard},
};

/// A run of at most this many bytes is read when it is opened, and its file is closed. A container with many snapshots has as many runs,
/// most of them small, and a process may open few files.
const SMALL: u64 = 64 << 10;
/// Blocks in the cache of an open run.
const CACHED: usize = 16;
/// Bytes of operations that are worth decoding only once.
const LONG: usize = 4096;
/// How many decoded entries of that length an open run caches.
const LONG_MAX: usize = 2;

/// The index has at least about this many bytes for a block: its place, and a path. Memory for blocks that there are not is not touched.
const BLOCK_MIN: usize = 40;

/// Where a block is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    position: u64,
    length: u32,
    sum: u32,
    /// The path of its first entry: `[start, end)` of the index.
    first: (u32, u32),
}

/// An open run.
#[derive(Debug)]
pub(crate) struct Run {
    file: Arc<dyn File>,
    place: String,
    span: Span,
    header: Header,
    blocks: Vec<Block>,
    index: Vec<u8>,
    /// The last path: `[start, end)` of the index.
    last: (usize, usize),
    cache: BlockCache,
    /// The block of the last path that was looked up.
    last_block: AtomicUsize,
    /// The operations of a few long entries by path, the last decoded first.
    long: Mutex<Vec<Long>>,
}

/// The blocks read last, each in the slot of its number. Consecutive look-ups mostly need the same few blocks: ids are handed out in order,
/// and fields of one step are neighbours.
#[derive(Debug, Default)]
struct BlockCache([Mutex<Slot>; CACHED]);

/// A path, and the operations of its entry.
type Long = (Box<[u8]>, Arc<Bytes>);

/// A block, and the entry that was found in it last: the next one that is looked up is mostly behind it.
#[derive(Debug, Default)]
struct Slot {
    number: usize,
    bytes: Option<Arc<[u8]>>,
    last_found: Vec<u8>,
    /// Where the entry behind the last found one begins.
    next: usize,
}

impl BlockCache {
    fn slot(&self, at: usize) -> MutexGuard<'_, Slot> {
        self.0[at % CACHED].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A block, and where a search in it begins: behind an entry that is less than the path in question.
struct Search {
    block: Arc<[u8]>,
    position: usize,
    /// How many bytes the path shares with the entry before that position.
    matched: usize,
}

#[derive(Debug)]
struct Header {
    entries: u64,
    index_position: u64,
    index_length: u64,
    index_sum: u32,
    has_cuts: bool,
    log_sum: u32,
}

impl Run {
    /// Opens the run of `directory` that covers `span`.
    pub(crate) fn open(directory: &Directory, uuid: [u8; 16], span: Span) -> Result<Self> {
        let name = span.file_name();
        let place = directory.path_of(&name).display().to_string();
        let file = directory.read(&name).map_err(|error| directory.failed("open", &name, error))?;
        Self::of_file(file, place, uuid, span)
    }

    /// Opens the run in a file.
    pub(super) fn of_file(file: Arc<dyn File>, place: String, uuid: [u8; 16], span: Span) -> Result<Self> {
        let length = file.stat().map_err(|error| Error::from_io(error, format!("stat {place}")))?.length;
        let file = if length > SMALL { file } else { in_memory(file, length as usize) };
        let mut header = [0; HEADER];
        read_at(&*file, &mut header, 0, &place)?;
        let damaged = |what: &str| Error::corrupt(what, &place);
        let header = read_header(&header, uuid, span).ok_or_else(|| damaged("the header of a run"))?;
        // Limited by the real length of the file, so that damage cannot cause a large allocation.
        if header.index_position.checked_add(header.index_length).is_none_or(|end| end > length) {
            return Err(damaged("a run that is shorter than its header says"));
        }
        let mut index = vec![0; header.index_length as usize];
        read_at(&*file, &mut index, header.index_position, &place)?;
        if crc32c(&index) != header.index_sum {
            return Err(damaged("the block index of a run fails its checksum"));
        }
        let (blocks, last) = parse_index(&index).ok_or_else(|| damaged("the block index of a run"))?;
        Ok(Self {
            file,
            place,
            span,
            header,
            blocks,
            index,
            last,
            cache: BlockCache::default(),
            last_block: AtomicUsize::new(0),
            long: Mutex::default(),
        })
    }

    pub(crate) fn span(&self) -> Span {
        self.span
    }

    pub(crate) fn entries(&self) -> u64 {
        self.header.entries
    }

    /// The checksum of the log's last bytes before the run's end.
    pub(crate) fn log_sum(&self) -> u32 {
        self.header.log_sum
    }

    pub(crate) fn has_cuts(&self) -> bool {
        self.header.has_cuts
    }

    fn first(&self, block: &Block) -> &[u8] {
        &self.index[block.first.0 as usize..block.first.1 as usize]
    }

    /// Whether a path comes after all paths of the run.
    pub(super) fn ends_before(&self, path: &[u8]) -> bool {
        path > self.last_path()
    }

    /// The block that would contain `path`, if any.
    pub(super) fn block_of(&self, path: &[u8]) -> Option<usize> {
        if self.ends_before(path) {
            return None;
        }
        // Consecutive look-ups mostly need the same block.
        let last = self.last_block.load(atomic::Ordering::Relaxed);
        let begins = |at: usize| self.blocks.get(at).map(|block| self.first(block));
        if begins(last).is_some_and(|first| first <= path) && begins(last + 1).is_none_or(|next| path < next)
        {
            return Some(last);
        }
        let found = self.blocks.partition_point(|block| self.first(block) <= path).checked_sub(1);
        self.last_block.store(found.unwrap_or_default(), atomic::Ordering::Relaxed);
        found
    }

    /// Reads block `at` into `buffer` and checks it. False past the last block.
    pub(super) fn read_block(&self, at: usize, buffer: &mut Vec<u8>) -> Result<bool> {
        let Some(block) = self.blocks.get(at) else { return Ok(false) };
        buffer.resize(block.length as usize, 0);
        read_at(&*self.file, buffer, block.position, &self.place)?;
        if crc32c(buffer) != block.sum {
            return Err(self.damaged("a block fails its checksum"));
        }
        Ok(true)
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The position of a block, and the path of its first entry.
    pub(super) fn block_at(&self, at: usize) -> (u64, &[u8]) {
        self.blocks.get(at).map_or((0, &[]), |block| (block.position, self.first(block)))
    }

    /// The path of the last entry.
    pub(super) fn last_path(&self) -> &[u8] {
        &self.index[self.last.0..self.last.1]
    }

    /// The end of the blocks.
    pub(crate) fn index_position(&self) -> u64 {
        self.header.index_position
    }

    /// Its file, for messages.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn damaged(&self, what: &str) -> Error {
        Error::corrupt(what, &self.place)
    }

    /// The search for a path in block `at`, which is read through the cache.
    fn search(&self, at: usize, path: &[u8]) -> Result<Search> {
        {
            let slot = self.cache.slot(at);
            if let Some(block) = slot.bytes.as_ref().filter(|_| slot.number == at) {
                let block = Arc::clone(block);
                let is_behind = slot.next > 0 && *slot.last_found < *path;
                let (position, matched) =
                    if is_behind { (slot.next, shared(&slot.last_found, path)) } else { (0, 0) };
                return Ok(Search { block, position, matched });
            }
        }
        let mut block = Vec::new();
        self.read_block(at, &mut block)?;
        let block: Arc<[u8]> = block.into();
        let mut slot = self.cache.slot(at);
        (slot.number, slot.bytes, slot.next) = (at, Some(Arc::clone(&block)), 0);
        Ok(Search { block, position: 0, matched: 0 })
    }

    /// Notes where the entry of a path ends in block `at`.
    fn note_found(&self, at: usize, path: &[u8], next: usize) {
        let mut slot = self.cache.slot(at);
        if slot.number == at {
            slot.last_found.clear();
            slot.last_found.extend_from_slice(path);
            slot.next = next;
        }
    }

    /// The entry of a path.
    pub(crate) fn get(&self, path: &[u8]) -> Result<Option<Versioned>> {
        self.with(path, |raw| raw.decode())
    }

    /// As [`get`](Self::get), but decodes long lists of operations only once.
    pub(crate) fn layer_entry<'k>(&self, path: &[u8]) -> Result<Option<LayerEntry<'k>>> {
        self.with(path, |raw| match raw.tag == tag::BYTES && raw.payload.len() >= LONG {
            true => self.long(path, &raw).map(|bytes| LayerEntry::Bytes(BytesRef::Shared(bytes))),
            false => Ok(LayerEntry::of(raw.decode()?.entry)),
        })
    }

    fn long(&self, path: &[u8], raw: &Raw<'_>) -> Result<Arc<Bytes>> {
        let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = long.iter().find(|(of, _)| **of == *path) {
            return Ok(Arc::clone(bytes));
        }
        let Entry::Bytes(bytes) = raw.decode()?.entry else { return Err(self.damaged("an entry of a run")) };
        let bytes = Arc::new(bytes);
        long.truncate(LONG_MAX - 1);
        long.insert(0, (path.into(), Arc::clone(&bytes)));
        Ok(bytes)
    }

    /// Passes the entry of a path to `look`.
    fn with<T>(&self, path: &[u8], look: impl FnOnce(Raw<'_>) -> Result<T>) -> Result<Option<T>> {
        let Some(at) = self.block_of(path) else { return Ok(None) };
        // `matched`: how many bytes the previous entry's path shares with `path`. Every entry passed so far is less than `path`.
        let Search { block, position, mut matched } = self.search(at, path)?;
        let mut reader = Reader(block.get(position..).unwrap_or_default());
        while !reader.is_empty() {
            let raw = next_raw(&mut reader).ok_or_else(|| self.damaged("an entry of a run"))?;
            match raw.shared.cmp(&matched) {
                // It shares the byte that makes the previous entry less.
                Ordering::Greater => continue,
                // It is greater than the previous entry at a byte which that one shares with `path`.
                Ordering::Less => return Ok(None),
                Ordering::Equal => {}
            }
            let rest = &path[matched..];
            match raw.suffix.cmp(rest) {
                Ordering::Less => matched += shared(raw.suffix, rest),
                Ordering::Equal => {
                    self.note_found(at, path, block.len() - reader.0.len());
                    return look(self.raw(raw.epoch, raw.tag, raw.payload)).map(Some);
                }
                Ordering::Greater => return Ok(None),
            }
        }
        Ok(None)
    }

    pub(super) fn raw<'a>(&'a self, epoch: u64, tag: u8, payload: &'a [u8]) -> Raw<'a> {
        Raw { epoch, tag, payload, place: &self.place }
    }
}

/// How many bytes two paths share at their beginning.
fn shared(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// An entry in a block.
pub(super) struct RawEntry<'a> {
    pub(super) epoch: u64,
    pub(super) tag: u8,
    pub(super) payload: &'a [u8],
    /// How many bytes of its path are those of the previous one.
    pub(super) shared: usize,
    pub(super) suffix: &'a [u8],
}

/// Takes an entry off a block.
pub(super) fn next_raw<'a>(reader: &mut Reader<'a>) -> Option<RawEntry<'a>> {
    let mut head = Reader(reader.take(ENTRY_HEAD)?);
    let (shared, suffix, payload) = (head.u32()? as usize, head.u32()? as usize, head.u32()? as usize);
    let tag = head.u8()?;
    head.take(3)?;
    let epoch = head.u64()?;
    let suffix = reader.take(suffix)?;
    Some(RawEntry { epoch, tag, payload: reader.take(payload)?, shared, suffix })
}

/// Takes an entry off a block. `current` changes from the previous path to the entry's.
pub(super) fn next_entry<'a>(reader: &mut Reader<'a>, current: &mut Vec<u8>) -> Option<RawEntry<'a>> {
    let raw = next_raw(reader)?;
    if raw.shared > current.len() {
        return None;
    }
    current.truncate(raw.shared);
    current.extend_from_slice(raw.suffix);
    Some(raw)
}

fn read_at(file: &dyn File, buffer: &mut [u8], position: u64, place: &str) -> Result<()> {
    file.read_exact_at(buffer, position).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::corrupt("a run that ends too early", place),
        _ => Error::from_io(error, format!("read {place}")),
    })
}

/// The bytes of a file as a file in memory. A file of which some cannot be read stays open: only what needs those fails.
fn in_memory(file: Arc<dyn File>, length: usize) -> Arc<dyn File> {
    let mut bytes = vec![0; length];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Arc::new(InMemory::new(bytes)),
        Err(_) => file,
    }
}

fn read_header(bytes: &[u8; HEADER], uuid: [u8; 16], span: Span) -> Option<Header> {
    let mut reader = check(bytes)?;
    let known = reader.take(8)? == MAGIC && reader.take(16)? == uuid;
    let same_span = reader.u64()? == span.from && reader.u64()? == span.to;
    let header = Header {
        entries: reader.u64()?,
        index_position: reader.u64()?,
        index_length: reader.u64()?,
        index_sum: reader.u32()?,
        has_cuts: reader.u32()? != 0,
        log_sum: reader.u32()?,
    };
    let same_span = same_span && reader.u64()? == span.tag;
    (known && same_span).then_some(header)
}

/// The blocks, and the position of the run's last path in the index.
pub(super) fn parse_index(index: &[u8]) -> Option<(Vec<Block>, (usize, usize))> {
    let mut reader = Reader(index);
    let at = |reader: &Reader<'_>| index.len() - reader.0.len();
    let last_length = reader.u32()? as usize;
    let last = (at(&reader), at(&reader) + last_length);
    reader.take(last_length)?;
    let mut blocks = Vec::with_capacity(index.len() / BLOCK_MIN);
    while !reader.is_empty() {
        let (position, length, sum) = (reader.u64()?, reader.u32()?, reader.u32()?);
        let first_length = reader.u32()? as usize;
        let start = at(&reader);
        reader.take(first_length)?;
        blocks.push(Block { position, length, sum, first: (start as u32, (start + first_length) as u32) });
    }
    Some((blocks, last))
}
