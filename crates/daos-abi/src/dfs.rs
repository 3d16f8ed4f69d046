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

structures! {
    /// What holds for a file system, all of it optional when one is made.
    #[derive(Clone, Copy, Debug)]
    dfs_attr_t = 176 {
        0 da_id: u64, "A number of the user's.";
        8 da_chunk_size: daos_size_t, "Bytes of a chunk of files.";
        16 da_oclass_id: daos_oclass_id_t, "The class of all objects.";
        24 da_props: *mut daos_prop_t, "Properties of the container.";
        32 da_mode: u32, "`DFS_RELAXED` or `DFS_BALANCED`.";
        36 da_dir_oclass_id: daos_oclass_id_t, "The class of directories.";
        40 da_file_oclass_id: daos_oclass_id_t, "The class of files.";
        44 da_hints: [c_char; DAOS_CONT_HINT_MAX_LEN], "Hints such as `file:single,dir:max`.";
    }

    /// What a path of the system's leads to.
    #[derive(Clone, Copy, Debug)]
    duns_attr_t = 480 {
        0 da_type: u16, "What the container holds.";
        4 da_oclass_id: daos_oclass_id_t, "The class of all objects of a file system that is made.";
        8 da_chunk_size: daos_size_t, "Bytes of a chunk of files of a file system that is made.";
        16 da_props: *mut daos_prop_t, "Properties of a container that is made.";
        24 da_flags: u32, "How the path is read.";
        28 da_pool: [c_char; DAOS_PROP_MAX_LABEL_BUF_LEN], "The pool: its label or UUID.";
        156 da_cont: [c_char; DAOS_PROP_MAX_LABEL_BUF_LEN], "The container: its label or UUID.";
        288 da_sys: *mut c_char, "The name of the system.";
        296 da_rel_path: *mut c_char, "What of the path is behind that.";
        304 da_on_lustre: u8,
            "Whether the path is on Lustre: a `bool` of C, which a program need not have set.";
        305 da_no_prefix: u8, "As the flag `DUNS_NO_PREFIX`, unless it is 0.";
        306 da_puuid: uuid_t, "The UUID of the pool, if it is named by that.";
        322 da_cuuid: uuid_t, "The UUID of the container, if it is named by that.";
        340 da_dir_oclass_id: daos_oclass_id_t, "The class of directories of a file system that is made.";
        344 da_file_oclass_id: daos_oclass_id_t, "The class of files of a file system that is made.";
        348 da_hints: [c_char; DAOS_CONT_HINT_MAX_LEN], "Hints of a file system that is made.";
    }
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

structures! {
    /// Which bytes of a file to read or write.
    #[derive(Clone, Copy, Debug)]
    dfs_iod_t = 16 {
        0 iod_nr: daos_size_t, "How many ranges there are.";
        8 iod_rgs: *mut daos_range_t, "The ranges.";
    }

    /// What is known of an open object.
    #[derive(Clone, Copy, Debug, Default)]
    dfs_obj_info_t = 40 {
        0 doi_oclass_id: daos_oclass_id_t, "Its class.";
        8 doi_chunk_size: daos_size_t, "Bytes of a chunk, of a file or of new files in a directory.";
        16 doi_dir_oclass_id: daos_oclass_id_t, "The class of new directories in a directory.";
        20 doi_file_oclass_id: daos_oclass_id_t, "The class of new files in a directory.";
        24 doi_oid: daos_obj_id_t, "Its identifier.";
    }
}
