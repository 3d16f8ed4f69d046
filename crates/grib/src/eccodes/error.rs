//! What can go wrong with ecCodes, and what to do about it.

use std::path::PathBuf;

use isotach_engine_kit::context::VendorError;

use crate::ffi::Refusal;

/// An error of ecCodes: it is not there, or it does not accept a message.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EccodesError {
    /// No ecCodes was found. Everything that does not look into messages still works.
    #[error(
        "ecCodes is not installed: install it with `apt install libeccodes0` or, in an active virtual environment, \
         `pip install eccodeslib`; or set ISOTACH_ECCODES to the path of libeccodes.so (tried: {})",
        tried.join("; ")
    )]
    NotInstalled {
        /// Each place looked at, with the reason it did not do.
        tried: Vec<String>,
    },
    /// The process may open too few files: ecCodes would end it in the middle of its definitions.
    #[error(
        "ecCodes needs 8 files beside those that are open: {reason}; raise how many a process may have open (`ulimit -n \
         64`)"
    )]
    TooFewFiles {
        /// What the system said.
        reason: String,
    },
    /// The library that `ISOTACH_ECCODES` names cannot be used.
    #[error("ISOTACH_ECCODES names {}, which cannot be loaded as ecCodes: {reason}", path.display())]
    Unusable {
        /// The path in the variable.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// The bytes are not exactly one whole GRIB message, so ecCodes was not asked.
    #[error("not one whole GRIB message: {reason}")]
    NotOneMessage {
        /// What a scan of the bytes found.
        reason: String,
    },
    /// ecCodes refused.
    #[error("ecCodes cannot {doing}: {reason}")]
    Refused {
        /// What was asked of it, as in "read the key step".
        doing: String,
        /// What it answered, and what it logged.
        reason: String,
    },
    /// This ecCodes does not know a template of the message, and so cannot say what field it is.
    #[error("{reason}")]
    TooOld {
        /// Which version does not know what, and what to do.
        reason: String,
    },
    /// The grid is of a kind that [`crate::Grid`] does not hold.
    #[error("a grid of type {grid_type} is not drawn, expected regular_ll")]
    GridType {
        /// The kind of grid, by ecCodes' name.
        grid_type: String,
    },
    /// What the message says of its own size cannot be.
    #[error("the message claims {points} points, which does not fit {limit}")]
    Size {
        /// The number of points claimed.
        points: u64,
        /// What it contradicts, in words.
        limit: String,
    },
    /// A message was to be made that cannot be.
    #[error("cannot make a message: {reason}")]
    Specification {
        /// What is wrong with what was asked for, and what would be right.
        reason: String,
    },
}

impl VendorError for Refusal {
    type Error = EccodesError;

    fn during(self, attempted: String) -> EccodesError {
        EccodesError::Refused { doing: attempted, reason: self.reason }
    }
}
