//! Archiving GRIB messages under the keys that they carry.

use isotach_grib::{Eccodes, SliceScanner};
use isotach_mars::Key;

use crate::Result;

/// The key that a message carries.
///
/// # Errors
/// Without ecCodes, and if the message cannot be decoded.
pub fn message_key(message: &[u8]) -> Result<Key> {
    Ok(Key::from(Eccodes::load()?.message_key(message)?))
}

/// Gives each message of these bytes to `archive` with its key, and returns how many there are.
///
/// # Errors
/// Bytes without a message, a message that is broken or cannot be decoded, and the errors of `archive`. Messages before it are archived.
pub fn archive_messages(bytes: &[u8], mut archive: impl FnMut(&Key, &[u8]) -> Result<()>) -> Result<usize> {
    let mut count = 0;
    for message in SliceScanner::new(bytes) {
        let message = message?;
        let archived = message_key(message.bytes).and_then(|key| archive(&key, message.bytes));
        archived.map_err(|failure| {
            failure.about(&format!("message {} at byte {}", message.number, message.offset))
        })?;
        count += 1;
    }
    Ok(count)
}
