//! The fence of [sweeps](crate::sweep): arrays with a number below it that no entry names are being destroyed. The commit
//! of a truncated file raises it too.

use isotach_object::{Cell, Container};

use crate::{
    Error, Result,
    layout::{FENCE_KEY, FILE},
};

/// The fence of a container, as stored.
pub(crate) fn fence(container: &dyn Container) -> Result<Option<Vec<u8>>> {
    Ok(container.get_many(&[Cell::kv(FILE, FENCE_KEY)])?.pop().flatten())
}

/// The number below which a stored fence has arrays destroyed.
pub(crate) fn number_of(fence: Option<&[u8]>) -> Result<u64> {
    let Some(fence) = fence else { return Ok(0) };
    let damaged = || Error::corrupt("a damaged fence", "the record of the file");
    Ok(u64::from_le_bytes(*fence.first_chunk().ok_or_else(damaged)?))
}
