//! All values of a message, by whoever decodes its packing.

use crate::{Eccodes, EccodesError, JumpError, JumpInfo};

/// Why a message cannot be decoded.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The message is of a packing that is decoded here, and corrupt.
    #[error(transparent)]
    Message(#[from] JumpError),
    /// The message is of another packing, and ecCodes is missing or refuses it.
    #[error(transparent)]
    Eccodes(#[from] EccodesError),
}

/// Decodes all values of a message, whatever its packing: one for each point in the message's order, NaN where it has none.
///
/// Simple packing and CCSDS are decoded here, by `threads` threads of which this is one. Any other packing is decoded by
/// ecCodes, which is loaded then, on one thread. The values are the same.
///
/// # Errors
/// [`DecodeError`].
pub fn decode_values(message: &[u8], threads: usize) -> Result<Vec<f64>, DecodeError> {
    match JumpInfo::of(message) {
        Ok(info) => Ok(info.decode(message, threads)?),
        Err(JumpError::Unsupported { .. }) => Ok(Eccodes::load()?.values(message)?),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::Handle;
    use crate::needs_eccodes::eccodes;

    #[test]
    fn any_packing_is_decoded_to_the_values_of_eccodes() {
        let Some(eccodes) = eccodes() else { return };
        for packing in ["grid_simple", "grid_ccsds", "grid_second_order"] {
            let mut handle = Handle::sample(eccodes.api().unwrap(), c"regular_ll_pl_grib2").unwrap();
            handle.set_long(c"Ni", 20).unwrap();
            handle.set_long(c"Nj", 10).unwrap();
            let values: Vec<f64> = (0..200).map(|number| f64::from(number * number % 64)).collect();
            handle.set_doubles(c"values", &values).unwrap();
            handle.set_string(c"packingType", packing).unwrap();
            assert_eq!(handle.string(c"packingType").unwrap(), packing);
            let message = handle.message().unwrap();
            assert_eq!(decode_values(&message, 2).unwrap(), eccodes.values(&message).unwrap(), "{packing}");
        }
        assert!(matches!(decode_values(b"GRIB", 1), Err(DecodeError::Message(_))));
    }
}
