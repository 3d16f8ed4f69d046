//! Object ids: reserved from the container's header in ranges, and allocated from those.

use std::sync::{Mutex, PoisonError};

use isotach_engine_kit::{checksum::crc32c, context::Context};
use isotach_object::{Error, IdRange, Result};

use crate::{
    ffi::{IfFound, ReadOp},
    keys::HEADER,
    space::{IDS, Space},
};

/// The fewest ids that a handle reserves.
const RESERVATION_MIN: u64 = 1024;

/// Ids that a handle has reserved and not allocated.
#[derive(Debug, Default)]
pub(crate) struct Ids(Mutex<(u64, u64)>);

impl Ids {
    /// Allocates ids that no other caller gets.
    pub(crate) fn allocate(&self, count: u64, space: &Space) -> Result<IdRange> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, end) = match *left {
            (start, end) if end - start >= count => (start, end),
            _ => reserve(count.max(RESERVATION_MIN), space)?,
        };
        *left = (start + count, end);
        Ok(IdRange { start, end: start + count })
    }
}

/// The next id as it is stored, with a checksum.
pub(crate) fn encode(next: u64) -> [u8; 12] {
    let mut stored = [0; 12];
    stored[..8].copy_from_slice(&next.to_le_bytes());
    stored[8..].copy_from_slice(&crc32c(&next.to_le_bytes()).to_le_bytes());
    stored
}

fn decode(stored: &[u8]) -> Option<u64> {
    let next = u64::from_le_bytes(*stored.first_chunk()?);
    (encode(next) == stored).then_some(next)
}

/// Reserves ids from the header.
fn reserve(count: u64, space: &Space) -> Result<(u64, u64)> {
    let what = || format!("allocate object ids in container {}", space.label);
    loop {
        let answer = space.io.read(HEADER, ReadOp::new().attributes()).if_found().context(what)?;
        let answer = answer.ok_or_else(|| space.gone())?;
        let start = answer.attribute(IDS).and_then(decode).ok_or_else(|| {
            let place = format!("RADOS object {HEADER} of container {}", space.label);
            Error::corrupt("a header whose next object id is missing or fails its checksum", place)
        })?;
        let end = start
            .checked_add(count)
            .ok_or_else(|| Error::NoSpace { what: format!("{}: there are only 2^64", what()) })?;
        let reserved = space.io.write_if(HEADER, what, |op| {
            op.require_attribute(IDS, &encode(start)).set_attribute(IDS, &encode(end))
        })?;
        // Otherwise another handle has reserved some.
        if reserved.is_some() {
            return Ok((start, end));
        }
    }
}
