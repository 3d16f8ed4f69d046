//! [`Temporary`]: the path of a file until it is complete.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use isotach_engine_kit::random;

use crate::{Error, Result};

/// A path beside the one that a file gets when it is complete.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) path: PathBuf,
    last: PathBuf,
}

impl Temporary {
    /// A path beside `last`, where nothing may be.
    pub(crate) fn beside(last: &str) -> Result<Self> {
        let last = PathBuf::from(last);
        check_free(&last)?;
        let name = last.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let number = random::number().map_err(isotach_hdf5::Error::from)?;
        let path = last.with_file_name(format!(".isotach-{number:016x}-{name}"));
        Ok(Self { path, last })
    }

    /// The path as text.
    pub(crate) fn text(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Gives the file its path. Nothing is replaced.
    pub(crate) fn publish(self) -> Result<()> {
        let Self { path, last } = &self;
        match fs::hard_link(path, last) {
            Ok(()) => {
                // A second name does no harm.
                let _ = fs::remove_file(path);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => check_free(last),
            // The file system has no hard links.
            Err(_) => {
                check_free(last)?;
                fs::rename(path, last).map_err(Error::io(format!(
                    "rename {} to {}",
                    path.display(),
                    last.display()
                )))
            }
        }
    }
}

/// Refuses a path where something is.
pub(crate) fn check_free(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) => Err(Error::Exists { name: path.display().to_string() }),
        Err(_) => Ok(()),
    }
}

/// Whether a name has the URI of a pool.
pub(crate) fn is_uri(name: &str) -> bool {
    let scheme = name.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    name.contains("://") || scheme.is_some_and(|scheme| isotach_open::registry().engine(&scheme).is_ok())
}
