//! The jump index of one message.

use std::ops::Range;

use md5::{Digest, Md5};

use super::JumpError;
use super::ccsds::Ccsds;
use super::mask::Mask;
use super::scaling::Scaling;
use super::sections::Sections;

/// What is needed to decode any points of one message without the rest of it.
///
/// ```
/// use isotach_grib::{Eccodes, EccodesError, FieldName, ForecastPlan, JumpError, JumpInfo, MessageMaker};
///
/// let eccodes = match Eccodes::load() {
///     Ok(eccodes) => eccodes,
///     Err(EccodesError::NotInstalled { .. }) => return Ok(()),
///     Err(error) => return Err(error.into()),
/// };
/// let mut maker = MessageMaker::new(eccodes, ForecastPlan { message_size: 4096, ..Default::default() })?;
/// let message = maker.message(FieldName { member: 1, step: 6, level: 850, param: 130 })?;
///
/// let info = JumpInfo::of(&message)?;
/// let stored = info.to_bytes();
/// assert!(stored.len() < 64);
///
/// // Later, somewhere else: points 10 and 20 to 25, of whatever can read bytes of the message.
/// let info = JumpInfo::from_bytes(&stored)?;
/// let read = |bytes: std::ops::Range<u64>| Ok::<_, JumpError>(&message[bytes.start as usize..bytes.end as usize]);
/// let values = info.extract(&[10..11, 20..25], read)?;
/// assert_eq!(values.len(), 6);
/// assert_eq!(values[0], info.decode(&message, 1)?[10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct JumpInfo {
    /// Where the section that describes the grid lies in the message.
    pub(super) grid: Range<u64>,
    pub(super) grid_md5: [u8; 16],
    pub(super) points: u64,
    pub(super) scaling: Scaling,
    pub(super) bits: u8,
    /// How many values are packed; without a mask, as many as there are points.
    pub(super) values: u64,
    /// Where the packed values lie in the message.
    pub(super) data: Range<u64>,
    /// `None` for simple packing.
    pub(super) stream: Option<Stream>,
    pub(super) mask: Option<Mask>,
}

/// A CCSDS stream, and the bits at which its intervals begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stream {
    pub(super) ccsds: Ccsds,
    pub(super) starts: Vec<u64>,
}

impl JumpInfo {
    /// Builds the index of one whole message. Reads its headers; of a CCSDS stream all blocks, of a bitmap all bits.
    ///
    /// # Errors
    /// [`JumpError::Unsupported`] for any packing but simple and CCSDS, for several fields in a message, and for a few
    /// rarities such as predefined bitmaps: they are decoded whole. [`JumpError::CorruptMessage`] if the bytes are not one
    /// whole message, or contradict themselves.
    pub fn of(message: &[u8]) -> Result<Self, JumpError> {
        Self::build(message, &Sections::of(message)?)
    }

    /// As [`of`](Self::of), but `None` for a CCSDS stream of more than `stream_max` bytes: its blocks are read in about the
    /// time in which the message is written to memory.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_short(message: &[u8], stream_max: usize) -> Result<Option<Self>, JumpError> {
        let sections = Sections::of(message)?;
        if sections.ccsds.is_some() && sections.data.len() > stream_max {
            return Ok(None);
        }
        Self::build(message, &sections).map(Some)
    }

    fn build(message: &[u8], sections: &Sections) -> Result<Self, JumpError> {
        let mask = match &sections.bitmap {
            Some(range) => {
                let bitmap = message.get(range.clone()).unwrap_or_default();
                let (mask, present) = Mask::count(range.start as u64, bitmap, sections.points);
                if present > sections.values {
                    let values = sections.values;
                    return Err(JumpError::corrupt(format!(
                        "{values} values for {present} points of the bitmap"
                    )));
                }
                Some(mask)
            }
            None => None,
        };
        let stream = match sections.ccsds {
            Some(ccsds) => {
                let stream = message.get(sections.data.clone()).unwrap_or_default();
                Some(Stream { ccsds, starts: ccsds.intervals(stream, sections.values)? })
            }
            None => None,
        };
        let grid = message.get(sections.grid.clone()).unwrap_or_default();
        Ok(Self {
            grid: wide(&sections.grid),
            grid_md5: Md5::digest(grid).into(),
            points: sections.points,
            scaling: sections.scaling,
            bits: sections.bits,
            values: sections.values,
            data: wide(&sections.data),
            stream,
            mask,
        })
    }

    /// How many points the grid has.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.points
    }

    /// The MD5 of the section that describes the grid, which is section 3 in GRIB 2 and section 2 in GRIB 1. In hexadecimal
    /// digits it is ecCodes' key `md5GridSection`. Fields of equal hashes have the same points in the same order.
    #[must_use]
    pub fn grid_md5(&self) -> [u8; 16] {
        self.grid_md5
    }

    /// The bytes of the message with the section that describes the grid, of which [`GridPoints`](crate::GridPoints) are
    /// made.
    #[must_use]
    pub fn grid(&self) -> Range<u64> {
        self.grid.clone()
    }

    /// The packing by ecCodes' name: `grid_simple` or `grid_ccsds`.
    #[must_use]
    pub fn packing(&self) -> &'static str {
        if self.stream.is_some() { "grid_ccsds" } else { "grid_simple" }
    }

    /// Whether some points may have no value.
    #[must_use]
    pub fn has_missing(&self) -> bool {
        self.mask.is_some()
    }
}

fn wide(range: &Range<usize>) -> Range<u64> {
    range.start as u64..range.end as u64
}
