//! Numbers of HDF5's headers.

use std::ffi::{CStr, c_int, c_uint};

use super::Hid;

/// What `HDF5_VOL_CONNECTOR` calls the connector.
pub(crate) const NAME: &CStr = c"isotach";
/// `H5VL_VERSION`.
pub(crate) const CLASS_VERSION: c_uint = 3;
/// `H5PL_TYPE_VOL`.
pub(crate) const PLUGIN_VOL: c_int = 1;
/// `H5VL_CONTAINER_INFO_VERSION`.
pub(crate) const CONTAINER_INFO_VERSION: c_uint = 1;
/// `H5P_DEFAULT`, also `H5E_DEFAULT` and `H5S_ALL`.
pub(crate) const DEFAULT: Hid = 0;
/// `H5I_INVALID_HID`.
pub(crate) const INVALID: Hid = -1;

/// `H5S_ALL`.
pub(crate) const SPACE_ALL: Hid = 0;
/// `H5S_BLOCK`.
pub(crate) const SPACE_BLOCK: Hid = 1;
/// `H5S_PLIST`.
pub(crate) const SPACE_PLIST: Hid = 2;
/// `H5S_SCALAR`, `H5S_SIMPLE` and `H5S_NULL` of `H5S_class_t`.
pub(crate) const SPACE_SCALAR: c_int = 0;
pub(crate) const SPACE_SIMPLE: c_int = 1;
pub(crate) const SPACE_NULL: c_int = 2;
/// `H5S_SEL_ERROR` to `H5S_SEL_ALL` of `H5S_sel_type`.
pub(crate) const SELECTION_NONE: c_int = 0;
pub(crate) const SELECTION_HYPERSLABS: c_int = 2;
pub(crate) const SELECTION_ALL: c_int = 3;
/// `H5S_SELECT_SET` and `H5S_SELECT_AND` of `H5S_seloper_t`.
pub(crate) const SELECT_SET: c_int = 0;
pub(crate) const SELECT_AND: c_int = 2;
/// `H5D_VDS_FIRST_MISSING` of `H5D_vds_view_t`.
pub(crate) const VIEW_FIRST_MISSING: c_int = 0;
/// `H5S_MAX_RANK`.
pub(crate) const RANK_MAX: usize = 32;

/// `H5I_type_t`.
pub(crate) mod id_type {
    use std::ffi::c_int;
    pub(crate) const FILE: c_int = 1;
    pub(crate) const GROUP: c_int = 2;
    pub(crate) const DATATYPE: c_int = 3;
    pub(crate) const DATASET: c_int = 5;
    pub(crate) const MAP: c_int = 6;
    pub(crate) const ATTRIBUTE: c_int = 7;
}

/// `H5VL_loc_type_t`.
pub(crate) mod by {
    use std::ffi::c_int;
    pub(crate) const SELF: c_int = 0;
    pub(crate) const NAME: c_int = 1;
    pub(crate) const IDX: c_int = 2;
    pub(crate) const TOKEN: c_int = 3;
}

/// `H5O_type_t`.
pub(crate) mod object_type {
    use std::ffi::c_int;
    pub(crate) const GROUP: c_int = 0;
    pub(crate) const DATASET: c_int = 1;
    pub(crate) const DATATYPE: c_int = 2;
    pub(crate) const MAP: c_int = 3;
}

/// `H5L_type_t`.
pub(crate) mod link_type {
    use std::ffi::c_int;
    pub(crate) const HARD: c_int = 0;
    pub(crate) const SOFT: c_int = 1;
    pub(crate) const EXTERNAL: c_int = 64;
}

/// `H5T_class_t`.
pub(crate) mod type_class {
    use std::ffi::c_int;
    pub(crate) const INTEGER: c_int = 0;
    pub(crate) const FLOAT: c_int = 1;
    pub(crate) const STRING: c_int = 3;
    pub(crate) const COMPOUND: c_int = 6;
    pub(crate) const REFERENCE: c_int = 7;
    pub(crate) const VLEN: c_int = 9;
    pub(crate) const ARRAY: c_int = 10;
}

/// `H5F_ACC_*`.
pub(crate) mod access {
    use std::ffi::c_uint;
    pub(crate) const READ_WRITE: c_uint = 1;
    pub(crate) const TRUNCATE: c_uint = 2;
    pub(crate) const EXCLUSIVE: c_uint = 4;
    pub(crate) const SWMR_WRITE: c_uint = 0x20;
    pub(crate) const SWMR_READ: c_uint = 0x40;
    /// What an open file keeps of the flags.
    pub(crate) const KEPT: c_uint = READ_WRITE | SWMR_WRITE | SWMR_READ;
    pub(crate) const DEFAULT: c_uint = 0xffff;
}

/// `H5F_OBJ_*`.
pub(crate) mod count {
    use std::ffi::c_uint;
    pub(crate) const FILE: c_uint = 1;
    pub(crate) const DATASET: c_uint = 2;
    pub(crate) const GROUP: c_uint = 4;
    pub(crate) const DATATYPE: c_uint = 8;
    pub(crate) const ATTRIBUTE: c_uint = 16;
    pub(crate) const LOCAL: c_uint = 32;
    /// No flag of HDF5's, which counts no maps.
    pub(crate) const MAP: c_uint = 64;
}

/// `H5_INDEX_CRT_ORDER` of `H5_index_t`.
pub(crate) const INDEX_NAME: c_int = 0;
pub(crate) const INDEX_CREATION_ORDER: c_int = 1;
/// `H5_ITER_*` of `H5_iter_order_t`.
pub(crate) const ITERATE_INCREASING: c_int = 0;
pub(crate) const ITERATE_DECREASING: c_int = 1;
pub(crate) const ITERATE_NATIVE: c_int = 2;

/// `H5P_CRT_ORDER_TRACKED`.
pub(crate) const ORDER_TRACKED: c_uint = 1;
/// `H5VL_GET_CONN_LVL_TERM`.
pub(crate) const LEVEL_TERMINAL: c_int = 1;
/// `H5T_CSET_UTF8`.
pub(crate) const CHARSET_UTF8: c_int = 1;
/// `H5D_COMPACT`, `H5D_CONTIGUOUS`, `H5D_CHUNKED` and `H5D_VIRTUAL` of `H5D_layout_t`.
pub(crate) const LAYOUT_COMPACT: c_int = 0;
pub(crate) const LAYOUT_CONTIGUOUS: c_int = 1;
pub(crate) const LAYOUT_CHUNKED: c_int = 2;
pub(crate) const LAYOUT_VIRTUAL: c_int = 3;
/// `H5D_FILL_VALUE_USER_DEFINED` and `H5D_FILL_VALUE_UNDEFINED`.
pub(crate) const FILL_UNDEFINED: c_int = 0;
pub(crate) const FILL_USER_DEFINED: c_int = 2;
/// `H5D_FILL_TIME_NEVER`.
pub(crate) const FILL_TIME_NEVER: c_int = 1;

/// `H5VL_request_status_t`.
pub(crate) mod request_status {
    use std::ffi::c_int;
    pub(crate) const IN_PROGRESS: c_int = 0;
    pub(crate) const SUCCEED: c_int = 1;
    pub(crate) const FAIL: c_int = 2;
    pub(crate) const CANT_CANCEL: c_int = 3;
    pub(crate) const CANCELED: c_int = 4;
}

/// `H5VL_REQUEST_*` of `H5VL_request_specific_t`.
pub(crate) mod request_specific {
    use std::ffi::c_int;
    pub(crate) const GET_ERR_STACK: c_int = 0;
    pub(crate) const GET_EXEC_TIME: c_int = 1;
}

/// `H5VL_CAP_FLAG_*`, by bit.
pub(crate) const CAPABILITIES: u64 = {
    // Asynchronous operations, attributes, datasets, files, groups, links, objects, references, committed types, creation order, iteration,
    // storage sizes, access by index, property lists, flush and refresh, external, hard, soft and user-defined links, times, filters, fill
    // values, maps. Not: threads, native files, mounts.
    let bits = [
        1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
        29, 30, 31, 33, 35, 36,
    ];
    let mut flags = 0;
    let mut at = 0;
    while at < bits.len() {
        flags |= 1 << bits[at];
        at += 1;
    }
    flags
};
