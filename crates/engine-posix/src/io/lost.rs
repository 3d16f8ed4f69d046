//! What a power failure left half at the end of the log (FORMAT.md section 8.3).
//!
//! Bytes that were not synced come back as zeros, sector by sector, and bytes behind them may have survived. Whatever
//! begins where the first are missing never counts, up to the recovery frame of the next start of the machine. Damage is
//! told from loss in three ways: what was damaged does not read as zeros; of what was synced, later frames of its writer
//! say so; and what was written since the machine was started cannot have been lost.

use std::collections::HashMap;

use isotach_object::{Error, Result};
use memchr::memmem;

use crate::{
    format::frame::{self, Found},
    io::{
        boot,
        scan::{Step, WINDOW, scan},
        storage::Storage,
    },
};

/// The least that a device writes whole.
const SECTOR: u64 = 512;

/// What bytes that are no frame are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// Not lost to a power failure: they are as they were written, or damaged.
    NotLost,
    /// Lost, and so is everything up to this position.
    LostUntil(u64),
    /// Lost, with everything behind them.
    LostToEnd,
}

/// How much of what begins without a marker was written together, at least.
pub(crate) const MARKER: u64 = 8;

/// Judges the bytes at `position`, where no frame is that counts. The first `reach` of them, at least, were one write.
pub(crate) fn judge(storage: &Storage, position: u64, reach: u64) -> Result<Judged> {
    // Looked for before the log is measured: a name that is there says that the recovery frame is, too.
    let unrecorded = boot::unrecorded(&storage.directory);
    let unrecorded =
        unrecorded.map_err(|error| Error::from_io(error, "look for the start of the machine"))?;
    // Also for a handle on the past: what comes behind its end says what was lost before.
    let end = storage.log.whole_length()?;
    let next = next_marker(storage, position + 1, end)?;
    if !has_lost_sector(storage, position, position + reach, next.unwrap_or(end))? {
        return Ok(Judged::NotLost);
    }
    // The last frame of each writer behind the loss.
    let mut last: HashMap<u64, u64> = HashMap::new();
    let mut judged = if unrecorded.is_some() { Judged::LostToEnd } else { Judged::NotLost };
    scan(storage, next.unwrap_or(end)..end, |position, found| {
        let mut decide = |verdict| {
            judged = verdict;
            Step::StopAt(position)
        };
        Ok(match found {
            Found::Frame { frame, .. } if frame.kind == frame::kind::RECOVERY => {
                decide(Judged::LostUntil(position))
            }
            Found::Frame { frame, length } => {
                let before = last.insert(frame.origin.writer, frame.origin.sequence);
                let follows = before.is_some_and(|before| before + 1 == frame.origin.sequence);
                match frame.settled && follows {
                    // Its writer synced the log when the loss was already behind it.
                    true => decide(Judged::NotLost),
                    false => Step::To(position + length as u64),
                }
            }
            Found::Torn { length } | Found::Strange { length } => Step::To(position + length as u64),
            Found::Damaged { .. } => Step::NextMarker,
            Found::Pending { .. } => Step::StopAt(position),
        })
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

/// Where the next marker begins, from `from` on.
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

/// Whether one of the sectors that `[start, reach)` lies in has nothing but zeros between `start` and `end`.
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
