//! Decoding any points of a message without the rest of it.
//!
//! [`JumpInfo`] is made of a message when it is archived, and kept beside its location. It says where in the message the
//! bits of each point are. [`JumpInfo::extract`] then reads and decodes these alone; [`JumpInfo::decode`] decodes all, on
//! several threads. [`PackedMessage`] decodes all without an index, on one thread. Nothing here calls ecCodes.
//!
//! Simple packing and CCSDS can be decoded so, in GRIB 1 and GRIB 2. For any other packing, [`JumpInfo::of`] says
//! [`JumpError::Unsupported`], and the message is decoded whole, by ecCodes.
//!
//! What must stay true: every value equals that of ecCodes bit for bit, and no message and no index, however broken, makes
//! this module panic.

mod bytes;
mod ccsds;
mod decode;
mod error;
mod extraction;
mod info;
mod mask;
mod packed;
mod scaling;
mod sections;
mod simple;
#[cfg(test)]
mod tests;

use md5::{Digest, Md5};

pub use error::JumpError;
pub use extraction::Extraction;
pub use info::JumpInfo;
pub use packed::PackedMessage;

/// The MD5 of the section of a whole message that describes its grid; see [`JumpInfo::grid_md5`].
///
/// # Errors
/// [`JumpError::CorruptMessage`] if the bytes are not one whole message, [`JumpError::Unsupported`] if it has no such
/// section.
pub fn grid_md5(message: &[u8]) -> Result<[u8; 16], JumpError> {
    Ok(Md5::digest(grid_section(message)?).into())
}

/// The section of a whole message that describes its grid.
pub(crate) fn grid_section(message: &[u8]) -> Result<&[u8], JumpError> {
    Ok(message.get(sections::grid(message)?).unwrap_or_default())
}
