//! Why a datatype or a value cannot be read.

/// What reading a datatype or a value returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a datatype or a value cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are no datatype.
    #[error("a damaged datatype: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// A version or class that is newer than this program.
    #[error("a datatype of {what}, which is newer than this program")]
    Newer {
        /// The version or class.
        what: String,
    },
    /// The bytes are no element of the datatype.
    #[error("a damaged value: {what}")]
    Value {
        /// What is wrong.
        what: &'static str,
    },
    /// The element means nothing without its file.
    #[error("an element that cannot be packed: {what}")]
    Unpackable {
        /// What is in it.
        what: &'static str,
    },
    /// Variable-length data cannot be read.
    #[error("variable-length data: {0}")]
    Blob(Box<dyn std::error::Error + Send + Sync>),
}

pub(crate) fn damaged(what: &'static str) -> Error {
    Error::Damaged { what }
}

pub(crate) fn no_value(what: &'static str) -> Error {
    Error::Value { what }
}
