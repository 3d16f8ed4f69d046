//! GRIB 2: sections 3 (grid), 5 (packing), 6 (bitmap) and 7 (data).

use std::ops::Range;

use super::{Sections, length, number, part, signed};
use crate::jump::JumpError;
use crate::jump::ccsds::Ccsds;
use crate::jump::scaling::Scaling;

const INDICATOR: usize = 16;
const END: usize = 4;
/// Length and number of a section.
const HEAD: usize = 5;
/// The bitmap stands in its section; there is none.
const BITMAP_HERE: u8 = 0;
const NO_BITMAP: u8 = 255;
/// Numbers of the templates of packing.
const SIMPLE: u64 = 0;
const CCSDS: u64 = 42;

/// Where the sections of interest lie, each as a whole.
#[derive(Default)]
struct Found {
    grid: Option<Range<usize>>,
    packing: Option<Range<usize>>,
    bitmap: Option<Range<usize>>,
    data: Option<Range<usize>>,
}

pub(super) fn grid(message: &[u8]) -> Result<Range<usize>, JumpError> {
    find(message)?.grid.ok_or_else(|| missing(3))
}

pub(super) fn read(message: &[u8]) -> Result<Sections, JumpError> {
    let found = find(message)?;
    let grid = found.grid.ok_or_else(|| missing(3))?;
    let packing = found.packing.ok_or_else(|| missing(5))?;
    let data = found.data.ok_or_else(|| missing(7))?;
    let packing = message.get(packing).unwrap_or_default();
    let template = number(part(packing, 9, 2, "the template of section 5")?);
    if ![SIMPLE, CCSDS].contains(&template) {
        return Err(JumpError::unsupported(format!("the packing of template 5.{template} of GRIB 2")));
    }
    let [r0, r1, r2, r3, e0, e1, d0, d1, bits] = *array(packing, 11, "the scaling of section 5")?;
    let reference = f32::from_bits(u32::from_le_bytes([r3, r2, r1, r0]));
    let ccsds = if template == CCSDS { ccsds(packing, bits)? } else { None };
    Ok(Sections {
        points: number(part(message, grid.start + 6, 4, "the number of points")?),
        values: number(part(packing, 5, 4, "the number of values")?),
        scaling: Scaling {
            reference: f64::from(reference),
            binary: signed([e0, e1]),
            decimal: signed([d0, d1]),
        },
        bits,
        ccsds,
        bitmap: bitmap(message, found.bitmap)?,
        data: data.start + HEAD..data.end,
        grid,
    })
}

fn missing(section: u8) -> JumpError {
    JumpError::corrupt(format!("there is no section {section}"))
}

fn find(message: &[u8]) -> Result<Found, JumpError> {
    let mut found = Found::default();
    let mut at = INDICATOR;
    let end = message.len().saturating_sub(END);
    while at < end {
        let head: &[u8; HEAD] = array(message, at, "the head of a section")?;
        let section = at..at.saturating_add(length(&head[..4]));
        if section.len() < HEAD || section.end > end {
            return Err(JumpError::corrupt(format!("the section at byte {at} has {} bytes", section.len())));
        }
        at = section.end;
        let place = match head[4] {
            3 => &mut found.grid,
            5 => &mut found.packing,
            6 => &mut found.bitmap,
            7 => &mut found.data,
            _ => continue,
        };
        if place.replace(section).is_some() {
            return Err(JumpError::unsupported("a message of several fields"));
        }
    }
    Ok(found)
}

fn ccsds(packing: &[u8], bits: u8) -> Result<Option<Ccsds>, JumpError> {
    let &[flags, block, i0, i1] = array(packing, 21, "the parameters of CCSDS in section 5")?;
    // Without bits there is no stream, whatever its parameters.
    let stream = (bits > 0).then(|| Ccsds::new(flags, bits, block, u16::from(i0) << 8 | u16::from(i1)));
    stream.transpose().map_err(JumpError::unsupported)
}

fn bitmap(message: &[u8], section: Option<Range<usize>>) -> Result<Option<Range<usize>>, JumpError> {
    let Some(section) = section else { return Ok(None) };
    match *part(message, section.start + HEAD, 1, "the bitmap's indicator")? {
        [NO_BITMAP] => Ok(None),
        [BITMAP_HERE] => Ok(Some(section.start + HEAD + 1..section.end)),
        _ => Err(JumpError::unsupported("a predefined bitmap")),
    }
}

fn array<'m, const N: usize>(bytes: &'m [u8], start: usize, what: &str) -> Result<&'m [u8; N], JumpError> {
    let part = part(bytes, start, N, what)?;
    part.first_chunk().ok_or_else(|| JumpError::corrupt(what))
}
