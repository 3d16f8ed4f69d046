//! Paths that lead from one of our files into a native one, by an external link or as the source of a virtual dataset.

use std::{
    any::Any,
    borrow::Cow,
    ffi::{CString, c_char, c_int, c_uint, c_void},
    ptr,
};

use crate::{
    abi::{LocByName, LocData, LocParams, by, id_type},
    error::{Error, Result},
    id::{Id, check},
    library::Library,
};

/// A path that leads from one of our files into a native one: the callback starts again there.
pub(crate) struct Crossing {
    pub(crate) library: &'static Library,
    file: Id,
    path: CString,
}

impl Crossing {
    pub(crate) fn new(library: &'static Library, file: Id, path: &str) -> Result<Box<Self>> {
        let path = CString::new(path).map_err(|_| Error::argument("a path with a zero byte"))?;
        Ok(Box::new(Self { library, file, path }))
    }

    /// As an error, which the callback catches.
    pub(crate) fn into_error(self: Box<Self>) -> Error {
        Error::Elsewhere { path: self.path().into_owned(), there: self }
    }

    /// From such an error.
    pub(crate) fn of(there: Box<dyn Any>) -> Result<Box<Self>> {
        there.downcast().map_err(|_| Error::argument("a path that leads nowhere"))
    }

    pub(crate) fn path(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }

    /// The native file.
    pub(crate) fn file(&self) -> *mut c_void {
        self.library.H5VLobject(self.file.raw())
    }

    /// The path in it.
    pub(crate) fn name(&self) -> *const c_char {
        self.path.as_ptr()
    }

    /// The location that stands for `from`, with the path of the native file.
    ///
    /// # Safety
    /// The location is from a callback of this connector, or null.
    pub(crate) unsafe fn location(&self, from: *const LocParams) -> LocParams {
        let mut loc = LocParams {
            obj_type: id_type::FILE,
            by: by::NAME,
            data: LocData { name: LocByName { name: self.name(), lapl: 0 } },
        };
        // SAFETY: the caller's promise; the number says which member of the union is set.
        unsafe {
            match from.as_ref() {
                Some(from) if from.by == by::IDX => {
                    (loc.by, loc.data) = (by::IDX, from.data);
                    loc.data.idx.name = self.name();
                }
                Some(from) if from.by == by::NAME => loc.data.name.lapl = from.data.name.lapl,
                _ => {}
            }
        }
        loc
    }

    /// The location of the native file itself.
    pub(crate) fn root(&self) -> LocParams {
        LocParams {
            obj_type: id_type::FILE,
            by: by::SELF,
            data: LocData { name: LocByName { name: ptr::null(), lapl: 0 } },
        }
    }

    /// Closes the native file. What HDF5 says of a failure stays.
    pub(crate) fn leave<T>(self: Box<Self>, outcome: Result<T>) -> Result<T> {
        let library = self.library;
        if outcome.is_ok() {
            return outcome;
        }
        let errors = library.H5Eget_current_stack();
        drop(self);
        library.H5Eset_current_stack(errors);
        outcome
    }
}

/// Opens a native file that one of our files names, as HDF5 opens such files: it closes with its last object.
pub(crate) fn open_beside(
    library: &'static Library,
    name: &str,
    flags: c_uint,
    fapl: Option<&Id>,
) -> Result<Id> {
    let name = CString::new(name).map_err(|_| Error::argument("a name with a zero byte"))?;
    let list = match fapl {
        Some(fapl) => library.H5Pcopy(fapl.raw()),
        None => library.H5Pcreate(library.H5P_CLS_FILE_ACCESS_ID_g()),
    };
    let list = Id::new(library, list, "H5Pcopy")?;
    check(library.H5Pset_fclose_degree(list.raw(), CLOSE_WEAK), "H5Pset_fclose_degree")?;
    // SAFETY: the name ends with a zero.
    let file = unsafe { library.H5Fopen(name.as_ptr(), flags, list.raw()) };
    Id::new(library, file, "H5Fopen")
}

/// `H5F_CLOSE_WEAK`.
const CLOSE_WEAK: c_int = 1;
