//! Why a command ended without success, and the exit code that says so.

use std::{
    fmt::Display,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use isotach_fields::Error as FieldsError;
use isotach_grib::EccodesError;
use isotach_mars::{KeyError, RequestError, SchemaError};
use isotach_object::Error as ObjectError;

/// The code of errors of a storage that is full.
pub(crate) const NO_SPACE: &str = "no-space";

/// What every command returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// How a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was typed, or written into a configuration, cannot be meant: exit code 2.
    Usage(String),
    /// It could not be done: exit code 1.
    Failed(String),
    /// It failed and has said why: exit code 1.
    Reported,
    /// Nobody reads what the program prints.
    BrokenPipe,
}

impl Failure {
    /// A wrong argument: `what: expected ...`.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    /// A failure in these words.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// An operation on a file failed.
    pub(crate) fn file<'p>(doing: &'p str, path: &'p Path) -> impl Fn(io::Error) -> Self + 'p {
        move |error| match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Failed(format!("cannot {doing} {}: {error}", path.display())),
        }
    }

    /// This failure, with what it is about in front.
    pub(crate) fn about(self, what: impl Display) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(format!("{what}: {message}")),
            Self::Failed(message) => Self::Failed(format!("{what}: {message}")),
            other => other,
        }
    }

    /// This failure as one of what was typed.
    pub(crate) fn typed(self) -> Self {
        match self {
            Self::Failed(message) => Self::Usage(message),
            other => other,
        }
    }

    /// This failure as one of what was found, not of what was typed.
    pub(crate) fn not_typed(self) -> Self {
        match self {
            Self::Usage(message) => Self::Failed(message),
            other => other,
        }
    }

    /// The message, if there is one to give.
    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::Usage(message) | Self::Failed(message) => Some(message),
            Self::Reported | Self::BrokenPipe => None,
        }
    }

    /// Says it on standard error and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if let Some(message) = self.message() {
            say(message);
        }
        match self {
            Self::BrokenPipe => ExitCode::SUCCESS,
            Self::Failed(_) | Self::Reported => ExitCode::from(1),
            Self::Usage(_) => ExitCode::from(2),
        }
    }
}

/// A line on standard error, with the program's name in front.
pub(crate) fn say(message: impl Display) {
    // There is nothing left to do about a standard error that is gone.
    let _ = writeln!(io::stderr().lock(), "isotach: {message}");
}

impl From<FieldsError> for Failure {
    fn from(error: FieldsError) -> Self {
        match error {
            FieldsError::Request(error) => error.into(),
            FieldsError::Schema(error) => error.into(),
            error if error.is_usage() => Self::usage(error),
            error if error.code() == NO_SPACE => Self::failed(format!(
                "{error}; `isotach purge --doit` gives back the room of replaced and removed fields"
            )),
            error => Self::failed(error),
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Syntax { .. } => Self::usage(format!("request: {error}")),
            _ => Self::usage(error),
        }
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Self::usage(error)
    }
}

impl From<SchemaError> for Failure {
    fn from(error: SchemaError) -> Self {
        Self::usage(format!("schema: {error}"))
    }
}

impl From<ObjectError> for Failure {
    fn from(error: ObjectError) -> Self {
        FieldsError::from(error).into()
    }
}

impl From<EccodesError> for Failure {
    fn from(error: EccodesError) -> Self {
        Self::failed(error)
    }
}

impl From<isotach_bench::Error> for Failure {
    fn from(error: isotach_bench::Error) -> Self {
        match error {
            isotach_bench::Error::Fields(error) => error.into(),
            isotach_bench::Error::Object(error) => error.into(),
            isotach_bench::Error::Invalid { .. } => Self::usage(error),
            isotach_bench::Error::Output(error) => error.into(),
            error => Self::failed(error),
        }
    }
}

impl From<io::Error> for Failure {
    /// Of writing to standard output, the only stream that is written without a file's name at hand.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Failed(format!("cannot write to standard output: {error}")),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}
