//! The functions used of librados, found by name in the loaded library.

use std::{
    ffi::{c_char, c_int, c_uchar, c_void},
    sync::OnceLock,
};

use isotach_engine_kit::{functions, library};

/// librados' opaque types, by the names its header gives them.
pub(super) type Rados = *mut c_void;
pub(super) type IoCtx = *mut c_void;
pub(super) type Completion = *mut c_void;
pub(super) type RawWrite = *mut c_void;
pub(super) type RawRead = *mut c_void;
pub(super) type OmapIter = *mut c_void;
pub(super) type AttrIter = *mut c_void;
pub(super) type ListCtx = *mut c_void;

/// Called when an operation has ended.
type Callback = unsafe extern "C" fn(Completion, *mut c_void);

/// `struct rados_cluster_stat_t`: sizes in KiB.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct ClusterStat {
    pub(super) kb: u64,
    pub(super) kb_used: u64,
    pub(super) kb_avail: u64,
    pub(super) num_objects: u64,
}

functions! {
    rados_create2: fn(*mut Rados, *const c_char, *const c_char, u64) -> c_int;
    rados_conf_read_file: fn(Rados, *const c_char) -> c_int;
    rados_conf_parse_env: fn(Rados, *const c_char) -> c_int;
    rados_conf_set: fn(Rados, *const c_char, *const c_char) -> c_int;
    rados_connect: fn(Rados) -> c_int;
    rados_shutdown: fn(Rados);
    rados_cluster_stat: fn(Rados, *mut ClusterStat) -> c_int;
    rados_ioctx_create: fn(Rados, *const c_char, *mut IoCtx) -> c_int;
    rados_ioctx_destroy: fn(IoCtx);
    rados_ioctx_set_namespace: fn(IoCtx, *const c_char);

    rados_aio_create_completion2: fn(*mut c_void, Option<Callback>, *mut Completion) -> c_int;
    rados_aio_wait_for_complete: fn(Completion) -> c_int;
    rados_aio_is_complete: fn(Completion) -> c_int;
    rados_aio_get_return_value: fn(Completion) -> c_int;
    rados_aio_get_version: fn(Completion) -> u64;
    rados_aio_release: fn(Completion);

    rados_create_write_op: fn() -> RawWrite;
    rados_release_write_op: fn(RawWrite);
    rados_write_op_create: fn(RawWrite, c_int, *const c_char);
    rados_write_op_write_full: fn(RawWrite, *const c_char, usize);
    rados_write_op_remove: fn(RawWrite);
    rados_write_op_setxattr: fn(RawWrite, *const c_char, *const c_char, usize);
    rados_write_op_cmpxattr: fn(RawWrite, *const c_char, c_uchar, *const c_char, usize);
    rados_write_op_omap_cmp2: fn(RawWrite, *const c_char, c_uchar, *const c_char, usize, usize, *mut c_int);
    rados_write_op_omap_set2: fn(RawWrite, *const *const c_char, *const *const c_char, *const usize, *const usize, usize);
    rados_write_op_omap_rm_keys2: fn(RawWrite, *const *const c_char, *const usize, usize);
    rados_write_op_omap_rm_range2: fn(RawWrite, *const c_char, usize, *const c_char, usize);
    rados_aio_write_op_operate: fn(RawWrite, IoCtx, Completion, *const c_char, *mut i64, c_int) -> c_int;

    rados_create_read_op: fn() -> RawRead;
    rados_release_read_op: fn(RawRead);
    rados_read_op_stat: fn(RawRead, *mut u64, *mut i64, *mut c_int);
    rados_read_op_read: fn(RawRead, u64, usize, *mut c_char, *mut usize, *mut c_int);
    rados_read_op_cmpxattr: fn(RawRead, *const c_char, c_uchar, *const c_char, usize);
    rados_read_op_getxattrs: fn(RawRead, *mut AttrIter, *mut c_int);
    rados_read_op_omap_cmp2: fn(RawRead, *const c_char, c_uchar, *const c_char, usize, usize, *mut c_int);
    rados_read_op_omap_get_vals2: fn(RawRead, *const c_char, *const c_char, u64, *mut OmapIter, *mut c_uchar, *mut c_int);
    rados_read_op_omap_get_keys2: fn(RawRead, *const c_char, u64, *mut OmapIter, *mut c_uchar, *mut c_int);
    rados_read_op_omap_get_vals_by_keys2: fn(RawRead, *const *const c_char, usize, *const usize, *mut OmapIter, *mut c_int);
    rados_aio_read_op_operate: fn(RawRead, IoCtx, Completion, *const c_char, c_int) -> c_int;

    rados_getxattrs_next: fn(AttrIter, *mut *const c_char, *mut *const c_char, *mut usize) -> c_int;
    rados_getxattrs_end: fn(AttrIter);
    rados_omap_get_next2: fn(OmapIter, *mut *mut c_char, *mut *mut c_char, *mut usize, *mut usize) -> c_int;
    rados_omap_get_end: fn(OmapIter);

    rados_nobjects_list_open: fn(IoCtx, *mut ListCtx) -> c_int;
    rados_nobjects_list_next2: fn(ListCtx, *mut *const c_char, *mut *const c_char, *mut *const c_char, *mut usize, *mut usize, *mut usize) -> c_int;
    rados_nobjects_list_close: fn(ListCtx);
}

/// librados, loaded when it is first asked for and kept for the life of the process.
pub(super) fn functions() -> Result<&'static Functions, &'static str> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref().map_err(String::as_str)
}

/// Whether librados is on this machine.
pub(crate) fn is_installed() -> bool {
    functions().is_ok()
}

fn load() -> Result<Functions, String> {
    // SAFETY: librados and what it was built with have no demands on the process that loads them.
    let library = unsafe { library::load(["librados.so.2"]) }?;
    // SAFETY: the types are those of librados' header since 14.2.
    unsafe { Functions::find(library) }
}
