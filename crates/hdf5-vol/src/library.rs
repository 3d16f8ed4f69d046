//! The functions and variables of one libhdf5 that is already loaded: the one that opened this plugin.
//!
//! A process may hold several (h5py's and netCDF4's wheels each bring theirs), which know nothing of each other's ids. So nothing of HDF5 is
//! linked; every call goes through the table of the library that called.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void},
    sync::OnceLock,
};

use crate::{
    abi::{
        CloseCallback, ConnectorClass, FileSpecificArgs, Herr, Hid, Hsize, Htri, IdCallback, LocParams,
        ObjectInfo, OptionalArgs,
    },
    mpi::Mpi,
};

/// Declares [`Library`]: `ids` are functions that take and give only numbers, `pointers` those that dereference what they are given.
macro_rules! library {
    (
        ids { $($safe:ident($($safe_argument:ident: $safe_kind:ty),*) -> $safe_result:ty;)* }
        pointers { $($raw:ident($($raw_argument:ident: $raw_kind:ty),*) -> $raw_result:ty;)* }
        variables { $($variable:ident;)* }
    ) => {
        /// The table of one libhdf5.
        #[expect(non_snake_case, reason = "HDF5's own names, which a reader can look up")]
        pub(crate) struct Library {
            $($safe: unsafe extern "C" fn($($safe_kind),*) -> $safe_result,)*
            $($raw: unsafe extern "C" fn($($raw_kind),*) -> $raw_result,)*
            $($variable: *const Hid,)*
            push_error: PushError,
            decode_type: unsafe extern "C" fn(*const c_void) -> Hid,
            /// MPI, if the library is a parallel one.
            pub(crate) mpi: Option<Mpi>,
            /// The class of its own connector, once it is known.
            pub(crate) native: OnceLock<&'static ConnectorClass>,
            /// Whether it has the interface of maps, which most builds lack.
            pub(crate) has_maps: bool,
            /// Major, minor and release number.
            pub(crate) version: [c_uint; 3],
        }

        #[expect(non_snake_case, reason = "HDF5's own names, which a reader can look up")]
        impl Library {
            $(
                pub(crate) fn $safe(&self, $($safe_argument: $safe_kind),*) -> $safe_result {
                    // SAFETY: the library checks every id that it is given; no argument is a pointer.
                    unsafe { (self.$safe)($($safe_argument),*) }
                }
            )*
            $(
                /// # Safety
                /// As HDF5's function of this name demands of the pointers.
                #[allow(clippy::too_many_arguments, reason = "as many as HDF5's function has")]
                pub(crate) unsafe fn $raw(&self, $($raw_argument: $raw_kind),*) -> $raw_result {
                    // SAFETY: the caller's promise.
                    unsafe { (self.$raw)($($raw_argument),*) }
                }
            )*
            $(
                pub(crate) fn $variable(&self) -> Hid {
                    // SAFETY: a variable of the library, which stays loaded; written only while the library initialises itself.
                    unsafe { self.$variable.read() }
                }
            )*

            fn load(handle: &Handle) -> Result<Self, String> {
                Ok(Self {
                    $($safe: handle.function(concat!(stringify!($safe), "\0"))?,)*
                    $($raw: handle.function(concat!(stringify!($raw), "\0"))?,)*
                    $($variable: handle.variable(concat!(stringify!($variable), "\0"))?.cast(),)*
                    push_error: handle.function("H5Epush2\0")?,
                    // Version 2.0 has another H5Tdecode with one argument more.
                    decode_type: handle.function("H5Tdecode1\0").or_else(|_| handle.function("H5Tdecode\0"))?,
                    mpi: Mpi::of(handle),
                    native: OnceLock::new(),
                    has_maps: handle.symbol("H5Mcreate\0").is_ok(),
                    version: handle.version()?,
                })
            }
        }
    };
}

library! {
    ids {
        H5open() -> Herr;
        H5Iget_type(id: Hid) -> c_int;
        H5Iget_file_id(id: Hid) -> Hid;
        H5Pisa_class(list: Hid, class: Hid) -> Htri;
        H5Iinc_ref(id: Hid) -> c_int;
        H5Idec_ref(id: Hid) -> c_int;
        H5Eget_current_stack() -> Hid;
        H5Eset_current_stack(id: Hid) -> Herr;
        H5VLobject(id: Hid) -> *mut c_void;
        H5Tcopy(id: Hid) -> Hid;
        H5Zfilter_avail(id: c_int) -> Htri;
        H5Tget_size(id: Hid) -> usize;
        H5Tget_class(id: Hid) -> c_int;
        H5Tget_super(id: Hid) -> Hid;
        H5Tget_nmembers(id: Hid) -> c_int;
        H5Tget_member_type(id: Hid, member: c_uint) -> Hid;
        H5Tis_variable_str(id: Hid) -> Htri;
        H5Tequal(one: Hid, other: Hid) -> Htri;
        H5Tcommitted(id: Hid) -> Htri;
        H5Scopy(id: Hid) -> Hid;
        H5Screate(class: c_int) -> Hid;
        H5Sget_simple_extent_type(id: Hid) -> c_int;
        H5Sget_simple_extent_ndims(id: Hid) -> c_int;
        H5Sget_select_npoints(id: Hid) -> i64;
        H5Sget_select_type(id: Hid) -> c_int;
        H5Sselect_none(id: Hid) -> Herr;
        H5Scombine_select(one: Hid, operator: c_int, other: Hid) -> Hid;
        H5Sselect_valid(id: Hid) -> Htri;
        H5Sis_regular_hyperslab(id: Hid) -> Htri;
        H5Ssel_iter_create(space: Hid, element: usize, flags: c_uint) -> Hid;
        H5Pcopy(id: Hid) -> Hid;
        H5Pcreate(class: Hid) -> Hid;
        H5Pget_driver(list: Hid) -> Hid;
        H5Pget_layout(list: Hid) -> c_int;
        H5Pget_external_count(list: Hid) -> c_int;
        H5Pget_elink_fapl(list: Hid) -> Hid;
        H5Pget_virtual_vspace(list: Hid, index: usize) -> Hid;
        H5Pget_virtual_srcspace(list: Hid, index: usize) -> Hid;
        H5Pequal(list: Hid, other: Hid) -> Htri;
        H5Pget_nfilters(list: Hid) -> c_int;
        H5Premove_filter(list: Hid, filter: c_int) -> Herr;
        H5Pset_alloc_time(list: Hid, time: c_int) -> Herr;
        H5Pset_link_creation_order(list: Hid, flags: c_uint) -> Herr;
        H5Pset_attr_creation_order(list: Hid, flags: c_uint) -> Herr;
        H5Pset_fapl_core(list: Hid, increment: usize, is_stored: bool) -> Herr;
        H5Pset_page_buffer_size(list: Hid, size: usize, metadata: c_uint, raw: c_uint) -> Herr;
        H5Pset_fclose_degree(list: Hid, degree: c_int) -> Herr;
    }
    pointers {
        H5Tencode(id: Hid, buf: *mut c_void, size: *mut usize) -> Herr;
        H5Tconvert(from: Hid, to: Hid, count: usize, buf: *mut c_void, background: *mut c_void, dxpl: Hid) -> Herr;
        H5Treclaim(kind: Hid, space: Hid, dxpl: Hid, buf: *mut c_void) -> Herr;
        H5Screate_simple(rank: c_int, dims: *const Hsize, max: *const Hsize) -> Hid;
        H5Oget_info3(id: Hid, info: *mut ObjectInfo, fields: c_uint) -> Herr;
        H5Sselect_elements(id: Hid, operator: c_int, count: usize, places: *const Hsize) -> Herr;
        H5Sset_extent_simple(id: Hid, rank: c_int, dims: *const Hsize, max: *const Hsize) -> Herr;
        H5Sget_simple_extent_dims(id: Hid, dims: *mut Hsize, max: *mut Hsize) -> c_int;
        H5Sget_regular_hyperslab(id: Hid, start: *mut Hsize, stride: *mut Hsize, count: *mut Hsize, block: *mut Hsize) -> Htri;
        H5Sget_select_bounds(id: Hid, first: *mut Hsize, last: *mut Hsize) -> Herr;
        H5Sselect_hyperslab(id: Hid, op: c_int, start: *const Hsize, stride: *const Hsize, count: *const Hsize, block: *const Hsize) -> Herr;
        H5Ssel_iter_get_seq_list(id: Hid, max_runs: usize, max_elements: usize, runs: *mut usize, elements: *mut usize, first: *mut Hsize, count: *mut usize) -> Herr;
        H5Pencode2(list: Hid, buf: *mut c_void, size: *mut usize, fapl: Hid) -> Herr;
        H5Pdecode(buf: *const c_void) -> Hid;
        H5Pget_chunk(list: Hid, rank: c_int, dims: *mut Hsize) -> c_int;
        H5Pget_filter2(list: Hid, index: c_uint, flags: *mut c_uint, count: *mut usize, values: *mut c_uint, name_size: usize, name: *mut c_char, config: *mut c_uint) -> c_int;
        H5Pmodify_filter(list: Hid, filter: c_int, flags: c_uint, count: usize, values: *const c_uint) -> Herr;
        H5Pget_page_buffer_size(list: Hid, size: *mut usize, metadata: *mut c_uint, raw: *mut c_uint) -> Herr;
        H5Pget_file_space_strategy(list: Hid, strategy: *mut c_int, persists: *mut bool, threshold: *mut Hsize) -> Herr;
        H5Pget_file_space_page_size(list: Hid, size: *mut Hsize) -> Herr;
        H5Pget_fill_value(list: Hid, kind: Hid, value: *mut c_void) -> Herr;
        H5Pset_fill_value(list: Hid, kind: Hid, value: *const c_void) -> Herr;
        H5Pfill_value_defined(list: Hid, status: *mut c_int) -> Herr;
        H5Pget_fill_time(list: Hid, time: *mut c_int) -> Herr;
        H5Pget_attr_creation_order(list: Hid, flags: *mut c_uint) -> Herr;
        H5Pget_link_creation_order(list: Hid, flags: *mut c_uint) -> Herr;
        H5Pget_obj_track_times(list: Hid, tracks: *mut bool) -> Herr;
        H5Pget_create_intermediate_group(list: Hid, flag: *mut c_uint) -> Herr;
        H5Pget_char_encoding(list: Hid, charset: *mut c_int) -> Herr;
        H5Pget_copy_object(list: Hid, flags: *mut c_uint) -> Herr;
        H5Pget_elink_prefix(list: Hid, prefix: *mut c_char, size: usize) -> isize;
        H5Pget_elink_acc_flags(list: Hid, flags: *mut c_uint) -> Herr;
        H5FDdriver_query(driver: Hid, features: *mut c_ulong) -> Herr;
        H5Pget_virtual_count(list: Hid, count: *mut usize) -> Herr;
        H5Pget_virtual_filename(list: Hid, index: usize, name: *mut c_char, size: usize) -> isize;
        H5Pget_virtual_dsetname(list: Hid, index: usize, name: *mut c_char, size: usize) -> isize;
        H5Pget_virtual_view(list: Hid, view: *mut c_int) -> Herr;
        H5Pget_virtual_printf_gap(list: Hid, gap: *mut Hsize) -> Herr;
        H5Pget_virtual_prefix(list: Hid, prefix: *mut c_char, size: usize) -> isize;
        H5Pget_efile_prefix(list: Hid, prefix: *mut c_char, size: usize) -> isize;
        H5Pget_external(list: Hid, index: c_uint, size: usize, name: *mut c_char, offset: *mut i64, length: *mut Hsize) -> Herr;
        H5Pset_efile_prefix(list: Hid, prefix: *const c_char) -> Herr;
        H5Pset_external(list: Hid, name: *const c_char, offset: i64, length: Hsize) -> Herr;
        H5Pget_vol_info(list: Hid, info: *mut *mut c_void) -> Herr;
        H5Pexist(list: Hid, name: *const c_char) -> Htri;
        H5Pinsert2(list: Hid, name: *const c_char, size: usize, value: *mut c_void, set: *const c_void, get: *const c_void, delete: *const c_void, copy: *const c_void, compare: *const c_void, close: *const c_void) -> Herr;
        H5Pset(list: Hid, name: *const c_char, value: *const c_void) -> Herr;
        H5Pget(list: Hid, name: *const c_char, value: *mut c_void) -> Herr;
        H5Pget_size(list: Hid, name: *const c_char, size: *mut usize) -> Herr;
        H5Premove(list: Hid, name: *const c_char) -> Herr;
        H5Pget_vol_id(list: Hid, id: *mut Hid) -> Herr;
        H5VLcmp_connector_cls(order: *mut c_int, one: Hid, other: Hid) -> Herr;
        H5Pset_vol(list: Hid, connector: Hid, info: *const c_void) -> Herr;
        H5Iiterate(kind: c_int, op: IdCallback, data: *mut c_void) -> Herr;
        H5atclose(op: CloseCallback, context: *mut c_void) -> Herr;
        H5VLget_connector_id_by_name(name: *const c_char) -> Hid;
        H5VLget_connector_name(id: Hid, name: *mut c_char, size: usize) -> isize;
        H5VLfile_optional_op(file_name: *const c_char, function: *const c_char, line: c_uint, file: Hid, arguments: *mut OptionalArgs, dxpl: Hid, event_set: Hid) -> Herr;
        H5VLget_file_type(file: *mut c_void, connector: Hid, kind: Hid) -> Hid;
        H5VLwrap_register(object: *mut c_void, kind: c_int) -> Hid;
        H5Fcreate(name: *const c_char, flags: c_uint, fcpl: Hid, fapl: Hid) -> Hid;
        H5Fopen(name: *const c_char, flags: c_uint, fapl: Hid) -> Hid;
        H5Pget_fapl_core(list: Hid, increment: *mut usize, is_stored: *mut bool) -> Herr;
        H5Pget_file_image(list: Hid, bytes: *mut *mut c_void, length: *mut usize) -> Herr;
        H5VLfile_specific(file: *mut c_void, connector: Hid, arguments: *mut FileSpecificArgs, dxpl: Hid, request: *mut *mut c_void) -> Herr;
        H5VLfile_optional(file: *mut c_void, connector: Hid, arguments: *mut OptionalArgs, dxpl: Hid, request: *mut *mut c_void) -> Herr;
        H5VLfile_close(file: *mut c_void, connector: Hid, dxpl: Hid, request: *mut *mut c_void) -> Herr;
        H5VLgroup_open(object: *mut c_void, loc: *const LocParams, connector: Hid, name: *const c_char, gapl: Hid, dxpl: Hid, request: *mut *mut c_void) -> *mut c_void;
        H5VLgroup_close(object: *mut c_void, connector: Hid, dxpl: Hid, request: *mut *mut c_void) -> Herr;
        H5VLdataset_create(object: *mut c_void, loc: *const LocParams, connector: Hid, name: *const c_char, lcpl: Hid, kind: Hid, space: Hid, dcpl: Hid, dapl: Hid, dxpl: Hid, request: *mut *mut c_void) -> *mut c_void;
        H5VLdataset_close(object: *mut c_void, connector: Hid, dxpl: Hid, request: *mut *mut c_void) -> Herr;
        H5VLdatatype_commit(object: *mut c_void, loc: *const LocParams, connector: Hid, name: *const c_char, kind: Hid, lcpl: Hid, tcpl: Hid, tapl: Hid, dxpl: Hid, request: *mut *mut c_void) -> *mut c_void;
        H5VLdatatype_close(object: *mut c_void, connector: Hid, dxpl: Hid, request: *mut *mut c_void) -> Herr;
        H5VLattr_create(object: *mut c_void, loc: *const LocParams, connector: Hid, name: *const c_char, kind: Hid, space: Hid, acpl: Hid, aapl: Hid, dxpl: Hid, request: *mut *mut c_void) -> *mut c_void;
        H5VLattr_close(object: *mut c_void, connector: Hid, dxpl: Hid, request: *mut *mut c_void) -> Herr;
        H5VLintrospect_get_conn_cls(object: *mut c_void, connector: Hid, level: c_int, class: *mut *const ConnectorClass) -> Herr;
    }
    variables {
        H5T_NATIVE_INT_g;
        H5P_CLS_FILE_ACCESS_ID_g;
        H5P_CLS_FILE_CREATE_ID_g;
        H5P_CLS_GROUP_CREATE_ID_g;
        H5P_CLS_DATASET_CREATE_ID_g;
        H5P_CLS_DATASET_ACCESS_ID_g;
        H5P_CLS_DATATYPE_CREATE_ID_g;
        H5P_CLS_ATTRIBUTE_CREATE_ID_g;
        H5P_CLS_MAP_CREATE_ID_g;
        H5P_CLS_MAP_ACCESS_ID_g;
        H5P_LST_FILE_CREATE_ID_g;
        H5P_LST_FILE_ACCESS_ID_g;
        H5P_LST_GROUP_ACCESS_ID_g;
        H5P_LST_DATASET_CREATE_ID_g;
        H5P_LST_DATASET_ACCESS_ID_g;
        H5P_LST_DATASET_XFER_ID_g;
        H5P_LST_LINK_CREATE_ID_g;
        H5P_LST_DATATYPE_CREATE_ID_g;
        H5P_LST_DATATYPE_ACCESS_ID_g;
        H5P_LST_ATTRIBUTE_CREATE_ID_g;
        H5P_LST_ATTRIBUTE_ACCESS_ID_g;
        H5E_ERR_CLS_g;
        H5E_VOL_g;
        H5E_CANTGET_g;
        H5E_NOTFOUND_g;
        H5E_EXISTS_g;
        H5E_UNSUPPORTED_g;
        H5E_BADVALUE_g;
        H5E_WRITEERROR_g;
    }
}

/// `H5Epush2`.
type PushError = unsafe extern "C" fn(
    Hid,
    *const c_char,
    *const c_char,
    c_uint,
    Hid,
    Hid,
    Hid,
    *const c_char,
    ...
) -> Herr;

// SAFETY: the pointers are to functions and variables of a library that is never unloaded.
unsafe impl Sync for Library {}
// SAFETY: as above.
unsafe impl Send for Library {}

impl Library {
    /// The table of the loaded library that holds `address`.
    pub(crate) fn of_address(address: *const c_void) -> Result<Self, String> {
        Self::load(&Handle::of_address(address)?)
    }

    /// The datatype that [`Self::H5Tencode`] made these bytes of. The caller has decoded them, so that nothing is missing at their end.
    pub(crate) fn decode_type(&self, bytes: &[u8]) -> Hid {
        if bytes.is_empty() {
            return crate::abi::INVALID;
        }
        // SAFETY: the library reads an encoded type, whose length is in it. The bytes come from `H5Tencode`, under the checksums of the store.
        unsafe { (self.decode_type)(bytes.as_ptr().cast()) }
    }

    /// Puts an error on the stack of the current thread.
    pub(crate) fn push_error(&self, major: Hid, minor: Hid, message: &CStr) {
        // SAFETY: all texts are constants or outlive the call, and `%s` takes one text.
        unsafe {
            (self.push_error)(
                crate::abi::DEFAULT,
                c"isotach_vol".as_ptr(),
                c"isotach".as_ptr(),
                0,
                self.H5E_ERR_CLS_g(),
                major,
                minor,
                c"%s".as_ptr(),
                message.as_ptr(),
            );
        }
    }
}

/// A library that is loaded, by `dlopen`'s handle.
pub(crate) struct Handle(*mut c_void);

impl Handle {
    fn of_address(address: *const c_void) -> Result<Self, String> {
        // SAFETY: a struct of C that may be all zeros.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: `dladdr` takes any address and fills `info`.
        if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
            return Err("the library that calls is not known".to_owned());
        }
        // SAFETY: `dladdr` gave a text that lives as long as the library. Nothing is loaded that is not loaded already.
        let handle = unsafe { libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            // A program that is linked statically with HDF5 exports its functions itself.
            // SAFETY: no name means the program.
            let program = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_LAZY) };
            return if program.is_null() {
                Err("the library that calls cannot be opened".to_owned())
            } else {
                Ok(Self(program))
            };
        }
        Ok(Self(handle))
    }

    pub(crate) fn symbol(&self, name: &'static str) -> Result<*mut c_void, String> {
        let text = CStr::from_bytes_with_nul(name.as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: the handle is open, the name ends with a zero.
        let symbol = unsafe { libc::dlsym(self.0, text.as_ptr()) };
        if symbol.is_null() {
            Err(format!("the library has no {}", text.to_string_lossy()))
        } else {
            Ok(symbol)
        }
    }

    /// A variable. A program that is linked with the library may hold a copy of it, which is then the library's own, too: the linker
    /// resolves the name to the copy everywhere but in a search of the library alone.
    pub(crate) fn variable(&self, name: &'static str) -> Result<*mut c_void, String> {
        let own = self.symbol(name)?;
        let is_in_scope = in_scope(c"H5Epush2") == self.symbol("H5Epush2\0")?;
        let text = CStr::from_bytes_with_nul(name.as_bytes()).map_err(|error| error.to_string())?;
        let used = if is_in_scope { in_scope(text) } else { own };
        Ok(if used.is_null() { own } else { used })
    }

    /// A function, by its name with a zero behind it. `F` must be its type as HDF5's headers declare it.
    pub(crate) fn function<F: Copy>(&self, name: &'static str) -> Result<F, String> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "a pointer to a function") };
        let symbol = self.symbol(name)?;
        // SAFETY: a function of C, whose type the table declares as the headers do; both are pointers.
        Ok(unsafe { std::mem::transmute_copy(&symbol) })
    }

    fn version(&self) -> Result<[c_uint; 3], String> {
        type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint) -> Herr;
        let get: GetVersion = self.function("H5get_libversion\0")?;
        let mut version = [0; 3];
        let [major, minor, release] = &mut version;
        // SAFETY: three numbers that the library sets.
        unsafe { get(major, minor, release) };
        Ok(version)
    }
}

/// What the program and the libraries that it is linked with mean by a name; null if nothing.
fn in_scope(name: &CStr) -> *mut c_void {
    // SAFETY: a search of what is loaded.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

impl Library {
    /// What tells loaded libraries apart.
    pub(crate) fn key(&self) -> usize {
        self.H5E_ERR_CLS_g.addr()
    }

    /// Whether it is version 2 or later.
    pub(crate) fn is_two(&self) -> bool {
        self.version[0] >= 2
    }
}
