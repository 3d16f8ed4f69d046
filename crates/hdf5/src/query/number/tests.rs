//! Comparisons of numbers, against those of the language.

use isotach_hdf5_types::{ByteOrder, Class, Datatype, Float};

use super::{Number, Place};
use crate::query::condition::{Comparison, Literal, Test};

fn passing(number: &Number, test: &Test, bytes: &[u8]) -> Vec<usize> {
    let size = match number {
        Number::Integer { bytes, .. } => *bytes as usize,
        Number::Single { .. } => 4,
        Number::OtherFloat { .. } => 2,
        _ => 8,
    };
    let (keys, is_negated) = number.keys(test).unwrap();
    let mut bits = number.scan(bytes, Place { offset: 0, element: size }, keys);
    if is_negated {
        bits.invert();
    }
    let mut found = Vec::new();
    bits.runs(0..bytes.len() / size, |run| found.extend(run));
    let mut by_key = Vec::new();
    number.each_key(bytes, Place { offset: 0, element: size }, |key| {
        by_key.push(keys.contains(key) != is_negated);
    });
    let by_key: Vec<usize> = (0..by_key.len()).filter(|at| by_key[*at]).collect();
    assert_eq!(found, by_key, "{test}");
    check_ends(number, bytes, size);
    found
}

/// Compares the ends of all numbers with those of their keys.
fn check_ends(number: &Number, bytes: &[u8], size: usize) {
    let place = Place { offset: 0, element: size };
    let Some((ends, nans)) = number.ends(bytes, place) else { return };
    let mut keys = Vec::new();
    number.each_key(bytes, place, |key| keys.push(key));
    let count = keys.len();
    keys.retain(|key| number.all().contains(*key));
    let expected = keys.iter().min().zip(keys.iter().max()).map(|(low, high)| (*low, *high));
    assert_eq!((ends.map(|ends| (ends.low, ends.high)), nans), (expected, (count - keys.len()) as u64));
}

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::Unequal,
    Comparison::Less,
    Comparison::AtMost,
    Comparison::Greater,
    Comparison::AtLeast,
];

fn holds<T: PartialOrd + Copy>(comparison: Comparison, one: T, other: T) -> bool {
    match comparison {
        Comparison::Equal => one == other,
        Comparison::Unequal => one != other,
        Comparison::Less => one < other,
        Comparison::AtMost => one <= other,
        Comparison::Greater => one > other,
        Comparison::AtLeast => one >= other,
    }
}

#[test]
fn floating_point_numbers_compare_as_the_language_compares_them() {
    let numbers = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        f32::MIN_POSITIVE / 4.0,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
        0.1,
    ];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let wide: Vec<u8> = numbers.iter().flat_map(|number| f64::from(*number).to_le_bytes()).collect();
    for literal in numbers.into_iter().filter(|number| !number.is_nan()) {
        for comparison in COMPARISONS {
            let expected: Vec<usize> =
                (0..numbers.len()).filter(|at| holds(comparison, numbers[*at], literal)).collect();
            let test = Test::Is(comparison, Literal::Real(literal.into()));
            assert_eq!(passing(&Number::Single { is_big: false }, &test, &bytes), expected, "{test}");
            assert_eq!(passing(&Number::Double { is_big: false }, &test, &wide), expected, "{test}");
        }
    }
    let single = Number::Single { is_big: false };
    let finite = Test::Is(Comparison::Less, Literal::Real(1e300));
    assert!(!passing(&single, &finite, &bytes).contains(&7), "infinity is not below 1e300");
    assert_eq!(passing(&single, &Test::IsNan, &bytes), [9, 10]);
    assert_eq!(passing(&single, &Test::Is(Comparison::Equal, Literal::Real(0.1)), &bytes), [11]);
}

#[test]
fn integers_compare_exactly_with_integers_and_fractions() {
    let numbers = [i64::MIN, -3, -1, 0, 2, 3, 1 << 53, (1 << 53) + 1, i64::MAX];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let number = Number::Integer { bytes: 8, is_signed: true, is_big: false };
    for literal in numbers.iter().map(|number| i128::from(*number)).chain([i128::MAX, i128::MIN, 1]) {
        for comparison in COMPARISONS {
            let expected: Vec<usize> = (0..numbers.len())
                .filter(|at| holds(comparison, i128::from(numbers[*at]), literal))
                .collect();
            let test = Test::Is(comparison, Literal::Integer(literal));
            assert_eq!(passing(&number, &test, &bytes), expected, "{test}");
        }
    }
    let is =
        |comparison, literal| passing(&number, &Test::Is(comparison, Literal::Real(literal)), &bytes).len();
    assert_eq!((is(Comparison::Less, 2.5), is(Comparison::AtMost, 2.0)), (5, 5));
    assert_eq!((is(Comparison::Equal, 2.5), is(Comparison::Greater, -2.5)), (0, 7));
    assert_eq!((is(Comparison::Less, f64::INFINITY), is(Comparison::Less, f64::NEG_INFINITY)), (9, 0));
    assert_eq!((is(Comparison::AtLeast, 1e30), is(Comparison::AtLeast, -1e30)), (0, 9));
}

#[test]
fn integers_of_all_widths_signs_and_orders_are_found() {
    for (bytes, is_signed, is_big) in
        [1, 2, 4, 8].into_iter().flat_map(|bytes| [(bytes, true, false), (bytes, false, true)])
    {
        let number = Number::Integer { bytes, is_signed, is_big };
        let numbers: [i64; 5] = if is_signed { [-100, -1, 0, 5, 100] } else { [1, 2, 77, 128, 255] };
        let stored: Vec<u8> = numbers
            .iter()
            .flat_map(|number| {
                let mut stored = number.to_le_bytes()[..bytes as usize].to_vec();
                if is_big {
                    stored.reverse();
                }
                stored
            })
            .collect();
        for comparison in COMPARISONS {
            for literal in [-1, 5, 77, 1000] {
                let expected: Vec<usize> =
                    (0..5).filter(|at| holds(comparison, numbers[*at], literal)).collect();
                let test = Test::Is(comparison, Literal::Integer(literal.into()));
                assert_eq!(passing(&number, &test, &stored), expected, "{number:?} {test}");
            }
        }
    }
}

#[test]
fn numbers_of_half_precision_are_compared_after_rounding_to_it() {
    let float = Float {
        order: ByteOrder::Little,
        offset: 0,
        precision: 16,
        sign: 15,
        exponent: 10,
        exponent_size: 5,
        mantissa: 0,
        mantissa_size: 10,
        bias: 15,
        is_implied: true,
    };
    let number = Number::of(&Datatype { size: 2, class: Class::Float(float) }).unwrap();
    // 0.1, 1, the greatest, infinity, the smallest.
    let bytes: Vec<u8> =
        [0x2e66_u16, 0x3c00, 0x7bff, 0x7c00, 1].iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let is = |comparison, literal| passing(&number, &Test::Is(comparison, Literal::Real(literal)), &bytes);
    assert_eq!(is(Comparison::Equal, 0.1), [0]);
    assert_eq!(is(Comparison::Equal, 5.960_464e-8), [4]);
    assert_eq!(is(Comparison::Less, 1e9), [0, 1, 2, 4]);
    assert_eq!(is(Comparison::Greater, 65_504.0), [3]);
}

#[test]
fn the_greatest_number_of_a_type_follows_from_its_bias() {
    let float = |bias| Float {
        order: ByteOrder::Little,
        offset: 0,
        precision: 16,
        sign: 15,
        exponent: 10,
        exponent_size: 5,
        mantissa: 0,
        mantissa_size: 10,
        bias,
        is_implied: true,
    };
    // One and a half times two to the greatest exponent.
    let bytes = 0x7a00_u16.to_le_bytes();
    for bias in [3, 10, 15, 20, 31] {
        let number = Number::of(&Datatype { size: 2, class: Class::Float(float(bias)) }).unwrap();
        let power = 2_f64.powi(30 - bias.cast_signed());
        let is =
            |comparison, literal| passing(&number, &Test::Is(comparison, Literal::Real(literal)), &bytes);
        assert_eq!(is(Comparison::Equal, 1.5 * power), [0], "{bias}");
        assert_eq!(is(Comparison::AtLeast, 1.75 * power), [0; 0], "{bias}");
        assert_eq!(is(Comparison::Less, 2.0 * power), [0], "{bias}");
        assert_eq!(is(Comparison::Greater, power), [0], "{bias}");
    }
}
