//! What can go wrong in a benchmark.

use std::{io, path::Path};

/// The result of this crate's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a benchmark has no figure.
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
        /// What was done to which file.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// Nobody reads the figures, or their file is full.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// A worker process ended without a figure. What it printed on standard error stands above.
    #[error("worker `{command}` {how}")]
    Worker {
        /// Its command line.
        command: String,
        /// What it did instead.
        how: String,
    },
    /// A peer that is measured beside Isotach failed.
    #[error("FDB cannot {what}: {how}")]
    Peer {
        /// What it was to do.
        what: String,
        /// What it said.
        how: String,
    },
    /// What came back from a store is not what went in.
    #[error("wrong data: {what}; expected {expected}")]
    WrongData {
        /// What came back.
        what: String,
        /// What should have.
        expected: String,
    },
    /// Processes failed; what was measured before is kept.
    #[error("the run is not complete: {}", problems.join("; "))]
    Incomplete {
        /// What each of them said.
        problems: Vec<String>,
    },
    /// The driver has ended the run, or is gone.
    #[error("the run was ended")]
    Stopped,
    /// An argument or a variable of the environment is missing or makes no sense.
    #[error("{what}; expected {expected}")]
    Invalid {
        /// What was given.
        what: String,
        /// What is needed.
        expected: String,
    },
}

impl Error {
    /// For `map_err` on an operation on a file.
    pub(crate) fn io(what: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let what = format!("{what} {}", path.display());
        |source| Self::Io { what, source }
    }

    /// For `map_err` on an operation on a pipe or a process.
    pub(crate) fn pipe(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |source| Self::Io { what, source }
    }

    /// Whether something cannot be made because it is there.
    pub(crate) fn is_already_there(&self) -> bool {
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
