//! The arguments of the connector's callbacks: a number for the operation, and a union of what each operation takes and gives.

use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use super::{AttributeInfo, ContainerInfo, GroupInfo, Herr, Hid, Hsize, LinkInfo, ObjectInfo, Token};

/// `H5VL_loc_params_t`: how an object is found, from another one.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LocParams {
    pub(crate) obj_type: c_int,
    pub(crate) by: c_int,
    pub(crate) data: LocData,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union LocData {
    pub(crate) token: *const Token,
    pub(crate) name: LocByName,
    pub(crate) idx: LocByIdx,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LocByName {
    pub(crate) name: *const c_char,
    pub(crate) lapl: Hid,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LocByIdx {
    pub(crate) name: *const c_char,
    pub(crate) index: c_int,
    pub(crate) order: c_int,
    pub(crate) n: Hsize,
    pub(crate) lapl: Hid,
}

/// `H5VL_optional_args_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct OptionalArgs {
    pub(crate) op: c_int,
    pub(crate) args: *mut c_void,
}

/// Declares the struct of an operation's number and its union.
macro_rules! operations {
    ($(#[$about:meta])* $name:ident, $union:ident { $($member:ident : $kind:ty),* $(,)? }) => {
        $(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            pub(crate) op: c_int,
            pub(crate) args: $union,
        }
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) union $union {
            $(pub(crate) $member: $kind,)*
        }
    };
}

/// Declares a plain struct of C.
macro_rules! plain {
    ($(#[$about:meta])* $name:ident { $($member:ident : $kind:ty),* $(,)? }) => {
        $(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $member: $kind,)*
        }
    };
}

/// A buffer for a name or a value, its size, and where the length goes.
pub(crate) type NameBuffer = SizedBuffer;

plain! { SizedBuffer { size: usize, buf: *mut c_char, length: *mut usize } }
plain! { NameAndFlag { name: *const c_char, flag: *mut bool } }
plain! { TwoNames { old: *const c_char, new: *const c_char } }

/// `H5VL_ATTR_GET_*`.
pub(crate) mod attribute_get {
    use std::ffi::c_int;
    pub(crate) const ACPL: c_int = 0;
    pub(crate) const INFO: c_int = 1;
    pub(crate) const NAME: c_int = 2;
    pub(crate) const SPACE: c_int = 3;
    pub(crate) const STORAGE_SIZE: c_int = 4;
    pub(crate) const TYPE: c_int = 5;
}
operations! {
    /// `H5VL_attr_get_args_t`.
    AttributeGetArgs, AttributeGet {
        id: Hid, info: AttributeGetInfo, name: AttributeGetName, storage_size: *mut Hsize,
    }
}
plain! { AttributeGetInfo { loc: LocParams, name: *const c_char, info: *mut AttributeInfo } }
plain! { AttributeGetName { loc: LocParams, buffer: NameBuffer } }

/// `H5VL_ATTR_*` of `H5VL_attr_specific_t`.
pub(crate) mod attribute_op {
    use std::ffi::c_int;
    pub(crate) const DELETE: c_int = 0;
    pub(crate) const DELETE_BY_IDX: c_int = 1;
    pub(crate) const EXISTS: c_int = 2;
    pub(crate) const ITERATE: c_int = 3;
    pub(crate) const RENAME: c_int = 4;
}
operations! {
    /// `H5VL_attr_specific_args_t`.
    AttributeSpecificArgs, AttributeSpecific {
        name: *const c_char, delete_by_idx: AttributeByIdx, exists: NameAndFlag, iterate: AttributeIterate, rename: TwoNames,
    }
}
plain! { AttributeByIdx { index: c_int, order: c_int, n: Hsize } }
plain! { AttributeIterate { index: c_int, order: c_int, at: *mut Hsize, op: Option<AttributeCallback>, data: *mut c_void } }
/// `H5A_operator2_t`.
pub(crate) type AttributeCallback = unsafe extern "C" fn(
    location: Hid,
    name: *const c_char,
    info: *const AttributeInfo,
    data: *mut c_void,
) -> Herr;

/// `H5VL_DATASET_GET_*`.
pub(crate) mod dataset_get {
    use std::ffi::c_int;
    pub(crate) const DAPL: c_int = 0;
    pub(crate) const DCPL: c_int = 1;
    pub(crate) const SPACE: c_int = 2;
    pub(crate) const SPACE_STATUS: c_int = 3;
    pub(crate) const STORAGE_SIZE: c_int = 4;
    pub(crate) const TYPE: c_int = 5;
}
operations! {
    /// `H5VL_dataset_get_args_t`.
    DatasetGetArgs, DatasetGet { id: Hid, space_status: *mut c_int, storage_size: *mut Hsize }
}

/// `H5VL_DATASET_*` of `H5VL_dataset_specific_t`.
pub(crate) mod dataset_specific {
    use std::ffi::c_int;
    pub(crate) const SET_EXTENT: c_int = 0;
    pub(crate) const FLUSH: c_int = 1;
    pub(crate) const REFRESH: c_int = 2;
}
operations! {
    /// `H5VL_dataset_specific_args_t`.
    DatasetSpecificArgs, DatasetSpecific { size: *const Hsize, id: Hid }
}

/// `H5VL_DATATYPE_GET_*`.
pub(crate) mod datatype_get {
    use std::ffi::c_int;
    pub(crate) const BINARY_SIZE: c_int = 0;
    pub(crate) const BINARY: c_int = 1;
    pub(crate) const TCPL: c_int = 2;
}
operations! {
    /// `H5VL_datatype_get_args_t`.
    DatatypeGetArgs, DatatypeGet { size: *mut usize, binary: Binary, id: Hid }
}
plain! { Binary { buf: *mut c_void, size: usize } }

/// `H5VL_DATATYPE_*` of `H5VL_datatype_specific_t`.
pub(crate) mod datatype_specific {
    use std::ffi::c_int;
    pub(crate) const FLUSH: c_int = 0;
    pub(crate) const REFRESH: c_int = 1;
}
operations! {
    /// `H5VL_datatype_specific_args_t`.
    DatatypeSpecificArgs, DatatypeSpecific { id: Hid }
}

/// `H5VL_FILE_GET_*`.
pub(crate) mod file_get {
    use std::ffi::c_int;
    pub(crate) const CONTAINER_INFO: c_int = 0;
    pub(crate) const FAPL: c_int = 1;
    pub(crate) const FCPL: c_int = 2;
    pub(crate) const FILENO: c_int = 3;
    pub(crate) const INTENT: c_int = 4;
    pub(crate) const NAME: c_int = 5;
    pub(crate) const OBJECT_COUNT: c_int = 6;
    pub(crate) const OBJECT_IDS: c_int = 7;
}
operations! {
    /// `H5VL_file_get_args_t`.
    FileGetArgs, FileGet {
        container_info: *mut ContainerInfo, id: Hid, fileno: *mut c_ulong, intent: *mut c_uint, name: FileGetName,
        object_count: ObjectCount, object_ids: ObjectIds,
    }
}
plain! { FileGetName { obj_type: c_int, buffer: NameBuffer } }
plain! { ObjectCount { types: c_uint, count: *mut usize } }
plain! { ObjectIds { types: c_uint, max: usize, ids: *mut Hid, count: *mut usize } }

/// `H5VL_FILE_*` of `H5VL_file_specific_t`.
pub(crate) mod file_specific {
    use std::ffi::c_int;
    pub(crate) const FLUSH: c_int = 0;
    pub(crate) const REOPEN: c_int = 1;
    pub(crate) const IS_ACCESSIBLE: c_int = 2;
    pub(crate) const DELETE: c_int = 3;
    pub(crate) const IS_EQUAL: c_int = 4;
}
operations! {
    /// `H5VL_file_specific_args_t`.
    FileSpecificArgs, FileSpecific {
        flush: FileFlush, reopen: *mut *mut c_void, accessible: FileAccessible, delete: FileDelete, equal: FileEqual,
    }
}
plain! { FileFlush { obj_type: c_int, scope: c_int } }
plain! { FileAccessible { name: *const c_char, fapl: Hid, accessible: *mut bool } }
plain! { FileDelete { name: *const c_char, fapl: Hid } }
plain! { FileEqual { other: *mut c_void, same: *mut bool } }

/// `H5VL_GROUP_GET_*`.
pub(crate) mod group_get {
    use std::ffi::c_int;
    pub(crate) const GCPL: c_int = 0;
    pub(crate) const INFO: c_int = 1;
}
operations! {
    /// `H5VL_group_get_args_t`.
    GroupGetArgs, GroupGet { id: Hid, info: GroupGetInfo }
}
plain! { GroupGetInfo { loc: LocParams, info: *mut GroupInfo } }

/// `H5VL_GROUP_*` of `H5VL_group_specific_t`.
pub(crate) mod group_specific {
    use std::ffi::c_int;
    pub(crate) const MOUNT: c_int = 0;
    pub(crate) const UNMOUNT: c_int = 1;
    pub(crate) const FLUSH: c_int = 2;
    pub(crate) const REFRESH: c_int = 3;
}
operations! {
    /// `H5VL_group_specific_args_t`.
    GroupSpecificArgs, GroupSpecific { mount: GroupMount, unmount: *const c_char, id: Hid }
}
plain! { GroupMount { name: *const c_char, child: *mut c_void, properties: Hid } }

/// `H5VL_LINK_CREATE_*`.
pub(crate) mod link_create {
    use std::ffi::c_int;
    pub(crate) const HARD: c_int = 0;
    pub(crate) const SOFT: c_int = 1;
    pub(crate) const USER: c_int = 2;
}
operations! {
    /// `H5VL_link_create_args_t`.
    LinkCreateArgs, LinkCreate { hard: LinkHard, soft: *const c_char, user: LinkUser }
}
plain! { LinkHard { object: *mut c_void, loc: LocParams } }
plain! { LinkUser { class: c_int, buf: *const c_void, size: usize } }

/// `H5VL_LINK_GET_*`.
pub(crate) mod link_get {
    use std::ffi::c_int;
    pub(crate) const INFO: c_int = 0;
    pub(crate) const NAME: c_int = 1;
    pub(crate) const VALUE: c_int = 2;
}
operations! {
    /// `H5VL_link_get_args_t`.
    LinkGetArgs, LinkGet { info: *mut LinkInfo, name: NameBuffer, value: LinkValue }
}
plain! { LinkValue { size: usize, buf: *mut c_void } }

/// `H5VL_LINK_*` of `H5VL_link_specific_t`.
pub(crate) mod link_specific {
    use std::ffi::c_int;
    pub(crate) const DELETE: c_int = 0;
    pub(crate) const EXISTS: c_int = 1;
    pub(crate) const ITERATE: c_int = 2;
}
operations! {
    /// `H5VL_link_specific_args_t`.
    LinkSpecificArgs, LinkSpecific { exists: *mut bool, iterate: LinkIterate }
}
plain! {
    LinkIterate { recursive: bool, index: c_int, order: c_int, at: *mut Hsize, op: Option<LinkCallback>, data: *mut c_void }
}
/// `H5L_iterate2_t`.
pub(crate) type LinkCallback =
    unsafe extern "C" fn(group: Hid, name: *const c_char, info: *const LinkInfo, data: *mut c_void) -> Herr;

/// `H5VL_OBJECT_GET_*`.
pub(crate) mod object_get {
    use std::ffi::c_int;
    pub(crate) const FILE: c_int = 0;
    pub(crate) const NAME: c_int = 1;
    pub(crate) const TYPE: c_int = 2;
    pub(crate) const INFO: c_int = 3;
}
operations! {
    /// `H5VL_object_get_args_t`.
    ObjectGetArgs, ObjectGet { file: *mut *mut c_void, name: NameBuffer, kind: *mut c_int, info: ObjectGetInfo }
}
plain! { ObjectGetInfo { fields: c_uint, info: *mut ObjectInfo } }

/// `H5VL_OBJECT_*` of `H5VL_object_specific_t`.
pub(crate) mod object_specific {
    use std::ffi::c_int;
    pub(crate) const CHANGE_REFERENCES: c_int = 0;
    pub(crate) const EXISTS: c_int = 1;
    pub(crate) const LOOKUP: c_int = 2;
    pub(crate) const VISIT: c_int = 3;
    pub(crate) const FLUSH: c_int = 4;
    pub(crate) const REFRESH: c_int = 5;
}
operations! {
    /// `H5VL_object_specific_args_t`.
    ObjectSpecificArgs, ObjectSpecific { delta: c_int, exists: *mut bool, token: *mut Token, visit: ObjectVisit, id: Hid }
}
plain! { ObjectVisit { index: c_int, order: c_int, fields: c_uint, op: Option<ObjectCallback>, data: *mut c_void } }
/// `H5O_iterate2_t`.
pub(crate) type ObjectCallback = unsafe extern "C" fn(
    object: Hid,
    name: *const c_char,
    info: *const ObjectInfo,
    data: *mut c_void,
) -> Herr;

operations! {
    /// `H5VL_request_specific_args_t`.
    RequestSpecificArgs, RequestSpecific { id: Hid, times: RequestTimes }
}
plain! { RequestTimes { start: *mut u64, duration: *mut u64 } }
/// `H5VL_request_notify_t`.
pub(crate) type RequestCallback = unsafe extern "C" fn(context: *mut c_void, status: c_int) -> Herr;

/// `H5VL_BLOB_*`.
pub(crate) mod blob_specific {
    use std::ffi::c_int;
    pub(crate) const DELETE: c_int = 0;
    pub(crate) const IS_NULL: c_int = 1;
    pub(crate) const SET_NULL: c_int = 2;
}
operations! {
    /// `H5VL_blob_specific_args_t`.
    BlobSpecificArgs, BlobSpecific { is_null: *mut bool }
}
