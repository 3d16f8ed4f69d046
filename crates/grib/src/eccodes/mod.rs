//! ecCodes, once per process: finding it, and asking a message for its key.

mod error;
mod find;
pub(crate) mod key;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use error::Doing;
pub use error::EccodesError;
pub use key::message_key;

use crate::ffi::Api;

/// The ecCodes library, loaded into this process.
///
/// There is at most one. Calls from several threads are made one at a time.
///
/// ```
/// use isotach_grib::{Eccodes, EccodesError};
///
/// match Eccodes::load() {
///     Ok(eccodes) => println!("ecCodes {} from {}", eccodes.version(), eccodes.path().display()),
///     Err(EccodesError::NotInstalled { .. }) => println!("messages need keys on the command line"),
///     Err(error) => println!("{error}"),
/// }
/// ```
pub struct Eccodes {
    api: Api,
    path: PathBuf,
}

impl Eccodes {
    /// Finds and loads ecCodes at the first call; later calls give the first one's answer.
    ///
    /// Looked for in this order:
    /// 1. the path in the environment variable `ISOTACH_ECCODES`, and then nowhere else;
    /// 2. `libeccodes.so.0`, then `libeccodes.so`, wherever the system's loader looks (Debian's package `libeccodes0`);
    /// 3. PyPI's package `eccodeslib` in the virtual environment that `VIRTUAL_ENV` names.
    ///
    /// # Errors
    /// [`EccodesError::NotInstalled`] if there is none, which says what to install; [`EccodesError::Unusable`] if the
    /// variable names something else.
    pub fn load() -> Result<&'static Self, EccodesError> {
        static LOADED: OnceLock<Result<Eccodes, EccodesError>> = OnceLock::new();
        LOADED.get_or_init(find::find).as_ref().map_err(Clone::clone)
    }

    /// The library's version, as in "2.28.0".
    #[must_use]
    pub fn version(&self) -> String {
        let version = self.api.version();
        format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
    }

    /// The name or path under which it was loaded.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn api(&'static self) -> &'static Api {
        &self.api
    }
}

impl fmt::Debug for Eccodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eccodes").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
