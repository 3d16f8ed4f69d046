//! How a failure is told: by DAOS's number, with a line in the log for what the number does not say.

use isotach_object::Error;

use crate::{abi::errors::*, runtime::log};

/// One of DAOS's errors, as a positive number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Der(pub(crate) i32);

/// What an operation comes to.
pub(crate) type Result<T> = std::result::Result<T, Der>;

/// Refuses an argument, saying why in the log.
pub(crate) fn invalid<T>(why: &str) -> Result<T> {
    refuse(DER_INVAL, why)
}

/// Refuses with a number, saying why in the log.
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

impl From<Error> for Der {
    fn from(error: Error) -> Self {
        let number = match &error {
            Error::NotFound { .. } => DER_NONEXIST,
            Error::AlreadyExists { .. } => DER_EXIST,
            Error::Conflict { .. } => DER_TX_RESTART,
            Error::Unsupported { .. } => DER_NOTSUPPORTED,
            Error::Corrupt { .. } => DER_CSUM,
            Error::PermissionDenied { .. } => DER_NO_PERM,
            Error::NoSpace { .. } => DER_NOSPACE,
            Error::InvalidInput { .. } => DER_INVAL,
            _ => DER_IO,
        };
        // Of what is or is not there programs make their own sense.
        if !matches!(number, DER_NONEXIST | DER_EXIST | DER_TX_RESTART) {
            return Self::logged(number, &error.to_string());
        }
        Self(number)
    }
}
