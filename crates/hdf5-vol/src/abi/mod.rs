//! HDF5's binary interface: ids, constants and structs of `H5public.h` and `H5VLconnector.h`, as versions 1.14.2 to 2.2 have them.
//!
//! A test compiles a C program against HDF5's headers and compares every size and offset (`layout.rs`).

mod arguments;
mod class;
mod constants;
mod info;
#[cfg(test)]
mod layout;
mod maps;
mod native;

pub(crate) use arguments::*;
pub(crate) use class::*;
pub(crate) use constants::*;
pub(crate) use info::*;
pub(crate) use maps::*;
pub(crate) use native::*;

use std::ffi::c_int;

/// `hid_t`: the id of an open object, a type, a space or a property list.
pub(crate) type Hid = i64;
/// `herr_t`: negative means failure.
pub(crate) type Herr = c_int;
/// `htri_t`: negative means failure, zero no, positive yes.
pub(crate) type Htri = c_int;
/// `hsize_t`.
pub(crate) type Hsize = u64;
