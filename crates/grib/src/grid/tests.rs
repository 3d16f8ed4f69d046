//! Grids of messages made here, and the order of points.

use super::*;
use crate::needs_eccodes::eccodes;
use crate::{FieldName, ForecastPlan, MessageMaker};

const NAME: FieldName = FieldName { member: 1, step: 6, level: 850, param: 130 };

fn made(eccodes: &'static Eccodes) -> Vec<u8> {
    let plan = ForecastPlan { message_size: 20_000, date: 20_240_101, ..ForecastPlan::default() };
    MessageMaker::new(eccodes, plan).unwrap().message(NAME).unwrap()
}

/// A message changed by `change`.
fn changed(eccodes: &'static Eccodes, change: impl FnOnce(&mut Handle<'static>)) -> Vec<u8> {
    let mut handle = Handle::copy(eccodes.api().unwrap(), &made(eccodes)).unwrap();
    change(&mut handle);
    handle.message().unwrap()
}

#[test]
fn a_generated_message_decodes_to_its_grid_and_label() {
    let Some(eccodes) = eccodes() else { return };
    let grid = eccodes.grid(&made(eccodes)).unwrap();
    assert_eq!((grid.values.len(), grid.missing), (grid.ni * grid.nj, 0));
    assert_eq!((grid.latitude_first, grid.longitude_first, grid.longitude(0)), (90.0, 0.0, 0.0));
    assert!((grid.latitude(grid.nj - 1) + 90.0).abs() < 0.01 && grid.longitude(grid.ni - 1) < 360.0);
    let (least, greatest) = grid.range().unwrap();
    assert!(200.0 < least && greatest < 320.0 && greatest - least > 10.0, "{least} {greatest}");
    let label = &grid.label;
    assert_eq!([&label.name, &label.short_name, &label.units], ["Temperature", "t", "K"]);
    assert_eq!([&label.level_type, &label.level, &label.valid], ["isobaricInhPa", "850", "20240101 0600"]);
}

#[test]
fn missing_values_are_not_a_number() {
    let Some(eccodes) = eccodes() else { return };
    let whole = eccodes.grid(&made(eccodes)).unwrap();
    let message = changed(eccodes, |handle| {
        let mut values = whole.values.clone();
        (values[0], values[5]) = (9999.0, 9999.0);
        handle.set_double(c"missingValue", 9999.0).unwrap();
        handle.set_long(c"bitmapPresent", 1).unwrap();
        handle.set_doubles(c"values", &values).unwrap();
    });
    for values in [eccodes.grid(&message).unwrap().values, eccodes.points(&message).unwrap().values] {
        let missing: Vec<_> = (0..values.len()).filter(|at| values[*at].is_nan()).collect();
        assert_eq!(missing, [0, 5]);
    }
    let grid = eccodes.grid(&message).unwrap();
    assert_eq!(grid.missing, 2);
    assert!(grid.at(0, 0).is_nan() && !grid.at(1, 0).is_nan());
}

#[test]
fn points_and_grid_agree_in_every_scanning_order() {
    let Some(eccodes) = eccodes() else { return };
    for mode in 0..8 {
        let message = changed(eccodes, |handle| {
            let (east, north, along) = (mode & 1, mode >> 1 & 1, mode >> 2);
            for (key, flag) in
                [(c"iScansNegatively", east), (c"jScansPositively", north), (c"jPointsAreConsecutive", along)]
            {
                handle.set_long(key, flag).unwrap();
            }
            let pairs = [
                (c"latitudeOfFirstGridPoint", c"latitudeOfLastGridPoint", north),
                (c"longitudeOfFirstGridPoint", c"longitudeOfLastGridPoint", east),
            ];
            for (first, last, turned) in pairs {
                if turned == 1 {
                    let (one, other) = (handle.long(first).unwrap(), handle.long(last).unwrap());
                    handle.set_long(first, other).unwrap();
                    handle.set_long(last, one).unwrap();
                }
            }
        });
        let (grid, points) = (eccodes.grid(&message).unwrap(), eccodes.points(&message).unwrap());
        assert_eq!(grid.values.len(), points.values.len());
        for at in 0..points.values.len() {
            // ecCodes may list points in another order than the message's, so they are compared by place.
            let row = (grid.latitude(0) - points.latitudes[at]) / grid.latitude_increment;
            let column = (points.longitudes[at] - grid.longitude(0)) / grid.longitude_increment;
            assert!(
                (row - row.round()).abs() < 0.01 && (column - column.round()).abs() < 0.01,
                "{row} {column}"
            );
            let value = grid.at(column.round() as usize, row.round() as usize);
            assert!(
                value == points.values[at],
                "mode {mode}, point {at}: {value}, not {}",
                points.values[at]
            );
        }
    }
}

#[test]
fn every_other_row_may_run_backwards() {
    let grid = Grid {
        ni: 3,
        nj: 2,
        values: vec![1.0, 2.0, 3.0, 6.0, 5.0, 4.0],
        latitude_first: 10.0,
        longitude_last: 20.0,
        longitude_increment: 10.0,
        latitude_increment: 10.0,
        alternative_row_scanning: true,
        ..Grid::default()
    };
    assert_eq!([grid.at(0, 0), grid.at(0, 1), grid.at(2, 1)], [1.0, 4.0, 6.0]);
    assert!(grid.at(3, 0).is_nan() && grid.at(0, 2).is_nan());
}

#[test]
fn other_grids_are_named_and_still_come_as_points() {
    let Some(eccodes) = eccodes() else { return };
    let sample = |name| Handle::sample(eccodes.api().unwrap(), name).unwrap().message().unwrap();
    let reduced = sample(c"reduced_gg_pl_32_grib2");
    let error = eccodes.grid(&reduced).unwrap_err().to_string();
    assert_eq!(error, "a grid of type reduced_gg is not drawn, expected regular_ll");
    let points = eccodes.points(&reduced).unwrap();
    assert_eq!(points.latitudes.len(), points.values.len());
    assert!(points.latitudes.len() > 1000 && points.latitudes[0] > 80.0);

    let waves = sample(c"sh_pl_grib2");
    assert!(matches!(eccodes.grid(&waves), Err(EccodesError::GridType { grid_type }) if grid_type == "sh"));
    assert!(eccodes.points(&waves).is_err());
}

#[test]
fn a_claim_of_more_points_than_can_be_is_refused_before_space_is_made() {
    let error = room(usize::MAX).unwrap_err().to_string();
    assert!(error.contains("does not fit the 67108864 points that are decoded at most"), "{error}");
}

#[test]
fn a_number_of_values_that_is_not_the_grids_is_refused() {
    let Some(eccodes) = eccodes() else { return };
    let message = changed(eccodes, |handle| handle.set_long(c"Ni", 7).unwrap());
    assert!(matches!(eccodes.grid(&message), Err(EccodesError::Size { .. } | EccodesError::Refused { .. })));
}

#[test]
fn a_damaged_number_of_rows_is_refused_before_latitudes_are_computed() {
    let Some(eccodes) = eccodes() else { return };
    let mut handle = Handle::sample(eccodes.api().unwrap(), c"regular_gg_pl_grib2").unwrap();
    handle.set_long(c"Nj", 2_000_000_000).unwrap();
    let error = eccodes.points(&handle.message().unwrap()).unwrap_err().to_string();
    assert!(error.contains("Nj is above"), "{error}");
}
