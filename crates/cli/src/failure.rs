//! Why a command failed, and the exit code for it.

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

/// The error code of full storage.
pub(crate) const NO_SPACE: &str = "no-space";

/// What every command returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// How a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A mistake on the command line, in the environment or in a configuration: exit code 2.
    Usage(String),
    /// The operation failed: exit code 1.
    Failed(String),
    /// The operation failed, and the reason is printed already: exit code 1.
    Reported,
    /// The reader of standard output has exited: exit code 0.
    BrokenPipe,
}

impl Failure {
    /// A usage error: `what: expected ...`.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::Usage(message.to_string())
    }

    /// A failure with this message.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// A failed operation on a file: `cannot {verb} {path}`.
    pub(crate) fn file<'p>(verb: &'p str, path: &'p Path) -> impl Fn(io::Error) -> Self + 'p {
        move |error| match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Failed(format!("cannot {verb} {}: {error}", path.display())),
        }
    }

    /// This failure with its subject in front.
    pub(crate) fn about(self, subject: impl Display) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(format!("{subject}: {message}")),
            Self::Failed(message) => Self::Failed(format!("{subject}: {message}")),
            other => other,
        }
    }

    /// This failure as a usage error.
    pub(crate) fn into_usage(self) -> Self {
        match self {
            Self::Failed(message) => Self::Usage(message),
            other => other,
        }
    }

    /// This failure as one that is no usage error.
    pub(crate) fn into_failed(self) -> Self {
        match self {
            Self::Usage(message) => Self::Failed(message),
            other => other,
        }
    }

    /// The message, unless it is printed already.
    pub(crate) fn message(&self) -> Option<&str> {
        match self {
            Self::Usage(message) | Self::Failed(message) => Some(message),
            Self::Reported | Self::BrokenPipe => None,
        }
    }

    /// Prints the message on standard error and returns the exit code.
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

/// Prints a line on standard error, with the program's name in front.
pub(crate) fn say(message: impl Display) {
    // A closed standard error leaves no way to report anything.
    let _ = writeln!(io::stderr().lock(), "isotach: {message}");
}

impl From<FieldsError> for Failure {
    fn from(error: FieldsError) -> Self {
        match error {
            FieldsError::Request(error) => error.into(),
            FieldsError::Schema(error) => error.into(),
            error if error.is_usage() => Self::usage(error),
            error if error.code() == NO_SPACE => Self::failed(format!(
                "{error}; `isotach purge --doit` frees the space of replaced and removed fields"
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

impl From<isotach_hdf5::Error> for Failure {
    fn from(error: isotach_hdf5::Error) -> Self {
        Self::failed(error)
    }
}

impl From<isotach_hdf5_tools::Error> for Failure {
    fn from(error: isotach_hdf5_tools::Error) -> Self {
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
    /// An error of standard output. Errors of files are built with [`Failure::file`], which names the file.
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
