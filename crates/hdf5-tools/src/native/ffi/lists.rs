//! Property lists.

use std::{
    ffi::{c_char, c_int, c_uint},
    ptr,
};

use isotach_hdf5::{Charset, Error as FileError, Filter};

use super::{DEFAULT, api::Library, call, call_with_memory, id::Id, raw::Hid};
use crate::Result;

/// The classes of property lists that are created here.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PropertyClass {
    FileCreation,
    FileAccess,
    GroupCreation,
    DatasetCreation,
    LinkCreation,
}

/// How a dataset's elements are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// In one piece, or in the header.
    Whole,
    Chunked,
    Virtual,
}

const RANK_MAX: usize = 32;
const FILTER_VALUES_MAX: usize = 256;
const FILTER_NAME_MAX: usize = 128;
/// The format of HDF5 1.8, which has no limit of 64 KiB for attributes.
const FORMAT_1_8: c_int = 1;
/// More than the newest format that any library knows.
const FORMAT_MAX: c_int = 12;
/// Order of creation is tracked and indexed.
const ORDER: c_uint = 3;
const TRACKED: c_uint = 1;

impl Library {
    /// A property list in its encoded form, or a new one of the class.
    pub(crate) fn list(&'static self, encoded: &[u8], class: PropertyClass) -> Result<Id> {
        if encoded.is_empty() {
            return self.new_list(class);
        }
        // HDF5 is not told the length: zeros behind the end stop it where a damaged list would lead it on.
        let mut bytes = encoded.to_vec();
        bytes.resize(encoded.len() + 4096, 0);
        Id::of(self, call_with_memory!(self, H5Pdecode(bytes.as_ptr().cast())), "decode a property list")
    }

    pub(crate) fn new_list(&'static self, class: PropertyClass) -> Result<Id> {
        // SAFETY: the pointer is to a variable of the library, which is set when the library has started.
        let class = unsafe { *self.classes[class as usize] };
        Id::of(self, call!(self, H5Pcreate(class)), "create a property list")
    }

    /// Whether chunks can be encoded and decoded with a filter.
    pub(crate) fn has_filter(&self, id: u16) -> bool {
        call!(self, H5Zfilter_avail(id.into())) > 0
    }
}

impl Id {
    /// The encoded form of a property list.
    pub(crate) fn encode_list(&self) -> Result<Vec<u8>> {
        let (library, what) = (self.library, "encode a property list");
        let mut size = 0;
        library.check(
            call_with_memory!(library, H5Pencode2(self.raw, ptr::null_mut(), &raw mut size, DEFAULT)),
            what,
        )?;
        let mut bytes = vec![0_u8; size];
        let buffer = bytes.as_mut_ptr().cast();
        library
            .check(call_with_memory!(library, H5Pencode2(self.raw, buffer, &raw mut size, DEFAULT)), what)?;
        Ok(bytes)
    }

    pub(crate) fn tracks_link_order(&self) -> Result<bool> {
        let mut flags = 0;
        let status = call_with_memory!(self.library, H5Pget_link_creation_order(self.raw, &raw mut flags));
        self.library.check(status, "read a property list")?;
        Ok(flags & TRACKED != 0)
    }

    pub(crate) fn tracks_attribute_order(&self) -> Result<bool> {
        let mut flags = 0;
        let status = call_with_memory!(self.library, H5Pget_attr_creation_order(self.raw, &raw mut flags));
        self.library.check(status, "read a property list")?;
        Ok(flags & TRACKED != 0)
    }

    /// Tracks the orders of creation.
    pub(crate) fn track_orders(&self, links: bool, attributes: bool) -> Result<()> {
        let what = "set the order of creation";
        if links {
            self.library.check(call!(self.library, H5Pset_link_creation_order(self.raw, ORDER)), what)?;
        }
        if attributes {
            self.library.check(call!(self.library, H5Pset_attr_creation_order(self.raw, ORDER)), what)?;
        }
        Ok(())
    }

    pub(crate) fn tracks_times(&self) -> Result<bool> {
        let mut tracks = false;
        let status = call_with_memory!(self.library, H5Pget_obj_track_times(self.raw, &raw mut tracks));
        self.library.check(status, "read a property list")?;
        Ok(tracks)
    }

    pub(crate) fn charset(&self) -> Result<Charset> {
        let mut charset = 0;
        let status = call_with_memory!(self.library, H5Pget_char_encoding(self.raw, &raw mut charset));
        self.library.check(status, "read a property list")?;
        Ok(if charset == 0 { Charset::Ascii } else { Charset::Utf8 })
    }

    pub(crate) fn set_charset(&self, charset: Charset) -> Result<()> {
        let number = c_int::from(charset == Charset::Utf8);
        let status = call!(self.library, H5Pset_char_encoding(self.raw, number));
        self.library.check(status, "set the encoding of a name").map(|_| ())
    }

    pub(crate) fn layout(&self) -> Result<Layout> {
        let layout =
            self.library.check(call!(self.library, H5Pget_layout(self.raw)), "read a property list")?;
        Ok(match layout {
            2 => Layout::Chunked,
            3 => Layout::Virtual,
            _ => Layout::Whole,
        })
    }

    pub(crate) fn chunk(&self) -> Result<Vec<u64>> {
        let mut dims = [0_u64; RANK_MAX];
        let rank =
            call_with_memory!(self.library, H5Pget_chunk(self.raw, RANK_MAX as c_int, dims.as_mut_ptr()));
        let rank = self.library.check(rank, "read the chunk")?.unsigned_abs() as usize;
        Ok(dims.get(..rank).unwrap_or(&dims).to_vec())
    }

    /// Sets the layout to chunks.
    pub(crate) fn set_chunk(&self, chunk: &[u64]) -> Result<()> {
        let status =
            call_with_memory!(self.library, H5Pset_chunk(self.raw, chunk.len() as c_int, chunk.as_ptr()));
        self.library.check(status, "set the chunk").map(|_| ())
    }

    /// Appends a filter.
    pub(crate) fn add_filter(&self, filter: &Filter) -> Result<()> {
        let (flags, values) = (filter.flags.into(), &filter.values);
        let status = call_with_memory!(
            self.library,
            H5Pset_filter(self.raw, filter.id.into(), flags, values.len(), values.as_ptr())
        );
        self.library.check(status, &format!("set filter {} ({})", filter.id, filter.name)).map(|_| ())
    }

    /// Whether chunks at the edges of the extent are stored without filters.
    pub(crate) fn keeps_edges_plain(&self) -> Result<bool> {
        let mut options = 0;
        let status = call_with_memory!(self.library, H5Pget_chunk_opts(self.raw, &raw mut options));
        self.library.check(status, "read a property list")?;
        Ok(options != 0)
    }

    /// Whether elements are in other files.
    pub(crate) fn has_external_files(&self) -> Result<bool> {
        let count = call!(self.library, H5Pget_external_count(self.raw));
        Ok(self.library.check(count, "read a property list")? > 0)
    }

    pub(crate) fn filters(&self) -> Result<Vec<Filter>> {
        let count = self.library.check(call!(self.library, H5Pget_nfilters(self.raw)), "read the filters")?;
        (0..count.unsigned_abs()).map(|number| self.filter(number)).collect()
    }

    fn filter(&self, number: c_uint) -> Result<Filter> {
        let (mut flags, mut config, mut values) = (0, 0, [0; FILTER_VALUES_MAX]);
        let mut count = values.len();
        let mut name = [0_u8; FILTER_NAME_MAX];
        let (values_at, name_at) = (values.as_mut_ptr(), name.as_mut_ptr().cast::<c_char>());
        let id = call_with_memory!(
            self.library,
            H5Pget_filter2(
                self.raw,
                number,
                &raw mut flags,
                &raw mut count,
                values_at,
                name.len(),
                name_at,
                &raw mut config
            )
        );
        let id = self.library.check(id, "read a filter")?;
        let too_many = || FileError::unsupported("filters with more than 256 values");
        let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Ok(Filter {
            id: id as u16,
            flags: (flags & 1) as u16,
            values: values.get(..count).ok_or_else(too_many)?.to_vec(),
            name: String::from_utf8_lossy(name.get(..length).unwrap_or_default()).into_owned(),
        })
    }

    /// Whether a program has set a fill value.
    pub(crate) fn has_fill(&self) -> Result<bool> {
        let mut status: c_int = 0;
        let done = call_with_memory!(self.library, H5Pfill_value_defined(self.raw, &raw mut status));
        self.library.check(done, "read the fill value")?;
        Ok(status == 2)
    }

    /// Whether elements that were never written show the fill value.
    pub(crate) fn shows_fill(&self) -> Result<bool> {
        let mut time: c_int = 0;
        let done = call_with_memory!(self.library, H5Pget_fill_time(self.raw, &raw mut time));
        self.library.check(done, "read the fill value")?;
        // 1 is never.
        Ok(time != 1)
    }

    /// Leaves the fill value out.
    pub(crate) fn clear_fill(&self, kind: &Self) -> Result<()> {
        let status = call_with_memory!(self.library, H5Pset_fill_value(self.raw, kind.raw, ptr::null()));
        self.library.check(status, "clear the fill value").map(|_| ())
    }

    /// Sets the formats of a new file: those of HDF5 1.8 and newer.
    pub(crate) fn set_formats(&self) -> Result<()> {
        let newest = (FORMAT_1_8 + 1..FORMAT_MAX).rev();
        let mut tried =
            newest.map(|newest| call!(self.library, H5Pset_libver_bounds(self.raw, FORMAT_1_8, newest)));
        if tried.any(|status| status >= 0) {
            Ok(())
        } else {
            Err(self.library.error("set the formats of a new file"))
        }
    }

    pub(super) fn raw_or_default(list: Option<&Self>) -> Hid {
        list.map_or(DEFAULT, |list| list.raw)
    }
}
