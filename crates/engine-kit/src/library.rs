//! Loads a vendor's client library at first use, so that programs start where it is not installed.
//!
//! A loaded library is never unloaded, so function pointers taken from it stay valid.
#![expect(unsafe_code, reason = "the foreign-function edge: loading runs the library's initialisers")]

use std::{
    ffi::OsStr,
    sync::{Mutex, PoisonError},
};

pub use libloading::Library;

/// Every loaded library, so that a program's leak checker finds none of them lost.
static LOADED: Mutex<Vec<&'static Library>> = Mutex::new(Vec::new());

/// Loads the first of `names` that the system's loader finds. The library stays loaded until the process ends: unloading
/// it would leave dangling function pointers, and threads without code.
///
/// # Errors
/// The loader's message about the first name.
///
/// # Safety
/// Loading runs the initialisers of the library and of what it was built with. The caller names a library whose initialisers
/// make no demands on the process.
pub unsafe fn load(names: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<&'static Library, String> {
    let mut reason = String::new();
    for name in names {
        // SAFETY: the caller vouches for the initialisers.
        match unsafe { Library::new(name.as_ref()) } {
            Ok(library) => {
                let library: &'static Library = Box::leak(Box::new(library));
                LOADED.lock().unwrap_or_else(PoisonError::into_inner).push(library);
                return Ok(library);
            }
            Err(error) if reason.is_empty() => reason = plain(&error),
            Err(_) => {}
        }
    }
    Err(reason)
}

/// The function that the library has under the first possible of `names`, or under `name` if there are none.
///
/// # Errors
/// The loader's message about the first name.
///
/// # Safety
/// `F` is the type that the library's header declares for each of the names.
pub unsafe fn function<F: Copy>(library: &'static Library, name: &str, names: &[&str]) -> Result<F, String> {
    // SAFETY: the caller vouches for the type. The pointer stays valid because the library is never unloaded.
    let find = |name: &str| unsafe { library.get(name) }.map(|symbol| *symbol).map_err(|error| plain(&error));
    let (first, rest) = names.split_first().unwrap_or((&name, &[]));
    find(first).or_else(|reason| rest.iter().find_map(|name| find(name).ok()).ok_or(reason))
}

/// The loader's message, without the name of the Rust function that passes it on.
fn plain(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Declares `struct Functions`, a table of C functions with a field for each, and `Functions::find`, which fills it from a loaded
/// library.
///
/// A field is named after its function unless other names follow in brackets: the first that the library has counts. A field that
/// begins with `?` is an `Option`: not every release of the library has the function.
///
/// ```
/// # #![allow(unsafe_code)]
/// isotach_engine_kit::functions! {
///     getpid: fn() -> i32;
///     length ["newer_strlen", "strlen"]: fn(*const std::ffi::c_char) -> usize;
///     ? future ["not_written_so_far"]: fn();
/// }
///
/// # fn main() -> Result<(), String> {
/// // SAFETY: the initialisers of the C library make no demands.
/// let library = unsafe { isotach_engine_kit::library::load(["libc.so.6"]) }?;
/// // SAFETY: the types are those of the C library's headers.
/// let functions = unsafe { Functions::find(library) }?;
/// // SAFETY: a C string.
/// assert_eq!(unsafe { (functions.length)(c"four".as_ptr()) }, 4);
/// assert!(functions.future.is_none());
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! functions {
    (
        $($name:ident $([$($symbol:literal),+])?: fn($($argument:ty),*) $(-> $result:ty)?;)*
        $(? $maybe:ident [$($maybe_symbol:literal),+]: fn($($maybe_argument:ty),*) $(-> $maybe_result:ty)?;)*
    ) => {
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub(crate) $maybe: Option<unsafe extern "C" fn($($maybe_argument),*) $(-> $maybe_result)?>,)*
        }

        impl Functions {
            /// # Safety
            /// The types are those of the library's header.
            unsafe fn find(library: &'static $crate::library::Library) -> ::core::result::Result<Self, String> {
                use $crate::library::function;
                Ok(Self {
                    // SAFETY: the caller vouches for the types.
                    $($name: unsafe { function(library, stringify!($name), &[$($($symbol),+)?]) }?,)*
                    // SAFETY: the caller vouches for the types.
                    $($maybe: unsafe { function(library, stringify!($maybe), &[$($maybe_symbol),+]) }.ok(),)*
                })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_named() {
        // SAFETY: neither exists, so no initialiser runs.
        let why = unsafe { load(["libisotach-missing.so.1", "libisotach-missing.so"]) }.unwrap_err();
        assert!(why.contains("libisotach-missing.so.1"), "{why}");
    }
}
