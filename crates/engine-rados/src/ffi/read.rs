//! Reads: operations on one object that see it at one moment.

use std::{
    ffi::{CStr, CString, c_char},
    fmt,
    marker::PhantomData,
    ptr, slice,
};

use super::{
    Compare,
    api::{AttrIter, Functions, OmapIter, RawRead},
    write::{Strings, c_name},
};

/// Which entries of an object are wanted.
#[derive(Debug)]
enum Wanted {
    /// Those with these keys, as far as they are there.
    Keys(Vec<Vec<u8>>),
    /// So many that come after a key, with or without their values.
    After(CString, u64, bool),
}

/// A read that is put together. Conditions come first; if one does not hold, there is no answer.
#[derive(Debug, Default)]
pub(crate) struct ReadOp<'b> {
    entry: Option<(Vec<u8>, Vec<u8>)>,
    attribute: Option<(&'static str, Vec<u8>)>,
    wants_attributes: bool,
    wants_stat: bool,
    wanted: Option<Wanted>,
    bytes: Option<(u64, &'b mut [u8])>,
}

/// What a read found.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// All attributes of the object.
    pub(crate) attributes: Vec<(String, Vec<u8>)>,
    /// The entries that were asked for, by key.
    pub(crate) entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether there are more entries behind these.
    pub(crate) more: bool,
    /// How many bytes were there.
    pub(crate) filled: usize,
    /// The size of the object's bytes.
    pub(crate) size: u64,
    /// When it was changed last, in seconds of the Unix clock.
    pub(crate) changed: i64,
    /// The version of the object: greater after every write of it.
    pub(crate) version: u64,
}

impl Answer {
    /// The attribute of this name.
    pub(crate) fn attribute(&self, name: &str) -> Option<&[u8]> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_slice())
    }
}

impl<'b> ReadOp<'b> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Asks that an entry is this; what is not there is the same as no bytes.
    pub(crate) fn require_entry(mut self, key: &[u8], value: &[u8]) -> Self {
        self.entry = Some((key.to_vec(), value.to_vec()));
        self
    }

    /// Asks that an attribute is this.
    pub(crate) fn require_attribute(mut self, name: &'static str, value: &[u8]) -> Self {
        self.attribute = Some((name, value.to_vec()));
        self
    }

    /// All attributes.
    pub(crate) fn attributes(mut self) -> Self {
        self.wants_attributes = true;
        self
    }

    /// Size and time.
    pub(crate) fn stat(mut self) -> Self {
        self.wants_stat = true;
        self
    }

    /// The entries with these keys.
    pub(crate) fn entries(mut self, keys: Vec<Vec<u8>>) -> Self {
        self.wanted = Some(Wanted::Keys(keys));
        self
    }

    /// Up to `limit` entries after a key, which holds no NUL.
    pub(crate) fn page(mut self, after: &[u8], limit: u64, values: bool) -> Self {
        let after = CString::new(after).unwrap_or_default();
        self.wanted = Some(Wanted::After(after, limit, values));
        self
    }

    /// Bytes of the object, as many as the buffer holds; none are read where it holds none, since librados takes that for all.
    pub(crate) fn bytes(mut self, offset: u64, buffer: &'b mut [u8]) -> Self {
        self.bytes = (!buffer.is_empty()).then_some((offset, buffer));
        self
    }

    /// Puts it together for librados.
    pub(super) fn prepare(self, functions: &'static Functions) -> Outputs<'b> {
        // SAFETY: takes nothing, and returns a handle that `Drop` releases.
        let raw = unsafe { (functions.rados_create_read_op)() };
        let mut outputs = Outputs { functions, raw, places: Box::default(), buffer: PhantomData };
        if let Some((key, value)) = &self.entry {
            // SAFETY: the handle is live; key and value are copied in the call; no place for a result of its own.
            unsafe {
                (functions.rados_read_op_omap_cmp2)(
                    raw,
                    key.as_ptr().cast(),
                    Compare::Equal as u8,
                    value.as_ptr().cast(),
                    key.len(),
                    value.len(),
                    ptr::null_mut(),
                );
            }
        }
        if let Some((name, value)) = &self.attribute {
            let (name, equal) = (c_name(name), Compare::Equal as u8);
            // SAFETY: the handle is live; name and value are copied in the call.
            unsafe {
                (functions.rados_read_op_cmpxattr)(
                    raw,
                    name.as_ptr(),
                    equal,
                    value.as_ptr().cast(),
                    value.len(),
                );
            }
        }
        outputs.ask(self);
        outputs
    }
}

/// Where librados puts what a read finds.
#[derive(Debug)]
struct Places {
    attributes: AttrIter,
    entries: OmapIter,
    more: u8,
    filled: usize,
    size: u64,
    changed: i64,
    results: [i32; 4],
}

impl Default for Places {
    fn default() -> Self {
        let (attributes, entries) = (ptr::null_mut(), ptr::null_mut());
        Self { attributes, entries, more: 0, filled: 0, size: 0, changed: 0, results: [0; 4] }
    }
}

/// A read that librados has, and where its answer goes.
pub(super) struct Outputs<'b> {
    functions: &'static Functions,
    raw: RawRead,
    /// In a box, so that it stays where it is.
    places: Box<Places>,
    /// Borrowed until the read has ended.
    buffer: PhantomData<&'b mut [u8]>,
}

impl<'b> Outputs<'b> {
    pub(super) fn raw(&mut self) -> RawRead {
        self.raw
    }

    fn ask(&mut self, op: ReadOp<'b>) {
        let (functions, raw, places) = (self.functions, self.raw, &mut *self.places);
        // SAFETY: in all of these the handle is live, keys are copied in the call, and what is written to when the read ends is
        // in `places`, which is in a box of its own, or in the buffer; both live until then, as `read_together` sees to.
        unsafe {
            if op.wants_attributes {
                (functions.rados_read_op_getxattrs)(
                    raw,
                    &raw mut places.attributes,
                    &raw mut places.results[0],
                );
            }
            if op.wants_stat {
                let (size, changed) = (&raw mut places.size, &raw mut places.changed);
                (functions.rados_read_op_stat)(raw, size, changed, &raw mut places.results[1]);
            }
            let (entries, more) = (&raw mut places.entries, &raw mut places.more);
            let result = &raw mut places.results[2];
            match op.wanted {
                Some(Wanted::Keys(keys)) => {
                    let list = Strings::of(keys.iter().map(Vec::as_slice));
                    let (pointers, lengths) = (list.pointers.as_ptr(), list.lengths.as_ptr());
                    (functions.rados_read_op_omap_get_vals_by_keys2)(
                        raw,
                        pointers,
                        keys.len(),
                        lengths,
                        entries,
                        result,
                    );
                }
                Some(Wanted::After(after, limit, true)) => {
                    let (after, prefix) = (after.as_ptr(), c"".as_ptr());
                    (functions.rados_read_op_omap_get_vals2)(
                        raw, after, prefix, limit, entries, more, result,
                    );
                }
                Some(Wanted::After(after, limit, false)) => {
                    (functions.rados_read_op_omap_get_keys2)(
                        raw,
                        after.as_ptr(),
                        limit,
                        entries,
                        more,
                        result,
                    );
                }
                None => {}
            }
            if let Some((offset, buffer)) = op.bytes {
                (functions.rados_read_op_read)(
                    raw,
                    offset,
                    buffer.len(),
                    buffer.as_mut_ptr().cast(),
                    &raw mut places.filled,
                    &raw mut places.results[3],
                );
            }
        }
    }

    /// What was found by a read that has ended well. Of any other the iterators may not be used, but freed.
    pub(super) fn answer(self) -> Answer {
        let Places { filled, size, changed, more, .. } = *self.places;
        let (attributes, entries) = (self.attributes(), self.entries());
        Answer { attributes, entries, more: more != 0, filled, size, changed, version: 0 }
    }

    fn attributes(&self) -> Vec<(String, Vec<u8>)> {
        let (functions, iterator) = (self.functions, self.places.attributes);
        let mut found = Vec::new();
        while !iterator.is_null() {
            let (mut name, mut value, mut length) = (ptr::null(), ptr::null(), 0);
            // SAFETY: the iterator was made by the read that has ended; what it points to lives until it is freed below.
            let next = unsafe {
                let next = (functions.rados_getxattrs_next)(
                    iterator,
                    &raw mut name,
                    &raw mut value,
                    &raw mut length,
                );
                (next == 0 && !name.is_null())
                    .then(|| (CStr::from_ptr(name).to_string_lossy().into_owned(), copied(value, length)))
            };
            let Some(attribute) = next else { break };
            found.push(attribute);
        }
        found
    }

    fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let (functions, iterator) = (self.functions, self.places.entries);
        let mut found = Vec::new();
        while !iterator.is_null() {
            let (mut key, mut value): (*mut c_char, *mut c_char) = (ptr::null_mut(), ptr::null_mut());
            let (mut key_length, mut value_length) = (0, 0);
            // SAFETY: the iterator was made by the read that has ended; what it points to lives until it is freed below.
            let next = unsafe {
                let next = (functions.rados_omap_get_next2)(
                    iterator,
                    &raw mut key,
                    &raw mut value,
                    &raw mut key_length,
                    &raw mut value_length,
                );
                (next == 0 && !key.is_null()).then(|| (copied(key, key_length), copied(value, value_length)))
            };
            let Some(entry) = next else { break };
            found.push(entry);
        }
        found
    }
}

impl Drop for Outputs<'_> {
    fn drop(&mut self) {
        // SAFETY: the read has ended or was never begun; each handle is freed once, and null ones not at all.
        unsafe {
            if !self.places.attributes.is_null() {
                (self.functions.rados_getxattrs_end)(self.places.attributes);
            }
            if !self.places.entries.is_null() {
                (self.functions.rados_omap_get_end)(self.places.entries);
            }
            (self.functions.rados_release_read_op)(self.raw);
        }
    }
}

impl fmt::Debug for Outputs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outputs").finish_non_exhaustive()
    }
}

/// A copy of bytes of librados'.
///
/// # Safety
/// Where `start` is not null, so many bytes can be read there.
unsafe fn copied(start: *const c_char, length: usize) -> Vec<u8> {
    if start.is_null() || length == 0 {
        return Vec::new();
    }
    // SAFETY: as the caller says.
    unsafe { slice::from_raw_parts(start.cast::<u8>(), length) }.to_vec()
}
