//! The section that describes a grid, read into rows.

use super::rows::Row;
use super::{GridPoints, Places, gauss};
use crate::JumpError;

/// Flags of the scanning mode.
const WESTWARD: u8 = 0x80;
const NORTHWARD: u8 = 0x40;
const COLUMNS: u8 = 0x20;
const ALTERNATING: u8 = 0x10;
/// The most rows, 150 m apart. A section claims any number in a few bytes.
const ROWS_MAX: u32 = 1 << 17;
/// The most rows between pole and equator. Their latitudes take a time that grows with the square.
const GAUSSIAN_MAX: u32 = 8192;

/// What the section says. Angles are in degrees.
struct Section {
    gaussian: Option<u32>,
    columns: u32,
    rows: u32,
    /// Latitude and longitude of the first point, then of the last.
    first: (f64, f64),
    last: (f64, f64),
    scanning: u8,
    /// The points of each row of a reduced grid.
    reduced: Option<Vec<u32>>,
}

impl GridPoints {
    /// The points of a grid, by the section that describes it: section 3 of GRIB 2 or section 2 of GRIB 1.
    ///
    /// # Errors
    /// [`JumpError::Unsupported`] for a grid that is not laid out here, for which there is
    /// [`Eccodes::grid_points`](crate::Eccodes::grid_points); [`JumpError::CorruptMessage`] for a section that contradicts
    /// itself.
    pub fn of_section(section: &[u8]) -> Result<Self, JumpError> {
        let read = read(section).ok_or_else(|| JumpError::corrupt("the section of the grid is cut"))??;
        let latitudes = read.latitudes()?;
        let mut rows = match &read.reduced {
            Some(counts) => reduced(&read, &latitudes, counts)?,
            None => regular(&read, &latitudes)?,
        };
        let count = rows.iter().map(|row| row.count).sum();
        rows.sort_by(|one, other| one.latitude.total_cmp(&other.latitude));
        Ok(Self { places: Places::Rows(rows), count })
    }
}

impl Section {
    /// The latitude of each row in the message's order.
    fn latitudes(&self) -> Result<Vec<f64>, JumpError> {
        if self.rows > ROWS_MAX {
            return Err(JumpError::corrupt(format!("a grid of {} rows", self.rows)));
        }
        let northward = self.scanning & NORTHWARD != 0;
        if let Some(half) = self.gaussian {
            if self.rows != half.saturating_mul(2) || half > GAUSSIAN_MAX {
                return Err(JumpError::unsupported("a Gaussian grid that does not cover the globe"));
            }
            let mut latitudes = gauss::latitudes(half);
            if northward {
                latitudes.reverse();
            }
            return Ok(latitudes);
        }
        let (first, last) = (self.first.0, self.last.0);
        if (last > first) != northward && self.rows > 1 {
            return Err(JumpError::corrupt("its rows run another way than it says"));
        }
        let step = (last - first) / f64::from(self.rows.saturating_sub(1).max(1));
        Ok((0..self.rows).map(|row| first + step * f64::from(row)).collect())
    }

    /// Degrees from the first to the last point of a row, in the direction of the row.
    fn extent(&self) -> f64 {
        let eastward = self.last.1 - self.first.1;
        let extent = (if self.scanning & WESTWARD == 0 { eastward } else { -eastward }).rem_euclid(360.0);
        // From -180 to 180.
        if extent == 0.0 && eastward != 0.0 { 360.0 } else { extent }
    }
}

fn regular(section: &Section, latitudes: &[f64]) -> Result<Vec<Row>, JumpError> {
    let (columns, rows) = (u64::from(section.columns), u64::from(section.rows));
    let by_column = section.scanning & COLUMNS != 0;
    let alternating = section.scanning & ALTERNATING != 0;
    if by_column && alternating {
        return Err(JumpError::unsupported("a grid of columns that run to and fro"));
    }
    let sign = if section.scanning & WESTWARD == 0 { 1.0 } else { -1.0 };
    let step = sign * section.extent() / f64::from(section.columns.saturating_sub(1).max(1));
    let row = |(number, latitude): (u64, &f64)| {
        let (index, stride) = if by_column { (number, rows) } else { (number * columns, 1) };
        let mut row =
            Row { latitude: *latitude, longitude: section.first.1, step, count: columns, index, stride };
        if alternating && number % 2 == 1 {
            row.longitude += step * columns.saturating_sub(1) as f64;
            row.step = -step;
        }
        row
    };
    Ok((0..).zip(latitudes).map(row).collect())
}

/// The rows of a reduced grid, each of which goes around the Earth.
fn reduced(section: &Section, latitudes: &[f64], counts: &[u32]) -> Result<Vec<Row>, JumpError> {
    let most = counts.iter().copied().max().unwrap_or(0);
    // From the first to the last point of the longest row, but for the rounding of angles.
    let whole = 360.0 - 360.0 / f64::from(most.max(1));
    if section.first.1 != 0.0 || (section.extent() - whole).abs() > 360.0 / f64::from(most.max(1)) / 2.0 {
        return Err(JumpError::unsupported("a reduced grid that does not cover the globe"));
    }
    if section.scanning & (WESTWARD | COLUMNS | ALTERNATING) != 0 {
        return Err(JumpError::unsupported("a reduced grid that does not run eastward by rows"));
    }
    let mut index = 0;
    let row = |(latitude, count): (&f64, &u32)| {
        let start = index;
        index += u64::from(*count);
        let step = 360.0 / f64::from((*count).max(1));
        Row { latitude: *latitude, longitude: 0.0, step, count: u64::from(*count), index: start, stride: 1 }
    };
    Ok(latitudes.iter().zip(counts).map(row).collect())
}

/// `None` if the section is too short.
fn read(section: &[u8]) -> Option<Result<Section, JumpError>> {
    // Either edition begins with the section's length, in four bytes or in three.
    let length = section.len() as u64;
    if number(section, 0, 4)? == length {
        edition_2(section)
    } else if number(section, 0, 3)? == length {
        edition_1(section)
    } else {
        Some(Err(JumpError::corrupt("the section of the grid has another length than it says")))
    }
}

fn edition_2(section: &[u8]) -> Option<Result<Section, JumpError>> {
    let gaussian = match number(section, 12, 2)? {
        0 => None,
        40 => Some(number(section, 67, 4)? as u32),
        template => {
            return Some(Err(JumpError::unsupported(format!("the grid of template 3.{template} of GRIB 2"))));
        }
    };
    let (basic, subdivisions) = (number(section, 38, 4)?, number(section, 42, 4)?);
    let has_unit = basic != 0 && basic != u64::from(u32::MAX) && subdivisions != 0;
    let angle = |at| {
        let value = signed(section, at, 4)?;
        Some(if has_unit { value * basic as f64 / subdivisions as f64 } else { value / 1e6 })
    };
    let (columns, rows) = (number(section, 30, 4)? as u32, number(section, 34, 4)? as u32);
    let width = usize::from(*section.get(10)?);
    let reduced = if width == 0 { None } else { Some(counts(section, 72, width, rows)?) };
    Some(Ok(Section {
        gaussian,
        columns,
        rows,
        first: (angle(46)?, angle(50)?),
        last: (angle(55)?, angle(59)?),
        scanning: *section.get(71)?,
        reduced,
    }))
}

fn edition_1(section: &[u8]) -> Option<Result<Section, JumpError>> {
    let gaussian = match section.get(5)? {
        0 => None,
        4 => Some(number(section, 25, 2)? as u32),
        kind => return Some(Err(JumpError::unsupported(format!("the grid of type {kind} of GRIB 1")))),
    };
    let angle = |at| Some(signed(section, at, 3)? / 1e3);
    let (columns, rows) = (number(section, 6, 2)? as u32, number(section, 8, 2)? as u32);
    // Behind the vertical coordinates, of four bytes each, from the octet that the section names.
    let (vertical, place) = (usize::from(*section.get(3)?), usize::from(*section.get(4)?));
    let is_reduced = columns == 0xffff;
    let start = place.checked_sub(1)? + 4 * vertical;
    let reduced = if is_reduced { Some(counts(section, start, 2, rows)?) } else { None };
    Some(Ok(Section {
        gaussian,
        columns,
        rows,
        first: (angle(10)?, angle(13)?),
        last: (angle(17)?, angle(20)?),
        scanning: *section.get(27)?,
        reduced,
    }))
}

fn counts(section: &[u8], start: usize, width: usize, rows: u32) -> Option<Vec<u32>> {
    let list = section.get(start..)?.chunks_exact(width).take(rows as usize);
    let counts: Vec<u32> =
        list.filter_map(|count| number(count, 0, width)).map(|count| count as u32).collect();
    (counts.len() == rows as usize).then_some(counts)
}

/// A number of at most 8 bytes, the most significant first.
fn number(section: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let bytes = section.get(at..at.checked_add(bytes)?).filter(|bytes| bytes.len() <= 8)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A number of which the first bit is the sign.
fn signed(section: &[u8], at: usize, bytes: usize) -> Option<f64> {
    let number = number(section, at, bytes)?;
    let sign = 1 << (8 * bytes - 1);
    let magnitude = (number & !sign) as f64;
    Some(if number & sign == 0 { magnitude } else { -magnitude })
}
