//! The bytes of a file: an array, through what this library has for arrays.

use std::sync::Arc;

use isotach_object::ObjectId;

use super::{
    error::{Result, refuse},
    store::Store,
};
use crate::{
    abi::constants::{DAOS_OO_RO, DAOS_OO_RW},
    objects::arrays::{self, Array, Range},
    runtime::handles,
    transactions::scope::Scope,
};

/// The open array of a file.
#[derive(Debug)]
pub(crate) struct Bytes {
    array: Arc<Array>,
    scope: Scope,
    /// Its handle, which programs may ask for.
    pub(crate) handle: u64,
}

/// Refuses ranges that end beyond all numbers.
fn check(ranges: &[Range]) -> Result<()> {
    match ranges.iter().all(|(first, count)| first.checked_add(*count).is_some()) {
        true => Ok(()),
        false => refuse(libc::EINVAL, "a range of a file that ends beyond all numbers"),
    }
}

impl Bytes {
    /// Opens an array of bytes.
    pub(crate) fn open(store: &Store, id: ObjectId, can_write: bool, chunk_size: u64) -> Result<Self> {
        let mode = if can_write { DAOS_OO_RW } else { DAOS_OO_RO };
        let handle = arrays::open_with_attributes(store.handle, (id.hi(), id.lo()), mode, 1, chunk_size)?;
        let scope = Scope::present(Arc::clone(&store.container));
        Ok(Self { array: handles::array(handle)?, scope, handle })
    }

    pub(crate) fn close(&self) -> Result<()> {
        Ok(arrays::close(self.handle)?)
    }

    /// How many bytes of the ranges were there.
    pub(crate) fn read(&self, ranges: &[Range], buffers: Vec<&mut [u8]>) -> Result<u64> {
        check(ranges)?;
        Ok(self.array.read(&self.scope, ranges, buffers)?.read)
    }

    pub(crate) fn write(&self, ranges: &[Range], buffers: &[&[u8]]) -> Result<()> {
        check(ranges)?;
        Ok(self.array.write(&self.scope, ranges, buffers)?)
    }

    pub(crate) fn size(&self) -> Result<u64> {
        Ok(self.array.size(&self.scope)?)
    }

    pub(crate) fn set_size(&self, size: u64) -> Result<()> {
        Ok(self.array.set_size(&self.scope, size)?)
    }

    /// Makes a hole, or cuts off the end if the range reaches it; what others append meanwhile stays. Whether anything was there.
    pub(crate) fn punch(&self, range: Range) -> Result<bool> {
        let end = range.0.saturating_add(range.1);
        Ok(self.scope.together(|scope| {
            let size = self.array.size(scope)?;
            match size <= end {
                _ if size <= range.0 => return Ok(false),
                true => self.array.set_size(scope, range.0)?,
                false => self.array.punch(scope, &[range])?,
            }
            Ok(true)
        })?)
    }
}

/// The size of a file that is not open.
pub(crate) fn size_of(store: &Store, id: ObjectId) -> Result<u64> {
    Ok(arrays::size_of(&store.container, id)?)
}
