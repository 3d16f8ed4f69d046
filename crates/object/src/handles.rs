//! Typed handles for callers: the same operations with less to write. They add no behaviour: a method fails as the method of
//! [`Container`] does that it calls, unless it says otherwise.

use crate::{
    Anchor, ArrayRead, Cell, Container, Epoch, Error, ObjectId, ObjectType, Page, Precondition, Result,
    SharedBytes, Transaction, Update,
};

fn only<T>(mut results: Vec<Option<T>>) -> Option<T> {
    results.pop().flatten()
}

fn put_if(
    container: &dyn Container,
    condition: Precondition<'_>,
    cell: Cell<'_>,
    value: &[u8],
) -> Result<Epoch> {
    container.commit(&Transaction::new().require(condition).update(Update::Put { cell, value }))
}

/// A key-value object. Keys are 1 to 65 535 of any bytes; values up to 64 MiB, and an empty one is present.
#[derive(Debug, Clone, Copy)]
pub struct KeyValue<'c> {
    container: &'c dyn Container,
    object: ObjectId,
}

impl<'c> KeyValue<'c> {
    /// A handle on `object`, which need not hold anything yet.
    ///
    /// # Errors
    /// `InvalidInput` for an object of another type.
    pub fn new(container: &'c dyn Container, object: ObjectId) -> Result<Self> {
        object.expect_type(ObjectType::KeyValue)?;
        Ok(Self { container, object })
    }

    /// Sets an entry, replacing what was there. Not conditional, so it never waits for anyone.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.container.update(&[Update::Put { cell: Cell::kv(self.object, key), value }])
    }

    /// Sets an entry only if there is none.
    ///
    /// # Errors
    /// `Conflict` when there is one; else as [`Container::commit`].
    pub fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Result<Epoch> {
        let cell = Cell::kv(self.object, key);
        put_if(self.container, Precondition::Absent(cell), cell, value)
    }

    /// Sets an entry only if it is `expected` now.
    ///
    /// # Errors
    /// `Conflict` when it is not; else as [`Container::commit`].
    pub fn compare_and_put(&self, key: &[u8], expected: &[u8], value: &[u8]) -> Result<Epoch> {
        let cell = Cell::kv(self.object, key);
        put_if(self.container, Precondition::Equals(cell, expected), cell, value)
    }

    /// The value of an entry, or `None`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.container.get_many(&[Cell::kv(self.object, key)]).map(only)
    }

    /// The size of an entry's value in bytes, or `None`.
    pub fn size(&self, key: &[u8]) -> Result<Option<u64>> {
        self.container.size_many(&[Cell::kv(self.object, key)]).map(only)
    }

    /// Removes an entry; none there is fine.
    pub fn remove(&self, key: &[u8]) -> Result<()> {
        self.container.update(&[Update::Remove { cell: Cell::kv(self.object, key) }])
    }

    /// A page of at most `limit` entries from `anchor` on.
    pub fn list(&self, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        self.container.list_entries(self.object, anchor, limit, values)
    }

    /// Calls `each` with every key and value, page by page.
    ///
    /// # Errors
    /// As [`Container::list_entries`], and what `each` returns.
    pub fn for_each<E: From<Error>>(
        &self,
        mut each: impl FnMut(&[u8], &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        const PAGE: usize = 4096;
        let mut anchor = Anchor::start();
        loop {
            let page = self.list(&anchor, PAGE, true)?;
            page.iter().try_for_each(|(key, value)| each(key, value))?;
            match page.next() {
                Some(next) => anchor = next.clone(),
                None => return Ok(()),
            }
        }
    }
}

/// An array object: bytes by offset.
#[derive(Debug, Clone, Copy)]
pub struct Array<'c> {
    container: &'c dyn Container,
    cell: Cell<'c>,
}

impl<'c> Array<'c> {
    /// A handle on an array object, which need not hold anything yet.
    ///
    /// # Errors
    /// `InvalidInput` for an object of another type.
    pub fn new(container: &'c dyn Container, object: ObjectId) -> Result<Self> {
        object.expect_type(ObjectType::Array)?;
        Ok(Self { container, cell: Cell::array(object) })
    }

    /// Writes bytes at an offset, growing the array as needed.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.container.update(&[Update::Write { cell: self.cell, offset, data }])
    }

    /// Reads up to `length` bytes; fewer past the end.
    pub fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        // The size of the array bounds the allocation.
        let there = self.size()?.unwrap_or(0).saturating_sub(offset);
        let mut buffer = vec![0; length.min(usize::try_from(there).unwrap_or(usize::MAX))];
        let filled = self.read_into(offset, &mut buffer)?;
        buffer.truncate(filled);
        Ok(buffer)
    }

    /// Reads into the caller's buffer and says how many bytes were there.
    pub fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut reads = [ArrayRead { cell: self.cell, offset, buffer, filled: 0 }];
        self.container.read_many(&mut reads)?;
        Ok(reads[0].filled)
    }

    /// Lends bytes without a copy.
    pub fn lend(&self, offset: u64, length: u64) -> Result<SharedBytes> {
        self.container.lent_reads()?.lend(self.cell, offset, length)
    }

    /// The size in bytes, or `None` when nothing was ever written.
    pub fn size(&self) -> Result<Option<u64>> {
        self.container.size_many(&[self.cell]).map(only)
    }

    /// Shrinks, or grows by a hole.
    pub fn set_size(&self, size: u64) -> Result<()> {
        self.container.update(&[Update::SetSize { cell: self.cell, size }])
    }

    /// Makes a hole, which reads as zeros; the size stays.
    pub fn punch(&self, offset: u64, length: u64) -> Result<()> {
        self.container.update(&[Update::Punch { cell: self.cell, offset, length }])
    }
}
