//! How points are chosen, and what says that they are those of the field.

use isotach_grib::GridPoints;
use isotach_values::{
    Error, GeoBox, Grids, Points, ValuesOptions, grid_text, values, values_at, values_in_file,
};

use crate::stores::{Filled, PACKINGS, key, message, steps};

#[test]
fn points_are_chosen_by_place_by_location_and_by_box() {
    let Some(filled) = Filled::new(4000, 3, &PACKINGS) else { return };
    let whole = filled.whole();
    let options = ValuesOptions::default();
    let near = Points::Nearest(vec![(51.4, -1.0), (-90.0, 0.0)]);
    let nearest = values(&filled.store, &steps(3), &near, &options).unwrap();
    let places: Vec<usize> = nearest.places.iter().map(|place| place.index as usize).collect();
    let grid = filled.eccodes.grid_points(&filled.messages[0]).unwrap();
    assert_eq!(places[0] as u64, grid.nearest(51.4, -1.0).unwrap().index);
    for (row, whole) in nearest.rows.iter().zip(&whole) {
        assert_eq!(row.values, [whole[places[0]], whole[places[1]]]);
    }
    let part = GeoBox { north: 60.0, west: -20.0, south: 30.0, east: 40.0 };
    let within = values(&filled.store, &steps(3), &Points::Within(part), &options).unwrap();
    assert!(within.places.len() > 10);
    assert_eq!(within.places, grid.within(&part));
    for (row, whole) in within.rows.iter().zip(&whole) {
        let expected: Vec<f64> = within.places.iter().map(|place| whole[place.index as usize]).collect();
        assert_eq!(row.values, expected);
    }
}

#[test]
fn a_point_that_a_grid_does_not_have_is_refused_by_name() {
    let Some(filled) = Filled::new(4000, 3, &PACKINGS) else { return };
    let count = filled.whole()[0].len() as u64;
    for step in 0..3 {
        let beyond = Points::Ranges(vec![0..1, count - 1..count + 1]);
        let error = values_at(&filled.store, &[key(step)], &beyond, &ValuesOptions::default()).unwrap_err();
        assert_eq!(error.code(), "invalid-input");
        assert!(error.to_string().contains(&format!("step={step}")), "{error}");
        assert!(error.to_string().contains(&count.to_string()), "{error}");
    }
}

#[test]
fn fields_of_several_grids_are_refused_unless_they_are_permitted() {
    let Some(filled) = Filled::new(4000, 2, &PACKINGS) else { return };
    let other = message(filled.eccodes, 9000, 2, "grid_simple");
    filled.store.archive(&key(2), &other).unwrap();
    filled.store.flush().unwrap();
    let read = |count, points: Points, grids| {
        values(&filled.store, &steps(count), &points, &ValuesOptions { grids, ..ValuesOptions::default() })
    };
    let first = || Points::Ranges(vec![0..2]);
    let error = read(3, first(), Grids::Equal).unwrap_err();
    assert!(matches!(error, Error::OtherGrid { .. }), "{error}");
    let all = read(3, first(), Grids::Any).unwrap();
    assert_eq!(all.rows[2].values, filled.eccodes.values(&other).unwrap()[..2]);
    assert_ne!(all.rows[2].grid, all.rows[0].grid);

    let hash = all.rows[0].grid;
    assert_eq!(read(2, first(), Grids::Hash(hash)).unwrap().rows.len(), 2);
    let error = read(3, first(), Grids::Hash(hash)).unwrap_err();
    assert!(error.to_string().contains(&grid_text(&hash)) && error.to_string().contains("step=2"), "{error}");
    let globe = GeoBox { north: 90.0, west: 0.0, south: -90.0, east: 360.0 };
    assert_eq!(read(3, Points::Within(globe), Grids::Any).unwrap_err().code(), "invalid-input");
    let near = read(3, Points::Nearest(vec![(10.0, 20.0)]), Grids::Any).unwrap();
    let place = filled.eccodes.grid_points(&other).unwrap().nearest(10.0, 20.0).unwrap().index;
    assert_eq!(near.rows[2].values, [filled.eccodes.values(&other).unwrap()[place as usize]]);
}

#[test]
fn fields_that_are_missing_are_told_and_those_of_keys_have_no_row() {
    let Some(filled) = Filled::new(2000, 2, &PACKINGS) else { return };
    let (points, options) = (Points::Ranges(vec![0..1]), ValuesOptions::default());
    let found = values(&filled.store, &steps(4), &points, &options).unwrap();
    assert_eq!((found.rows.len(), found.missing.unwrap().count), (2, 2));
    let keys = [key(3), key(1), key(0)];
    let rows = values_at(&filled.store, &keys, &points, &options).unwrap();
    let whole = filled.whole();
    assert!(rows[0].is_none());
    assert_eq!(rows[1].as_ref().unwrap().values, whole[1][..1]);
    assert_eq!(rows[2].as_ref().unwrap().values, whole[0][..1]);
}

#[test]
fn a_message_in_a_file_is_read_at_its_offset() {
    let Some(filled) = Filled::new(2000, 3, &PACKINGS) else { return };
    let path = filled.folder.path().join("messages");
    std::fs::write(&path, filled.messages.concat()).unwrap();
    let (points, options) = (Points::Ranges(vec![5..7]), ValuesOptions::default());
    let mut offset = 0;
    for (message, whole) in filled.messages.iter().zip(filled.whole()) {
        let row = values_in_file(&path, offset, &points, &options).unwrap();
        assert_eq!(row.values, whole[5..7]);
        offset += message.len() as u64;
    }
    let error = values_in_file(&path, 3, &points, &options).unwrap_err();
    assert!(error.code() == "corrupt" && error.to_string().contains("at offset 3"), "{error}");
    let other = ValuesOptions { grids: Grids::Hash([0; 16]), ..options };
    assert_eq!(values_in_file(&path, 0, &points, &other).unwrap_err().code(), "other-grid");
    let absent = filled.folder.path().join("absent");
    assert_eq!(values_in_file(&absent, 0, &points, &options).unwrap_err().code(), "not-found");
}

#[test]
fn the_grid_of_a_section_and_that_of_eccodes_have_the_same_points_in_a_box() {
    let Some(filled) = Filled::new(4000, 1, &PACKINGS) else { return };
    let points = filled.eccodes.points(&filled.messages[0]).unwrap();
    let part = GeoBox { north: 45.0, west: 350.0, south: -10.0, east: 10.0 };
    let grid: GridPoints = filled.eccodes.grid_points(&filled.messages[0]).unwrap();
    let mut expected = Vec::new();
    for (index, (latitude, longitude)) in points.latitudes.iter().zip(&points.longitudes).enumerate() {
        let is_inside = (-10.0..=45.0).contains(latitude) && (*longitude >= 350.0 || *longitude <= 10.0);
        if is_inside {
            expected.push(index as u64);
        }
    }
    let found: Vec<u64> = grid.within(&part).iter().map(|point| point.index).collect();
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}
