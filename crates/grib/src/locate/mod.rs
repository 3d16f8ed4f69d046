//! The points of a grid by location: which point is nearest.
//!
//! Rows of equal latitude are computed from the section that describes the grid, without ecCodes: regular and reduced
//! latitude-longitude grids, and Gaussian ones that cover the globe. For other grids ecCodes gives all coordinates
//! ([`Eccodes::grid_points`](crate::Eccodes::grid_points)).
//!
//! What must stay true: the index of a point is its place among the values of a message, and the point found is the nearest
//! on the sphere, also near the poles and across the meridian where a row begins.

mod boxes;
mod coordinates;
mod gauss;
mod rows;
mod section;
#[cfg(test)]
mod tests;

pub use boxes::{GeoBox, PointInBox};
use rows::Row;

/// Mean radius of the Earth in GRIB 2's table 3.2, in km.
const RADIUS_KM: f64 = 6371.229;

/// Where the points of a grid are.
///
/// ```
/// use isotach_grib::{GridPoints, JumpError};
///
/// // The section of GRIB 2 for 36 columns and 19 rows, from 90 N and 0 E, of 10 degrees.
/// let angle = |degrees: i32| (degrees.unsigned_abs() * 1_000_000 | u32::from(degrees < 0) << 31).to_be_bytes();
/// let mut section = vec![0, 0, 0, 72, 3, 0, 0, 0, 2, 172];
/// section.resize(30, 0);
/// section.extend([36_u32.to_be_bytes(), 19_u32.to_be_bytes(), [0; 4], [255; 4], angle(90), angle(0)].concat());
/// section.push(48);
/// section.extend([angle(-90), angle(350), angle(10), angle(10), [0; 4]].concat());
/// section.truncate(72);
///
/// let points = GridPoints::of_section(&section)?;
/// let found = points.nearest(51.4, -3.0).unwrap();
/// assert_eq!((found.index, found.latitude, found.longitude), (4 * 36, 50.0, 0.0));
/// # Ok::<(), JumpError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GridPoints {
    places: Places,
    count: u64,
}

#[derive(Debug, Clone, PartialEq)]
enum Places {
    /// From south to north.
    Rows(Vec<Row>),
    /// Latitude, longitude and index, from south to north.
    Single(Vec<(f64, f64, u64)>),
}

/// A point of a grid near a location.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearestPoint {
    /// Its place among the values of a message.
    pub index: u64,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east, from 0 to below 360.
    pub longitude: f64,
    /// Distance from the location on a sphere of the size of the Earth.
    pub distance_km: f64,
}

impl GridPoints {
    /// How many points there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The point nearest to a location in degrees; the one of the lowest index if several are. `None` if the location is
    /// none, or there are no points.
    #[must_use]
    pub fn nearest(&self, latitude: f64, longitude: f64) -> Option<NearestPoint> {
        if !(-90.0..=90.0).contains(&latitude) || !longitude.is_finite() {
            return None;
        }
        let mut best = Best { latitude, longitude, found: None, angle: f64::INFINITY };
        match &self.places {
            Places::Rows(rows) => {
                let split = rows.partition_point(|row| row.latitude < latitude);
                let (south, north) = rows.split_at(split);
                best.search(south.iter().rev(), |row| row.latitude, |row| row.nearest(longitude));
                best.search(north.iter(), |row| row.latitude, |row| row.nearest(longitude));
            }
            Places::Single(points) => {
                let split = points.partition_point(|point| point.0 < latitude);
                let (south, north) = points.split_at(split);
                best.search(south.iter().rev(), |point| point.0, |point| [(point.1, point.2)]);
                best.search(north.iter(), |point| point.0, |point| [(point.1, point.2)]);
            }
        }
        let (index, latitude, longitude) = best.found?;
        let distance_km = best.angle * RADIUS_KM;
        Some(NearestPoint { index, latitude, longitude: longitude.rem_euclid(360.0), distance_km })
    }
}

/// The difference, in radians, that rounding can make between two distances that are equal. On the Earth it is less than 0.01 mm.
const ROUNDING: f64 = 1e-12;

/// The nearest point so far.
struct Best {
    latitude: f64,
    longitude: f64,
    found: Option<(u64, f64, f64)>,
    angle: f64,
}

impl Best {
    /// Looks at places that lie ever farther north, or south, as long as one could be nearer.
    fn search<T, C: IntoIterator<Item = (f64, u64)>>(
        &mut self,
        places: impl Iterator<Item = T>,
        latitude_of: impl Fn(&T) -> f64,
        candidates: impl Fn(&T) -> C,
    ) {
        for place in places {
            let latitude = latitude_of(&place);
            if (latitude - self.latitude).abs().to_radians() > self.angle + ROUNDING {
                return;
            }
            for (longitude, index) in candidates(&place) {
                self.offer(latitude, longitude, index);
            }
        }
    }

    fn offer(&mut self, latitude: f64, longitude: f64, index: u64) {
        let angle = angle(self.latitude, self.longitude, latitude, longitude);
        let lower = self.found.is_some_and(|(found, ..)| index < found);
        if angle < self.angle - ROUNDING || (angle <= self.angle + ROUNDING && lower) {
            (self.angle, self.found) = (angle, Some((index, latitude, longitude)));
        }
    }
}

/// The angle between two locations seen from the centre of the Earth, by the haversine, which is exact for near ones.
fn angle(latitude: f64, longitude: f64, other_latitude: f64, other_longitude: f64) -> f64 {
    let square_of_half_chord = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
    let across = latitude.to_radians().cos() * other_latitude.to_radians().cos();
    let sum = square_of_half_chord(latitude - other_latitude)
        + across * square_of_half_chord(longitude - other_longitude);
    2.0 * sum.sqrt().min(1.0).asin()
}
