//! Points found, compared with the coordinates of ecCodes.

use std::ffi::CStr;

use proptest::prelude::*;

use super::*;
use crate::ffi::Handle;
use crate::jump::grid_section;
use crate::needs_eccodes::eccodes;
use crate::{Eccodes, JumpError, Points};

fn sample(eccodes: &'static Eccodes, name: &CStr, keys: &[(&CStr, i64)]) -> Vec<u8> {
    let mut handle = Handle::sample(eccodes.api().unwrap(), name).unwrap();
    for (key, value) in keys {
        handle.set_long(key, *value).unwrap();
    }
    if !keys.is_empty() {
        let count = handle.long(c"Ni").unwrap() * handle.long(c"Nj").unwrap();
        handle.set_doubles(c"values", &vec![1.0; count as usize]).unwrap();
    }
    handle.message().unwrap()
}

/// The nearest of all points, looked at one by one.
fn by_looking_at_all(points: &Points, latitude: f64, longitude: f64) -> f64 {
    let coordinates = points.latitudes.iter().zip(&points.longitudes);
    coordinates.map(|(lat, lon)| angle(latitude, longitude, *lat, *lon)).fold(f64::INFINITY, f64::min)
}

/// Compares the points of `message` with ecCodes: each where it is, and the nearest to some locations.
fn compare(eccodes: &'static Eccodes, message: &[u8], ours: &GridPoints) {
    let points = eccodes.points(message).unwrap();
    assert_eq!(ours.count(), points.latitudes.len() as u64);
    for number in (0..points.latitudes.len()).step_by(points.latitudes.len() / 200 + 1) {
        let (latitude, longitude) = (points.latitudes[number], points.longitudes[number]);
        let found = ours.nearest(latitude, longitude).unwrap();
        assert!(found.distance_km < 1e-3, "{number}: {latitude} {longitude} {found:?}");
        // All points of a pole are one.
        assert!(found.index == number as u64 || latitude.abs() > 89.999, "{number}: {found:?}");
    }
    proptest!(ProptestConfig::with_cases(40), |(latitude in -90.0..=90.0_f64, longitude in -180.0..540.0_f64)| {
        let found = ours.nearest(latitude, longitude).unwrap();
        let expected = by_looking_at_all(&points, latitude, longitude) * RADIUS_KM;
        prop_assert!((found.distance_km - expected).abs() < 1e-3, "{:?}, expected {}", found, expected);
    });
}

#[test]
fn points_of_grids_of_rows_are_those_of_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    for name in [
        c"regular_ll_pl_grib1",
        c"regular_ll_pl_grib2",
        c"regular_gg_pl_grib1",
        c"regular_gg_pl_grib2",
        c"reduced_gg_pl_32_grib1",
        c"reduced_gg_pl_48_grib2",
        c"reduced_ll_sfc_grib1",
        c"reduced_ll_sfc_grib2",
    ] {
        let message = sample(eccodes, name, &[]);
        let ours = GridPoints::of_section(grid_section(&message).unwrap()).unwrap();
        compare(eccodes, &message, &ours);
    }
}

#[test]
fn every_way_of_scanning_a_regular_grid_gives_the_indices_of_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    for west in [0, 1] {
        for north in [0, 1] {
            for columns in [0, 1] {
                let (first, last) = (50_000_000 - 30_000_000 * north, 20_000_000 + 30_000_000 * north);
                let (start, end) =
                    if west == 0 { (350_000_000, 20_000_000) } else { (20_000_000, 350_000_000) };
                let keys = [
                    (c"Ni", 7),
                    (c"Nj", 4),
                    (c"latitudeOfFirstGridPoint", first),
                    (c"latitudeOfLastGridPoint", last),
                    (c"longitudeOfFirstGridPoint", start),
                    (c"longitudeOfLastGridPoint", end),
                    (c"iDirectionIncrement", 5_000_000),
                    (c"jDirectionIncrement", 10_000_000),
                    (c"iScansNegatively", west),
                    (c"jScansPositively", north),
                    (c"jPointsAreConsecutive", columns),
                ];
                let message = sample(eccodes, c"regular_ll_pl_grib2", &keys);
                let ours = GridPoints::of_section(grid_section(&message).unwrap()).unwrap();
                compare(eccodes, &message, &ours);
            }
        }
    }
}

#[test]
fn points_of_any_other_grid_come_from_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    for name in [c"polar_stereographic_pl_grib2", c"rotated_ll_pl_grib2"] {
        let message = sample(eccodes, name, &[]);
        let section = GridPoints::of_section(grid_section(&message).unwrap());
        assert!(matches!(section, Err(JumpError::Unsupported { .. })));
        let ours = eccodes.grid_points(&message).unwrap();
        let points = eccodes.points(&message).unwrap();
        for (latitude, longitude) in points.latitudes.iter().zip(&points.longitudes).step_by(7) {
            assert!(ours.nearest(*latitude, *longitude).unwrap().distance_km < 1e-3);
        }
    }
}

#[test]
fn the_nearest_point_at_a_high_latitude_may_be_of_a_farther_row() {
    let row = |latitude, longitude, index| Row { latitude, longitude, step: 0.0, count: 1, index, stride: 1 };
    // The row at 84 is farther in latitude than that at 80.5, whose only point is on the other side.
    let rows = vec![row(80.5, 180.0, 0), row(84.0, 10.0, 1)];
    let points = GridPoints { places: Places::Rows(rows), count: 2 };
    assert_eq!(points.nearest(80.0, 0.0).unwrap().index, 1);
}

#[test]
fn of_points_equally_near_the_one_of_the_lowest_index_is_found() {
    let globe =
        |latitude, index, stride| Row { latitude, longitude: 0.0, step: 10.0, count: 36, index, stride };
    // Rows of one latitude each, from north to south.
    let rows = vec![globe(-90.0, 72, 1), globe(0.0, 36, 1), globe(90.0, 0, 1)];
    let points = GridPoints { places: Places::Rows(rows), count: 108 };
    let found = |latitude, longitude| points.nearest(latitude, longitude).unwrap().index;
    for (longitude, expected) in [(15.0, 37), (5.0, 36), (355.0, 36), (165.0, 52), (-5.0, 36)] {
        assert_eq!(found(0.0, longitude), expected, "{longitude}");
        assert_eq!(found(3.0, longitude), expected, "{longitude}");
    }
    for longitude in [0.0, 77.0, 180.0, 303.3] {
        assert_eq!(found(90.0, longitude), 0, "all points of a pole are one: {longitude}");
        assert_eq!(found(89.5, longitude), 0, "{longitude}");
        assert_eq!(found(-89.5, longitude), 72, "{longitude}");
    }
    assert_eq!(found(45.0, 100.0), 0, "the pole and the equator are equally near");
    let columns = GridPoints { places: Places::Rows(vec![globe(0.0, 0, 3), globe(10.0, 1, 3)]), count: 72 };
    assert_eq!(columns.nearest(5.0, 20.0).unwrap().index, 6);
    assert_eq!(columns.nearest(2.0, 25.0).unwrap().index, 6);
}

#[test]
fn no_location_has_no_nearest_point() {
    let points = GridPoints { places: Places::Single(vec![(0.0, 0.0, 0)]), count: 1 };
    assert!(points.nearest(91.0, 0.0).is_none() && points.nearest(0.0, f64::NAN).is_none());
    assert_eq!(points.nearest(0.0, 360.0).unwrap().index, 0);
    let none = GridPoints { places: Places::Single(Vec::new()), count: 0 };
    assert!(none.nearest(0.0, 0.0).is_none());
}

proptest! {
    #[test]
    fn a_broken_section_is_refused_or_has_points(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut bytes = bytes;
        let length = bytes.len() as u8;
        if let Some(place) = bytes.get_mut(3) {
            *place = length;
        }
        if let Some(length) = bytes.get_mut(..3) {
            length.fill(0);
        }
        if let Ok(points) = GridPoints::of_section(&bytes) {
            let _ = points.nearest(10.0, 20.0);
        }
    }
}
