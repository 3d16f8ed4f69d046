//! Writes: operations on one object, which happen together or not at all.

use std::{
    ffi::{CString, c_char},
    ptr,
};

use super::{
    Compare, Errno,
    api::{Completion, Functions, RawWrite, functions},
};

/// A write that is put together. Conditions come first; if one does not hold, nothing is done.
pub(crate) struct WriteOp {
    functions: &'static Functions,
    pub(super) raw: RawWrite,
    /// Whether it makes or sets something.
    pub(super) adds: bool,
}

impl WriteOp {
    pub(crate) fn new() -> Result<Self, Errno> {
        // Whoever puts an operation together has a connection, and so the library.
        let functions = functions().map_err(|_| Errno(libc::ELIBACC))?;
        // SAFETY: takes nothing, and returns a handle that `Drop` releases.
        let raw = unsafe { (functions.rados_create_write_op)() };
        Ok(Self { functions, raw, adds: false })
    }

    /// Makes the object; fails with [`Errno::EXISTS`] if it is there.
    pub(crate) fn create(&mut self) -> &mut Self {
        self.create_as(1)
    }

    /// Makes the object if it is not there.
    pub(crate) fn ensure(&mut self) -> &mut Self {
        self.create_as(0)
    }

    fn create_as(&mut self, exclusive: i32) -> &mut Self {
        self.adds = true;
        // SAFETY: the handle is live; a null category is what the header asks for.
        unsafe { (self.functions.rados_write_op_create)(self.raw, exclusive, ptr::null()) };
        self
    }

    /// Replaces all bytes of the object.
    pub(crate) fn write_full(&mut self, data: &[u8]) -> &mut Self {
        self.adds = true;
        // SAFETY: the handle is live; the bytes are copied in the call.
        unsafe { (self.functions.rados_write_op_write_full)(self.raw, data.as_ptr().cast(), data.len()) };
        self
    }

    /// Removes the object.
    pub(crate) fn remove(&mut self) -> &mut Self {
        // SAFETY: the handle is live.
        unsafe { (self.functions.rados_write_op_remove)(self.raw) };
        self
    }

    /// Sets an attribute. Names are this crate's own.
    pub(crate) fn set_attribute(&mut self, name: &str, value: &[u8]) -> &mut Self {
        self.adds = true;
        let (name, set) = (c_name(name), self.functions.rados_write_op_setxattr);
        // SAFETY: the handle is live; name and value are copied in the call.
        unsafe { set(self.raw, name.as_ptr(), value.as_ptr().cast(), value.len()) };
        self
    }

    /// Asks that an attribute is this; one that is not there is not.
    pub(crate) fn require_attribute(&mut self, name: &str, value: &[u8]) -> &mut Self {
        let (name, equal, compare) =
            (c_name(name), Compare::Equal as u8, self.functions.rados_write_op_cmpxattr);
        // SAFETY: the handle is live; name and value are copied in the call.
        unsafe { compare(self.raw, name.as_ptr(), equal, value.as_ptr().cast(), value.len()) };
        self
    }

    /// Asks that an entry compares so.
    pub(crate) fn require_entry(&mut self, key: &[u8], compare: Compare, value: &[u8]) -> &mut Self {
        let (require, how, no_result) =
            (self.functions.rados_write_op_omap_cmp2, compare as u8, ptr::null_mut());
        let (from, bytes) = (key.as_ptr().cast(), value.as_ptr().cast());
        // SAFETY: the handle is live; key and value are copied in the call; no place for a result of its own.
        unsafe { require(self.raw, from, how, bytes, key.len(), value.len(), no_result) };
        self
    }

    /// Sets entries.
    pub(crate) fn set_entries<K: AsRef<[u8]>, V: AsRef<[u8]>>(&mut self, entries: &[(K, V)]) -> &mut Self {
        self.adds = true;
        let keys = Strings::of(entries.iter().map(|(key, _)| key.as_ref()));
        let values = Strings::of(entries.iter().map(|(_, value)| value.as_ref()));
        let (set, count) = (self.functions.rados_write_op_omap_set2, entries.len());
        let pointers = [&keys, &values].map(|list| list.pointers.as_ptr());
        let lengths = [&keys, &values].map(|list| list.lengths.as_ptr());
        // SAFETY: the handle is live; both lists have as many as there are entries, and are copied in the call.
        unsafe { set(self.raw, pointers[0], pointers[1], lengths[0], lengths[1], count) };
        self
    }

    /// Removes entries; those that are not there are passed over.
    pub(crate) fn remove_entries<K: AsRef<[u8]>>(&mut self, keys: &[K]) -> &mut Self {
        let list = Strings::of(keys.iter().map(AsRef::as_ref));
        let remove = self.functions.rados_write_op_omap_rm_keys2;
        // SAFETY: the handle is live; the list is copied in the call.
        unsafe { remove(self.raw, list.pointers.as_ptr(), list.lengths.as_ptr(), keys.len()) };
        self
    }

    /// Removes the entries from `begin` on and before `end` that were there before this operation.
    pub(crate) fn remove_range(&mut self, begin: &[u8], end: &[u8]) -> &mut Self {
        let remove = self.functions.rados_write_op_omap_rm_range2;
        // SAFETY: the handle is live; both keys are copied in the call.
        unsafe { remove(self.raw, begin.as_ptr().cast(), begin.len(), end.as_ptr().cast(), end.len()) };
        self
    }
}

impl Drop for WriteOp {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and released once; an operation that is under way has what it needs.
        unsafe { (self.functions.rados_release_write_op)(self.raw) };
    }
}

/// A name of this crate's, none of which holds a NUL.
pub(super) fn c_name(name: &str) -> CString {
    CString::new(name).unwrap_or_default()
}

/// Byte strings as C has lists of them.
pub(super) struct Strings {
    pub(super) pointers: Vec<*const c_char>,
    pub(super) lengths: Vec<usize>,
}

impl Strings {
    pub(super) fn of<'s>(strings: impl Iterator<Item = &'s [u8]>) -> Self {
        let (pointers, lengths) = strings.map(|string| (string.as_ptr().cast(), string.len())).unzip();
        Self { pointers, lengths }
    }
}

/// An operation that is under way. Dropped, it goes on.
pub(crate) struct Pending {
    functions: &'static Functions,
    raw: Completion,
}

// SAFETY: a completion may be waited for and released by any thread.
unsafe impl Send for Pending {}

impl Pending {
    pub(super) fn begin(functions: &'static Functions) -> Result<Self, Errno> {
        let mut raw: Completion = ptr::null_mut();
        let create = functions.rados_aio_create_completion2;
        // SAFETY: no callback, so its argument is not used; `raw` is written on success.
        Errno::check(unsafe { create(ptr::null_mut(), None, &raw mut raw) })?;
        Ok(Self { functions, raw })
    }

    pub(super) fn raw(&self) -> Completion {
        self.raw
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        // SAFETY: the completion is live.
        unsafe { (self.functions.rados_aio_is_complete)(self.raw) != 0 }
    }

    /// Waits for its end, and gives the version of the object.
    pub(crate) fn wait(self) -> Result<u64, Errno> {
        // SAFETY: the completion is live until `self` is dropped.
        unsafe {
            (self.functions.rados_aio_wait_for_complete)(self.raw);
            Errno::check((self.functions.rados_aio_get_return_value)(self.raw))?;
            Ok((self.functions.rados_aio_get_version)(self.raw))
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // SAFETY: made with the operation, and released once; librados keeps its own reference while it needs it.
        unsafe { (self.functions.rados_aio_release)(self.raw) };
    }
}
