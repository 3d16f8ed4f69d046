//! ecCodes, once per process: finding it, and asking a message for its key.

mod edit;
mod error;
mod find;
mod kept;
pub(crate) mod key;
mod unknown;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use error::EccodesError;
pub use key::message_key;

use crate::{
    ffi::Api,
    reserve::{self, Held},
};

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
    why: String,
}

static LOADED: OnceLock<Result<Eccodes, EccodesError>> = OnceLock::new();
/// Held by the thread that sets `LOADED`. A process that forked meanwhile would leave its child waiting for that thread for ever.
static LOADING: Mutex<()> = Mutex::new(());

/// While it lives, no other thread of the process loads ecCodes or is in the middle of a call of it: see [`Eccodes::pause`].
#[derive(Debug)]
pub struct Pause {
    /// Given back in this order.
    _held: MutexGuard<'static, Held>,
    /// `None` if ecCodes is not loaded.
    _calls: Option<MutexGuard<'static, ()>>,
    _loading: MutexGuard<'static, ()>,
}

/// Waits until no other thread loads ecCodes. None does while the guard lives.
fn loading() -> MutexGuard<'static, ()> {
    LOADING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 2.28.0 for 22800.
fn version_text(version: i64) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

impl Eccodes {
    fn new(api: Api, path: PathBuf, why: String) -> Self {
        api.collect_log();
        Self { api, path, why }
    }

    /// Finds and loads ecCodes at the first call; later calls give the first one's answer.
    ///
    /// Looked for in these places:
    /// 1. the path in the environment variable `ISOTACH_ECCODES`, and then nowhere else;
    /// 2. the environments that are active, that of [`Eccodes::set_environment`], those that `VIRTUAL_ENV` and `CONDA_PREFIX` name and that of the Python first
    ///    on `PATH`: PyPI's package `eccodeslib` there, or `lib/libeccodes.so`;
    /// 3. `libeccodes.so.0`, then `libeccodes.so`, wherever the system's loader looks (Debian's package `libeccodes0`).
    ///
    /// Of 2 and 3 the newest is taken, and of equals the first. [`Eccodes::why`] says which it was.
    ///
    /// # Errors
    /// [`EccodesError::TooFewFiles`] where the process may open too few, as long as that is so;
    /// [`EccodesError::NotInstalled`] if there is none, which says what to install; [`EccodesError::Unusable`] if the
    /// variable names something else.
    pub fn load() -> Result<&'static Self, EccodesError> {
        // The loader needs files, too, and what it says then would be kept as if there were no ecCodes.
        reserve::fill()?;
        let loaded = LOADED.get().unwrap_or_else(|| {
            let _loading = loading();
            LOADED.get_or_init(find::find)
        });
        loaded.as_ref().map_err(Clone::clone)
    }

    /// Names the root of the environment that this process runs in, as an interpreter of Python knows it, before ecCodes is loaded.
    /// Only the first call has an effect.
    pub fn set_environment(root: PathBuf) {
        find::OWN.get_or_init(|| root);
    }

    /// Waits until no other thread loads or calls ecCodes, and lets none begin.
    ///
    /// A forked child has only the thread that forked. If another one was loading or calling ecCodes, it would stay locked in the
    /// child. So a process that forks holds the pause meanwhile, and parent and child drop it.
    ///
    /// ```
    /// let pause = isotach_grib::Eccodes::pause();
    /// // fork
    /// drop(pause);
    /// ```
    #[must_use]
    pub fn pause() -> Pause {
        // Each guard is taken before those that its holders take.
        let loading = loading();
        let calls = LOADED.get().and_then(|loaded| loaded.as_ref().ok()).map(|eccodes| eccodes.api.wait());
        Pause { _held: reserve::held(), _calls: calls, _loading: loading }
    }

    /// The library's version, as in "2.28.0".
    #[must_use]
    pub fn version(&self) -> String {
        version_text(self.api.version())
    }

    /// The newest release that is known here, if this one is older.
    #[must_use]
    pub fn newer(&self) -> Option<String> {
        (self.api.version() < unknown::NEWER).then(|| version_text(unknown::NEWER))
    }

    /// Why this one was taken: whose it is, and which others there were.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The name or path under which it was loaded.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What calls ecCodes, once the files that it needs are held for it.
    pub(crate) fn api(&'static self) -> Result<&'static Api, EccodesError> {
        reserve::fill()?;
        Ok(&self.api)
    }
}

impl fmt::Debug for Eccodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eccodes").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
