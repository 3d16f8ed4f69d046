//! The one public error of the object model.
//!
//! A variant exists because a caller acts on it. Each keeps the facts (what, where, expected) and, where
//! there is one, the cause. Codes are stable: other languages and scripts rely on them.

use std::{error::Error as StdError, io};

/// The system, and the process, can open no more files: as Linux numbers its errors.
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
/// What does not pass, as Linux numbers it: the device cannot read it (EIO), a file is in the place of its folder (ENOTDIR), a link turns
/// in a circle (ELOOP), the file system found its own checksums wrong (EBADMSG) or itself damaged (EUCLEAN).
const LASTING: [i32; 5] = [5, 20, 40, 74, 117];

/// What every operation of the model returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation of the object model failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The named pool, container, object or entry does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// What was looked for, by its name.
        what: String,
    },
    /// The pool, container or name to create already exists.
    #[error("{what} exists already")]
    AlreadyExists {
        /// What was to be created, by its name.
        what: String,
    },
    /// A precondition of a transaction did not hold: another writer was first. Read again and retry.
    #[error("conflict: {what}")]
    Conflict {
        /// The precondition that failed.
        what: String,
    },
    /// The engine does not have this capability.
    #[error("the {engine} engine does not support {what}")]
    Unsupported {
        /// The engine's scheme.
        engine: &'static str,
        /// What was asked for.
        what: String,
    },
    /// A newer program stored it, in a format that this one does not read.
    #[error("{what}; use a newer Isotach")]
    NewerFormat {
        /// What it is, and its format.
        what: String,
    },
    /// Stored bytes fail their checksum or contradict the format.
    #[error("corrupt: {what} in {place}")]
    Corrupt {
        /// What is damaged and how it was noticed.
        what: String,
        /// The file or object, with the position.
        place: String,
    },
    /// The operating system or the server refuses access.
    #[error("no permission: {what}")]
    PermissionDenied {
        /// What was attempted on what.
        what: String,
        /// The system's own error.
        #[source]
        source: Option<io::Error>,
    },
    /// The storage is full. Visible data stays visible.
    #[error("no space left: {what}")]
    NoSpace {
        /// What was being written.
        what: String,
    },
    /// The process, or the system, has as many files open as it may. Close handles, or raise the limit.
    #[error(
        "{what}: {source}; close other handles, or raise how many files a process may have open (`ulimit -n`)"
    )]
    TooManyOpen {
        /// What was to be opened.
        what: String,
        /// The system's own error.
        source: io::Error,
    },
    /// An operation of the operating system or of a vendor's library failed.
    #[error("{what}: {source}")]
    Io {
        /// What was attempted on what.
        what: String,
        /// The cause.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The caller's argument is wrong: a type, a name, a size.
    #[error("{what}: expected {expected}")]
    InvalidInput {
        /// The argument as given.
        what: String,
        /// What would have been accepted.
        expected: String,
    },
    /// An earlier write of this handle failed; it takes no more writes. Open a new handle.
    #[error("{what}: an earlier write failed, so this handle writes no more; open a new one")]
    Poisoned {
        /// The container.
        what: String,
    },
}

impl Error {
    /// All codes of this layer.
    pub const CODES: [&str; 12] = [
        "not-found",
        "already-exists",
        "conflict",
        "unsupported",
        "newer-format",
        "corrupt",
        "permission-denied",
        "no-space",
        "too-many-open",
        "io",
        "invalid-input",
        "poisoned",
    ];

    /// The stable code, shared by every language and by `--json`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not-found",
            Self::AlreadyExists { .. } => "already-exists",
            Self::Conflict { .. } => "conflict",
            Self::Unsupported { .. } => "unsupported",
            Self::NewerFormat { .. } => "newer-format",
            Self::Corrupt { .. } => "corrupt",
            Self::PermissionDenied { .. } => "permission-denied",
            Self::NoSpace { .. } => "no-space",
            Self::TooManyOpen { .. } => "too-many-open",
            Self::Io { .. } => "io",
            Self::InvalidInput { .. } => "invalid-input",
            Self::Poisoned { .. } => "poisoned",
        }
    }

    /// Whether it says that what is stored is damaged or not there. Any other may be over when it is tried again.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { .. } | Self::NotFound { .. } => true,
            Self::Io { source, .. } => {
                let number = source.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
                number.is_some_and(|number| LASTING.contains(&number))
            }
            _ => false,
        }
    }

    /// Whether a commit that fails with this error has certainly changed nothing. After an [`Error::Io`] or an
    /// [`Error::Corrupt`] its outcome is uncertain: all or nothing.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Io { .. } | Self::Corrupt { .. })
    }

    /// An error that occurs while `what` is done, after a commit may have been decided: a refusal becomes an [`Error::Io`],
    /// because the commit may count.
    pub fn after_decision(self, what: impl Into<String>) -> Self {
        match self.is_refusal() {
            true => Self::Io { what: what.into(), source: self.into() },
            false => self,
        }
    }

    /// `what` as a [`Error::NotFound`].
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::NotFound { what: what.into() }
    }

    /// A wrong argument and what would have been right.
    pub fn invalid(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::InvalidInput { what: what.into(), expected: expected.into() }
    }

    /// Damage: what is wrong, and the file or object where it was found.
    pub fn corrupt(what: impl Into<String>, place: impl Into<String>) -> Self {
        Self::Corrupt { what: what.into(), place: place.into() }
    }

    /// Sorts an operating system's error into the variant a caller would act on.
    pub fn from_io(source: io::Error, what: impl Into<String>) -> Self {
        let what = what.into();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { what },
            io::ErrorKind::AlreadyExists => Self::AlreadyExists { what },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::PermissionDenied { what: format!("{what}: {source}"), source: Some(source) }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { what: format!("{what}: {source}") }
            }
            _ if matches!(source.raw_os_error(), Some(ENFILE | EMFILE)) => Self::TooManyOpen { what, source },
            _ => Self::Io { what, source: Box::new(source) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_no_space_and_too_many_files_name_the_limit() {
        let full = Error::from_io(io::Error::from_raw_os_error(28), "write data/1");
        assert_eq!(full.code(), "no-space");
        let many = Error::from_io(io::Error::from_raw_os_error(24), "open data/1");
        assert!(many.code() == "too-many-open" && many.to_string().contains("`ulimit -n`"), "{many}");
        let other = Error::from_io(io::Error::from_raw_os_error(5), "read data/1");
        assert_eq!(other.code(), "io");
        assert!(other.source().is_some());
    }

    #[test]
    fn every_code_is_in_the_list_of_codes() {
        let source = include_str!("error.rs");
        let code = source.split("pub fn code(&self)").nth(1).and_then(|rest| rest.split("\n    }\n").next());
        let given: Vec<&str> =
            code.unwrap().split("=> \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let known: Vec<&str> = Error::CODES.into_iter().collect();
        assert_eq!(given, known);
    }
}
