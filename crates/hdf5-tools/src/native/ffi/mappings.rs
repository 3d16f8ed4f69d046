//! The mappings of virtual datasets.

use std::ffi::c_char;

use super::{DEFAULT, call, call_with_memory, id::Id, raw::Hid};
use crate::Result;

const RANK_MAX: usize = 32;
const WHAT: &str = "read the mappings of a virtual dataset";

/// A mapping: the elements here, and those of a dataset in a file.
struct Mapping {
    here: Id,
    there: Id,
    file: Vec<u8>,
    dataset: Vec<u8>,
}

impl Id {
    /// Whether two dataset creation lists have the same mappings.
    pub(crate) fn has_mappings_of(&self, other: &Self) -> Result<bool> {
        let count = self.mapping_count()?;
        if count != other.mapping_count()? {
            return Ok(false);
        }
        for number in 0..count {
            let (one, other) = (self.mapping(number)?, other.mapping(number)?);
            if one.file != other.file
                || one.dataset != other.dataset
                || !one.here.selects_as(&other.here)?
                || !one.there.selects_as(&other.there)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn mapping_count(&self) -> Result<usize> {
        let mut count = 0;
        let status = call_with_memory!(self.library, H5Pget_virtual_count(self.raw, &raw mut count));
        self.library.check(status, WHAT)?;
        Ok(count)
    }

    fn mapping(&self, number: usize) -> Result<Mapping> {
        let library = self.library;
        Ok(Mapping {
            here: Self::of(library, call!(library, H5Pget_virtual_vspace(self.raw, number)), WHAT)?,
            there: Self::of(library, call!(library, H5Pget_virtual_srcspace(self.raw, number)), WHAT)?,
            file: self.name(number, library.functions.H5Pget_virtual_filename)?,
            dataset: self.name(number, library.functions.H5Pget_virtual_dsetname)?,
        })
    }

    fn name(
        &self,
        number: usize,
        get: unsafe extern "C" fn(Hid, usize, *mut c_char, usize) -> isize,
    ) -> Result<Vec<u8>> {
        // SAFETY: without a buffer HDF5 tells the length.
        let length = unsafe { get(self.raw, number, std::ptr::null_mut(), 0) };
        let length = usize::try_from(length).map_err(|_| self.library.error(WHAT))?;
        let mut name = vec![0_u8; length + 1];
        // SAFETY: the buffer has room for the name and a zero.
        if unsafe { get(self.raw, number, name.as_mut_ptr().cast(), name.len()) } < 0 {
            return Err(self.library.error(WHAT));
        }
        Ok(name)
    }

    /// Whether the same elements are selected in two spaces.
    fn selects_as(&self, other: &Self) -> Result<bool> {
        let library = self.library;
        if self.extent()? != other.extent()? {
            return Ok(false);
        }
        // One selection may have several encoded forms; those without an end have one.
        if self.encode_space()? == other.encode_space()? {
            return Ok(true);
        }
        let is_same = call!(library, H5Sselect_shape_same(self.raw, other.raw));
        Ok(library.check(is_same, WHAT)? > 0 && self.bounds()? == other.bounds()?)
    }

    fn bounds(&self) -> Result<[[u64; RANK_MAX]; 2]> {
        let [mut first, mut last] = [[0; RANK_MAX]; 2];
        let status = call_with_memory!(
            self.library,
            H5Sget_select_bounds(self.raw, first.as_mut_ptr(), last.as_mut_ptr())
        );
        self.library.check(status, WHAT)?;
        Ok([first, last])
    }

    fn encode_space(&self) -> Result<Vec<u8>> {
        let library = self.library;
        let mut size = 0;
        let status =
            call_with_memory!(library, H5Sencode(self.raw, std::ptr::null_mut(), &raw mut size, DEFAULT));
        library.check(status, WHAT)?;
        let mut bytes = vec![0_u8; size];
        let buffer = bytes.as_mut_ptr().cast();
        library
            .check(call_with_memory!(library, H5Sencode(self.raw, buffer, &raw mut size, DEFAULT)), WHAT)?;
        Ok(bytes)
    }
}
