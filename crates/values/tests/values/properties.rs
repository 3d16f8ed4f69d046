//! Random points of random stores. A failing case is shrunk and printed with its seed.

use std::ops::Range;

use isotach_values::{Points, ValuesOptions, values};
use proptest::{collection::vec, prelude::*};

use crate::stores::{Filled, PACKINGS, steps};

fn ranges(points: u64) -> impl Strategy<Value = Vec<Range<u64>>> {
    vec((0..points, 0..points), 0..6)
        .prop_map(|pairs| pairs.into_iter().map(|(one, other)| one.min(other)..one.max(other)).collect())
}

#[test]
fn values_of_any_points_equal_those_of_the_whole_messages() {
    // A message of 20 kB has several intervals of CCSDS.
    let Some(filled) = Filled::new(20_000, 7, &PACKINGS) else { return };
    let whole = filled.whole();
    let points = whole[0].len() as u64;
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(64));
    let case = (ranges(points), 0..4_usize, 1..8_usize);
    runner
        .run(&case, |(ranges, threads, count)| {
            let options = ValuesOptions { threads, ..ValuesOptions::default() };
            let found =
                values(&filled.store, &steps(count), &Points::Ranges(ranges.clone()), &options).unwrap();
            prop_assert_eq!(found.rows.len(), count);
            for (row, whole) in found.rows.iter().zip(&whole) {
                let expected: Vec<u64> = ranges
                    .iter()
                    .flat_map(|range| &whole[range.start as usize..range.end as usize])
                    .map(|value| value.to_bits())
                    .collect();
                let values: Vec<u64> = row.values.iter().map(|value| value.to_bits()).collect();
                prop_assert_eq!(values, expected, "{}", &row.key);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn many_fields_come_in_the_order_of_the_request_from_any_number_of_threads() {
    let Some(filled) = Filled::new(2000, 300, &PACKINGS) else { return };
    let whole = filled.whole();
    for threads in [0, 1, 2, 5] {
        let options = ValuesOptions { threads, ..ValuesOptions::default() };
        let found =
            values(&filled.again(), &steps(300), &Points::Ranges(vec![3..4, 0..1]), &options).unwrap();
        let expected: Vec<[f64; 2]> = whole.iter().map(|whole| [whole[3], whole[0]]).collect();
        let rows: Vec<&[f64]> = found.rows.iter().map(|row| &row.values[..]).collect();
        assert_eq!(rows, expected, "{threads} threads");
        assert_eq!(found.whole, 100);
    }
}
