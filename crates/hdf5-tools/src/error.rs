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
    /// A file that is to be created exists.
    #[error("{name} exists already: remove it, or name another file")]
    Exists {
        /// The file.
        name: String,
    },
    /// There is no HDF5 library. Native files need one.
    #[error(
        "no HDF5 library was found, which native files need: `pip install h5py` in an active environment, `apt install libhdf5-310` (1.12 \
         or newer), or name one in ISOTACH_HDF5. Tried: {}",
        tried.join("; ")
    )]
    NotInstalled {
        /// What was tried, each with the reason why it was not taken.
        tried: Vec<String>,
    },
    /// The named library is none that can be used.
    #[error("ISOTACH_HDF5 names {}, which cannot be used as an HDF5 library: {reason}", path.display())]
    Unusable {
        /// The named path.
        path: std::path::PathBuf,
        /// Why.
        reason: String,
    },
    /// The HDF5 library failed.
    #[error("cannot {what}: {reason}")]
    Library {
        /// What was attempted.
        what: String,
        /// The library's reason.
        reason: String,
    },
    /// Parts of a file cannot be carried over.
    #[error("{} cannot be copied: {}", counted(refused.len()), listed(refused))]
    Refused {
        /// Each with its path, and why.
        refused: Vec<Refusal>,
    },
    /// The copy is not equal to the source.
    #[error("the copy differs from the source: {what} of {path}")]
    Differs {
        /// The object.
        path: String,
        /// What of it differs.
        what: &'static str,
    },
    /// An operation on a part of a file failed.
    #[error("{place}: {source}")]
    Part {
        /// The part.
        place: String,
        /// Why.
        source: Box<Error>,
    },
    /// The operating system failed.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was attempted.
        what: String,
        /// The cause.
        source: std::io::Error,
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

/// A part of a file that cannot be carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The path of the object, link or attribute.
    pub path: String,
    /// Why it cannot.
    pub why: String,
}

/// How many refusals a message has.
const LISTED: usize = 5;

fn counted(number: usize) -> String {
    if number == 1 { "1 part of the file".to_owned() } else { format!("{number} parts of the file") }
}

fn listed(refused: &[Refusal]) -> String {
    let mut shown: Vec<String> =
        refused.iter().take(LISTED).map(|Refusal { path, why }| format!("{path} ({why})")).collect();
    if refused.len() > LISTED {
        shown.push(format!("and {} more", refused.len() - LISTED));
    }
    shown.join(", ")
}

impl Error {
    /// Puts the part of the file that it is about in front.
    pub(crate) fn about(place: &str) -> impl Fn(Self) -> Self + '_ {
        move |source| Self::Part { place: place.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { what: what.into(), source }
    }

    /// Puts the place of a damaged datatype in front.
    pub(crate) fn at(place: impl Into<String>) -> impl FnOnce(TypeError) -> Self {
        move |source| Self::Datatype { place: place.into(), source }
    }
}
