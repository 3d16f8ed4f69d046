//! The points of a grid of any kind, by ecCodes.

use isotach_engine_kit::context::Context;

use super::{GridPoints, Places};
use crate::eccodes::{Eccodes, EccodesError};

impl Eccodes {
    /// The points of a message's grid: by its section where that is enough, else by the coordinates that ecCodes computes.
    ///
    /// # Errors
    /// As [`points`](Self::points).
    pub fn grid_points(&'static self, message: &[u8]) -> Result<GridPoints, EccodesError> {
        match crate::jump::grid_section(message).and_then(GridPoints::of_section) {
            Ok(points) => Ok(points),
            Err(_) => self.computed_points(message),
        }
    }

    fn computed_points(&'static self, message: &[u8]) -> Result<GridPoints, EccodesError> {
        let (numbered, count) = self.numbered(message)?;
        // ecCodes gives the points of some grids in another order than their values. The values of this copy are the
        // places that they have in the message.
        let found = self.points(&numbered)?;
        let mut points: Vec<(f64, f64, u64)> = Vec::with_capacity(count);
        for ((latitude, longitude), place) in found.latitudes.iter().zip(&found.longitudes).zip(&found.values)
        {
            points.push((*latitude, *longitude, place.round() as u64));
        }
        points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.2.cmp(&other.2)));
        let in_order = |points: &[(f64, f64, u64)]| {
            let mut seen = vec![false; count];
            points.iter().all(|point| {
                let place = usize::try_from(point.2).ok().and_then(|place| seen.get_mut(place));
                place.is_some_and(|seen| !std::mem::replace(seen, true))
            })
        };
        if points.len() != count || !in_order(&points) {
            let reason = "the points of its grid cannot be told apart".to_owned();
            return Err(EccodesError::Refused { doing: "lay out the grid".to_owned(), reason });
        }
        Ok(GridPoints { places: Places::Single(points), count: count as u64 })
    }

    /// A copy of a message in which each value is its place, and how many there are.
    fn numbered(&'static self, message: &[u8]) -> Result<(Vec<u8>, usize), EccodesError> {
        let count = self.values(message)?.len();
        let values: Vec<f64> = (0..count).map(|place| place as f64).collect();
        let mut handle =
            crate::ffi::Handle::copy(self.api()?, message).context(|| "open the message".to_owned())?;
        let set = |key: &str| format!("set the key {key}");
        handle.set_long(c"bitmapPresent", 0).context(|| set("bitmapPresent"))?;
        handle.set_string(c"packingType", "grid_simple").context(|| set("packingType"))?;
        handle.set_long(c"decimalScaleFactor", 0).context(|| set("decimalScaleFactor"))?;
        // Places are below 2^26, so 32 bits tell them apart.
        handle.set_long(c"bitsPerValue", 32).context(|| set("bitsPerValue"))?;
        handle.set_doubles(c"values", &values).context(|| set("values"))?;
        Ok((handle.message().context(|| "return the message".to_owned())?, count))
    }
}
