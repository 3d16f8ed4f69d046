//! [`Failure`]: why a call of a C program failed; and the guard that keeps panics from C.

use std::panic::{self, AssertUnwindSafe};

use isotach_fields::Error;
use isotach_grib::{EccodesError, ScanError};
use isotach_mars::{KeyError, RequestError};

/// The code of an argument that is wrong.
pub const CODE_INVALID: &str = "invalid-input";
/// The code of an error in the library itself.
pub const CODE_INTERNAL: &str = "internal";

/// The result of a call.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The stable code, as of [`Error::code`].
    pub code: &'static str,
    /// The reason, for people.
    pub text: String,
}

impl Failure {
    /// A wrong argument.
    pub fn invalid(text: impl Into<String>) -> Self {
        Self { code: CODE_INVALID, text: text.into() }
    }

    /// With what was attempted before the reason.
    #[must_use]
    pub fn about(self, what: &str) -> Self {
        Self { text: format!("{what}: {}", self.text), ..self }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { code: error.code(), text: error.to_string() }
    }
}

impl From<isotach_object::Error> for Failure {
    fn from(error: isotach_object::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Error::from(error).into()
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Error::from(error).into()
    }
}

impl From<EccodesError> for Failure {
    fn from(error: EccodesError) -> Self {
        Error::Message { source: error.into() }.into()
    }
}

impl From<ScanError> for Failure {
    fn from(error: ScanError) -> Self {
        Error::Message { source: error.into() }.into()
    }
}

/// Runs the body of a call. A panic becomes a failure.
///
/// # Errors
/// Those of `act`, and [`CODE_INTERNAL`] after a panic.
pub fn guarded<T>(act: impl FnOnce() -> Result<T>) -> Result<T> {
    // A panic may leave an object of the caller's half changed. The failure tells the caller.
    panic::catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panicked| {
        let said = panicked.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panicked.downcast_ref::<&str>().copied()).unwrap_or("no reason");
        let text = format!("an error in the library itself, please report it: {said}");
        Err(Failure { code: CODE_INTERNAL, text })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_failure_with_its_reason() {
        let failed = guarded(|| -> Result<()> { panic::panic_any("lost") }).unwrap_err();
        assert_eq!(failed.code, "internal");
        assert!(failed.text.ends_with("report it: lost"), "{}", failed.text);
        assert_eq!(guarded(|| Ok(7)), Ok(7));
    }

    #[test]
    fn a_failure_has_the_stable_code_of_its_error() {
        let wrong: std::result::Result<isotach_mars::Key, _> = "step".parse();
        assert_eq!(Failure::from(wrong.unwrap_err()).code, "key");
        assert_eq!(Failure::from(isotach_object::Error::not_found("pool")).code, "not-found");
    }
}
