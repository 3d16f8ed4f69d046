//! Decoding all points of a message in one pass, without an index.
//!
//! What must stay true: the values are those of [`JumpInfo::decode`](super::JumpInfo::decode).

use md5::{Digest, Md5};

use super::JumpError;
use super::mask::{Mask, spread_from_end};
use super::scaling::Float;
use super::sections::Sections;
use super::simple;

/// A message in simple packing or CCSDS, to be decoded whole.
///
/// Where all points are wanted, this takes less time than a [`JumpInfo`](crate::JumpInfo), for which a CCSDS stream is read twice.
///
/// ```
/// # use isotach_grib::{Eccodes, EccodesError, FieldName, ForecastPlan, JumpInfo, MessageMaker, PackedMessage};
/// # let eccodes = match Eccodes::load() {
/// #     Ok(eccodes) => eccodes,
/// #     Err(EccodesError::NotInstalled { .. }) => return Ok(()),
/// #     Err(error) => return Err(error.into()),
/// # };
/// # let mut maker = MessageMaker::new(eccodes, ForecastPlan { message_size: 4096, ..Default::default() })?;
/// # let message = maker.message(FieldName { member: 1, step: 6, level: 850, param: 130 })?;
/// let packed = PackedMessage::of(&message)?;
/// let mut values = vec![0.0; packed.points() as usize];
/// packed.decode_into(&mut values)?;
/// assert_eq!(values, JumpInfo::of(&message)?.decode(&message, 1)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PackedMessage<'m> {
    message: &'m [u8],
    sections: Sections,
}

impl<'m> PackedMessage<'m> {
    /// Reads the headers of one whole message.
    ///
    /// # Errors
    /// As [`JumpInfo::of`](crate::JumpInfo::of).
    pub fn of(message: &'m [u8]) -> Result<Self, JumpError> {
        Ok(Self { message, sections: Sections::of(message)? })
    }

    /// How many points the grid has.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.sections.points
    }

    /// The MD5 of the section that describes the grid: see [`JumpInfo::grid_md5`](crate::JumpInfo::grid_md5).
    #[must_use]
    pub fn grid_md5(&self) -> [u8; 16] {
        Md5::digest(self.message.get(self.sections.grid.clone()).unwrap_or_default()).into()
    }

    /// Decodes all values: one for each point, in the message's order, NaN where it has none. They equal those of ecCodes bit
    /// for bit.
    ///
    /// # Errors
    /// [`JumpError::OutOfRange`] if `values` is not as long as there are points, and [`JumpError::CorruptMessage`].
    pub fn decode_into(&self, values: &mut [f64]) -> Result<(), JumpError> {
        self.decode(values)
    }

    /// As [`decode_into`](Self::decode_into), to the values that ecCodes gives in single precision. They need not be the nearest to
    /// those in double precision.
    ///
    /// # Errors
    /// As [`decode_into`](Self::decode_into).
    pub fn decode_into_single(&self, values: &mut [f32]) -> Result<(), JumpError> {
        self.decode(values)
    }

    fn decode<T: Float>(&self, values: &mut [T]) -> Result<(), JumpError> {
        let (points, end) = (self.sections.points, values.len());
        if end as u64 != points {
            return Err(JumpError::OutOfRange { start: 0, end: end as u64, points });
        }
        let Some(range) = self.sections.bitmap.clone() else { return self.unpack(values) };
        let bitmap = self.message.get(range).unwrap_or_default();
        let (_, present) = Mask::count(0, bitmap, points);
        if present > self.sections.values {
            let values = self.sections.values;
            return Err(JumpError::corrupt(format!("{values} values for {present} points of the bitmap")));
        }
        let present = present as usize;
        self.unpack(values.get_mut(end - present..).unwrap_or_default())?;
        spread_from_end(bitmap, present, values);
        Ok(())
    }

    /// Decodes the first packed values.
    fn unpack<T: Float>(&self, values: &mut [T]) -> Result<(), JumpError> {
        let Sections { scaling, bits, ccsds, data, .. } = &self.sections;
        if *bits == 0 {
            // ecCodes applies no decimal scale to a constant.
            values.fill(T::of(scaling.reference));
            return Ok(());
        }
        let (factors, data) = (scaling.factors::<T>(), self.message.get(data.clone()).unwrap_or_default());
        let Some(ccsds) = ccsds else { return simple::unpack(data, 0, *bits, factors, values) };
        let count = values.len();
        let mut values = values.iter_mut();
        ccsds.decode_all(data, count, |numbers| {
            // In the other order, the first value of each interval would be lost.
            for (number, value) in numbers.iter().zip(values.by_ref()) {
                *value = factors.value(*number);
            }
        })
    }
}
