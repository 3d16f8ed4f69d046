//! The points that are chosen, as ranges of places among the values of a message.
//!
//! What must stay true: points that are chosen by location are looked up once for each grid, and fields of equal grid hashes
//! have the same points.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use isotach_grib::{GeoBox, GridPoints, PointInBox};

use crate::{Error, Result};

/// Which points of each field.
#[derive(Debug, Clone, PartialEq)]
pub enum Points {
    /// Ranges of places among the values of a message, in any order; they may overlap.
    Ranges(Vec<Range<u64>>),
    /// The grid point nearest to each location: latitude and longitude, in degrees.
    Nearest(Vec<(f64, f64)>),
    /// All points within a box, by ascending place.
    Within(GeoBox),
}

/// The points that are chosen of one grid.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) ranges: Vec<Range<u64>>,
    /// Where the points are, if they were chosen by location.
    pub(crate) places: Vec<PointInBox>,
}

/// The choice of points in the grids that were met.
#[derive(Debug)]
pub(crate) struct Choice<'p> {
    points: &'p Points,
    known: Mutex<HashMap<[u8; 16], Arc<Chosen>>>,
}

impl<'p> Choice<'p> {
    pub(crate) fn new(points: &'p Points) -> Result<Self> {
        match points {
            Points::Ranges(ranges) => ranges.iter().try_for_each(|range| match range.start <= range.end {
                true => Ok(()),
                false => Err(Error::invalid(
                    format!("points {} to {}", range.start, range.end),
                    "an end that is not before the start".to_owned(),
                )),
            })?,
            Points::Nearest(locations) => locations.iter().try_for_each(|&(latitude, longitude)| {
                let is_location = (-90.0..=90.0).contains(&latitude) && longitude.is_finite();
                let what = || format!("a point at latitude {latitude}, longitude {longitude}");
                let expected = || "a latitude from -90 to 90 and a longitude in degrees".to_owned();
                if is_location { Ok(()) } else { Err(Error::invalid(what(), expected())) }
            })?,
            Points::Within(part) if !part.is_valid() => {
                let GeoBox { north, west, south, east } = part;
                return Err(Error::invalid(
                    format!("a box of north {north}, west {west}, south {south}, east {east}"),
                    "degrees, with the north from -90 to 90 and not below the south".to_owned(),
                ));
            }
            Points::Within(_) => {}
        }
        Ok(Self { points, known: Mutex::default() })
    }

    /// The chosen points of the grid with this hash. `describe` gives the points of a grid that was not met yet.
    pub(crate) fn of_grid(
        &self,
        grid: [u8; 16],
        describe: impl FnOnce() -> Result<GridPoints>,
    ) -> Result<Arc<Chosen>> {
        // Held while the first field describes the grid, so that the others need not.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chosen) = known.get(&grid) {
            return Ok(Arc::clone(chosen));
        }
        let chosen = Arc::new(self.choose(describe)?);
        known.insert(grid, Arc::clone(&chosen));
        Ok(chosen)
    }

    /// The chosen points of a grid that was met.
    pub(crate) fn known(&self, grid: [u8; 16]) -> Option<Arc<Chosen>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&grid).cloned()
    }

    fn choose(&self, describe: impl FnOnce() -> Result<GridPoints>) -> Result<Chosen> {
        let places: Vec<PointInBox> = match self.points {
            Points::Ranges(ranges) => return Ok(Chosen { ranges: ranges.clone(), places: Vec::new() }),
            Points::Within(part) => describe()?.within(part),
            Points::Nearest(locations) => {
                let grid = describe()?;
                let nearest = locations.iter().map(|&(latitude, longitude)| {
                    grid.nearest(latitude, longitude).ok_or_else(|| {
                        let what = format!("a point at latitude {latitude}, longitude {longitude}");
                        Error::invalid(what, "a grid that has points".to_owned())
                    })
                });
                let place = |found: isotach_grib::NearestPoint| PointInBox {
                    index: found.index,
                    latitude: found.latitude,
                    longitude: found.longitude,
                };
                nearest.map(|found| found.map(place)).collect::<Result<_>>()?
            }
        };
        Ok(Chosen { ranges: runs(places.iter().map(|place| place.index)), places })
    }
}

/// Points that follow each other, as ranges.
fn runs(indexes: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for index in indexes {
        match ranges.last_mut() {
            Some(last) if last.end == index => last.end = index + 1,
            _ => ranges.push(index..index + 1),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_range_and_repeated_points_stay() {
        assert_eq!(runs([4, 5, 6, 2, 2, 3].into_iter()), [4..7, 2..3, 2..4]);
    }

    #[test]
    fn points_that_are_none_are_refused_before_anything_is_read() {
        let wrong = [
            Points::Ranges(vec![0..1, Range { start: 5, end: 4 }]),
            Points::Nearest(vec![(0.0, 0.0), (91.0, 0.0)]),
            Points::Nearest(vec![(f64::NAN, 0.0)]),
            Points::Within(GeoBox { north: 0.0, west: 0.0, south: 1.0, east: 1.0 }),
        ];
        for points in wrong {
            let error = Choice::new(&points).unwrap_err();
            assert_eq!(error.code(), "invalid-input", "{points:?}: {error}");
        }
    }
}
