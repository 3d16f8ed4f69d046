//! The points of a grid within a box of latitudes and longitudes.

use super::{GridPoints, Places};

/// A part of the globe between two parallels and two meridians, all of them included. Degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeoBox {
    /// The northern parallel.
    pub north: f64,
    /// The western meridian.
    pub west: f64,
    /// The southern parallel.
    pub south: f64,
    /// The eastern meridian. A box from 350 to 10, or from -10 to 10, contains 0.
    pub east: f64,
}

/// A point of a grid within a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointInBox {
    /// Its place among the values of a message.
    pub index: u64,
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east, from 0 to below 360.
    pub longitude: f64,
}

/// Degrees that rounding may move a point on the border. The coordinates of GRIB 2 are multiples of a millionth.
const ROUNDING: f64 = 1e-7;

impl GeoBox {
    /// Whether it is a box of the globe: latitudes from -90 to 90, the northern one not below the southern one.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let Self { north, west, south, east } = *self;
        -90.0 <= south && south <= north && north <= 90.0 && west.is_finite() && east.is_finite()
    }

    fn has_latitude(&self, latitude: f64) -> bool {
        self.south - ROUNDING <= latitude && latitude <= self.north + ROUNDING
    }

    fn has_longitude(&self, longitude: f64) -> bool {
        let width = self.east - self.west;
        let width = if (0.0..360.0).contains(&width) { width } else { width.rem_euclid(360.0) };
        // All around, also as 0 to 360.
        let is_whole = width == 0.0 && self.east != self.west;
        is_whole || (longitude - self.west + ROUNDING).rem_euclid(360.0) <= width + 2.0 * ROUNDING
    }
}

impl GridPoints {
    /// The points within a box, by ascending index. None if the box is not [valid](GeoBox::is_valid).
    #[must_use]
    pub fn within(&self, part: &GeoBox) -> Vec<PointInBox> {
        let mut found = Vec::new();
        if !part.is_valid() {
            return found;
        }
        let mut take = |latitude: f64, longitude: f64, index: u64| {
            if part.has_longitude(longitude) {
                found.push(PointInBox { index, latitude, longitude: longitude.rem_euclid(360.0) });
            }
        };
        match &self.places {
            Places::Rows(rows) => {
                for row in rows.iter().filter(|row| part.has_latitude(row.latitude)) {
                    row.points().for_each(|(longitude, index)| take(row.latitude, longitude, index));
                }
            }
            Places::Single(points) => {
                let inside = points.iter().filter(|point| part.has_latitude(point.0));
                inside.for_each(|&(latitude, longitude, index)| take(latitude, longitude, index));
            }
        }
        found.sort_unstable_by_key(|point| point.index);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locate::rows::Row;

    /// Rows of 36 points at 10, 0 and -10 degrees north, the northern one first.
    fn grid() -> GridPoints {
        let row =
            |latitude: f64, index| Row { latitude, longitude: 0.0, step: 10.0, count: 36, index, stride: 1 };
        let rows = vec![row(-10.0, 72), row(0.0, 36), row(10.0, 0)];
        GridPoints { places: Places::Rows(rows), count: 108 }
    }

    fn indexes(north: f64, west: f64, south: f64, east: f64) -> Vec<u64> {
        grid().within(&GeoBox { north, west, south, east }).iter().map(|point| point.index).collect()
    }

    #[test]
    fn a_box_contains_its_borders_and_may_cross_the_meridian_where_rows_begin() {
        assert_eq!(indexes(10.0, 10.0, 0.0, 20.0), [1, 2, 37, 38]);
        for (west, east) in [(350.0, 10.0), (-10.0, 10.0), (-10.0, 370.0), (710.0, 10.0)] {
            assert_eq!(indexes(5.0, west, -5.0, east), [36, 37, 71], "{west} to {east}");
        }
        let at_the_border = grid().within(&GeoBox { north: 0.0, west: 350.0, south: 0.0, east: 350.0 });
        assert_eq!(at_the_border, [PointInBox { index: 71, latitude: 0.0, longitude: 350.0 }]);
    }

    #[test]
    fn a_box_around_the_globe_contains_every_point() {
        for (west, east) in [(0.0, 360.0), (-180.0, 180.0)] {
            assert_eq!(indexes(90.0, west, -90.0, east), (0..108).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_box_that_is_none_contains_nothing() {
        assert!(indexes(-10.0, 0.0, 10.0, 20.0).is_empty());
        assert!(indexes(91.0, 0.0, -91.0, 20.0).is_empty());
        assert!(indexes(10.0, f64::NAN, 0.0, 20.0).is_empty());
    }

    #[test]
    fn single_points_are_found_as_rows_are() {
        let Places::Rows(rows) = grid().places else { unreachable!() };
        let single = rows
            .iter()
            .flat_map(|row| row.points().map(|(longitude, index)| (row.latitude, longitude, index)));
        let single = GridPoints { places: Places::Single(single.collect()), count: 108 };
        let part = GeoBox { north: 5.0, west: -25.0, south: -90.0, east: 15.0 };
        assert_eq!(single.within(&part), grid().within(&part));
        assert_eq!(single.within(&part).len(), 8);
    }
}
