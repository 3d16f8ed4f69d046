//! What objects are, and lists of links, attributes and chunks.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    ptr,
};

use isotach_hdf5::{Charset, ChunkInfo, Error as FileError, Kind, Link, Target};

use super::{
    DEFAULT, call_with_memory,
    id::Id,
    raw::{Herr, Hid, RawLink, RawObjectInfo, Token},
};
use crate::{Error, Result};

/// What an object is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectInfo {
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    pub(crate) references: u32,
    /// Times in seconds since 1970; 0 for none.
    pub(crate) modified: i64,
    pub(crate) born: i64,
}

/// Basic information and times.
const FIELDS: c_uint = 1 | 2;

const HARD: c_int = 0;
const SOFT: c_int = 1;
const EXTERNAL: c_int = 64;

/// A link as it is listed.
struct Listed {
    name: CString,
    kind: c_int,
    size: usize,
    order: i64,
    charset: c_int,
}

unsafe extern "C" fn keep_link(_: Hid, name: *const c_char, link: *const RawLink, kept: *mut c_void) -> Herr {
    // SAFETY: HDF5 passes a name, a link, and the pointer that `links` passed.
    let (name, link, kept) = unsafe { (CStr::from_ptr(name), &*link, &mut *kept.cast::<Vec<Listed>>()) };
    // SAFETY: the kind says which member of the union is set.
    let size = if link.kind == HARD { 0 } else { unsafe { link.target.size } };
    let order = if link.has_order { link.order } else { 0 };
    kept.push(Listed { name: name.to_owned(), kind: link.kind, size, order, charset: link.charset });
    0
}

unsafe extern "C" fn keep_name(_: Hid, name: *const c_char, _: *const c_void, kept: *mut c_void) -> Herr {
    // SAFETY: HDF5 passes a name, and the pointer that `attribute_names` passed.
    let (name, kept) = unsafe { (CStr::from_ptr(name), &mut *kept.cast::<Vec<CString>>()) };
    kept.push(name.to_owned());
    0
}

/// The chunks of a dataset with this many dimensions.
struct Chunks {
    rank: usize,
    found: Vec<ChunkInfo>,
}

unsafe extern "C" fn keep_chunk(
    offset: *const u64,
    mask: c_uint,
    _: u64,
    size: u64,
    kept: *mut c_void,
) -> c_int {
    // SAFETY: HDF5 passes the pointer that `chunks` passed, and a number for each dimension.
    let (kept, offset) = unsafe {
        let kept = &mut *kept.cast::<Chunks>();
        let offset = std::slice::from_raw_parts(offset, kept.rank);
        (kept, offset)
    };
    kept.found.push(ChunkInfo { offset: offset.to_vec(), mask, stored_length: size });
    0
}

/// The index of names and that of the order of creation.
fn index(by_order: bool) -> c_int {
    c_int::from(by_order)
}

fn utf8(name: &CStr) -> Result<String> {
    name.to_str().map(str::to_owned).map_err(|_| {
        FileError::unsupported(format!("a name that is not UTF-8: {}", name.to_string_lossy())).into()
    })
}

/// A text for HDF5.
pub(super) fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| FileError::unsupported(format!("a zero in a text: {text:?}")).into())
}

impl Id {
    /// What the object is.
    pub(crate) fn info(&self) -> Result<ObjectInfo> {
        let mut raw = RawObjectInfo::default();
        let status = call_with_memory!(self.library, H5Oget_info3(self.raw, &raw mut raw, FIELDS));
        self.library.check(status, "look at an object")?;
        info(&raw)
    }

    /// The object with this number in the same file.
    pub(crate) fn object(&self, number: u64) -> Result<Self> {
        // SAFETY: a token is bytes, which HDF5 checks.
        let raw = unsafe { (self.library.functions.H5Oopen_by_token)(self.raw, Token::of(number)) };
        Self::of(self.library, raw, &format!("open the object at {number}"))
    }

    /// The object at a path from this one.
    pub(crate) fn object_at(&self, path: &str) -> Result<Self> {
        let path = c_text(path)?;
        let raw = call_with_memory!(self.library, H5Oopen(self.raw, path.as_ptr(), DEFAULT));
        Self::of(self.library, raw, &format!("open {}", path.to_string_lossy()))
    }

    /// The comment on the object.
    pub(crate) fn comment(&self) -> Result<Option<String>> {
        let length = call_with_memory!(self.library, H5Oget_comment(self.raw, ptr::null_mut(), 0));
        let Some(length) = usize::try_from(length).ok().filter(|length| *length > 0) else { return Ok(None) };
        let mut bytes = vec![0_u8; length + 1];
        let status =
            call_with_memory!(self.library, H5Oget_comment(self.raw, bytes.as_mut_ptr().cast(), bytes.len()));
        if status < 0 {
            return Err(self.library.error("read a comment"));
        }
        bytes.truncate(length);
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Sets the comment on the object.
    pub(crate) fn set_comment(&self, comment: &str) -> Result<()> {
        let comment = c_text(comment)?;
        let status = call_with_memory!(self.library, H5Oset_comment(self.raw, comment.as_ptr()));
        self.library.check(status, "write a comment").map(|_| ())
    }

    /// The links of a group.
    pub(crate) fn links(&self, by_order: bool) -> Result<Vec<(String, Link)>> {
        let mut listed: Vec<Listed> = Vec::new();
        let (mut at, kept) = (0, ptr::from_mut(&mut listed).cast());
        let status = call_with_memory!(
            self.library,
            H5Literate2(self.raw, index(by_order), 0, &raw mut at, keep_link, kept)
        );
        self.library.check(status, "list links")?;
        listed.iter().map(|link| self.link(link)).collect()
    }

    fn link(&self, listed: &Listed) -> Result<(String, Link)> {
        let name = utf8(&listed.name)?;
        let target = match listed.kind {
            HARD => {
                let mut raw = RawObjectInfo::default();
                let path = listed.name.as_ptr();
                let status = call_with_memory!(
                    self.library,
                    H5Oget_info_by_name3(self.raw, path, &raw mut raw, FIELDS, DEFAULT)
                );
                self.library.check(status, &format!("look at {name}"))?;
                let info = info(&raw)?;
                Target::Hard { number: info.number, kind: info.kind }
            }
            SOFT => Target::Soft(text(&self.link_value(listed)?)?),
            EXTERNAL => {
                // A byte of version and flags, the name of the file, and the path, each with a zero at its end.
                let value = self.link_value(listed)?;
                let mut parts = value.get(1..).unwrap_or_default().split(|byte| *byte == 0);
                let mut part = || text(parts.next().unwrap_or_default());
                Target::External { file: part()?, path: part()? }
            }
            class => Target::User { class: class.unsigned_abs() as u8, bytes: self.link_value(listed)? },
        };
        let charset = if listed.charset == 0 { Charset::Ascii } else { Charset::Utf8 };
        Ok((name, Link { target, order: listed.order.unsigned_abs(), charset }))
    }

    fn link_value(&self, listed: &Listed) -> Result<Vec<u8>> {
        let mut bytes = vec![0_u8; listed.size];
        if bytes.is_empty() {
            return Ok(bytes);
        }
        let buffer = bytes.as_mut_ptr().cast();
        let status = call_with_memory!(
            self.library,
            H5Lget_val(self.raw, listed.name.as_ptr(), buffer, bytes.len(), DEFAULT)
        );
        self.library.check(status, &format!("read the link {}", listed.name.to_string_lossy()))?;
        Ok(bytes)
    }

    /// The names of the attributes.
    pub(crate) fn attribute_names(&self, by_order: bool) -> Result<Vec<String>> {
        let mut names: Vec<CString> = Vec::new();
        let (mut at, kept) = (0, ptr::from_mut(&mut names).cast());
        let status = call_with_memory!(
            self.library,
            H5Aiterate2(self.raw, index(by_order), 0, &raw mut at, keep_name, kept)
        );
        self.library.check(status, "list attributes")?;
        names.iter().map(|name| utf8(name)).collect()
    }

    /// The stored chunks of a dataset with this many dimensions.
    pub(crate) fn chunks(&self, rank: usize) -> Result<Vec<ChunkInfo>> {
        let what = "list chunks";
        let mut chunks = Chunks { rank, found: Vec::new() };
        if let Some(each) = self.library.functions.H5Dchunk_iter {
            // SAFETY: `keep_chunk` gets the pointer to `chunks`, which outlives the call.
            let status = unsafe { each(self.raw, DEFAULT, keep_chunk, ptr::from_mut(&mut chunks).cast()) };
            self.library.check(status, what)?;
            return Ok(chunks.found);
        }
        let mut count = 0;
        // 0 is the whole extent.
        self.library
            .check(call_with_memory!(self.library, H5Dget_num_chunks(self.raw, 0, &raw mut count)), what)?;
        for number in 0..count {
            let mut offset = vec![0; rank];
            let (mut mask, mut address, mut size) = (0, 0, 0);
            let at = offset.as_mut_ptr();
            let status = call_with_memory!(
                self.library,
                H5Dget_chunk_info(self.raw, 0, number, at, &raw mut mask, &raw mut address, &raw mut size)
            );
            self.library.check(status, what)?;
            chunks.found.push(ChunkInfo { offset, mask, stored_length: size });
        }
        Ok(chunks.found)
    }
}

fn info(raw: &RawObjectInfo) -> Result<ObjectInfo> {
    let kind = match raw.kind {
        0 => Kind::Group,
        1 => Kind::Dataset,
        2 => Kind::Datatype,
        3 => Kind::Map,
        other => return Err(Error::from(FileError::unsupported(format!("objects of the kind {other}")))),
    };
    let number = raw.token.number();
    Ok(ObjectInfo { number, kind, references: raw.references, modified: raw.modified, born: raw.born })
}

/// A text that may end with a zero.
fn text(bytes: &[u8]) -> Result<String> {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    utf8(&CString::new(bytes).unwrap_or_default())
}
