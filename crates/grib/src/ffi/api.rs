//! The functions used of ecCodes, found by name in the loaded library, and the lock around them.

use std::ffi::{CStr, c_char, c_double, c_int, c_long, c_ulong, c_void};
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use isotach_engine_kit::{functions, library};

use super::{Refusal, log};
use crate::reserve::{self, Lent};

/// ecCodes' opaque types, by the names its header gives them.
pub(super) type Context = *mut c_void;
pub(super) type RawHandle = *mut c_void;
pub(super) type RawKeys = *mut c_void;
type LogProcedure = unsafe extern "C" fn(*const c_void, c_int, *const c_char);

functions! {
    codes_get_api_version: fn() -> c_long;
    codes_get_error_message: fn(c_int) -> *const c_char;
    codes_context_get_default: fn() -> Context;
    codes_context_set_logging_proc: fn(Context, LogProcedure);
    codes_handle_new_from_message: fn(Context, *const c_void, usize) -> RawHandle;
    codes_handle_new_from_message_copy: fn(Context, *const c_void, usize) -> RawHandle;
    codes_grib_handle_new_from_samples: fn(Context, *const c_char) -> RawHandle;
    codes_handle_delete: fn(RawHandle) -> c_int;
    codes_get_message: fn(RawHandle, *mut *const c_void, *mut usize) -> c_int;
    codes_keys_iterator_new: fn(RawHandle, c_ulong, *const c_char) -> RawKeys;
    codes_keys_iterator_next: fn(RawKeys) -> c_int;
    codes_keys_iterator_get_name: fn(RawKeys) -> *const c_char;
    codes_keys_iterator_get_string: fn(RawKeys, *mut c_char, *mut usize) -> c_int;
    codes_keys_iterator_delete: fn(RawKeys) -> c_int;
    codes_get_string: fn(RawHandle, *const c_char, *mut c_char, *mut usize) -> c_int;
    codes_get_long: fn(RawHandle, *const c_char, *mut c_long) -> c_int;
    codes_get_double: fn(RawHandle, *const c_char, *mut c_double) -> c_int;
    codes_get_size: fn(RawHandle, *const c_char, *mut usize) -> c_int;
    codes_get_double_array: fn(RawHandle, *const c_char, *mut c_double, *mut usize) -> c_int;
    codes_grib_get_data: fn(RawHandle, *mut c_double, *mut c_double, *mut c_double) -> c_int;
    codes_set_long: fn(RawHandle, *const c_char, c_long) -> c_int;
    codes_set_double: fn(RawHandle, *const c_char, c_double) -> c_int;
    codes_set_string: fn(RawHandle, *const c_char, *const c_char, *mut usize) -> c_int;
    codes_set_double_array: fn(RawHandle, *const c_char, *const c_double, usize) -> c_int;
}

/// A loaded ecCodes.
pub(crate) struct Api {
    functions: Functions,
    /// Held around every call.
    lock: Mutex<()>,
}

/// The right to call ecCodes, for as long as it exists.
pub(super) struct Turn<'a> {
    pub(super) functions: &'a Functions,
    /// Given back before the lock.
    _files: Lent,
    _guard: MutexGuard<'a, ()>,
}

impl Api {
    /// Loads the library `name` after `needed`, the libraries it depends on but cannot find by itself.
    ///
    /// The process keeps all of them loaded, even if this fails half way.
    pub(crate) fn load(name: &Path, needed: &[&Path]) -> Result<Self, String> {
        let _files = reserve::lend();
        for path in needed {
            open(path)?;
        }
        let library = open(name)?;
        // SAFETY: the types are those of ecCodes' header, unchanged throughout version 2.
        let functions = unsafe { Functions::find(library) }?;
        Ok(Self { functions, lock: Mutex::new(()) })
    }

    /// Collects what ecCodes logs from now on.
    pub(crate) fn collect_log(&self) {
        let turn = self.turn();
        // SAFETY: the default context lives as long as the library, and `collect` has the type of a logging procedure.
        unsafe {
            let context = (turn.functions.codes_context_get_default)();
            (turn.functions.codes_context_set_logging_proc)(context, log::collect);
        }
    }

    /// The version as ecCodes returns it: 23800 is 2.38.0.
    pub(crate) fn version(&self) -> i64 {
        // SAFETY: takes nothing and returns a constant.
        unsafe { (self.turn().functions.codes_get_api_version)() }
    }

    /// Waits until no other thread calls ecCodes. None does while the guard lives.
    pub(crate) fn wait(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the lock and forgets what was logged before.
    pub(super) fn turn(&self) -> Turn<'_> {
        let guard = self.wait();
        log::clear();
        Turn { functions: &self.functions, _files: reserve::lend(), _guard: guard }
    }
}

impl Turn<'_> {
    /// Turns ecCodes' status into a result.
    pub(super) fn check(&self, status: c_int) -> Result<(), Refusal> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: takes any number; returns null or a constant string of the library.
        let text = unsafe { (self.functions.codes_get_error_message)(status) };
        let name = if text.is_null() {
            format!("error {status}")
        } else {
            // SAFETY: not null, and a C string that is never freed.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(self.refusal(&name))
    }

    /// A refusal for `name`, with what ecCodes logged.
    #[expect(clippy::unused_self, reason = "what was logged belongs to whoever has the turn")]
    pub(super) fn refusal(&self, name: &str) -> Refusal {
        let reason = log::take().map_or_else(|| name.to_owned(), |logged| format!("{name} ({logged})"));
        Refusal { reason }
    }

    /// A handle that ecCodes created, or its refusal.
    pub(super) fn made(&self, raw: RawHandle) -> Result<ptr::NonNull<c_void>, Refusal> {
        ptr::NonNull::new(raw).ok_or_else(|| self.refusal("Not a message it can read"))
    }
}

fn open(path: &Path) -> Result<&'static library::Library, String> {
    // SAFETY: loading runs the initialisers of ecCodes and of the libraries it was built with. They make no demands on the process.
    unsafe { library::load([path]) }
}
