//! Typed handles for callers: the same operations with less to write. They add no behaviour.

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
    ///
    /// # Errors
    /// As [`Container::update`].
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
    ///
    /// # Errors
    /// As [`Container::get_many`].
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.container.get_many(&[Cell::kv(self.object, key)]).map(only)
    }

    /// The size of an entry's value in bytes, or `None`.
    ///
    /// # Errors
    /// As [`Container::size_many`].
    pub fn size(&self, key: &[u8]) -> Result<Option<u64>> {
        self.container.size_many(&[Cell::kv(self.object, key)]).map(only)
    }

    /// Removes an entry; none there is fine.
    ///
    /// # Errors
    /// As [`Container::update`].
    pub fn remove(&self, key: &[u8]) -> Result<()> {
        self.container.update(&[Update::Remove { cell: Cell::kv(self.object, key) }])
    }

    /// A page of at most `limit` entries from `anchor` on.
    ///
    /// # Errors
    /// As [`Container::list_entries`].
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

/// Bytes by offset: an array object, or the records of an attribute key in the general form.
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
    ///
    /// # Errors
    /// As [`Container::update`].
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.container.update(&[Update::Write { cell: self.cell, offset, data }])
    }

    /// Reads up to `length` bytes; fewer past the end.
    ///
    /// # Errors
    /// As [`Container::read_many`].
    pub fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        // The size of the array bounds the allocation.
        let there = self.size()?.unwrap_or(0).saturating_sub(offset);
        let mut buffer = vec![0; length.min(usize::try_from(there).unwrap_or(usize::MAX))];
        let filled = self.read_into(offset, &mut buffer)?;
        buffer.truncate(filled);
        Ok(buffer)
    }

    /// Reads into the caller's buffer and says how many bytes were there.
    ///
    /// # Errors
    /// As [`Container::read_many`].
    pub fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let mut reads = [ArrayRead { cell: self.cell, offset, buffer, filled: 0 }];
        self.container.read_many(&mut reads)?;
        Ok(reads[0].filled)
    }

    /// Lends bytes without a copy.
    ///
    /// # Errors
    /// As [`crate::LentReads::lend`].
    pub fn lend(&self, offset: u64, length: u64) -> Result<SharedBytes> {
        self.container.lent_reads()?.lend(self.cell, offset, length)
    }

    /// The size in bytes, or `None` when nothing was ever written.
    ///
    /// # Errors
    /// As [`Container::size_many`].
    pub fn size(&self) -> Result<Option<u64>> {
        self.container.size_many(&[self.cell]).map(only)
    }

    /// Shrinks, or grows by a hole.
    ///
    /// # Errors
    /// As [`Container::update`].
    pub fn set_size(&self, size: u64) -> Result<()> {
        self.container.update(&[Update::SetSize { cell: self.cell, size }])
    }

    /// Makes a hole, which reads as zeros; the size stays.
    ///
    /// # Errors
    /// As [`Container::update`].
    pub fn punch(&self, offset: u64, length: u64) -> Result<()> {
        self.container.update(&[Update::Punch { cell: self.cell, offset, length }])
    }
}

/// A single value in the general form, replaced whole.
#[derive(Debug, Clone, Copy)]
pub struct Single<'c> {
    container: &'c dyn Container,
    cell: Cell<'c>,
}

impl<'c> Single<'c> {
    /// A handle on the value under `dkey` and `akey` of a general object.
    ///
    /// # Errors
    /// `InvalidInput` for an object of another type or a key of a forbidden length.
    pub fn new(
        container: &'c dyn Container,
        object: ObjectId,
        dkey: &'c [u8],
        akey: &'c [u8],
    ) -> Result<Self> {
        object.expect_type(ObjectType::General)?;
        let cell = Cell::general(object, dkey, akey);
        cell.check()?;
        Ok(Self { container, cell })
    }

    /// Sets the value.
    ///
    /// # Errors
    /// As [`Container::update`].
    pub fn put(&self, value: &[u8]) -> Result<()> {
        self.container.update(&[Update::Put { cell: self.cell, value }])
    }

    /// The value, or `None`.
    ///
    /// # Errors
    /// As [`Container::get_many`].
    pub fn get(&self) -> Result<Option<Vec<u8>>> {
        self.container.get_many(&[self.cell]).map(only)
    }

    /// Removes the value; none there is fine.
    ///
    /// # Errors
    /// As [`Container::update`].
    pub fn remove(&self) -> Result<()> {
        self.container.update(&[Update::Remove { cell: self.cell }])
    }
}

/// Records of one size under an attribute key in the general form, addressed by index.
#[derive(Debug, Clone, Copy)]
pub struct Records<'c> {
    bytes: Array<'c>,
    record_size: u64,
}

impl<'c> Records<'c> {
    /// A handle on records of `record_size` bytes under `dkey` and `akey`. As in DAOS the record size is
    /// the callers' agreement; the engine stores bytes.
    ///
    /// # Errors
    /// `InvalidInput` for an object of another type, a key of a forbidden length, or a record size of 0.
    pub fn new(
        container: &'c dyn Container,
        object: ObjectId,
        dkey: &'c [u8],
        akey: &'c [u8],
        record_size: u32,
    ) -> Result<Self> {
        let cell = Single::new(container, object, dkey, akey)?.cell;
        if record_size == 0 {
            return Err(Error::invalid("record size 0", "at least 1 byte"));
        }
        Ok(Self { bytes: Array { container, cell }, record_size: record_size.into() })
    }

    /// Writes whole records from `index` on.
    ///
    /// # Errors
    /// `InvalidInput` when `data` is not a whole number of records; else as [`Container::update`].
    pub fn write(&self, index: u64, data: &[u8]) -> Result<()> {
        if !(data.len() as u64).is_multiple_of(self.record_size) {
            let what = format!("{} bytes of records", data.len());
            return Err(Error::invalid(what, format!("a multiple of the record size {}", self.record_size)));
        }
        self.bytes.write(self.offset(index)?, data)
    }

    /// Reads up to `count` records from `index` on; fewer past the end.
    ///
    /// # Errors
    /// As [`Container::read_many`].
    pub fn read(&self, index: u64, count: u64) -> Result<Vec<u8>> {
        let length = usize::try_from(self.offset(count)?).unwrap_or(usize::MAX);
        self.bytes.read(self.offset(index)?, length)
    }

    /// How many records there are, holes counted; `None` when nothing was ever written.
    ///
    /// # Errors
    /// As [`Container::size_many`].
    pub fn count(&self) -> Result<Option<u64>> {
        Ok(self.bytes.size()?.map(|size| size.div_ceil(self.record_size)))
    }

    fn offset(&self, index: u64) -> Result<u64> {
        let too_far =
            || Error::invalid(format!("record {index} of {} bytes", self.record_size), "an end below 2^63");
        index.checked_mul(self.record_size).ok_or_else(too_far)
    }
}
