//! What a store has as the jump index of a field, and whether it serves to read the field's points.

use isotach_fields::{Error as FieldsError, JumpIndex};
use isotach_grib::{JumpError, JumpInfo};

/// What is stored as the jump index of a field.
pub(crate) enum Stored {
    Index(JumpInfo),
    /// None, or a damaged one: it is made of the field's bytes.
    Lacking,
    /// One of a version that is not known here. It stays, because another program reads it.
    OtherVersion,
}

impl Stored {
    /// # Errors
    /// Those of looking it up, but not that it is damaged.
    pub(crate) fn of(index: JumpIndex) -> Result<Self, FieldsError> {
        let bytes = match index {
            Ok(Some(bytes)) => bytes,
            Ok(None) | Err(FieldsError::Corrupt { .. }) => return Ok(Self::Lacking),
            Err(error) => return Err(error),
        };
        Ok(match JumpInfo::from_bytes(&bytes) {
            Ok(info) => Self::Index(info),
            Err(JumpError::OtherVersion { .. }) => Self::OtherVersion,
            Err(_) => Self::Lacking,
        })
    }
}
