//! The file system on DAOS (libdfs): structures and numbers.

use core::ffi::{c_char, c_int, c_uint};

use crate::info::daos_prop_t;
use crate::properties::DAOS_PROP_MAX_LABEL_BUF_LEN;
use crate::types::{daos_obj_id_t, daos_oclass_id_t, daos_range_t, daos_size_t, uuid_t};

numbers! {
    DFS_MAX_NAME: usize = 255, "The most bytes that a name has.";
    DFS_MAX_PATH: usize = 4096, "The most bytes that a path has, with the zero that ends it.";
    DFS_MAX_XATTR_NAME: usize = 255, "The most bytes that the name of an extended attribute has.";
    DFS_MAX_XATTR_LEN: usize = 65_536, "The most bytes that the value of an extended attribute has.";
    DFS_DEFAULT_CHUNK_SIZE: u64 = 1_048_576, "The number of bytes a chunk has where nothing else is said.";
    DAOS_CONT_HINT_MAX_LEN: usize = 128, "The most bytes that hints have, with the zero that ends them.";

    DFS_SYS_NO_CACHE: c_int = 1, "Mounts by whole paths: no directories are kept open.";
    DFS_SYS_NO_LOCK: c_int = 2, "Mounts by whole paths: one thread uses them.";
    DFS_BALANCED: c_uint = 4, "Operations are transactions.";
    DFS_RELAXED: c_uint = 0, "Operations are not transactions.";

    DFS_SET_ATTR_MODE: c_int = 1, "Set the mode.";
    DFS_SET_ATTR_ATIME: c_int = 2, "Set the time of the last access.";
    DFS_SET_ATTR_MTIME: c_int = 4, "Set the time of the last modification.";
    DFS_SET_ATTR_SIZE: c_int = 8, "Set the size.";
    DFS_SET_ATTR_UID: c_int = 16, "Set the user.";
    DFS_SET_ATTR_GID: c_int = 32, "Set the group.";
}

/// What holds for a file system, all of it optional when one is made.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dfs_attr_t {
    /// A number of the user's.
    pub da_id: u64,
    /// Bytes of a chunk of files.
    pub da_chunk_size: daos_size_t,
    /// The class of all objects.
    pub da_oclass_id: daos_oclass_id_t,
    /// Properties of the container.
    pub da_props: *mut daos_prop_t,
    /// `DFS_RELAXED` or `DFS_BALANCED`.
    pub da_mode: u32,
    /// The class of directories.
    pub da_dir_oclass_id: daos_oclass_id_t,
    /// The class of files.
    pub da_file_oclass_id: daos_oclass_id_t,
    /// Hints such as `file:single,dir:max`.
    pub da_hints: [c_char; DAOS_CONT_HINT_MAX_LEN],
}

/// What a path of the system's leads to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct duns_attr_t {
    /// What the container holds.
    pub da_type: u16,
    /// The class of all objects of a file system that is made.
    pub da_oclass_id: daos_oclass_id_t,
    /// Bytes of a chunk of files of a file system that is made.
    pub da_chunk_size: daos_size_t,
    /// Properties of a container that is made.
    pub da_props: *mut daos_prop_t,
    /// How the path is read.
    pub da_flags: u32,
    /// The pool: its label or UUID.
    pub da_pool: [c_char; DAOS_PROP_MAX_LABEL_BUF_LEN],
    /// The container: its label or UUID.
    pub da_cont: [c_char; DAOS_PROP_MAX_LABEL_BUF_LEN],
    /// The name of the system.
    pub da_sys: *mut c_char,
    /// What of the path is behind that.
    pub da_rel_path: *mut c_char,
    /// Whether the path is on Lustre: a `bool` of C, which a program need not have set.
    pub da_on_lustre: u8,
    /// As the flag `DUNS_NO_PREFIX`, unless it is 0.
    pub da_no_prefix: u8,
    /// The UUID of the pool, if it is named by that.
    pub da_puuid: uuid_t,
    /// The UUID of the container, if it is named by that.
    pub da_cuuid: uuid_t,
    /// The class of directories of a file system that is made.
    pub da_dir_oclass_id: daos_oclass_id_t,
    /// The class of files of a file system that is made.
    pub da_file_oclass_id: daos_oclass_id_t,
    /// Hints of a file system that is made.
    pub da_hints: [c_char; DAOS_CONT_HINT_MAX_LEN],
}

numbers! {
    DUNS_NO_PREFIX: u32 = 1, "A path without `daos:` names pool and container.";
    DUNS_NO_REVERSE_LOOKUP: u32 = 2, "Of a path only the last part is checked.";
    DUNS_NO_CHECK_PATH: u32 = 4, "It is no path of the system's.";
}
/// The extended attribute of a path that says what it leads to.
pub const DUNS_XATTR_NAME: &core::ffi::CStr = c"user.daos";
numbers! {
    DUNS_MAX_XATTR_LEN: usize = 170, "The most bytes that the value of that has.";
}

layouts! {
    duns_attr_t = 480 { da_pool: 28, da_sys: 288, da_on_lustre: 304, da_puuid: 306, da_hints: 348 }
}

/// Which bytes of a file to read or write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct dfs_iod_t {
    /// How many ranges there are.
    pub iod_nr: daos_size_t,
    /// The ranges.
    pub iod_rgs: *mut daos_range_t,
}

/// What is known of an open object.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct dfs_obj_info_t {
    /// Its class.
    pub doi_oclass_id: daos_oclass_id_t,
    /// Bytes of a chunk, of a file or of new files in a directory.
    pub doi_chunk_size: daos_size_t,
    /// The class of new directories in a directory.
    pub doi_dir_oclass_id: daos_oclass_id_t,
    /// The class of new files in a directory.
    pub doi_file_oclass_id: daos_oclass_id_t,
    /// Its identifier.
    pub doi_oid: daos_obj_id_t,
}

layouts! {
    dfs_attr_t = 176 {
        da_id: 0, da_chunk_size: 8, da_oclass_id: 16, da_props: 24, da_mode: 32, da_dir_oclass_id: 36,
        da_file_oclass_id: 40, da_hints: 44,
    }
    dfs_iod_t = 16 { iod_rgs: 8 }
    dfs_obj_info_t = 40 {
        doi_oclass_id: 0, doi_chunk_size: 8, doi_dir_oclass_id: 16, doi_file_oclass_id: 20, doi_oid: 24,
    }
}
