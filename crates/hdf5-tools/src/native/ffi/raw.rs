//! HDF5's structs and callbacks.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// HDF5's `hid_t`.
pub(super) type Hid = i64;
/// HDF5's `herr_t`.
pub(super) type Herr = c_int;

/// HDF5's `H5O_token_t`: the number of an object in its first 8 bytes.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Token([u8; 16]);

impl Token {
    pub(super) fn of(number: u64) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Self(bytes)
    }

    pub(super) fn number(self) -> u64 {
        self.0.first_chunk().map_or(0, |number| u64::from_le_bytes(*number))
    }
}

/// HDF5's `H5O_info2_t`.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct RawObjectInfo {
    pub(super) file: std::ffi::c_ulong,
    pub(super) token: Token,
    pub(super) kind: c_int,
    pub(super) references: c_uint,
    pub(super) accessed: i64,
    pub(super) modified: i64,
    pub(super) changed: i64,
    pub(super) born: i64,
    pub(super) attributes: u64,
}

/// HDF5's `H5L_info2_t`.
#[repr(C)]
pub(super) struct RawLink {
    pub(super) kind: c_int,
    pub(super) has_order: bool,
    pub(super) order: i64,
    pub(super) charset: c_int,
    pub(super) target: RawTarget,
}

#[repr(C)]
pub(super) union RawTarget {
    pub(super) token: Token,
    pub(super) size: usize,
}

pub(super) type EachLink = unsafe extern "C" fn(Hid, *const c_char, *const RawLink, *mut c_void) -> Herr;
pub(super) type EachAttribute = unsafe extern "C" fn(Hid, *const c_char, *const c_void, *mut c_void) -> Herr;
pub(super) type EachChunk = unsafe extern "C" fn(*const u64, c_uint, u64, u64, *mut c_void) -> c_int;

/// A record of HDF5's error stack.
#[repr(C)]
pub(super) struct ErrorRecord {
    pub(super) class: Hid,
    pub(super) major: Hid,
    pub(super) minor: Hid,
    pub(super) line: c_uint,
    pub(super) function: *const c_char,
    pub(super) file: *const c_char,
    pub(super) description: *const c_char,
}

/// What HDF5 calls for each record.
pub(super) type WalkErrors = unsafe extern "C" fn(c_uint, *const ErrorRecord, *mut c_void) -> Herr;
