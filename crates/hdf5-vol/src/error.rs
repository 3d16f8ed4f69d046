//! Why a callback failed. It never leaves the crate: `guard.rs` puts its text on HDF5's error stack.

use std::any::Any;

use isotach_hdf5::Error as FileError;

/// What every function of this crate returns.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a callback failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// The file's model refused or failed.
    File(FileError),
    /// The same, for the object at a path.
    At(String, FileError),
    /// A function of HDF5 failed, which this names.
    Library(&'static str),
    /// HDF5 or the program passed something that is wrong.
    Argument(String),
    /// The connector does not do this.
    Unsupported(String),
    /// HDF5's own connector failed, and has said why.
    Native,
    /// The path leads into a native file, to which there is a `Crossing`.
    Elsewhere { path: String, there: Box<dyn Any> },
}

impl Error {
    pub(crate) fn argument(what: impl Into<String>) -> Self {
        Self::Argument(what.into())
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::File(FileError::not_found(what))
    }

    /// Names the object that the error is about.
    pub(crate) fn at(self, path: impl FnOnce() -> Option<String>) -> Self {
        match self {
            Self::File(error) => match path() {
                Some(path) => Self::At(path, error),
                None => Self::File(error),
            },
            other => other,
        }
    }

    /// Whether the store failed, so that not everything that the program wrote is there.
    pub(crate) fn is_of_store(&self) -> bool {
        matches!(
            self,
            Self::File(FileError::Object(_) | FileError::Io { .. })
                | Self::At(_, FileError::Object(_) | FileError::Io { .. })
        )
    }

    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::File(FileError::NotFound { .. }))
    }
}

impl From<FileError> for Error {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(error) => error.fmt(out),
            Self::At(path, error) => write!(out, "{path}: {error}"),
            Self::Library(function) => write!(out, "{function} failed"),
            Self::Argument(what) => out.write_str(what),
            Self::Native => out.write_str("the native connector failed"),
            Self::Elsewhere { path, .. } => {
                write!(out, "'{path}' is in a native file, where this cannot lead")
            }
            Self::Unsupported(what) => write!(out, "the Isotach connector has no support for {what}"),
        }
    }
}
