//! Values of a message with where they are, for drawing a map.
//!
//! What must stay true: the number of values is checked against the grid before anything is read, and no length is
//! allocated that the process cannot have.

use std::ffi::CStr;

use crate::eccodes::key::one_message;
use isotach_engine_kit::context::Context;

use crate::eccodes::{Eccodes, EccodesError};
use crate::ffi::Handle;

/// The most points a message may claim: 512 MiB of values, a global grid of less than 3 km. A constant field claims any
/// number in a few bytes.
pub(crate) const POINTS_MAX: usize = 1 << 26;
/// The most rows between pole and equator. ecCodes computes Gaussian latitudes in a time that grows with their square.
const GAUSSIAN_MAX: i64 = 16_384;
/// Stands for a missing value inside ecCodes, far from any that GRIB can pack.
const MISSING: f64 = -1.7e300;

/// What a field is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldLabel {
    /// As in "Temperature".
    pub name: String,
    /// As in "t".
    pub short_name: String,
    /// As in "K".
    pub units: String,
    /// As in "isobaricInhPa".
    pub level_type: String,
    /// In the unit of the level type.
    pub level: String,
    /// When the field holds, as in "20240101 0600" (UTC).
    pub valid: String,
}

/// A field on a regular latitude-longitude grid. Angles are in degrees.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grid {
    /// Points along a parallel.
    pub ni: usize,
    /// Points along a meridian.
    pub nj: usize,
    /// One value for each point in the message's own order, NaN where it is missing. [`Grid::at`] knows the order.
    pub values: Vec<f64>,
    /// How many values are missing.
    pub missing: usize,
    /// Latitude of the first point.
    pub latitude_first: f64,
    /// Longitude of the first point.
    pub longitude_first: f64,
    /// Latitude of the last point.
    pub latitude_last: f64,
    /// Longitude of the last point.
    pub longitude_last: f64,
    /// Distance between neighbours on a parallel; not negative.
    pub longitude_increment: f64,
    /// Distance between neighbours on a meridian; not negative.
    pub latitude_increment: f64,
    /// Rows run from east to west.
    pub i_scans_negatively: bool,
    /// Columns run from south to north.
    pub j_scans_positively: bool,
    /// Values follow each other along a meridian, not along a parallel.
    pub j_points_are_consecutive: bool,
    /// Every other row, or column, runs the other way.
    pub alternative_row_scanning: bool,
    /// What the field is.
    pub label: FieldLabel,
}

impl Grid {
    /// The value in a column counted from the west and a row counted from the north; NaN if missing or outside.
    #[must_use]
    pub fn at(&self, column: usize, row: usize) -> f64 {
        if column >= self.ni || row >= self.nj {
            return f64::NAN;
        }
        let i = if self.i_scans_negatively { self.ni - 1 - column } else { column };
        let j = if self.j_scans_positively { self.nj - 1 - row } else { row };
        let (line, mut place, length) =
            if self.j_points_are_consecutive { (i, j, self.nj) } else { (j, i, self.ni) };
        if self.alternative_row_scanning && line % 2 == 1 {
            place = length - 1 - place;
        }
        self.values.get(line * length + place).copied().unwrap_or(f64::NAN)
    }

    /// Latitude of a row counted from the north.
    #[must_use]
    pub fn latitude(&self, row: usize) -> f64 {
        self.latitude_first.max(self.latitude_last) - self.latitude_increment * row as f64
    }

    /// Longitude of a column counted from the west, from the first upwards: it may pass 360.
    #[must_use]
    pub fn longitude(&self, column: usize) -> f64 {
        let west = if self.i_scans_negatively { self.longitude_last } else { self.longitude_first };
        west + self.longitude_increment * column as f64
    }

    /// The smallest and the greatest value; `None` if all are missing.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let present = self.values.iter().copied().filter(|value| !value.is_nan());
        present.fold(None, |range, value| {
            let (least, greatest) = range.unwrap_or((value, value));
            Some((value.min(least), value.max(greatest)))
        })
    }
}

/// A field as a list of points, whatever its grid. The three lists have one length.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// Degrees north.
    pub latitudes: Vec<f64>,
    /// Degrees east.
    pub longitudes: Vec<f64>,
    /// NaN where missing.
    pub values: Vec<f64>,
    /// What the field is.
    pub label: FieldLabel,
}

impl Eccodes {
    /// Decodes a message on a regular latitude-longitude grid.
    ///
    /// Some versions of ecCodes (2.28 is one) end the process on packed data that contradict their header, so bytes from
    /// an untrusted source are better decoded in a process of their own.
    ///
    /// # Errors
    /// [`EccodesError::GridType`] for any other grid, [`EccodesError::Size`] if the number of values is not the grid's,
    /// [`EccodesError::NotOneMessage`], [`EccodesError::Refused`].
    pub fn grid(&'static self, message: &[u8]) -> Result<Grid, EccodesError> {
        let handle = self.opened_for_values(message)?;
        let grid_type = text(&handle, c"gridType")?;
        if grid_type != "regular_ll" {
            return Err(EccodesError::GridType { grid_type });
        }
        let (ni, nj) = (count(&handle, c"Ni")?, count(&handle, c"Nj")?);
        let values = values(&handle, ni.saturating_mul(nj))?;
        let double = |key| handle.double(key).context(|| reading(key));
        let flag = |key| handle.long(key).context(|| reading(key)).map(|value| value != 0);
        Ok(Grid {
            ni,
            nj,
            missing: values.iter().filter(|value| value.is_nan()).count(),
            values,
            latitude_first: double(c"latitudeOfFirstGridPointInDegrees")?,
            longitude_first: double(c"longitudeOfFirstGridPointInDegrees")?,
            latitude_last: double(c"latitudeOfLastGridPointInDegrees")?,
            longitude_last: double(c"longitudeOfLastGridPointInDegrees")?,
            longitude_increment: double(c"iDirectionIncrementInDegrees")?,
            latitude_increment: double(c"jDirectionIncrementInDegrees")?,
            i_scans_negatively: flag(c"iScansNegatively")?,
            j_scans_positively: flag(c"jScansPositively")?,
            j_points_are_consecutive: flag(c"jPointsAreConsecutive")?,
            alternative_row_scanning: flag(c"alternativeRowScanning")?,
            label: label(&handle)?,
        })
    }

    /// Decodes a message on any grid ecCodes can lay out, as a list of points.
    ///
    /// # Errors
    /// [`EccodesError::Refused`] for what has no points, such as spherical harmonics; the others as for
    /// [`grid`](Self::grid).
    pub fn points(&'static self, message: &[u8]) -> Result<Points, EccodesError> {
        let handle = self.opened_for_values(message)?;
        let points = count(&handle, c"numberOfDataPoints")?;
        check_rows(&handle, points)?;
        let mut values = room(points)?;
        let (mut latitudes, mut longitudes) = (room(points)?, room(points)?);
        handle.points(&mut latitudes, &mut longitudes, &mut values).context(|| {
            format!("lay out the grid of type {}", text(&handle, c"gridType").unwrap_or_default())
        })?;
        mark_missing(&mut values);
        Ok(Points { latitudes, longitudes, values, label: label(&handle)? })
    }

    /// Decodes the values of a message on any grid and of any packing: one for each point in the message's own order, NaN
    /// where it is missing. [`JumpInfo::decode`](crate::JumpInfo::decode) is faster where it can decode the packing.
    ///
    /// # Errors
    /// As [`grid`](Self::grid), for any grid.
    pub fn values(&'static self, message: &[u8]) -> Result<Vec<f64>, EccodesError> {
        let handle = self.opened_for_values(message)?;
        let size = handle.size(c"values").context(|| "read the size of values".to_owned())?;
        values(&handle, size)
    }

    fn opened_for_values(&'static self, message: &[u8]) -> Result<Handle<'static>, EccodesError> {
        one_message(message)?;
        let mut handle = Handle::copy(self.api()?, message).context(|| "open the message".to_owned())?;
        handle.set_double(c"missingValue", MISSING).context(|| "set the key missingValue".to_owned())?;
        Ok(handle)
    }
}

fn reading(key: &CStr) -> String {
    format!("read the key {}", key.to_string_lossy())
}

fn text(handle: &Handle<'_>, key: &CStr) -> Result<String, EccodesError> {
    handle.string(key).context(|| reading(key))
}

fn count(handle: &Handle<'_>, key: &CStr) -> Result<usize, EccodesError> {
    let value = handle.long(key).context(|| reading(key))?;
    // GRIB's "missing" arrives as a huge or a negative number; both exceed what room() allows.
    Ok(usize::try_from(value).unwrap_or(usize::MAX))
}

/// Checks the numbers by which ecCodes lays out a grid before it comes to counting points.
fn check_rows(handle: &Handle<'_>, points: usize) -> Result<(), EccodesError> {
    let limit = i64::try_from(points).unwrap_or(i64::MAX);
    for (key, limit) in [(c"Nj", limit), (c"N", GAUSSIAN_MAX)] {
        if handle.long(key).is_ok_and(|value| value > limit) {
            let limit = format!("its rows: {} is above {limit}", key.to_string_lossy());
            return Err(EccodesError::Size { points: points as u64, limit });
        }
    }
    Ok(())
}

/// Space for as many values as there are points, if that is possible.
fn room(points: usize) -> Result<Vec<f64>, EccodesError> {
    let too_many = |limit: &str| EccodesError::Size { points: points as u64, limit: limit.to_owned() };
    if points > POINTS_MAX {
        return Err(too_many(&format!("the {POINTS_MAX} points that are decoded at most")));
    }
    let mut values = Vec::new();
    values.try_reserve_exact(points).map_err(|_| too_many("the memory there is"))?;
    values.resize(points, 0.0);
    Ok(values)
}

fn values(handle: &Handle<'_>, points: usize) -> Result<Vec<f64>, EccodesError> {
    let mut values = room(points)?;
    let size = handle.size(c"values").context(|| "read the size of values".to_owned())?;
    if size != points {
        return Err(EccodesError::Size { points: size as u64, limit: format!("its grid of {points}") });
    }
    handle.doubles(c"values", &mut values).context(|| "decode the values".to_owned())?;
    mark_missing(&mut values);
    Ok(values)
}

fn mark_missing(values: &mut [f64]) {
    for value in values {
        if *value == MISSING {
            *value = f64::NAN;
        }
    }
}

fn label(handle: &Handle<'_>) -> Result<FieldLabel, EccodesError> {
    Ok(FieldLabel {
        name: text(handle, c"name")?,
        short_name: text(handle, c"shortName")?,
        units: text(handle, c"units")?,
        level_type: text(handle, c"typeOfLevel")?,
        level: text(handle, c"level")?,
        valid: format!("{} {:0>4}", text(handle, c"validityDate")?, text(handle, c"validityTime")?),
    })
}

#[cfg(test)]
mod tests;
