//! Losses in a power failure at the end of the log (FORMAT.md section 8.3).
//!
//! Bytes that were not synced come back as zeros, sector by sector, and bytes behind them may have survived. Everything from the first
//! missing byte to the recovery frame of the next start never counts. Damage differs from loss in three ways: damaged bytes do not read as
//! zeros; later frames of a writer prove that its earlier bytes were synced; and bytes that were written since the start of the machine
//! cannot be lost.

use std::collections::HashMap;

use isotach_object::{Error, Result};
use memchr::memmem;

use crate::{
    format::frame::{self, FrameVerdict},
    io::{
        boot,
        scan::{Step, WINDOW, scan},
        storage::Storage,
    },
};

/// The unit that a device writes atomically.
const SECTOR: u64 = 512;

/// The verdict on bytes without a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossVerdict {
    /// Not lost in a power failure: they are as they were written, or damaged.
    NotLost,
    /// Lost, and so is everything up to this position.
    LostUntil(u64),
    /// Lost, with everything behind them.
    LostToEnd,
}

/// How many bytes at least were written together where no marker begins.
pub(crate) const MARKER: u64 = 8;

/// Judges the bytes at `position`, where no frame counts. At least the first `reach` of them were one write.
pub(crate) fn judge(storage: &Storage, position: u64, reach: u64) -> Result<LossVerdict> {
    // Read before the log is measured: if the name exists, so does the recovery frame.
    let unrecorded = boot::unrecorded(&storage.directory);
    let unrecorded =
        unrecorded.map_err(|error| Error::from_io(error, "look for the start of the machine"))?;
    // Also for a handle on the past: later frames show what was lost before.
    let end = storage.log.whole_length()?;
    let next = next_marker(storage, position + 1, end)?;
    if !has_lost_sector(storage, position, position + reach, next.unwrap_or(end))? {
        return Ok(LossVerdict::NotLost);
    }
    // The last frame of each writer behind the loss.
    let mut last: HashMap<u64, u64> = HashMap::new();
    let mut judged = if unrecorded.is_some() { LossVerdict::LostToEnd } else { LossVerdict::NotLost };
    scan(storage, next.unwrap_or(end)..end, |position, found| {
        if let FrameVerdict::Frame { frame, .. } = &found {
            if frame.kind == frame::kind::RECOVERY {
                judged = LossVerdict::LostUntil(position);
                return Ok(Step::StopAt(position));
            }
            let before = last.insert(frame.origin.writer, frame.origin.sequence);
            if frame.settled && before.is_some_and(|before| before + 1 == frame.origin.sequence) {
                // Its writer synced the log when the loss was already behind it.
                judged = LossVerdict::NotLost;
                return Ok(Step::StopAt(position));
            }
        }
        Ok(Step::over(&found, position))
    })?;
    Ok(judged)
}

fn read(storage: &Storage, position: u64, size: usize) -> Result<Vec<u8>> {
    let left = storage.log.whole_length()?.saturating_sub(position);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(size)];
    let filled = storage.log.read(position, &mut bytes)?;
    bytes.truncate(filled);
    Ok(bytes)
}

/// The position of the next marker, from `from` on.
fn next_marker(storage: &Storage, from: u64, end: u64) -> Result<Option<u64>> {
    let marker = storage.marker.to_le_bytes();
    let mut at = from;
    while at + marker.len() as u64 <= end {
        let window = read(storage, at, WINDOW)?;
        if let Some(found) = memmem::find(&window, &marker) {
            return Ok(Some(at + found as u64));
        }
        at += (window.len().saturating_sub(marker.len() - 1)).max(1) as u64;
    }
    Ok(None)
}

/// Whether one of the sectors of `[start, reach)` has only zeros between `start` and `end`.
fn has_lost_sector(storage: &Storage, start: u64, reach: u64, end: u64) -> Result<bool> {
    let mut at = start;
    while at < reach.min(end) {
        let sectors = (reach.min(end) - at).min(WINDOW as u64);
        let stop = (at + sectors).next_multiple_of(SECTOR).min(end);
        let window = read(storage, at, (stop - at) as usize)?;
        if window.is_empty() {
            break;
        }
        let first = ((SECTOR - at % SECTOR) as usize).min(window.len());
        let (head, rest) = window.split_at(first);
        let is_lost = |sector: &[u8]| sector.iter().all(|byte| *byte == 0);
        if is_lost(head) || rest.chunks(SECTOR as usize).any(is_lost) {
            return Ok(true);
        }
        at += window.len() as u64;
    }
    Ok(false)
}
