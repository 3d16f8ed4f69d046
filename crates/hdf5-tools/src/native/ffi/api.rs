//! The functions used of HDF5, found by name in the loaded library.
#![expect(non_snake_case, reason = "functions keep the names of HDF5's header")]

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    marker::PhantomData,
    path::Path,
    ptr,
    sync::Mutex,
};

use isotach_engine_kit::{functions, library};

use super::{
    call, call_with_memory,
    raw::{EachAttribute, EachChunk, EachLink, Herr, Hid, RawObjectInfo, Token, WalkErrors},
};

functions! {
    H5open: fn() -> Herr;
    H5get_libversion: fn(*mut c_uint, *mut c_uint, *mut c_uint) -> Herr;
    H5Eset_auto2: fn(Hid, *const c_void, *mut c_void) -> Herr;
    H5Ewalk2: fn(Hid, c_int, WalkErrors, *mut c_void) -> Herr;
    H5Idec_ref: fn(Hid) -> c_int;
    H5Fopen: fn(*const c_char, c_uint, Hid) -> Hid;
    H5Fcreate: fn(*const c_char, c_uint, Hid, Hid) -> Hid;
    H5Fflush: fn(Hid, c_int) -> Herr;
    H5Fget_create_plist: fn(Hid) -> Hid;
    H5Oopen: fn(Hid, *const c_char, Hid) -> Hid;
    H5Oopen_by_token: fn(Hid, Token) -> Hid;
    H5Oget_info3: fn(Hid, *mut RawObjectInfo, c_uint) -> Herr;
    H5Oget_info_by_name3: fn(Hid, *const c_char, *mut RawObjectInfo, c_uint, Hid) -> Herr;
    H5Oget_comment: fn(Hid, *mut c_char, usize) -> isize;
    H5Oset_comment: fn(Hid, *const c_char) -> Herr;
    H5Olink: fn(Hid, Hid, *const c_char, Hid, Hid) -> Herr;
    H5Literate2: fn(Hid, c_int, c_int, *mut u64, EachLink, *mut c_void) -> Herr;
    H5Lget_val: fn(Hid, *const c_char, *mut c_void, usize, Hid) -> Herr;
    H5Lcreate_soft: fn(*const c_char, Hid, *const c_char, Hid, Hid) -> Herr;
    H5Lcreate_external: fn(*const c_char, *const c_char, Hid, *const c_char, Hid, Hid) -> Herr;
    H5Aiterate2: fn(Hid, c_int, c_int, *mut u64, EachAttribute, *mut c_void) -> Herr;
    H5Aopen: fn(Hid, *const c_char, Hid) -> Hid;
    H5Acreate2: fn(Hid, *const c_char, Hid, Hid, Hid, Hid) -> Hid;
    H5Aget_type: fn(Hid) -> Hid;
    H5Aget_space: fn(Hid) -> Hid;
    H5Aget_create_plist: fn(Hid) -> Hid;
    H5Aread: fn(Hid, Hid, *mut c_void) -> Herr;
    H5Awrite: fn(Hid, Hid, *const c_void) -> Herr;
    H5Dcreate_anon: fn(Hid, Hid, Hid, Hid, Hid) -> Hid;
    H5Dget_type: fn(Hid) -> Hid;
    H5Dget_space: fn(Hid) -> Hid;
    H5Dget_create_plist: fn(Hid) -> Hid;
    H5Dget_storage_size: fn(Hid) -> u64;
    H5Dget_space_status: fn(Hid, *mut c_int) -> Herr;
    H5Dread: fn(Hid, Hid, Hid, Hid, Hid, *mut c_void) -> Herr;
    H5Dwrite: fn(Hid, Hid, Hid, Hid, Hid, *const c_void) -> Herr;
    H5Dget_num_chunks: fn(Hid, Hid, *mut u64) -> Herr;
    H5Dget_chunk_info: fn(Hid, Hid, u64, *mut u64, *mut c_uint, *mut u64, *mut u64) -> Herr;
    H5Dget_chunk_storage_size: fn(Hid, *const u64, *mut u64) -> Herr;
    H5Dread_chunk ["H5Dread_chunk1", "H5Dread_chunk"]: fn(Hid, Hid, *const u64, *mut u32, *mut c_void) -> Herr;
    H5Dwrite_chunk: fn(Hid, Hid, u32, *const u64, usize, *const c_void) -> Herr;
    H5Gcreate_anon: fn(Hid, Hid, Hid) -> Hid;
    H5Gget_create_plist: fn(Hid) -> Hid;
    H5Tcommit_anon: fn(Hid, Hid, Hid, Hid) -> Herr;
    H5Tget_create_plist: fn(Hid) -> Hid;
    H5Tcommitted: fn(Hid) -> c_int;
    H5Tencode: fn(Hid, *mut c_void, *mut usize) -> Herr;
    H5Tdecode ["H5Tdecode1", "H5Tdecode"]: fn(*const c_void) -> Hid;
    H5Tcopy: fn(Hid) -> Hid;
    H5Tget_size: fn(Hid) -> usize;
    H5Treclaim: fn(Hid, Hid, Hid, *mut c_void) -> Herr;
    H5Screate: fn(c_int) -> Hid;
    H5Screate_simple: fn(c_int, *const u64, *const u64) -> Hid;
    H5Sget_simple_extent_type: fn(Hid) -> c_int;
    H5Sget_simple_extent_dims: fn(Hid, *mut u64, *mut u64) -> c_int;
    H5Sselect_hyperslab: fn(Hid, c_int, *const u64, *const u64, *const u64, *const u64) -> Herr;
    H5Sencode ["H5Sencode2"]: fn(Hid, *mut c_void, *mut usize, Hid) -> Herr;
    H5Sselect_shape_same: fn(Hid, Hid) -> c_int;
    H5Sget_select_bounds: fn(Hid, *mut u64, *mut u64) -> Herr;
    H5Pcreate: fn(Hid) -> Hid;
    H5Pencode2: fn(Hid, *mut c_void, *mut usize, Hid) -> Herr;
    H5Pdecode: fn(*const c_void) -> Hid;
    H5Pget_link_creation_order: fn(Hid, *mut c_uint) -> Herr;
    H5Pset_link_creation_order: fn(Hid, c_uint) -> Herr;
    H5Pget_attr_creation_order: fn(Hid, *mut c_uint) -> Herr;
    H5Pset_attr_creation_order: fn(Hid, c_uint) -> Herr;
    H5Pget_obj_track_times: fn(Hid, *mut bool) -> Herr;
    H5Pget_layout: fn(Hid) -> c_int;
    H5Pget_chunk: fn(Hid, c_int, *mut u64) -> c_int;
    H5Pset_chunk: fn(Hid, c_int, *const u64) -> Herr;
    H5Pget_chunk_opts: fn(Hid, *mut c_uint) -> Herr;
    H5Pget_external_count: fn(Hid) -> c_int;
    H5Pget_virtual_count: fn(Hid, *mut usize) -> Herr;
    H5Pget_virtual_vspace: fn(Hid, usize) -> Hid;
    H5Pget_virtual_srcspace: fn(Hid, usize) -> Hid;
    H5Pget_virtual_filename: fn(Hid, usize, *mut c_char, usize) -> isize;
    H5Pget_virtual_dsetname: fn(Hid, usize, *mut c_char, usize) -> isize;
    H5Pget_nfilters: fn(Hid) -> c_int;
    H5Pget_filter2: fn(Hid, c_uint, *mut c_uint, *mut usize, *mut c_uint, usize, *mut c_char, *mut c_uint) -> c_int;
    H5Pset_filter: fn(Hid, c_int, c_uint, usize, *const c_uint) -> Herr;
    H5Pfill_value_defined: fn(Hid, *mut c_int) -> Herr;
    H5Pget_fill_time: fn(Hid, *mut c_int) -> Herr;
    H5Pget_fill_value: fn(Hid, Hid, *mut c_void) -> Herr;
    H5Pset_fill_value: fn(Hid, Hid, *const c_void) -> Herr;
    H5Pget_char_encoding: fn(Hid, *mut c_int) -> Herr;
    H5Pset_char_encoding: fn(Hid, c_int) -> Herr;
    H5Pset_libver_bounds: fn(Hid, c_int, c_int) -> Herr;
    H5Zfilter_avail: fn(c_int) -> c_int;
    H5Rcreate_object: fn(Hid, *const c_char, Hid, *mut c_void) -> Herr;
    H5Rget_type: fn(*const c_void) -> c_int;
    H5Ropen_object: fn(*mut c_void, Hid, Hid) -> Hid;
    H5Rdestroy: fn(*mut c_void) -> Herr;
    ? H5Dchunk_iter ["H5Dchunk_iter"]: fn(Hid, Hid, EachChunk, *mut c_void) -> Herr;
}

/// The oldest version with object tokens and references of all kinds.
const OLDEST: (u32, u32) = (1, 12);

/// A loaded HDF5 library.
#[derive(Debug)]
pub(crate) struct Library {
    pub(super) functions: Functions,
    /// Where the ids of the classes of property lists are, in the order of [`super::lists::PropertyClass`].
    pub(super) classes: [*const Hid; 5],
    version: (u32, u32, u32),
    _one_thread: PhantomData<*const ()>,
}

/// What must not be in the environment when HDF5 starts: it would replace the native connector, or look for plugins of another library.
const VARIABLES: [&str; 1] = ["HDF5_VOL_CONNECTOR"];

/// Held while variables are removed.
static REMOVING: Mutex<()> = Mutex::new(());

impl Library {
    /// Makes the process forget the connector that the environment names. To be called before there are threads.
    pub(crate) fn forget_connector() {
        let _alone = REMOVING.lock();
        for name in VARIABLES {
            if std::env::var_os(name).is_some() {
                // SAFETY: the program calls this before it starts threads, so nothing reads the environment meanwhile.
                unsafe { std::env::remove_var(name) };
            }
        }
    }

    /// Loads a library that HDF5 needs and its own search path does not reach. Returns whether that was possible.
    pub(crate) fn preload(path: &Path) -> bool {
        // SAFETY: as for `load`: the path is in the folder of libraries that HDF5 was packaged with.
        unsafe { library::load([path]) }.is_ok()
    }

    /// Loads a library. The process keeps it loaded, even if it is none that can be used.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        // SAFETY: loading runs the initialisers of HDF5 and of the libraries that it was built with. They make no demands on the process.
        let loaded = unsafe { library::load([path]) }?;
        // SAFETY: the types are those of the headers of HDF5 1.12 to 2.2.
        let functions = unsafe { Functions::find(loaded) };
        let functions =
            functions.map_err(|reason| format!("it is older than 1.12 or no HDF5 library ({reason})"))?;
        let class = |name: &str| {
            // SAFETY: the symbol is a variable of type hid_t.
            unsafe { library::function::<*const Hid>(loaded, name, &[]) }
        };
        let classes = [
            class("H5P_CLS_FILE_CREATE_ID_g")?,
            class("H5P_CLS_FILE_ACCESS_ID_g")?,
            class("H5P_CLS_GROUP_CREATE_ID_g")?,
            class("H5P_CLS_DATASET_CREATE_ID_g")?,
            class("H5P_CLS_LINK_CREATE_ID_g")?,
        ];
        let mut library = Self { functions, classes, version: (0, 0, 0), _one_thread: PhantomData };
        let (mut major, mut minor, mut release) = (0, 0, 0);
        call_with_memory!(library, H5get_libversion(&raw mut major, &raw mut minor, &raw mut release));
        if (major, minor) < OLDEST {
            return Err(format!("it is version {major}.{minor}.{release}, older than 1.12"));
        }
        library.version = (major, minor, release);
        if call!(library, H5open()) < 0 {
            return Err("it does not start".to_owned());
        }
        // Errors are returned, not printed.
        call_with_memory!(library, H5Eset_auto2(0, ptr::null(), ptr::null_mut()));
        Ok(library)
    }

    /// The version, as in "2.0.0".
    pub(crate) fn version(&self) -> String {
        let (major, minor, release) = self.version;
        format!("{major}.{minor}.{release}")
    }
}
