//! The one public error.

use isotach_hdf5::Error as FileError;
use isotach_hdf5_types::Error as TypeError;

/// What every operation returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on a file of either kind failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such file.
    #[error("there is no file {name}")]
    NoFile {
        /// The file.
        name: String,
    },
    /// The file is neither a native HDF5 file nor one of the connector.
    #[error("{name} is no HDF5 file: {what}")]
    NotHdf5 {
        /// The file.
        name: String,
        /// What it is.
        what: String,
    },
    /// A file of the connector cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A datatype or a value is damaged.
    #[error("{place}: {source}")]
    Datatype {
        /// The object.
        place: String,
        /// What is wrong.
        source: TypeError,
    },
}

impl Error {
    /// Puts the place of a damaged datatype in front.
    pub(crate) fn at(place: impl Into<String>) -> impl FnOnce(TypeError) -> Self {
        move |source| Self::Datatype { place: place.into(), source }
    }
}
