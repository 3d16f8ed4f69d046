//! The optional operations of the native connector (`H5VLnative.h`) that this connector answers, too.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use super::{Herr, Hid, Hsize, LocParams};

/// `H5VL_NATIVE_DATASET_*`.
pub(crate) mod dataset_op {
    use std::ffi::c_int;
    pub(crate) const FORMAT_CONVERT: c_int = 0;
    pub(crate) const CHUNK_INDEX_TYPE: c_int = 1;
    pub(crate) const CHUNK_STORAGE_SIZE: c_int = 2;
    pub(crate) const CHUNK_COUNT: c_int = 3;
    pub(crate) const CHUNK_INFO_BY_INDEX: c_int = 4;
    pub(crate) const CHUNK_INFO_BY_COORDINATES: c_int = 5;
    pub(crate) const CHUNK_READ: c_int = 6;
    pub(crate) const CHUNK_WRITE: c_int = 7;
    pub(crate) const OFFSET: c_int = 9;
    pub(crate) const CHUNK_ITERATE: c_int = 10;
}

/// `H5VL_NATIVE_FILE_*`.
pub(crate) mod file_op {
    use std::ffi::c_int;
    pub(crate) const CLEAR_LINK_CACHE: c_int = 0;
    pub(crate) const FREE_SPACE: c_int = 3;
    pub(crate) const CACHE_SETTINGS_FIRST: c_int = 5;
    pub(crate) const CACHE_SIZE: c_int = 7;
    pub(crate) const CACHE_RESET: c_int = 10;
    pub(crate) const CACHE_CHANGE: c_int = 11;
    pub(crate) const START_SWMR_WRITE: c_int = 13;
    pub(crate) const SIZE: c_int = 8;
    pub(crate) const SET_VERSION_BOUNDS: c_int = 23;
    pub(crate) const END_OF_ALLOCATION: c_int = 21;
    pub(crate) const GET_ATOMICITY: c_int = 26;
    pub(crate) const SET_ATOMICITY: c_int = 27;
    pub(crate) const POST_OPEN: c_int = 28;
}

/// `H5VL_NATIVE_GROUP_GET_OBJINFO`.
pub(crate) const GROUP_OBJECT_INFO: c_int = 1;

/// `H5VL_NATIVE_OBJECT_*`.
pub(crate) mod object_op {
    use std::ffi::c_int;
    pub(crate) const GET_COMMENT: c_int = 0;
    pub(crate) const SET_COMMENT: c_int = 1;
    pub(crate) const DISABLE_CACHE_FLUSHES: c_int = 2;
    pub(crate) const ENABLE_CACHE_FLUSHES: c_int = 3;
    pub(crate) const ARE_CACHE_FLUSHES_DISABLED: c_int = 4;
    pub(crate) const NATIVE_INFO: c_int = 5;
}

/// `H5D_chunk_iter_op_t`.
pub(crate) type ChunkCallback = unsafe extern "C" fn(
    offset: *const Hsize,
    mask: c_uint,
    address: u64,
    size: Hsize,
    data: *mut c_void,
) -> c_int;

/// `H5VL_native_dataset_optional_args_t`.
#[repr(C)]
pub(crate) union DatasetOptionalArgs {
    pub(crate) chunk_index_type: *mut c_int,
    pub(crate) chunk_storage_size: ChunkStorageSize,
    pub(crate) chunk_count: ChunkCount,
    pub(crate) chunk_info_by_index: ChunkInfoByIndex,
    pub(crate) chunk_info_by_coordinates: ChunkInfoByCoordinates,
    pub(crate) chunk_read: ChunkRead,
    pub(crate) chunk_write: ChunkWrite,
    pub(crate) chunk_write_114: ChunkWrite114,
    pub(crate) vlen_buffer_size: VlenBufferSize,
    pub(crate) offset: *mut u64,
    pub(crate) chunk_iterate: ChunkIterate,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkStorageSize {
    pub(crate) offset: *const Hsize,
    pub(crate) size: *mut Hsize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkCount {
    pub(crate) space: Hid,
    pub(crate) count: *mut Hsize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkInfoByIndex {
    pub(crate) space: Hid,
    pub(crate) index: Hsize,
    pub(crate) offset: *mut Hsize,
    pub(crate) mask: *mut c_uint,
    pub(crate) address: *mut u64,
    pub(crate) size: *mut Hsize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkInfoByCoordinates {
    pub(crate) offset: *const Hsize,
    pub(crate) mask: *mut c_uint,
    pub(crate) address: *mut u64,
    pub(crate) size: *mut Hsize,
}

/// `H5VL_native_dataset_chunk_read_t`: version 2.0 added `buf_size`, which stands behind what 1.14 knows.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkRead {
    pub(crate) offset: *const Hsize,
    pub(crate) filters: u32,
    pub(crate) buf: *mut c_void,
    pub(crate) buf_size: *mut usize,
}

/// `H5VL_native_dataset_chunk_write_t` of 2.0 and later.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkWrite {
    pub(crate) offset: *const Hsize,
    pub(crate) filters: u32,
    pub(crate) size: usize,
    pub(crate) buf: *const c_void,
}

/// `H5VL_native_dataset_chunk_write_t` of 1.14, where the size has 4 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkWrite114 {
    pub(crate) offset: *const Hsize,
    pub(crate) filters: u32,
    pub(crate) size: u32,
    pub(crate) buf: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct VlenBufferSize {
    pub(crate) kind: Hid,
    pub(crate) space: Hid,
    pub(crate) size: *mut Hsize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ChunkIterate {
    pub(crate) op: Option<ChunkCallback>,
    pub(crate) data: *mut c_void,
}

/// `H5VL_native_file_optional_args_t`: the members that are answered.
#[repr(C)]
pub(crate) union FileOptionalArgs {
    pub(crate) size: *mut Hsize,
    pub(crate) end: *mut u64,
    pub(crate) atomicity: *mut bool,
    pub(crate) set_atomicity: bool,
}

/// `H5VL_native_group_get_objinfo_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct GroupObjectInfo {
    pub(crate) loc: LocParams,
    pub(crate) follow: bool,
    pub(crate) stat: *mut GroupStat,
}

/// `H5G_stat_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct GroupStat {
    pub(crate) fileno: [c_ulong; 2],
    pub(crate) objno: [c_ulong; 2],
    pub(crate) links: c_uint,
    pub(crate) kind: c_int,
    pub(crate) modified: i64,
    pub(crate) link_length: usize,
    pub(crate) header: [u64; 3],
}

/// `H5VL_native_object_optional_args_t`: the members that are answered.
#[repr(C)]
pub(crate) union ObjectOptionalArgs {
    pub(crate) get_comment: GetComment,
    pub(crate) set_comment: *const c_char,
    pub(crate) flag: *mut bool,
    pub(crate) native_info: NativeInfo,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct GetComment {
    pub(crate) buf_size: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) length: *mut usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct NativeInfo {
    pub(crate) fields: c_uint,
    pub(crate) info: *mut c_void,
}

/// The size of `H5O_native_info_t`, which is filled with zeros.
pub(crate) const NATIVE_INFO_SIZE: usize = 96;

/// `H5I_iterate_func_t`.
pub(crate) type IdCallback = unsafe extern "C" fn(id: Hid, data: *mut c_void) -> Herr;

/// `H5_atclose_func_t`.
pub(crate) type CloseCallback = unsafe extern "C" fn(context: *mut c_void);
