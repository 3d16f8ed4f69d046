//! What HDF5 reports of objects, links, attributes and groups.

use std::ffi::{c_int, c_uint, c_ulong};

use super::Hsize;

/// `H5O_token_t`: ours has the number of the object in its first 8 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) data: [u8; 16],
}

/// `H5O_info2_t`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct ObjectInfo {
    pub(crate) fileno: c_ulong,
    pub(crate) token: Token,
    pub(crate) kind: c_int,
    pub(crate) references: c_uint,
    pub(crate) accessed: i64,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
    pub(crate) born: i64,
    pub(crate) attributes: Hsize,
}

/// `H5L_info2_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LinkInfo {
    pub(crate) kind: c_int,
    pub(crate) order_valid: bool,
    pub(crate) order: i64,
    pub(crate) charset: c_int,
    pub(crate) target: LinkInfoTarget,
}

/// The union in `H5L_info2_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union LinkInfoTarget {
    pub(crate) token: Token,
    pub(crate) value_size: usize,
}

/// `H5A_info_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct AttributeInfo {
    pub(crate) order_valid: bool,
    pub(crate) order: u32,
    pub(crate) charset: c_int,
    pub(crate) data_size: Hsize,
}

/// `H5G_info_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct GroupInfo {
    pub(crate) storage: c_int,
    pub(crate) links: Hsize,
    pub(crate) order_max: i64,
    pub(crate) mounted: bool,
}

/// `H5VL_file_cont_info_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ContainerInfo {
    pub(crate) version: c_uint,
    pub(crate) features: u64,
    pub(crate) token_size: usize,
    pub(crate) blob_id_size: usize,
}
