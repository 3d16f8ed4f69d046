//! Failures as DAOS's numbers, with the details in the log.

use isotach_object::Error;

use crate::{abi::errors::*, runtime::log};

/// One of DAOS's errors, as a positive number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Der(pub(crate) i32);

/// The result of an operation.
pub(crate) type Result<T> = std::result::Result<T, Der>;

/// Refuses an argument with `DER_INVAL`, and logs why.
pub(crate) fn invalid<T>(why: &str) -> Result<T> {
    refuse(DER_INVAL, why)
}

/// Refuses with a number, and logs why.
pub(crate) fn refuse<T>(number: i32, why: &str) -> Result<T> {
    Err(Der::logged(number, why))
}

impl Der {
    /// A number, with the reason in the log.
    pub(crate) fn logged(number: i32, why: &str) -> Self {
        log::line(name(-number), why);
        Self(number)
    }
}

/// The error of something that takes effect whole or not at all, where it may have taken effect.
pub(crate) fn uncertain(error: &impl std::fmt::Display) -> Der {
    Der::logged(DER_TX_UNCERTAIN, &format!("the outcome is uncertain: {error}"))
}

/// As [`uncertain`], unless the engine says that nothing counts.
pub(crate) fn uncertain_unless_refused(error: Error) -> Der {
    if error.is_refusal() { error.into() } else { uncertain(&error) }
}

impl std::fmt::Display for Der {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(name(-self.0))
    }
}

impl From<Error> for Der {
    fn from(error: Error) -> Self {
        let number = match &error {
            Error::NotFound { .. } => DER_NONEXIST,
            Error::AlreadyExists { .. } => DER_EXIST,
            Error::Conflict { .. } => DER_TX_RESTART,
            Error::Unsupported { .. } | Error::NewerFormat { .. } => DER_NOTSUPPORTED,
            Error::Corrupt { .. } => DER_CSUM,
            Error::PermissionDenied { .. } => DER_NO_PERM,
            Error::NoSpace { .. } => DER_NOSPACE,
            Error::InvalidInput { .. } => DER_INVAL,
            _ => DER_IO,
        };
        // Programs expect these in the ordinary course, so the log stays silent.
        if !matches!(number, DER_NONEXIST | DER_EXIST | DER_TX_RESTART) {
            return Self::logged(number, &error.to_string());
        }
        Self(number)
    }
}
