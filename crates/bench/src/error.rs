//! The errors of benchmarks.

use std::{io, path::Path};

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a benchmark has no figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The field store failed.
    #[error(transparent)]
    Fields(#[from] isotach_fields::Error),
    /// The object model failed.
    #[error(transparent)]
    Object(#[from] isotach_object::Error),
    /// A file or a pipe failed.
    #[error("{what}: {source}")]
    Io {
        /// The operation and the file.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// Standard output is closed or full.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// A process ended without a figure. Its own messages are on standard error.
    #[error("worker `{command}` {how}")]
    Worker {
        /// Its command line.
        command: String,
        /// How it ended.
        how: String,
    },
    /// A peer that is measured beside Isotach failed.
    #[error("FDB cannot {what}: {how}")]
    Peer {
        /// The operation.
        what: String,
        /// Its error.
        how: String,
    },
    /// A store returned other data than were written.
    #[error("wrong data: {what}; expected {expected}")]
    WrongData {
        /// The data.
        what: String,
        /// The expected data.
        expected: String,
    },
    /// Processes failed. Results of earlier measurements are kept.
    #[error("the run is not complete: {}", problems.join("; "))]
    Incomplete {
        /// Their failures.
        problems: Vec<String>,
    },
    /// The driver has ended the run.
    #[error("the run was ended")]
    Stopped,
    /// An argument or a variable of the environment is missing or invalid.
    #[error("{what}; expected {expected}")]
    Invalid {
        /// The given value.
        what: String,
        /// The expected value.
        expected: String,
    },
}

impl Error {
    /// For `map_err` after an operation on a file.
    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{what} {}", path.display());
        |source| Self::Io { what, source }
    }

    /// For `map_err` after an operation on a pipe or a process.
    pub(crate) fn pipe(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |source| Self::Io { what, source }
    }

    /// Whether something cannot be created because it exists.
    pub(crate) fn is_already_exists(&self) -> bool {
        match self {
            Self::Object(error) => matches!(error, isotach_object::Error::AlreadyExists { .. }),
            Self::Io { source, .. } => source.kind() == io::ErrorKind::AlreadyExists,
            _ => false,
        }
    }

    pub(crate) fn invalid(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), expected: expected.into() }
    }

    pub(crate) fn wrong(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::WrongData { what: what.into(), expected: expected.into() }
    }
}
