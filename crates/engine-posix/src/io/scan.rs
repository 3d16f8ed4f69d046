//! Reading the log from front to back, window by window.

use std::ops::Range;

use isotach_object::Result;
use memchr::memmem;

use crate::{
    format::frame::{self, FrameVerdict},
    io::storage::Storage,
};

/// Bytes of the log read at a time.
pub(crate) const WINDOW: usize = 4 << 20;

/// Where a scan goes on.
pub(crate) enum Step {
    To(u64),
    /// To the next marker, or behind the last place where none begins.
    NextMarker,
    /// Not at all: the scan ends at this position.
    StopAt(u64),
}

impl Step {
    /// Over what was found at a position.
    pub(crate) fn over(found: &FrameVerdict<'_>, position: u64) -> Self {
        match *found {
            FrameVerdict::Frame { length, .. }
            | FrameVerdict::Torn { length }
            | FrameVerdict::Strange { length } => Self::To(position + length as u64),
            FrameVerdict::Damaged { .. } => Self::NextMarker,
            FrameVerdict::Pending { .. } => Self::StopAt(position),
        }
    }
}

/// Calls `each` for every position in a range of the log that needs a verdict. [`FrameVerdict::Pending`] is passed only at the end of the
/// range. Returns the position reached.
pub(crate) fn scan(
    storage: &Storage,
    range: Range<u64>,
    mut each: impl FnMut(u64, FrameVerdict<'_>) -> Result<Step>,
) -> Result<u64> {
    let (mut position, mut size) = (range.start, WINDOW);
    let mut window = Vec::new();
    while position < range.end {
        let wanted = usize::try_from(range.end - position).unwrap_or(usize::MAX).min(size);
        window.resize(wanted, 0);
        let filled = storage.log.read(position, &mut window)?;
        let more = filled == wanted && position + (filled as u64) < range.end;
        let (start, end) = (position, position + filled as u64);
        size = WINDOW;
        while position < end {
            let rest = &window[(position - start) as usize..filled];
            let found = frame::find(rest, storage.marker, more);
            if let FrameVerdict::Pending { need } = found
                && more
            {
                // Only a frame longer than the whole window needs a larger one.
                size = if need > filled { need.max(2 * filled) } else { WINDOW };
                break;
            }
            match each(position, found)? {
                Step::To(next) => position = next,
                Step::NextMarker => position += marker_after(rest, storage.marker, more) as u64,
                Step::StopAt(end) => return Ok(end),
            }
        }
        if filled == 0 {
            break;
        }
    }
    Ok(position)
}

/// The distance from the first of these bytes to the next marker. If there are `more`, one may begin in the last seven bytes.
fn marker_after(bytes: &[u8], marker: u64, more: bool) -> usize {
    let rest = &bytes[1..];
    let end = if more { rest.len().saturating_sub(7) } else { rest.len() };
    1 + memmem::find(rest, &marker.to_le_bytes()).unwrap_or(end)
}
