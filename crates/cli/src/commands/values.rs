//! `isotach values`: the values of chosen points of fields.

use std::{fmt::Write, num::NonZeroUsize};

use clap::{ArgGroup, Args};
use isotach_mars::Match;
use isotach_values::{GeoBox, Grids, Points, Row, Values, ValuesOptions, grid_text, parse_grid, values};
use serde_json::{Value, json};

use crate::{
    context::{self, AtFlag, StoreFlags},
    failure::{Failure, Outcome, say},
    missing::Missing,
    output::{count, key_object, print_json, print_line},
    requests::RequestFlags,
};

/// Print the values of chosen grid points of fields
///
/// Reads only the bytes of these points, where the packing permits it (simple and CCSDS). A line has the field's key and its values,
/// separated by tabs. A value that the field does not have is printed as -.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("choice").required(true))]
#[command(after_help = "Example:
  isotach values class=od,date=-1,time=12,type=fc,levtype=sfc,step=0/to/240/by/6,param=2t --near 51.4,-1.0")]
pub(crate) struct ValuesFlags {
    #[command(flatten)]
    requests: RequestFlags,
    /// Places among the values of a field, counted from 0, and ranges of them: 5,100-103 is 5, 100, 101, 102
    #[arg(long, value_name = "N,...", group = "choice", value_parser = ranges)]
    points: Option<Points>,
    /// The grid point nearest to a latitude and a longitude in degrees; may be repeated
    #[arg(long, value_name = "LAT,LON", group = "choice", allow_hyphen_values = true, value_parser = location)]
    near: Vec<(f64, f64)>,
    /// All grid points within a box, borders included: north, west, south, east in degrees
    #[arg(long = "box", value_name = "N,W,S,E", group = "choice", allow_hyphen_values = true, value_parser = geo_box)]
    within: Option<GeoBox>,
    /// The hash that the grid of each field must have: ecCodes' md5GridSection. The default is that all have the same grid
    #[arg(long, value_name = "HASH", value_parser = hash)]
    grid: Option<[u8; 16]>,
    /// Permit fields of several grids
    #[arg(long, conflicts_with = "grid")]
    any_grid: bool,
    /// How many threads read. The default is one on each processor
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    at: AtFlag,
    /// Print one JSON object for each field
    #[arg(long)]
    json: bool,
}

/// Prints a line for each field.
pub(crate) fn run(target: &StoreFlags, flags: &ValuesFlags) -> Outcome {
    let requests = flags.requests.parse()?;
    let store = context::open_at(target, &flags.at)?;
    let points = match (&flags.points, flags.within) {
        (Some(points), _) => points.clone(),
        (None, Some(part)) => Points::Within(part),
        (None, None) => Points::Nearest(flags.near.clone()),
    };
    let grids = match flags.grid {
        Some(hash) => Grids::Hash(hash),
        None if flags.any_grid => Grids::Any,
        None => Grids::Equal,
    };
    let options = ValuesOptions { grids, threads: flags.threads.map_or(0, NonZeroUsize::get) };
    requests.for_each(&store, Match::Exact, |request| {
        let found = values(&store, request, &points, &options)?;
        for row in &found.rows {
            match flags.json {
                true => print_json(&object(row, &found))?,
                false => print_line(format_args!("{}", line(row)))?,
            }
        }
        let read = count(found.rows.len() as u64, "field");
        if found.whole > 0 && !flags.json {
            say(format!("{read}, {} of them decoded as a whole", found.whole));
        }
        let missing = Missing { request, found: found.missing };
        missing.text().into_iter().for_each(say);
        Ok(())
    })
}

fn line(row: &Row) -> String {
    let mut line = row.key.to_string();
    for value in &row.values {
        // Writing to a text does not fail.
        let _ = if value.is_nan() { write!(line, "\t-") } else { write!(line, "\t{value}") };
    }
    line
}

fn object(row: &Row, found: &Values) -> Value {
    let mut object = json!({
        "key": key_object(&row.key),
        "grid": grid_text(&row.grid),
        // A value that is missing is null.
        "values": row.values,
    });
    if !found.places.is_empty() {
        let place = |place: &isotach_values::PointInBox| json!({"index": place.index, "latitude": place.latitude, "longitude": place.longitude});
        object["points"] = found.places.iter().map(place).collect();
    }
    object
}

fn ranges(text: &str) -> Result<Points, String> {
    let range = |part: &str| {
        let place = |text: &str| text.trim().parse::<u64>().ok();
        match part.split_once('-') {
            Some((start, end)) => Some(place(start)?..place(end)?),
            None => place(part).and_then(|only| Some(only..only.checked_add(1)?)),
        }
    };
    let parsed: Option<Vec<_>> = text.split(',').map(range).collect();
    parsed.map(Points::Ranges).ok_or_else(|| "expected places and ranges such as 5,100-103".to_owned())
}

/// Numbers separated by commas.
fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

fn location(text: &str) -> Result<(f64, f64), String> {
    let parsed = numbers(text).map(|[latitude, longitude]| (latitude, longitude));
    parsed.ok_or_else(|| "expected a latitude and a longitude in degrees, such as 51.4,-1.0".to_owned())
}

fn geo_box(text: &str) -> Result<GeoBox, String> {
    let parsed = numbers(text).map(|[north, west, south, east]| GeoBox { north, west, south, east });
    parsed.ok_or_else(|| "expected north, west, south, east in degrees, such as 72,-25,34,45".to_owned())
}

fn hash(text: &str) -> Result<[u8; 16], String> {
    parse_grid(text).ok_or_else(|| "expected 32 hexadecimal digits".to_owned())
}

impl From<isotach_values::Error> for Failure {
    fn from(error: isotach_values::Error) -> Self {
        match error {
            isotach_values::Error::Fields(error) => error.into(),
            error @ isotach_values::Error::OtherGrid { .. } => {
                Self::failed(format!("{error} (--any-grid permits several)"))
            }
            error => Self::failed(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranges_are_read_from_text() {
        assert_eq!(ranges("5, 100-103").unwrap(), Points::Ranges(vec![5..6, 100..103]));
        for wrong in ["", "a", "-1", "5-", "5-6,7-", "1-2-3", "1;2", "18446744073709551615"] {
            assert!(ranges(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_location_has_two_numbers_and_a_box_four() {
        assert_eq!(location("51.4, -1"), Ok((51.4, -1.0)));
        assert!(location("51.4").is_err() && location("1,2,3").is_err() && location("a,b").is_err());
        assert_eq!(geo_box("72,-25,34,45").map(|part| part.west), Ok(-25.0));
        assert!(geo_box("72,-25,34").is_err());
    }

    #[test]
    fn a_hash_has_32_digits() {
        assert_eq!(hash("000102030405060708090a0b0c0d0e0f"), Ok(std::array::from_fn(|at| at as u8)));
        for wrong in ["", "00", "+00102030405060708090a0b0c0d0e0f", "x00102030405060708090a0b0c0d0e0f"] {
            assert!(hash(wrong).is_err(), "{wrong}");
        }
    }
}
