//! The native shadow: real objects of HDF5's own connector, in a small file in memory, which stand for ours where HDF5 asks for native ones.
//!
//! HDF5 refuses many functions of its first interface, which h5py uses, to other connectors than its own. This one names the native
//! class as its terminal one, and hands out objects of the shadow. HDF5 asks them for the size of an address, and nothing else.
//! A committed datatype is asked for its properties, so its shadow has the same type.

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_int, c_void},
    ptr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crate::{
    abi::{
        FileSpecific, FileSpecificArgs, Herr, Hid, LocByName, LocData, LocParams, OptionalArgs, SPACE_SCALAR,
        access, by, dataset_get, file_op, file_specific, id_type,
    },
    ending,
    error::{Error, Result},
    id::{Id, check},
    library::Library,
    native_dataset::NativeDataset,
};

/// The shadow of one open file.
pub(crate) struct Shadow {
    library: &'static Library,
    native: Id,
    file: *mut c_void,
    group: *mut c_void,
    dataset: *mut c_void,
    attribute: *mut c_void,
    /// Something was asked of its file that may have set something.
    is_set: AtomicBool,
}

// SAFETY: only the library looks into the objects, which passes them to calls that hold its lock.
unsafe impl Send for Shadow {}
// SAFETY: as above.
unsafe impl Sync for Shadow {}

/// The number of the file behind each native object: HDF5 compares files by their shadows.
static FILES: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

/// The number of the file that a native object stands for, or for an object of.
pub(crate) fn file_number(shadow: *const c_void) -> Option<u64> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).get(&shadow.addr()).copied()
}

/// The shadows of a library.
struct Kept {
    library: usize,
    /// It is open until the library ends.
    lasting: Arc<Shadow>,
    /// They are lent to files, or wait for one.
    others: Vec<Arc<Shadow>>,
}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// How many shadows are kept for the files that are opened next. Making one takes a quarter of the time of opening a file.
const OTHERS: usize = 4;

fn of_library<T>(library: &Library, look: impl FnOnce(&mut Kept) -> T) -> Option<T> {
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter_mut().find(|kept| kept.library == library.key()).map(look)
}

/// Makes the shadow of a library that is open until it ends, if there is none yet.
pub(crate) fn prepare(library: &'static Library) -> Result<()> {
    if lasting(library).is_none() {
        ending::prepare(library)?;
        // No number of a file is 0.
        let kept =
            Kept { library: library.key(), lasting: Arc::new(Shadow::new(library, 0)?), others: Vec::new() };
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
    }
    Ok(())
}

/// The shadow of a library that is open until it ends.
pub(crate) fn lasting(library: &Library) -> Option<Arc<Shadow>> {
    of_library(library, |kept| Arc::clone(&kept.lasting))
}

/// A shadow for a file that is opened: one that no file has any more, or a new one.
pub(crate) fn lend(library: &'static Library, number: u64) -> Result<Arc<Shadow>> {
    let free =
        of_library(library, |kept| kept.others.iter().find(|shadow| Arc::strong_count(shadow) == 1).cloned());
    if let Some(free) = free.flatten() {
        free.stand_for(number);
        return Ok(free);
    }
    let new = Arc::new(Shadow::new(library, number)?);
    of_library(library, |kept| {
        if kept.others.len() < OTHERS {
            kept.others.push(Arc::clone(&new));
        }
    });
    Ok(new)
}

/// Closes the shadows of a library that ends and has no object of ours open.
pub(crate) fn close_kept(library: &Library) {
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(|kept| kept.library == library.key());
    let kept = at.map(|at| all.swap_remove(at));
    // Closing calls the library, which may ask for a shadow.
    drop(all);
    drop(kept);
}

impl Shadow {
    pub(crate) fn new(library: &'static Library, number: u64) -> Result<Self> {
        let native = connector(library, c"native")?;
        let file = create_file(library, &native)?;
        let mut shadow = Self {
            library,
            native,
            file,
            group: ptr::null_mut(),
            dataset: ptr::null_mut(),
            attribute: ptr::null_mut(),
            is_set: AtomicBool::new(false),
        };
        shadow.find_class()?;
        shadow.group = shadow.create_group()?;
        let space = Id::new(library, library.H5Screate(SPACE_SCALAR), "H5Screate")?;
        let (kind, dcpl) = (library.H5T_NATIVE_INT_g(), library.H5P_LST_DATASET_CREATE_ID_g());
        shadow.dataset = shadow.create_dataset(kind, space.raw(), dcpl)?;
        shadow.attribute = shadow.create_attribute()?;
        shadow.stand_for(number);
        Ok(shadow)
    }

    /// Makes its objects stand for those of the file with this number.
    fn stand_for(&self, number: u64) {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        for object in [self.file, self.group, self.dataset, self.attribute] {
            files.insert(object.addr(), number);
        }
    }

    /// The native object that stands for one of this type; null for types that have none.
    pub(crate) fn object(&self, kind: c_int) -> *mut c_void {
        match kind {
            id_type::FILE => self.file,
            // There are no native maps.
            id_type::GROUP | id_type::MAP => self.group,
            id_type::DATASET => self.dataset,
            id_type::ATTRIBUTE => self.attribute,
            _ => ptr::null_mut(),
        }
    }

    /// Finds the callbacks of the native connector, for [`native_class`](crate::native_dataset::native_class).
    fn find_class(&self) -> Result<()> {
        let mut class = ptr::null();
        // SAFETY: the file is a native object, and the library sets the pointer.
        let status = unsafe {
            self.library.H5VLintrospect_get_conn_cls(self.file, self.native.raw(), 0, &raw mut class)
        };
        check(status, "H5VLintrospect_get_conn_cls")?;
        // SAFETY: the class of the native connector is a constant of the library, which is never unloaded.
        let class = unsafe { class.as_ref() }.ok_or(Error::Library("H5VLintrospect_get_conn_cls"))?;
        self.library.native.get_or_init(|| class);
        Ok(())
    }

    /// Passes an optional operation on.
    ///
    /// # Safety
    /// The arguments are those of the operation.
    pub(crate) unsafe fn file_optional(&self, arguments: &OptionalArgs) -> Result<Herr> {
        self.is_set.store(true, Ordering::Relaxed);
        let mut arguments = *arguments;
        // SAFETY: the file is a native object; the rest is the caller's promise.
        let status = unsafe {
            self.library.H5VLfile_optional(
                self.file,
                self.native.raw(),
                &raw mut arguments,
                self.transfer(),
                ptr::null_mut(),
            )
        };
        check(status, "H5VLfile_optional")
    }

    /// A native committed datatype that equals this one. [`Self::close_type`] closes it.
    pub(crate) fn commit_type(&self, kind: Hid) -> Result<*mut c_void> {
        let library = self.library;
        // A type that is committed already, such as the program's own one, cannot be committed again; its copy can.
        let copy = Id::new(library, library.H5Tcopy(kind), "H5Tcopy")?;
        let loc = here(id_type::FILE);
        // SAFETY: the file is a native object, and the location is of its type.
        let object = unsafe {
            library.H5VLdatatype_commit(
                self.file,
                &raw const loc,
                self.native.raw(),
                ptr::null(),
                copy.raw(),
                library.H5P_LST_LINK_CREATE_ID_g(),
                library.H5P_LST_DATATYPE_CREATE_ID_g(),
                library.H5P_LST_DATATYPE_ACCESS_ID_g(),
                library.H5P_LST_DATASET_XFER_ID_g(),
                ptr::null_mut(),
            )
        };
        present(object, "H5VLdatatype_commit")
    }

    pub(crate) fn close_type(&self, kind: *mut c_void) {
        // SAFETY: it comes from `commit_type`, whose result is closed once.
        unsafe {
            self.library.H5VLdatatype_close(kind, self.native.raw(), self.transfer(), ptr::null_mut());
        }
    }

    fn transfer(&self) -> Hid {
        self.library.H5P_LST_DATASET_XFER_ID_g()
    }

    fn create_group(&self) -> Result<*mut c_void> {
        let library = self.library;
        let loc = here(id_type::FILE);
        // SAFETY: the file is a native object, and the location is of its type.
        let object = unsafe {
            library.H5VLgroup_open(
                self.file,
                &raw const loc,
                self.native.raw(),
                c"/".as_ptr(),
                library.H5P_LST_GROUP_ACCESS_ID_g(),
                self.transfer(),
                ptr::null_mut(),
            )
        };
        present(object, "H5VLgroup_open")
    }

    /// The creation property list that HDF5 makes for a native dataset: filters then have the values that depend on type and chunk.
    pub(crate) fn completed(&self, kind: Hid, space: Hid, dcpl: Hid) -> Result<Id> {
        let library = self.library;
        let list = Id::new(library, library.H5Pcopy(dcpl), "H5Pcopy")?;
        // Nothing is to be stored in memory for the elements.
        check(library.H5Pset_alloc_time(list.raw(), ALLOCATE_LATE), "H5Pset_alloc_time")?;
        self.dataset(kind, space, list.raw())?.ask(dataset_get::DCPL)
    }

    fn create_dataset(&self, kind: Hid, space: Hid, dcpl: Hid) -> Result<*mut c_void> {
        let library = self.library;
        let loc = here(id_type::FILE);
        // SAFETY: the file is a native object, and the location is of its type; without a name the dataset has no link.
        let object = unsafe {
            library.H5VLdataset_create(
                self.file,
                &raw const loc,
                self.native.raw(),
                ptr::null(),
                library.H5P_LST_LINK_CREATE_ID_g(),
                kind,
                space,
                dcpl,
                library.H5P_LST_DATASET_ACCESS_ID_g(),
                self.transfer(),
                ptr::null_mut(),
            )
        };
        present(object, "H5VLdataset_create")
    }

    /// A native dataset for chunks that HDF5 is to filter.
    pub(crate) fn scratch(&self, kind: Hid, space: Hid, dcpl: Hid) -> Result<NativeDataset> {
        check(self.library.H5Pset_alloc_time(dcpl, ALLOCATE_LATE), "H5Pset_alloc_time")?;
        self.dataset(kind, space, dcpl)
    }

    /// A native dataset.
    pub(crate) fn dataset(&self, kind: Hid, space: Hid, dcpl: Hid) -> Result<NativeDataset> {
        NativeDataset::of(self.library, self.create_dataset(kind, space, dcpl)?)
    }

    fn create_attribute(&self) -> Result<*mut c_void> {
        let library = self.library;
        let space = Id::new(library, library.H5Screate(SPACE_SCALAR), "H5Screate")?;
        let loc = here(id_type::GROUP);
        // SAFETY: the group is a native object, and the location is of its type.
        let object = unsafe {
            library.H5VLattr_create(
                self.group,
                &raw const loc,
                self.native.raw(),
                c"shadow".as_ptr(),
                library.H5T_NATIVE_INT_g(),
                space.raw(),
                library.H5P_LST_ATTRIBUTE_CREATE_ID_g(),
                library.H5P_LST_ATTRIBUTE_ACCESS_ID_g(),
                self.transfer(),
                ptr::null_mut(),
            )
        };
        present(object, "H5VLattr_create")
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        for object in [self.file, self.group, self.dataset, self.attribute] {
            files.remove(&object.addr());
        }
        drop(files);
        let (library, native, transfer) = (self.library, self.native.raw(), self.transfer());
        // SAFETY: each object was made by `new` and is closed once, the file last.
        unsafe {
            if !self.attribute.is_null() {
                library.H5VLattr_close(self.attribute, native, transfer, ptr::null_mut());
            }
            if !self.dataset.is_null() {
                library.H5VLdataset_close(self.dataset, native, transfer, ptr::null_mut());
            }
            if !self.group.is_null() {
                library.H5VLgroup_close(self.group, native, transfer, ptr::null_mut());
            }
            library.H5VLfile_close(self.file, native, transfer, ptr::null_mut());
        }
    }
}

/// The id of a connector by its name.
pub(crate) fn connector(library: &'static Library, name: &CStr) -> Result<Id> {
    // SAFETY: the name ends with a zero.
    let id = unsafe { library.H5VLget_connector_id_by_name(name.as_ptr()) };
    Id::new(library, id, "H5VLget_connector_id_by_name")
}

/// `H5D_ALLOC_TIME_INCR`.
const ALLOCATE_LATE: c_int = 3;
/// How many bytes the file in memory grows at once.
const INCREMENT: usize = 4096;

fn create_file(library: &'static Library, native: &Id) -> Result<*mut c_void> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = CString::new(format!("isotach-shadow-{number}")).unwrap_or_default();
    let fapl = Id::new(library, library.H5Pcreate(library.H5P_CLS_FILE_ACCESS_ID_g()), "H5Pcreate")?;
    check(library.H5Pset_fapl_core(fapl.raw(), INCREMENT, false), "H5Pset_fapl_core")?;
    // SAFETY: the native connector takes no info.
    check(unsafe { library.H5Pset_vol(fapl.raw(), native.raw(), ptr::null()) }, "H5Pset_vol")?;
    // `H5VLfile_create` would take the connector from the call that is under way; this sets it from the list.
    // SAFETY: the name ends with a zero, the lists are of their classes.
    let id = unsafe {
        library.H5Fcreate(name.as_ptr(), access::TRUNCATE, library.H5P_LST_FILE_CREATE_ID_g(), fapl.raw())
    };
    let id = Id::new(library, id, "H5Fcreate")?;
    reopen(library, native, library.H5VLobject(id.raw()))
}

/// The file once more, without an id. Once the first id is closed, programs that count open files do not see it.
fn reopen(library: &Library, native: &Id, file: *mut c_void) -> Result<*mut c_void> {
    let mut again = ptr::null_mut();
    let mut arguments =
        FileSpecificArgs { op: file_specific::REOPEN, args: FileSpecific { reopen: &raw mut again } };
    let transfer = library.H5P_LST_DATASET_XFER_ID_g();
    // SAFETY: the file is a native object, and the library sets the pointer in the arguments.
    let status = unsafe {
        library.H5VLfile_specific(
            present(file, "H5VLobject")?,
            native.raw(),
            &raw mut arguments,
            transfer,
            ptr::null_mut(),
        )
    };
    check(status, "H5VLfile_specific")?;
    let again = present(again, "H5VLfile_specific")?;
    let mut arguments = OptionalArgs { op: file_op::POST_OPEN, args: ptr::null_mut() };
    // Types of variable length need it: HDF5 opens files in two steps.
    // SAFETY: as above; the operation has no arguments.
    let status = unsafe {
        library.H5VLfile_optional(again, native.raw(), &raw mut arguments, transfer, ptr::null_mut())
    };
    check(status, "H5VLfile_optional")?;
    Ok(again)
}

/// The location of an object itself.
fn here(kind: c_int) -> LocParams {
    LocParams {
        obj_type: kind,
        by: by::SELF,
        data: LocData { name: LocByName { name: ptr::null(), lapl: 0 } },
    }
}

fn present(object: *mut c_void, function: &'static str) -> Result<*mut c_void> {
    if object.is_null() { Err(Error::Library(function)) } else { Ok(object) }
}
