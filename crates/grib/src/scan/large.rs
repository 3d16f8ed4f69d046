//! GRIB 1 messages of 8 MiB and more, which the three-byte length cannot state in full.
//!
//! ECMWF's convention: bit 23 of the total length is set and the other bits count blocks of 120 bytes; the length field of
//! the data section (section 4) then holds a number below 120 that says how much the last block overshoots, plus 4. A
//! section 4 that is really there is never so short, so a message between 8 and 16 MiB whose length simply fits has a
//! larger number there and its total length stands as written.

use super::finder::{Stop, bytes_at, number};
use super::source::Source;

const LARGE: u64 = 0x80_0000;
const BLOCK: u64 = 120;
/// Where section 1 begins, and its octet (from 0) with the flags for sections 2 and 3.
const SECTION_1: u64 = 8;
const FLAGS: usize = 7;
const HAS_GRID: u8 = 0x80;
const HAS_BITMAP: u8 = 0x40;

/// The true length of the GRIB 1 message at `offset`, of which the header states `stated`.
pub(super) fn length<S: Source>(source: &mut S, offset: u64, stated: u64) -> Result<u64, Stop> {
    if stated & LARGE == 0 {
        return Ok(stated);
    }
    let data = section_4_length(source, offset)?;
    if data >= BLOCK {
        return Ok(stated);
    }
    Ok(((stated & !LARGE) * BLOCK + 4).saturating_sub(data))
}

/// What the length field of section 4 says, found by stepping over the sections before it.
fn section_4_length<S: Source>(source: &mut S, offset: u64) -> Result<u64, Stop> {
    let section_1: [u8; FLAGS + 1] = bytes_at(source, offset, SECTION_1)?;
    let mut at = SECTION_1 + number(&section_1[..3]);
    for flag in [HAS_GRID, HAS_BITMAP] {
        if section_1[FLAGS] & flag != 0 {
            at += number(&bytes_at::<S, 3>(source, offset, at)?);
        }
    }
    Ok(number(&bytes_at::<S, 3>(source, offset, at)?))
}
