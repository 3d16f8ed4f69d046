//! A regular latitude-longitude grid of about as many points as fill a message.

use isotach_engine_kit::context::Context;

use super::set;
use crate::eccodes::EccodesError;
use crate::ffi::Handle;

/// Values are packed into 16 bits.
pub(super) const BYTES_PER_VALUE: usize = 2;
/// GRIB 2 counts angles in millionths of a degree.
const DEGREE: u32 = 1_000_000;

/// Columns and rows of a grid that covers the globe from 90 N and 0 E.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Points along a parallel, west to east.
    pub columns: u32,
    /// Points along a meridian, north to south.
    pub rows: u32,
}

impl Layout {
    /// The grid that comes nearest to `size` bytes from below, about twice as wide as high.
    pub(super) fn for_size(size: usize, headers: usize) -> Result<Self, EccodesError> {
        let points = size.saturating_sub(headers) / BYTES_PER_VALUE;
        // Points of 1.1 km: beyond, neighbours would have equal coordinates in steps of a millionth of a degree.
        if !(8..=1 << 29).contains(&points) {
            let least = headers + 8 * BYTES_PER_VALUE;
            let reason = format!("a message of {size} bytes, expected {least} bytes to 1 GiB");
            return Err(EccodesError::Specification { reason });
        }
        let high = (points / 2).isqrt();
        let rows = (high * 9 / 10..=high).rev().filter(|rows| *rows > 1).min_by_key(|rows| points % rows);
        let rows = rows.unwrap_or(2);
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(Self { columns: count(points / rows), rows: count(rows) })
    }

    /// How many points there are.
    #[must_use]
    pub fn points(&self) -> usize {
        self.columns as usize * self.rows as usize
    }

    /// Distance between columns and between rows, in millionths of a degree.
    fn increments(&self) -> (u32, u32) {
        (360 * DEGREE / self.columns, 180 * DEGREE / (self.rows - 1).max(1))
    }

    /// Latitude of each row in degrees.
    pub(super) fn latitudes(self) -> impl Iterator<Item = f64> {
        let (_, step) = self.increments();
        (0..self.rows).map(move |row| 90.0 - f64::from(row) * f64::from(step) / f64::from(DEGREE))
    }

    /// Longitude of each column in degrees.
    pub(super) fn longitudes(self) -> impl Iterator<Item = f64> {
        let (step, _) = self.increments();
        (0..self.columns).map(move |column| f64::from(column) * f64::from(step) / f64::from(DEGREE))
    }

    /// Gives the sample this grid. Whole increments make first, last and increment agree exactly.
    pub(super) fn write(self, handle: &mut Handle<'static>) -> Result<(), EccodesError> {
        let (east, south) = self.increments();
        let last = i64::from(90 * DEGREE) - i64::from(south) * i64::from(self.rows - 1);
        set(handle, c"Ni", self.columns)?;
        set(handle, c"Nj", self.rows)?;
        set(handle, c"latitudeOfFirstGridPoint", 90 * DEGREE)?;
        set(handle, c"longitudeOfFirstGridPoint", 0)?;
        set(handle, c"longitudeOfLastGridPoint", east * (self.columns - 1))?;
        set(handle, c"iDirectionIncrement", east)?;
        set(handle, c"jDirectionIncrement", south)?;
        let set = handle.set_long(c"latitudeOfLastGridPoint", last);
        set.context(|| format!("set latitudeOfLastGridPoint to {last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_fills_its_size_to_within_one_percent_from_4_kib_on() {
        for size in [4 << 10, 5000, 64 << 10, 1 << 20, (1 << 20) + 12_345, 20 << 20] {
            let layout = Layout::for_size(size, 180).unwrap();
            let length = 180 + layout.points() * BYTES_PER_VALUE;
            assert!(length <= size && length * 100 >= size * 99, "{size}: {length} {layout:?}");
            assert!(layout.columns >= 2 * layout.rows - 2 && layout.columns <= 3 * layout.rows, "{layout:?}");
        }
    }

    #[test]
    fn a_size_without_space_for_values_names_the_needed_size() {
        let error = Layout::for_size(190, 180).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot make a message: a message of 190 bytes, expected 196 bytes to 1 GiB"
        );
    }

    #[test]
    fn rows_run_from_pole_to_pole_and_columns_around() {
        let layout = Layout { columns: 36, rows: 19 };
        assert_eq!(layout.latitudes().collect::<Vec<_>>()[..2], [90.0, 80.0]);
        assert_eq!(layout.latitudes().last(), Some(-90.0));
        assert_eq!(layout.longitudes().last(), Some(350.0));
    }
}
