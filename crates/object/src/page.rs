//! Pages of a listing: many small byte strings in one allocation.

use crate::{Error, ObjectId, Result};

/// The position at which a listing continues. Only the engine that made it can read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Anchor(Vec<u8>);

impl Anchor {
    /// The beginning.
    pub fn start() -> Self {
        Self::default()
    }

    /// An engine's own mark. The empty mark is the beginning.
    pub fn from_bytes(mark: Vec<u8>) -> Self {
        Self(mark)
    }

    /// The engine's own mark.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The mark of the last object of a page of objects; for engines.
    pub fn of_object(object: ObjectId) -> Self {
        Self(object.to_string().into())
    }

    /// The object of such a mark; `None` at the beginning.
    ///
    /// # Errors
    /// `InvalidInput` for any other mark.
    pub fn object(&self) -> Result<Option<ObjectId>> {
        let wrong = || Error::invalid("anchor of an object listing", "one that this listing returned");
        match self.as_bytes() {
            [] => Ok(None),
            name => str::from_utf8(name).ok().and_then(|name| name.parse().ok()).map(Some).ok_or_else(wrong),
        }
    }
}

/// Keys, and values if asked for, of a part of a listing.
#[derive(Debug, Clone, Default)]
pub struct Page {
    bytes: Vec<u8>,
    /// The end of each key and of its value in `bytes`; each entry begins where the one before ends.
    ends: Vec<(usize, usize)>,
    next: Option<Anchor>,
}

impl Page {
    /// How many entries the page holds.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where to go on; `None` when there is no more.
    pub fn next(&self) -> Option<&Anchor> {
        self.next.as_ref()
    }

    /// The key and value of entry `at`, in the page's order.
    pub fn get(&self, at: usize) -> Option<(&[u8], &[u8])> {
        let start = if at == 0 { 0 } else { self.ends.get(at - 1)?.1 };
        let (key_end, value_end) = *self.ends.get(at)?;
        Some((&self.bytes[start..key_end], &self.bytes[key_end..value_end]))
    }

    /// All entries as `(key, value)`; the values are empty when they were not asked for.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// At most `limit` of these entries, which follow the anchor of the listing in order. The next anchor is the last key.
    ///
    /// # Errors
    /// `InvalidInput` for a limit of 0.
    pub fn of<'e>(mut entries: impl Iterator<Item = (&'e [u8], &'e [u8])>, limit: usize) -> Result<Self> {
        check_limit(limit)?;
        let (mut page, mut last) = (PageBuilder::new(), None);
        for (key, value) in entries.by_ref().take(limit) {
            page.push(key, value);
            last = Some(key);
        }
        let next = entries.next().and(last).map(|last| Anchor::from_bytes(last.to_vec()));
        Ok(page.finish(next))
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.iter().map(|(key, _)| key)
    }
}

/// Refuses a page of no entries, as every listing must.
///
/// # Errors
/// `InvalidInput`.
pub fn check_limit(limit: usize) -> Result<()> {
    if limit == 0 { Err(Error::invalid("page of 0 entries", "at least 1")) } else { Ok(()) }
}

/// Fills a [`Page`]; for engines.
#[derive(Debug, Default)]
pub struct PageBuilder(Page);

impl PageBuilder {
    /// An empty page.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.0.bytes.extend_from_slice(key);
        let key_end = self.0.bytes.len();
        self.0.bytes.extend_from_slice(value);
        self.0.ends.push((key_end, self.0.bytes.len()));
    }

    /// How many entries there are so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes the keys and values have so far.
    pub fn bytes(&self) -> usize {
        self.0.bytes.len()
    }

    /// The page; `next` is the position of the next one.
    pub fn finish(mut self, next: Option<Anchor>) -> Page {
        self.0.next = next;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were_added() {
        let mut builder = PageBuilder::new();
        let entries: [(&[u8], &[u8]); 3] = [(b"a", b""), (b"bb", b"22"), (b"c", b"3")];
        entries.iter().for_each(|(key, value)| builder.push(key, value));
        let page = builder.finish(None);
        assert_eq!(page.iter().collect::<Vec<_>>(), entries);
        assert!(page.get(3).is_none() && page.next().is_none());
    }
}
