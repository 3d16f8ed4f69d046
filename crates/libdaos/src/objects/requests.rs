//! What a fetch or an update asks of one attribute key, and the ranges of records in it.

use crate::{
    abi::{constants::DAOS_REC_ANY, errors::DER_REC2BIG},
    objects::records::Range,
    runtime::error::{Result, invalid, refuse},
};

/// The attribute key of all values of a map.
pub(crate) const ONLY_AKEY: &[u8] = b"0";

/// The part of a fetch or an update that concerns one attribute key.
pub(crate) struct AkeyRequest<'p> {
    pub(crate) akey: &'p [u8],
    /// `None` for a single value.
    pub(crate) ranges: Option<Vec<Range>>,
    /// Bytes of the value, or of a record; 0 for any size.
    pub(crate) size: u64,
    pub(crate) flags: u64,
    /// The bytes that the buffers of a fetch hold; `None` where only the size is wanted.
    pub(crate) capacity: Option<u64>,
}

impl AkeyRequest<'_> {
    /// Refuses reserved index bits, and ranges that do not fit a call with buffers.
    fn check_ranges(&self, has_buffers: bool) -> Result<()> {
        let Some(ranges) = &self.ranges else { return Ok(()) };
        if ranges.iter().any(|(first, _)| first & RESERVED != 0) {
            return invalid("an index of records with bit 63, which is reserved");
        }
        if has_buffers && ranges.iter().all(|(_, count)| *count == 0) {
            return invalid("no range of records, or an empty one alone");
        }
        if has_buffers && overlap(ranges) {
            return invalid("ranges of records that overlap");
        }
        Ok(())
    }

    /// Refuses a fetch whose given size does not fit into its buffers. The stored size may differ.
    pub(crate) fn check_fetch(&self) -> Result<()> {
        self.check_ranges(self.capacity.is_some())?;
        let count = self.ranges.iter().flatten().map(|(_, count)| *count).fold(0, u64::saturating_add);
        let wanted = if self.ranges.is_some() { self.size.saturating_mul(count) } else { self.size };
        match self.capacity {
            Some(capacity) if wanted > capacity => {
                refuse(DER_REC2BIG, &format!("a fetch of {wanted} bytes into buffers of {capacity}"))
            }
            None if self.ranges.is_some() && self.size != DAOS_REC_ANY => {
                invalid("a fetch of records with iod_size, and no list of buffers")
            }
            _ => Ok(()),
        }
    }

    /// As [`AkeyRequest::check_fetch`], of an update.
    pub(crate) fn check_update(&self, has_buffers: bool) -> Result<()> {
        self.check_ranges(has_buffers)
    }
}

/// The bit of an index that DAOS reserves for parity.
const RESERVED: u64 = 1 << 63;

/// Whether two ranges have an index in common.
pub(crate) fn overlap(ranges: &[Range]) -> bool {
    let mut sorted: Vec<Range> = ranges.iter().copied().filter(|(_, count)| *count > 0).collect();
    sorted.sort_unstable();
    sorted.windows(2).any(|two| two[0].0.saturating_add(two[0].1) > two[1].0)
}
