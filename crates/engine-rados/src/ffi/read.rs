//! Reads: operations on one object that see it at one moment.

use std::{
    ffi::{CStr, CString, c_char},
    marker::PhantomData,
    mem, ptr, slice,
};

use super::{
    Compare,
    api::{AttrIter, Functions, OmapIter, RawRead},
    write::{Strings, c_name},
};

/// Which entries of an object are wanted.
#[derive(Debug)]
enum Wanted<'b> {
    /// The existing ones of these keys.
    Keys(Vec<&'b [u8]>),
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
    wanted: Option<Wanted<'b>>,
    bytes: Option<(u64, &'b mut [u8])>,
}

/// What a read found.
#[derive(Debug, Default)]
pub(crate) struct Answer<'b> {
    /// All attributes of the object.
    pub(crate) attributes: Vec<(String, Vec<u8>)>,
    /// The entries that were asked for, by key.
    pub(crate) entries: Entries,
    /// Whether there are more entries behind these.
    pub(crate) more: bool,
    /// The bytes that were there, in the buffer that was given for them.
    pub(crate) bytes: &'b mut [u8],
    /// The size of the object's bytes.
    pub(crate) size: u64,
    /// When it was changed last, in seconds of the Unix clock.
    pub(crate) changed: i64,
    /// The version of the object: greater after every write of it.
    pub(crate) version: u64,
}

impl Answer<'_> {
    /// The attribute of this name.
    pub(crate) fn attribute(&self, name: &str) -> Option<&[u8]> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_slice())
    }
}

impl<'b> ReadOp<'b> {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Requires that an entry equals this. An absent entry equals no bytes.
    pub(crate) fn require_entry(self, key: &[u8], value: &[u8]) -> Self {
        Self { entry: Some((key.to_vec(), value.to_vec())), ..self }
    }

    /// Asks that an attribute is this.
    pub(crate) fn require_attribute(self, name: &'static str, value: &[u8]) -> Self {
        Self { attribute: Some((name, value.to_vec())), ..self }
    }

    /// All attributes.
    pub(crate) fn attributes(self) -> Self {
        Self { wants_attributes: true, ..self }
    }

    /// Size and time.
    pub(crate) fn stat(self) -> Self {
        Self { wants_stat: true, ..self }
    }

    /// The entries with these keys.
    pub(crate) fn entries(self, keys: Vec<&'b [u8]>) -> Self {
        Self { wanted: Some(Wanted::Keys(keys)), ..self }
    }

    /// Up to `limit` entries after a key, which holds no NUL.
    pub(crate) fn page(self, after: &[u8], limit: u64, values: bool) -> Self {
        let after = CString::new(after).unwrap_or_default();
        Self { wanted: Some(Wanted::After(after, limit, values)), ..self }
    }

    /// Bytes of the object, as many as the buffer holds; none are read where it holds none, since librados takes that for all.
    pub(crate) fn bytes(self, offset: u64, buffer: &'b mut [u8]) -> Self {
        Self { bytes: (!buffer.is_empty()).then_some((offset, buffer)), ..self }
    }

    /// Puts it together for librados.
    pub(super) fn prepare(self, functions: &'static Functions) -> Outputs<'b> {
        // SAFETY: takes nothing, and returns a handle that `Drop` releases.
        let raw = unsafe { (functions.rados_create_read_op)() };
        let places = Box::into_raw(Box::default());
        let buffer = ptr::slice_from_raw_parts_mut(ptr::dangling_mut(), 0);
        let mut outputs = Outputs { functions, raw, places, buffer, borrowed: PhantomData };
        if let Some((key, value)) = &self.entry {
            let (require, no_result) = (functions.rados_read_op_omap_cmp2, ptr::null_mut());
            let (from, bytes) = (key.as_ptr().cast(), value.as_ptr().cast());
            // SAFETY: the handle is live; key and value are copied in the call; no place for a result of its own.
            unsafe { require(raw, from, Compare::Equal as u8, bytes, key.len(), value.len(), no_result) };
        }
        if let Some((name, value)) = &self.attribute {
            let (name, require) = (c_name(name), functions.rados_read_op_cmpxattr);
            let (equal, bytes) = (Compare::Equal as u8, value.as_ptr().cast());
            // SAFETY: the handle is live; name and value are copied in the call.
            unsafe { require(raw, name.as_ptr(), equal, bytes, value.len()) };
        }
        outputs.ask(self);
        outputs
    }
}

/// Where librados puts what a read finds.
#[derive(Debug)]
struct OutputCells {
    attributes: AttrIter,
    entries: OmapIter,
    more: u8,
    filled: usize,
    size: u64,
    changed: i64,
    results: [i32; 4],
}

impl Default for OutputCells {
    fn default() -> Self {
        let (attributes, entries) = (ptr::null_mut(), ptr::null_mut());
        Self { attributes, entries, more: 0, filled: 0, size: 0, changed: 0, results: [0; 4] }
    }
}

/// A read that librados has, and the memory for its answer.
pub(super) struct Outputs<'b> {
    functions: &'static Functions,
    raw: RawRead,
    /// From a box, which `Drop` restores. librados writes there until the read has ended, so nothing else refers to it before.
    places: *mut OutputCells,
    /// The buffer for bytes, which librados has until the read has ended.
    buffer: *mut [u8],
    borrowed: PhantomData<&'b mut [u8]>,
}

impl<'b> Outputs<'b> {
    pub(super) fn raw(&mut self) -> RawRead {
        self.raw
    }

    fn ask(&mut self, mut op: ReadOp<'b>) {
        let (functions, raw) = (self.functions, self.raw);
        if let Some((_, buffer)) = &mut op.bytes {
            self.buffer = &raw mut **buffer;
        }
        // SAFETY: in all of these the handle is live, keys are copied in the call, and what is written to when the read ends is
        // in `places` or in the buffer; both live until then, as `Begun` and `OwnedRead` see to.
        unsafe {
            let places = self.places;
            if op.wants_attributes {
                let (attributes, result) = (&raw mut (*places).attributes, &raw mut (*places).results[0]);
                (functions.rados_read_op_getxattrs)(raw, attributes, result);
            }
            if op.wants_stat {
                let (size, changed) = (&raw mut (*places).size, &raw mut (*places).changed);
                (functions.rados_read_op_stat)(raw, size, changed, &raw mut (*places).results[1]);
            }
            let (entries, more) = (&raw mut (*places).entries, &raw mut (*places).more);
            let result = &raw mut (*places).results[2];
            match op.wanted {
                Some(Wanted::Keys(keys)) => {
                    let list = Strings::of(keys.iter().copied());
                    let (pointers, lengths) = (list.pointers.as_ptr(), list.lengths.as_ptr());
                    let get = functions.rados_read_op_omap_get_vals_by_keys2;
                    get(raw, pointers, keys.len(), lengths, entries, result);
                }
                Some(Wanted::After(after, limit, true)) => {
                    let get = functions.rados_read_op_omap_get_vals2;
                    get(raw, after.as_ptr(), c"".as_ptr(), limit, entries, more, result);
                }
                Some(Wanted::After(after, limit, false)) => {
                    let get = functions.rados_read_op_omap_get_keys2;
                    get(raw, after.as_ptr(), limit, entries, more, result);
                }
                None => {}
            }
            if let Some((offset, _)) = op.bytes {
                let (filled, result) = (&raw mut (*places).filled, &raw mut (*places).results[3]);
                let read = functions.rados_read_op_read;
                read(raw, offset, self.buffer.len(), self.buffer.cast(), filled, result);
            }
        }
    }

    /// What was found by a read that has ended well. Of any other the iterators may not be used, but freed.
    pub(super) fn answer(self) -> Answer<'b> {
        // SAFETY: the read has ended, so nothing else has the places, or the buffer, which was borrowed for 'b and is given once.
        let (places, bytes) = unsafe { (&mut *self.places, &mut *self.buffer) };
        let entries = mem::replace(&mut places.entries, ptr::null_mut());
        let entries = Entries { functions: Some(self.functions), iterator: entries };
        let filled = places.filled.min(bytes.len());
        let (size, changed, more) = (places.size, places.changed, places.more != 0);
        let attributes = attributes(self.functions, places.attributes);
        Answer { attributes, entries, more, bytes: &mut bytes[..filled], size, changed, version: 0 }
    }
}

/// The attributes that a read found.
fn attributes(functions: &Functions, iterator: AttrIter) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    while !iterator.is_null() {
        let (mut name, mut value, mut length) = (ptr::null(), ptr::null(), 0);
        // SAFETY: the iterator was made by a read that has ended well; what it points to lives until it is freed, by `Outputs`.
        let next = unsafe {
            let next =
                (functions.rados_getxattrs_next)(iterator, &raw mut name, &raw mut value, &raw mut length);
            (next == 0 && !name.is_null())
                .then(|| (CStr::from_ptr(name).to_string_lossy().into_owned(), lent(value, length).to_vec()))
        };
        let Some(attribute) = next else { break };
        found.push(attribute);
    }
    found
}

/// Entries that a read found, where librados has them.
pub(crate) struct Entries {
    /// None where nothing was found.
    functions: Option<&'static Functions>,
    iterator: OmapIter,
}

impl Entries {
    /// Calls `each` with key and value of each, in the order of the keys.
    pub(crate) fn each(self, mut each: impl FnMut(&[u8], &[u8])) {
        let Some(functions) = self.functions else { return };
        while !self.iterator.is_null() {
            let (mut key, mut value): (*mut c_char, *mut c_char) = (ptr::null_mut(), ptr::null_mut());
            let (mut key_length, mut value_length) = (0, 0);
            let next = functions.rados_omap_get_next2;
            // SAFETY: the iterator was made by a read that has ended well; what it points to lives until it is freed by `Drop`.
            let next = unsafe {
                let next = next(self.iterator, &mut key, &mut value, &mut key_length, &mut value_length);
                (next == 0 && !key.is_null()).then(|| (lent(key, key_length), lent(value, value_length)))
            };
            let Some((key, value)) = next else { break };
            each(key, value);
        }
    }

    /// Copies of all keys and values.
    pub(crate) fn into_vec(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut all = Vec::new();
        self.each(|key, value| all.push((key.to_vec(), value.to_vec())));
        all
    }
}

impl Default for Entries {
    fn default() -> Self {
        Self { functions: None, iterator: ptr::null_mut() }
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        if let Some(functions) = self.functions.filter(|_| !self.iterator.is_null()) {
            // SAFETY: the iterator is this one's alone, and freed once.
            unsafe { (functions.rados_omap_get_end)(self.iterator) };
        }
    }
}

impl Drop for Outputs<'_> {
    fn drop(&mut self) {
        // SAFETY: the read has ended or was never begun, so nothing else has the places, which came from a box; each handle is
        // freed once, and null ones not at all.
        unsafe {
            let places = Box::from_raw(self.places);
            if !places.attributes.is_null() {
                (self.functions.rados_getxattrs_end)(places.attributes);
            }
            if !places.entries.is_null() {
                (self.functions.rados_omap_get_end)(places.entries);
            }
            (self.functions.rados_release_read_op)(self.raw);
        }
    }
}

/// Bytes of librados'.
///
/// # Safety
/// Where `start` is not null, so many bytes can be read there for as long as they are used.
unsafe fn lent<'l>(start: *const c_char, length: usize) -> &'l [u8] {
    if start.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: `start` is not null, so librados has so many bytes there, until their iterator is freed or goes on.
    unsafe { slice::from_raw_parts(start.cast::<u8>(), length) }
}
