//! GRIB 1: sections 1 (decimal scale), 2 (grid), 3 (bitmap) and 4 (data).

use std::ops::Range;

use super::{Sections, length, number, part, signed};
use crate::jump::JumpError;
use crate::jump::scaling::Scaling;

const INDICATOR: usize = 8;
const END: usize = 4;
/// The bytes of section 4 and of section 3 before what they hold.
const DATA_HEAD: usize = 11;
const BITMAP_HEAD: usize = 6;
/// Flags of section 1.
const HAS_GRID: u8 = 0x80;
const HAS_BITMAP: u8 = 0x40;
/// Flags of section 4: spherical harmonics, another packing, or further flags.
const NOT_SIMPLE: u8 = 0x80 | 0x40 | 0x10;
/// The binary scale by which ecCodes marks a field without values.
const DUMMY: i16 = -32767;
/// Types of grid that have their numbers of columns and rows behind the type.
const RECTANGULAR: [u8; 11] = [0, 1, 3, 4, 5, 10, 14, 20, 24, 30, 34];
const NO_COLUMNS: u64 = 0xffff;

pub(super) fn grid(message: &[u8]) -> Result<Range<usize>, JumpError> {
    let first = section(message, INDICATOR, 28)?;
    let flags = part(message, first.start + 7, 1, "the flags of section 1")?;
    if flags[0] & HAS_GRID == 0 {
        return Err(JumpError::unsupported("a grid that is only named by its number"));
    }
    section(message, first.end, 6)
}

pub(super) fn read(message: &[u8]) -> Result<Sections, JumpError> {
    let grid = grid(message)?;
    let first = part(message, INDICATOR, 28, "section 1")?;
    let has_bitmap = first[7] & HAS_BITMAP != 0;
    let bitmap = has_bitmap.then(|| section(message, grid.end, BITMAP_HEAD)).transpose()?;
    let start = bitmap.as_ref().map_or(grid.end, |bitmap| bitmap.end);
    let head = part(message, start, DATA_HEAD, "section 4")?;
    if head[3] & NOT_SIMPLE != 0 {
        return Err(JumpError::unsupported(format!("a packing of GRIB 1 with the flags {:#04x}", head[3])));
    }
    let binary = signed([head[4], head[5]]);
    if binary == DUMMY {
        return Err(JumpError::unsupported("a field without values"));
    }
    let data = data(message, start, length(&head[..3]))?;
    let bits = head[10];
    let (points, bitmap) = bitmap.map(|section| bitmap_of(message, section)).transpose()?.unzip();
    let values = match (bits, points) {
        (0, Some(points)) => points,
        (0, None) => points_of_grid(message.get(grid.clone()).unwrap_or_default())?,
        // The lower half of the byte counts bits that pad the section.
        _ => (data.len() as u64 * 8).saturating_sub(u64::from(head[3] & 0x0f)) / u64::from(bits),
    };
    Ok(Sections {
        grid,
        points: points.unwrap_or(values),
        values,
        scaling: Scaling {
            reference: ibm([head[6], head[7], head[8], head[9]]),
            binary,
            decimal: signed([first[26], first[27]]),
        },
        bits,
        ccsds: None,
        bitmap,
        data,
    })
}

/// The bytes behind the head of section 4, which begins at `start` and states its length.
fn data(message: &[u8], start: usize, stated: usize) -> Result<Range<usize>, JumpError> {
    let end = message.len().saturating_sub(END);
    // A message of 8 MiB and more states another number there, and ends with this section.
    let is_large = message.get(4).is_some_and(|byte| byte & 0x80 != 0) && stated < 120;
    let data = start + DATA_HEAD..if is_large { end } else { start.saturating_add(stated) };
    if data.start > data.end || data.end > end {
        return Err(JumpError::corrupt(format!("section 4 at byte {start} has {stated} bytes")));
    }
    Ok(data)
}

/// A section that states its length in three bytes, of at least `least` bytes.
fn section(message: &[u8], start: usize, least: usize) -> Result<Range<usize>, JumpError> {
    let stated = length(part(message, start, 3, "the length of a section")?);
    let end = start.saturating_add(stated);
    if stated < least || end > message.len() {
        return Err(JumpError::corrupt(format!("the section at byte {start} has {stated} bytes")));
    }
    Ok(start..end)
}

/// The number of points of a bitmap and its bytes.
fn bitmap_of(message: &[u8], section: Range<usize>) -> Result<(u64, Range<usize>), JumpError> {
    let head = message.get(section.clone()).unwrap_or_default();
    let (unused, table) = (u64::from(head[3]), number(&head[4..6]));
    if table != 0 {
        return Err(JumpError::unsupported("a predefined bitmap"));
    }
    let bits = section.start + BITMAP_HEAD..section.end;
    Ok(((bits.len() as u64 * 8).saturating_sub(unused), bits))
}

/// The number of points of a constant field, which only the grid says.
fn points_of_grid(grid: &[u8]) -> Result<u64, JumpError> {
    let unknown =
        || JumpError::unsupported("a constant field of GRIB 1 on a grid without rows of one length");
    let [.., kind] = *part(grid, 0, 6, "the type of the grid")? else { return Err(unknown()) };
    let columns = number(part(grid, 6, 2, "the number of columns")?);
    let rows = number(part(grid, 8, 2, "the number of rows")?);
    if !RECTANGULAR.contains(&kind) || columns == NO_COLUMNS {
        return Err(unknown());
    }
    Ok(columns * rows)
}

/// A number in IBM's form: sign, exponent of 16 from -64, and a fraction of 24 bits. It is exact in 64 bits.
fn ibm(bytes: [u8; 4]) -> f64 {
    let [first, fraction @ ..] = bytes;
    let magnitude = number(&fraction) as f64 * 16.0_f64.powi(i32::from(first & 0x7f) - 70);
    if first & 0x80 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_ibm_has_a_power_of_sixteen() {
        assert_eq!(ibm([0xc2, 0x76, 0xa0, 0]), -118.625);
        assert_eq!(ibm([0x40, 0x80, 0, 0]), 0.5);
        assert_eq!(ibm([0, 0, 0, 0]), 0.0);
    }
}
