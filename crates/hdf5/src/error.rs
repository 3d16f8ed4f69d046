//! The one public error: a variant exists because a caller acts on it.

use std::{error::Error as StdError, io};

use isotach_object::Error as ObjectError;

/// What every operation on a file returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on a file failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file, object, link, attribute or chunk does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// What was looked for, by its name.
        what: String,
    },
    /// The file, link or attribute to create already exists.
    #[error("{what} exists already")]
    AlreadyExists {
        /// What was to be created, by its name.
        what: String,
    },
    /// The caller's argument is wrong: a name, an extent, a number.
    #[error("{what}: expected {expected}")]
    InvalidInput {
        /// The argument as given.
        what: String,
        /// What would have been accepted.
        expected: String,
    },
    /// The path holds a file of others, such as a native HDF5 file.
    #[error("{name}, which is {what}: expected a file of Isotach")]
    Foreign {
        /// The file.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// The file was opened for reading only.
    #[error("{what} is for reading only")]
    ReadOnly {
        /// The file.
        what: String,
    },
    /// This crate does not do what was asked for.
    #[error("no support for {what}")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// Stored bytes contradict the layout.
    #[error("corrupt: {what} in {place}")]
    Corrupt {
        /// What is damaged and how it was noticed.
        what: String,
        /// The object or file that holds it.
        place: String,
    },
    /// A newer program stored it, in a layout that this one does not read.
    #[error("{what}; use a newer Isotach")]
    Newer {
        /// What it is, and its layout.
        what: String,
    },
    /// A sweep has destroyed data that was written and not committed. Discard the changes, and make them again.
    #[error("{what} was swept: data that was written before and not committed is gone; write it again")]
    Swept {
        /// The container of the file.
        what: String,
    },
    /// A write failed before, perhaps in part, so that nothing is committed any more.
    #[error("file {what} stays at its last version, since a write failed: {cause}")]
    WriteFailed {
        /// The file.
        what: String,
        /// Why the write failed.
        cause: String,
    },
    /// Another rank of a parallel program has failed in a call that all ranks make.
    #[error("rank {rank} has failed: {what}")]
    OtherRank {
        /// Its number.
        rank: usize,
        /// Why it failed.
        what: String,
    },
    /// The object store failed.
    #[error(transparent)]
    Object(ObjectError),
    /// The operating system failed.
    #[error("{what}: {source}")]
    Io {
        /// What was attempted on what.
        what: String,
        /// The cause.
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl From<ObjectError> for Error {
    fn from(error: ObjectError) -> Self {
        Self::Object(error)
    }
}

impl Error {
    /// `what` as a [`Error::NotFound`].
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound { what: what.into() }
    }

    /// Whether the changes of another process are in the way.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Object(ObjectError::Conflict { .. }))
    }

    /// A wrong argument and what would have been right.
    pub fn invalid(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::InvalidInput { what: what.into(), expected: expected.into() }
    }

    /// Damage: what is wrong, and the object or file where it was found.
    pub fn corrupt(what: impl Into<String>, place: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), place: place.into() }
    }

    /// `what` as an [`Error::Unsupported`].
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }

    pub(crate) fn from_io(source: io::Error, what: impl Into<String>) -> Self {
        let what = what.into();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { what: format!("{what} (errno = 2)") },
            io::ErrorKind::AlreadyExists => Self::AlreadyExists { what: format!("{what} (errno = 17)") },
            _ => Self::Io { what, source: Box::new(source) },
        }
    }
}
