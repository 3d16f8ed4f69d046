//! The key of a message: what MARS, and FDB, call the field.

use super::{Doing, Eccodes, EccodesError};
use crate::SliceScanner;
use crate::ffi::Handle;

impl Eccodes {
    /// The MARS key of one GRIB message: keys and values of the namespace `mars`, in ecCodes' order.
    ///
    /// `param` is the numeric parameter id (`130`, never `130.128`), as FDB stores it. All other values are as ecCodes
    /// writes them: `step` with its unit if that is not the hour (`90m`), `levelist` with its fraction (`0.1`). A newer
    /// ecCodes may know keys that an older does not.
    ///
    /// Decodes headers only; the cost does not depend on the number of values.
    ///
    /// # Errors
    /// [`EccodesError::NotOneMessage`] if `message` is anything but one whole message, [`EccodesError::Refused`] if ecCodes
    /// cannot decode its headers.
    pub fn message_key(&'static self, message: &[u8]) -> Result<Vec<(String, String)>, EccodesError> {
        one_message(message)?;
        let handle = Handle::borrow(self.api(), message).doing("open", "the message")?;
        let mut pairs = handle.namespace(c"mars").doing("read", "the MARS keys of the message")?;
        if let Ok(id) = handle.string(c"paramId") {
            match pairs.iter_mut().find(|(key, _)| key == "param") {
                Some((_, value)) => *value = id,
                None => pairs.push(("param".to_owned(), id)),
            }
        }
        Ok(pairs)
    }
}

/// The MARS key of one GRIB message, through ecCodes: [`Eccodes::load`], then [`Eccodes::message_key`].
///
/// # Errors
/// Those of the two.
pub fn message_key(message: &[u8]) -> Result<Vec<(String, String)>, EccodesError> {
    Eccodes::load()?.message_key(message)
}

/// Checks that `bytes` are one message from first to last byte, so that ecCodes is not led astray by a wrong length.
pub(crate) fn one_message(bytes: &[u8]) -> Result<(), EccodesError> {
    let refuse = |reason: String| Err(EccodesError::NotOneMessage { reason });
    match SliceScanner::new(bytes).max_length(u64::MAX).next() {
        Some(Ok(found)) if found.bytes.len() == bytes.len() => Ok(()),
        Some(Ok(found)) => refuse(format!(
            "{} bytes, in which the first message is bytes {} to {}",
            bytes.len(),
            found.offset,
            found.offset + found.bytes.len() as u64
        )),
        Some(Err(error)) => refuse(error.to_string()),
        None => refuse("no bytes".to_owned()),
    }
}
