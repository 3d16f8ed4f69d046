//! Files, objects, types and spaces.

use std::{ffi::c_int, path::Path, ptr};

use isotach_hdf5::{Error as FileError, Space};

use super::{DEFAULT, api::Library, call, call_with_memory, id::Id, walk::c_text};
use crate::{Block, Result};

const RANK_MAX: usize = 32;
const SCALAR: c_int = 0;
const NULL: c_int = 2;
const EXCLUSIVE: u32 = 4;
/// Everything of a file.
const GLOBAL: c_int = 1;

impl Library {
    /// Opens a file for reading.
    pub(crate) fn open_file(&'static self, path: &str) -> Result<Id> {
        let name = c_text(path)?;
        Id::of(self, call_with_memory!(self, H5Fopen(name.as_ptr(), 0, DEFAULT)), &format!("open {path}"))
    }

    /// Creates a file, which must not exist.
    pub(crate) fn create_file(&'static self, path: &Path, creation: &Id, access: &Id) -> Result<Id> {
        let shown = path.to_string_lossy();
        let name = c_text(&shown)?;
        let raw = call_with_memory!(self, H5Fcreate(name.as_ptr(), EXCLUSIVE, creation.raw, access.raw));
        Id::of(self, raw, &format!("create {shown}"))
    }

    /// The datatype that `H5Tencode` has encoded, as elements are in memory.
    pub(crate) fn datatype(&'static self, encoded: &[u8]) -> Result<Id> {
        let mut bytes = encoded.to_vec();
        bytes.resize(encoded.len() + 64, 0);
        let decoded = call_with_memory!(self, H5Tdecode(bytes.as_ptr().cast()));
        let decoded = Id::of(self, decoded, "decode a datatype")?;
        // References within other types have no place after decoding; the copy gives them one in memory.
        Id::of(self, call!(self, H5Tcopy(decoded.raw)), "copy a datatype")
    }

    /// A space of this extent, with all of it selected.
    pub(crate) fn space(&'static self, space: &Space) -> Result<Id> {
        let raw = match space {
            Space::Null => call!(self, H5Screate(NULL)),
            Space::Scalar => call!(self, H5Screate(SCALAR)),
            Space::Simple { dims, max } => {
                call_with_memory!(self, H5Screate_simple(dims.len() as c_int, dims.as_ptr(), max.as_ptr()))
            }
        };
        Id::of(self, raw, "create a dataspace")
    }
}

impl Id {
    pub(crate) fn library(&self) -> &'static Library {
        self.library
    }

    pub(crate) fn flush(&self) -> Result<()> {
        self.library.check(call!(self.library, H5Fflush(self.raw, GLOBAL)), "write the file").map(|_| ())
    }

    pub(crate) fn file_creation(&self) -> Result<Self> {
        Self::of(
            self.library,
            call!(self.library, H5Fget_create_plist(self.raw)),
            "read the file's properties",
        )
    }

    pub(crate) fn group_creation(&self) -> Result<Self> {
        Self::of(
            self.library,
            call!(self.library, H5Gget_create_plist(self.raw)),
            "read a group's properties",
        )
    }

    pub(crate) fn dataset_creation(&self) -> Result<Self> {
        Self::of(
            self.library,
            call!(self.library, H5Dget_create_plist(self.raw)),
            "read a dataset's properties",
        )
    }

    pub(crate) fn datatype_creation(&self) -> Result<Self> {
        Self::of(
            self.library,
            call!(self.library, H5Tget_create_plist(self.raw)),
            "read a datatype's properties",
        )
    }

    pub(crate) fn attribute_creation(&self) -> Result<Self> {
        Self::of(
            self.library,
            call!(self.library, H5Aget_create_plist(self.raw)),
            "read an attribute's properties",
        )
    }

    pub(crate) fn dataset_type(&self) -> Result<Self> {
        Self::of(self.library, call!(self.library, H5Dget_type(self.raw)), "read a dataset's datatype")
    }

    pub(crate) fn attribute_type(&self) -> Result<Self> {
        Self::of(self.library, call!(self.library, H5Aget_type(self.raw)), "read an attribute's datatype")
    }

    pub(crate) fn dataset_space(&self) -> Result<Self> {
        Self::of(self.library, call!(self.library, H5Dget_space(self.raw)), "read a dataset's extent")
    }

    pub(crate) fn attribute_space(&self) -> Result<Self> {
        Self::of(self.library, call!(self.library, H5Aget_space(self.raw)), "read an attribute's extent")
    }

    pub(crate) fn attribute(&self, name: &str) -> Result<Self> {
        let text = c_text(name)?;
        let raw = call_with_memory!(self.library, H5Aopen(self.raw, text.as_ptr(), DEFAULT));
        Self::of(self.library, raw, &format!("open attribute {name}"))
    }

    /// The encoded form of a datatype.
    pub(crate) fn encode_type(&self) -> Result<Vec<u8>> {
        let (library, what) = (self.library, "encode a datatype");
        let mut size = 0;
        library
            .check(call_with_memory!(library, H5Tencode(self.raw, ptr::null_mut(), &raw mut size)), what)?;
        let mut bytes = vec![0_u8; size];
        library.check(
            call_with_memory!(library, H5Tencode(self.raw, bytes.as_mut_ptr().cast(), &raw mut size)),
            what,
        )?;
        Ok(bytes)
    }

    pub(crate) fn is_committed(&self) -> Result<bool> {
        Ok(self.library.check(call!(self.library, H5Tcommitted(self.raw)), "look at a datatype")? > 0)
    }

    pub(crate) fn type_size(&self) -> usize {
        call!(self.library, H5Tget_size(self.raw))
    }

    /// The extent of a space.
    pub(crate) fn extent(&self) -> Result<Space> {
        let what = "read an extent";
        match self.library.check(call!(self.library, H5Sget_simple_extent_type(self.raw)), what)? {
            SCALAR => return Ok(Space::Scalar),
            NULL => return Ok(Space::Null),
            _ => {}
        }
        let (mut dims, mut max) = ([0_u64; RANK_MAX], [0_u64; RANK_MAX]);
        let rank = call_with_memory!(
            self.library,
            H5Sget_simple_extent_dims(self.raw, dims.as_mut_ptr(), max.as_mut_ptr())
        );
        let rank = (self.library.check(rank, what)?.unsigned_abs() as usize).min(RANK_MAX);
        Ok(Space::Simple { dims: dims[..rank].to_vec(), max: max[..rank].to_vec() })
    }

    /// Selects a block of a space.
    pub(crate) fn select(&self, block: &Block) -> Result<()> {
        if block.start.is_empty() {
            return Ok(());
        }
        let (start, count) = (block.start.as_ptr(), block.count.as_ptr());
        let status = call_with_memory!(
            self.library,
            H5Sselect_hyperslab(self.raw, 0, start, ptr::null(), count, ptr::null())
        );
        self.library.check(status, "select elements").map(|_| ())
    }

    pub(crate) fn storage_size(&self) -> u64 {
        call!(self.library, H5Dget_storage_size(self.raw))
    }

    /// Whether anything of a dataset is stored.
    pub(crate) fn is_allocated(&self) -> Result<bool> {
        let mut status: c_int = 0;
        let done = call_with_memory!(self.library, H5Dget_space_status(self.raw, &raw mut status));
        self.library.check(done, "look at a dataset")?;
        Ok(status > 0)
    }

    /// A chunk as it is stored, and its mask.
    pub(crate) fn read_chunk(&self, offset: &[u64]) -> Result<(u32, Vec<u8>)> {
        let (library, what) = (self.library, "read a chunk");
        let mut size = 0;
        let status =
            call_with_memory!(library, H5Dget_chunk_storage_size(self.raw, offset.as_ptr(), &raw mut size));
        library.check(status, what)?;
        let size = usize::try_from(size).ok().filter(|size| *size < 1 << 32);
        let size =
            size.ok_or_else(|| FileError::corrupt("a chunk of 4 GiB", format!("the chunk at {offset:?}")))?;
        let (mut bytes, mut mask) = (vec![0_u8; size], 0);
        let buffer = bytes.as_mut_ptr().cast();
        let status = call_with_memory!(
            library,
            H5Dread_chunk(self.raw, DEFAULT, offset.as_ptr(), &raw mut mask, buffer)
        );
        library.check(status, what)?;
        Ok((mask, bytes))
    }

    /// Stores a chunk as it is.
    pub(crate) fn write_chunk(&self, offset: &[u64], mask: u32, bytes: &[u8]) -> Result<()> {
        let (at, buffer) = (offset.as_ptr(), bytes.as_ptr().cast());
        let status =
            call_with_memory!(self.library, H5Dwrite_chunk(self.raw, DEFAULT, mask, at, bytes.len(), buffer));
        self.library.check(status, "write a chunk").map(|_| ())
    }

    /// A new group in the file, without a link.
    pub(crate) fn new_group(&self, creation: &Self) -> Result<Self> {
        let raw = call!(self.library, H5Gcreate_anon(self.raw, creation.raw, DEFAULT));
        Self::of(self.library, raw, "create a group")
    }

    /// A new dataset in the file, without a link.
    pub(crate) fn new_dataset(&self, kind: &Self, space: &Self, creation: &Self) -> Result<Self> {
        let raw = call!(self.library, H5Dcreate_anon(self.raw, kind.raw, space.raw, creation.raw, DEFAULT));
        Self::of(self.library, raw, "create a dataset")
    }

    /// Makes a datatype a committed one of the file, without a link.
    pub(crate) fn commit_type(&self, kind: &Self, creation: Option<&Self>) -> Result<()> {
        let creation = Self::raw_or_default(creation);
        let status = call!(self.library, H5Tcommit_anon(self.raw, kind.raw, creation, DEFAULT));
        self.library.check(status, "create a datatype").map(|_| ())
    }

    /// A new attribute of the object.
    pub(crate) fn new_attribute(
        &self,
        name: &str,
        kind: &Self,
        space: &Self,
        creation: Option<&Self>,
    ) -> Result<Self> {
        let text = c_text(name)?;
        let creation = Self::raw_or_default(creation);
        let raw = call_with_memory!(
            self.library,
            H5Acreate2(self.raw, text.as_ptr(), kind.raw, space.raw, creation, DEFAULT)
        );
        Self::of(self.library, raw, &format!("create attribute {name}"))
    }

    /// A hard link to an object, in this group.
    pub(crate) fn link_object(&self, object: &Self, name: &str, properties: &Self) -> Result<()> {
        let text = c_text(name)?;
        let status = call_with_memory!(
            self.library,
            H5Olink(object.raw, self.raw, text.as_ptr(), properties.raw, DEFAULT)
        );
        self.library.check(status, &format!("create link {name}")).map(|_| ())
    }

    /// A soft link, in this group.
    pub(crate) fn link_path(&self, path: &str, name: &str, properties: &Self) -> Result<()> {
        let (path, text) = (c_text(path)?, c_text(name)?);
        let status = call_with_memory!(
            self.library,
            H5Lcreate_soft(path.as_ptr(), self.raw, text.as_ptr(), properties.raw, DEFAULT)
        );
        self.library.check(status, &format!("create link {name}")).map(|_| ())
    }

    /// A link to another file, in this group.
    pub(crate) fn link_file(&self, file: &str, path: &str, name: &str, properties: &Self) -> Result<()> {
        let (file, path, text) = (c_text(file)?, c_text(path)?, c_text(name)?);
        let status = call_with_memory!(
            self.library,
            H5Lcreate_external(
                file.as_ptr(),
                path.as_ptr(),
                self.raw,
                text.as_ptr(),
                properties.raw,
                DEFAULT
            )
        );
        self.library.check(status, &format!("create link {name}")).map(|_| ())
    }
}
