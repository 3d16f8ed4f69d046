//! Loading a vendor's client library when it is first needed, so that programs start where it is not installed.
#![expect(unsafe_code, reason = "the foreign-function edge: loading runs the library's initialisers")]

use libloading::Library;

/// Loads the first of `names` that the system's loader finds. The library stays loaded for the life of the process: unloading
/// it would leave dangling function pointers, and threads without code.
///
/// # Errors
/// The loader's own words about the first name.
///
/// # Safety
/// Loading runs the initialisers of the library and of what it was built with. The caller names a library whose initialisers
/// have no demands on the process.
pub unsafe fn load(names: &[&str]) -> Result<&'static Library, String> {
    let mut why = String::new();
    for name in names {
        // SAFETY: the caller answers for the initialisers.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(Box::leak(Box::new(library))),
            Err(error) if why.is_empty() => why = plain(&error),
            Err(_) => {}
        }
    }
    Err(why)
}

/// The loader's own words, without the name of the Rust function that passes them on.
pub fn plain(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_named() {
        // SAFETY: neither exists, so no initialiser runs.
        let why = unsafe { load(&["libisotach-missing.so.1", "libisotach-missing.so"]) }.unwrap_err();
        assert!(why.contains("libisotach-missing.so.1"), "{why}");
    }
}
