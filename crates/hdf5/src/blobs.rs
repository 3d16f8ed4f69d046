//! Blobs: pieces of variable-length data, gathered in pages.
//!
//! A blob's name says its page, offset and length, so that most blobs cost neither an entry nor a request of their own. A page keeps
//! which parts were removed, and goes with its last blob.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use isotach_object::{ArrayRead, Cell};

use crate::{
    Error, Result,
    layout::{BLOBS, array},
    ranges::Ranges,
    records::BlobPage,
    session::Session,
    store::{INLINE, Store},
};

/// The length at which a page is closed.
const PAGE: usize = 1 << 20;
/// The length from which on a blob has a page of its own.
const LARGE: usize = 256 << 10;
/// How many bytes of pages are kept.
const KEPT_MAX: usize = 32 << 20;

/// The name of a blob: a piece of variable-length data. All zeros are no blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId(pub [u8; 16]);

impl BlobId {
    /// The name of no blob.
    pub const NULL: Self = Self([0; 16]);

    /// The name of an empty blob, which is there: an empty string is another value than none.
    pub const EMPTY: Self = Self([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);

    /// Whether it names no blob.
    pub fn is_null(&self) -> bool {
        *self == Self::NULL
    }

    fn of(part: &Part) -> Self {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&part.page.to_le_bytes());
        id[8..12].copy_from_slice(&part.offset.to_le_bytes());
        id[12..].copy_from_slice(&part.length.to_le_bytes());
        Self(id)
    }

    fn part(&self) -> Part {
        let (words, _) = self.0.as_chunks::<4>();
        let word = |at: usize| words.get(at).map_or(0, |word| u32::from_le_bytes(*word));
        let page = u64::from(word(1)) << 32 | u64::from(word(0));
        Part { page, offset: word(2), length: word(3) }
    }
}

/// A part of a page.
#[derive(Debug, Clone, Copy)]
struct Part {
    page: u64,
    offset: u32,
    length: u32,
}

impl Part {
    fn of<'p>(&self, page: &'p [u8]) -> Option<&'p [u8]> {
        page.get(self.offset as usize..)?.get(..self.length as usize)
    }

    fn absent(&self) -> Error {
        Error::not_found(format!("blob {}.{}", self.page, self.offset))
    }
}

/// The pages of a session.
#[derive(Debug, Default)]
pub(crate) struct Blobs {
    /// The page that is being filled: number, bytes, and what was removed of it.
    open: Option<(u64, Vec<u8>, Ranges)>,
    /// The pages that no commit has named.
    own: HashSet<u64>,
    kept: HashMap<u64, Arc<Vec<u8>>>,
    kept_bytes: usize,
}

impl Blobs {
    pub(crate) fn has_changes(&self) -> bool {
        self.open.is_some()
    }

    pub(crate) fn forget(&mut self) {
        self.kept.clear();
        self.kept_bytes = 0;
    }

    /// All pages belong to a version.
    pub(crate) fn committed(&mut self) {
        self.own.clear();
    }

    /// The arrays of pages that no commit has named.
    pub(crate) fn take_own(&mut self) -> Vec<u64> {
        self.open = None;
        self.own.drain().collect()
    }

    /// The same, without giving them up.
    pub(crate) fn own_arrays(&self) -> impl Iterator<Item = isotach_object::ObjectId> {
        self.own.iter().map(|page| array(*page))
    }

    fn keep(&mut self, page: u64, bytes: &Arc<Vec<u8>>) {
        if self.kept_bytes + bytes.len() > KEPT_MAX {
            self.forget();
        }
        self.kept_bytes += bytes.len();
        self.kept.insert(page, bytes.clone());
    }
}

fn key(page: u64) -> [u8; 8] {
    page.to_le_bytes()
}

impl Session {
    pub(crate) fn put_blob(&mut self, store: &Store, bytes: &[u8]) -> Result<BlobId> {
        let too_long = |_| Error::invalid(format!("a blob of {} bytes", bytes.len()), "less than 4 GiB");
        let length = u32::try_from(bytes.len()).map_err(too_long)?;
        if length == 0 {
            return Ok(BlobId::EMPTY);
        }
        if bytes.len() >= LARGE {
            let page = store.write_array(bytes)?;
            self.blobs.own.insert(page);
            self.count_stored(length.into());
            let record = BlobPage { inline: None, length, removed: Vec::new() };
            self.put(BLOBS, key(page).to_vec(), record.encode());
            return Ok(BlobId::of(&Part { page, offset: 0, length }));
        }
        if self.blobs.open.as_ref().is_some_and(|(_, page, _)| page.len() + bytes.len() > PAGE) {
            self.close_page(store)?;
        }
        if self.blobs.open.is_none() {
            self.blobs.open = Some((store.number()?, Vec::new(), Ranges::default()));
        }
        let Some((page, there, _)) = &mut self.blobs.open else { return Ok(BlobId::NULL) };
        let offset = there.len() as u32;
        there.extend_from_slice(bytes);
        Ok(BlobId::of(&Part { page: *page, offset, length }))
    }

    /// Stores the page that is being filled.
    pub(crate) fn close_page(&mut self, store: &Store) -> Result<()> {
        let Some((page, bytes, removed)) = &self.blobs.open else { return Ok(()) };
        let page = *page;
        if removed.measure() == bytes.len() as u64 {
            self.blobs.open = None;
            return Ok(());
        }
        let is_inline = bytes.len() <= INLINE;
        if !is_inline {
            store.write_array_as(page, bytes)?;
        }
        let record = BlobPage {
            inline: is_inline.then(|| bytes.clone()),
            length: bytes.len() as u32,
            removed: removed.iter().map(|range| (range.start as u32, range.end as u32)).collect(),
        };
        self.count_stored(record.length.into());
        self.put(BLOBS, key(page).to_vec(), record.encode());
        self.blobs.own.insert(page);
        if let Some((page, bytes, _)) = self.blobs.open.take() {
            self.blobs.keep(page, &Arc::new(bytes));
        }
        Ok(())
    }

    pub(crate) fn blob(&mut self, store: &Store, id: &BlobId) -> Result<Vec<u8>> {
        let part = id.part();
        if part.length == 0 {
            return Ok(Vec::new());
        }
        let open = self.blobs.open.as_ref().filter(|(page, ..)| *page == part.page);
        if let Some((_, bytes, _)) = open {
            return part.of(bytes).map(<[u8]>::to_vec).ok_or_else(|| part.absent());
        }
        if let Some(bytes) = self.blobs.kept.get(&part.page) {
            return part.of(bytes).map(<[u8]>::to_vec).ok_or_else(|| part.absent());
        }
        let record = self.page(part.page)?.ok_or_else(|| part.absent())?;
        let (length, end) = (u64::from(record.length), u64::from(part.offset) + u64::from(part.length));
        if end > length {
            return Err(part.absent());
        }
        let bytes = match record.inline {
            Some(bytes) => bytes,
            None => {
                let own = self.blobs.own.contains(&part.page);
                let container = if own { store.container.clone() } else { self.base()? };
                let is_large = record.length as usize > 2 * PAGE;
                let (offset, wanted) =
                    if is_large { (part.offset.into(), part.length) } else { (0, record.length) };
                let cell = Cell::array(array(part.page));
                let short =
                    || Error::corrupt("a page of blobs that is short", format!("array {}", part.page));
                if is_large && container.size_many(&[cell])?.pop().flatten().is_none_or(|size| size < end) {
                    return Err(short());
                }
                let mut buffer = vec![0; wanted as usize];
                let mut reads = [ArrayRead { cell, offset, buffer: &mut buffer, filled: 0 }];
                container.read_many(&mut reads)?;
                if reads[0].filled != buffer.len() {
                    return Err(short());
                }
                if is_large {
                    return Ok(buffer);
                }
                buffer
            }
        };
        let bytes = Arc::new(bytes);
        self.blobs.keep(part.page, &bytes);
        part.of(&bytes).map(<[u8]>::to_vec).ok_or_else(|| part.absent())
    }

    pub(crate) fn remove_blob(&mut self, id: &BlobId) -> Result<()> {
        let part = id.part();
        if part.length == 0 {
            return Ok(());
        }
        let range = u64::from(part.offset)..u64::from(part.offset) + u64::from(part.length);
        if let Some((page, bytes, removed)) = &mut self.blobs.open
            && *page == part.page
        {
            if range.end <= bytes.len() as u64 {
                removed.add(range);
            }
            return Ok(());
        }
        let Some(mut record) = self.page(part.page)? else { return Ok(()) };
        let mut removed = Ranges::default();
        record.removed.iter().for_each(|(start, end)| removed.add(u64::from(*start)..u64::from(*end)));
        if range.end <= u64::from(record.length) {
            removed.add(range);
        }
        if removed.measure() < u64::from(record.length) {
            record.removed = removed.iter().map(|range| (range.start as u32, range.end as u32)).collect();
            self.put(BLOBS, key(part.page).to_vec(), record.encode());
            return Ok(());
        }
        let is_own = self.blobs.own.remove(&part.page);
        self.count_stored(-i128::from(record.length));
        self.remove(BLOBS, &key(part.page));
        self.blobs.forget();
        match (record.inline, is_own) {
            (Some(_), _) => {}
            (None, true) => self.unused.push(array(part.page)),
            (None, false) => self.destroyed.push(array(part.page)),
        }
        Ok(())
    }

    fn page(&mut self, page: u64) -> Result<Option<BlobPage>> {
        let record = self.get(BLOBS, &key(page))?;
        record.map(|record| BlobPage::decode(&record, format_args!("page {page} of blobs"))).transpose()
    }
}
