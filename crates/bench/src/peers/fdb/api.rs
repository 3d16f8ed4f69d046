//! The functions of FDB's C library that are used, found by name in the loaded library.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};

use isotach_engine_kit::{functions, library};

use crate::{Error, Result};

/// FDB's opaque types.
pub(super) type Raw = *mut c_void;

/// The minor version since which the functions have these declarations.
const SINCE: u32 = 25;
/// The status at the end of an iteration.
const ITERATION_COMPLETE: c_int = 3;

functions! {
    fdb_initialise: fn() -> c_int;
    fdb_version: fn(*mut *const c_char) -> c_int;
    fdb_error_string: fn(c_int) -> *const c_char;
    fdb_new_handle: fn(*mut Raw) -> c_int;
    fdb_delete_handle: fn(Raw) -> c_int;
    fdb_new_key: fn(*mut Raw) -> c_int;
    fdb_key_add: fn(Raw, *const c_char, *const c_char) -> c_int;
    fdb_delete_key: fn(Raw) -> c_int;
    fdb_new_request: fn(*mut Raw) -> c_int;
    fdb_request_add: fn(Raw, *const c_char, *const *const c_char, c_int) -> c_int;
    fdb_delete_request: fn(Raw) -> c_int;
    fdb_archive: fn(Raw, Raw, *const c_char, usize) -> c_int;
    fdb_flush: fn(Raw) -> c_int;
    fdb_retrieve: fn(Raw, Raw, Raw) -> c_int;
    fdb_new_datareader: fn(*mut Raw) -> c_int;
    fdb_datareader_open: fn(Raw, *mut c_long) -> c_int;
    fdb_datareader_read: fn(Raw, *mut c_void, c_long, *mut c_long) -> c_int;
    fdb_datareader_close: fn(Raw) -> c_int;
    fdb_delete_datareader: fn(Raw) -> c_int;
    fdb_list: fn(Raw, Raw, *mut Raw, bool, c_int) -> c_int;
    fdb_listiterator_next: fn(Raw) -> c_int;
    fdb_listiterator_attrs: fn(Raw, *mut *const c_char, *mut usize, *mut usize) -> c_int;
    fdb_listiterator_splitkey: fn(Raw, Raw) -> c_int;
    fdb_delete_listiterator: fn(Raw) -> c_int;
    fdb_new_splitkey: fn(*mut Raw) -> c_int;
    fdb_splitkey_next_metadata: fn(Raw, *mut *const c_char, *mut *const c_char, *mut usize) -> c_int;
    fdb_delete_splitkey: fn(Raw) -> c_int;
}

/// A loaded FDB, for one thread.
#[derive(Debug)]
pub(crate) struct Library {
    pub(super) functions: Functions,
}

impl Library {
    /// Loads FDB with the system's loader and initialises it.
    pub(crate) fn load() -> Result<Self> {
        let failed = |error: String| {
            Error::invalid(
                format!("FDB's library cannot be used: {error}"),
                "libfdb5.so where the loader finds it, as of the Python package fdb5lib",
            )
        };
        // SAFETY: loading runs the initialisers of FDB and of its libraries, which have no preconditions.
        let library = unsafe { library::load(["libfdb5.so"]) }.map_err(failed)?;
        // SAFETY: the types are those of FDB's header fdb_c.h, version 5.25; the functions called before the version is known
        // never had another.
        let functions = unsafe { Functions::find(library) }.map_err(failed)?;
        let library = Self { functions };
        // SAFETY: the function takes no arguments and must be called first.
        library.check("initialise", unsafe { (library.functions.fdb_initialise)() })?;
        library.check_version()?;
        Ok(library)
    }

    pub(crate) fn version(&self) -> Result<String> {
        let mut text = std::ptr::null();
        // SAFETY: `text` is valid for writes of a pointer to a constant string.
        self.check("tell its version", unsafe { (self.functions.fdb_version)(&raw mut text) })?;
        Ok(text_of(text))
    }

    /// Refuses older versions, whose functions of the same names have other arguments.
    fn check_version(&self) -> Result<()> {
        let version = self.version()?;
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        match (numbers.next(), numbers.next()) {
            (Some(5), Some(SINCE..)) => Ok(()),
            _ => Err(Error::invalid(format!("FDB {version}"), format!("5.{SINCE} or later of 5"))),
        }
    }

    pub(super) fn check(&self, what: &str, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the function takes any number; it returns null or a string that is valid until the next call.
        let text = text_of(unsafe { (self.functions.fdb_error_string)(status) });
        Err(Error::Peer { what: what.to_owned(), how: text })
    }

    /// Whether the iteration has a next element.
    pub(super) fn check_next(&self, what: &str, status: c_int) -> Result<bool> {
        match status {
            ITERATION_COMPLETE => Ok(false),
            status => self.check(what, status).map(|()| true),
        }
    }

    /// Creates an object of the library. `delete` deletes it when it is dropped.
    pub(super) fn make(
        &self,
        what: &str,
        make: impl FnOnce(*mut Raw) -> c_int,
        delete: unsafe extern "C" fn(Raw) -> c_int,
    ) -> Result<Owned> {
        let mut raw = std::ptr::null_mut();
        self.check(what, make(&raw mut raw))?;
        Ok(Owned { raw, delete })
    }
}

/// An object of the library that we own.
#[derive(Debug)]
pub(super) struct Owned {
    pub(super) raw: Raw,
    delete: unsafe extern "C" fn(Raw) -> c_int,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the library created the object with the function that belongs to `delete`, and nothing else deletes it.
        let _ = unsafe { (self.delete)(self.raw) };
    }
}

/// The length of a string of the library.
pub(super) fn length_of(text: *const c_char) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: it is not null, and a C string that is unchanged until the next call of the library.
    unsafe { CStr::from_ptr(text) }.count_bytes()
}

fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: it is not null, and a C string that is unchanged until the next call of the library.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
