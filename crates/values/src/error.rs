//! Why values cannot be given.

use isotach_fields::Inspected;
use isotach_grib::{EccodesError, JumpError};

/// What every operation of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why values of points cannot be given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store failed, a field is corrupt, or the points do not fit its grid.
    #[error(transparent)]
    Fields(#[from] isotach_fields::Error),
    /// A field has another grid than expected, so the same points would be elsewhere.
    #[error(
        "field {field} has the grid {found}, expected {expected}: ask for the fields of one grid, or permit several grids"
    )]
    OtherGrid {
        /// The field's key.
        field: String,
        /// The hash of its grid.
        found: String,
        /// The hash that was expected, and whose it is.
        expected: String,
    },
    /// A field's packing is decoded by ecCodes, which is missing or refuses it.
    #[error("field {field} cannot be decoded: {source}")]
    NotDecoded {
        /// The field's key.
        field: String,
        /// Why not.
        source: EccodesError,
    },
}

impl Error {
    /// All codes of this crate; those of the store are in [`isotach_fields::Error::CODES`].
    pub const CODES: [&str; 2] = ["other-grid", "not-decoded"];

    /// The stable code, shared by every language and by `--json`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Fields(error) => error.code(),
            Self::OtherGrid { .. } => "other-grid",
            Self::NotDecoded { .. } => "not-decoded",
        }
    }

    /// The error of decoding a field.
    pub(crate) fn of_field(field: &Inspected, error: JumpError) -> Self {
        let key = field.key.to_string();
        match error {
            JumpError::OutOfRange { start, end, points } => {
                Self::invalid(format!("points {start} to {end} (exclusive) of field {key}"), grid_of(points))
            }
            JumpError::TooLarge { values } => {
                Self::invalid(format!("{values} values of field {key}"), "fewer in each request".to_owned())
            }
            error => isotach_fields::Error::Corrupt {
                field: key,
                what: error.to_string(),
                place: format!("{} at offset {}", field.location, field.location.offset),
            }
            .into(),
        }
    }

    pub(crate) fn other_grid(field: &Inspected, grid: [u8; 16], expected: String) -> Self {
        Self::OtherGrid { field: field.key.to_string(), found: crate::grid_text(&grid), expected }
    }

    pub(crate) fn invalid(what: String, expected: String) -> Self {
        isotach_fields::Error::Invalid { what, expected }.into()
    }
}

fn grid_of(points: u64) -> String {
    format!("points of its grid, which has {points}")
}
