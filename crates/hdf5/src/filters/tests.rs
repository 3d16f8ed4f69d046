//! Filters give back what they got, store what HDF5 stores, and never panic.

use isotach_engine_kit::random::Seeded;
use proptest::prelude::*;

use super::*;

fn filter(id: u16, values: &[u32]) -> Filter {
    Filter { id, flags: 0, values: values.to_vec(), name: String::new() }
}

fn round(filters: &[Filter], bytes: &[u8]) -> (Vec<u8>, u32) {
    let (stored, mask) = encode(filters, bytes).unwrap();
    let stored = stored.into_owned();
    let place = || "a test".to_owned();
    assert_eq!(decode(filters, mask, stored.clone(), bytes.len(), &place).unwrap(), bytes);
    (stored, mask)
}

#[test]
fn every_filter_and_pipeline_gives_back_what_it_got() {
    let mut random = Seeded(5);
    let smooth: Vec<u8> = (0..4000_u32).flat_map(|at| (at / 3).to_le_bytes()).collect();
    let all = [filter(1, &[4]), filter(2, &[4]), filter(3, &[]), filter(LZ4, &[]), filter(LZ4, &[1000])];
    for bytes in [smooth, random.bytes(1001), vec![0; 70_000], vec![1], vec![1, 2, 3]] {
        for one in &all {
            round(std::slice::from_ref(one), &bytes);
        }
        round(&[filter(2, &[4]), filter(1, &[1]), filter(3, &[])], &bytes);
        round(&[filter(3, &[]), filter(2, &[8]), filter(ZSTANDARD, &[5]), filter(ZSTANDARD, &[])], &bytes);
    }
}

#[test]
fn an_optional_filter_that_saves_nothing_is_skipped() {
    let mut noise = Seeded(6);
    let noise: Vec<u8> = (0..1000).map(|_| noise.number() as u8).collect();
    let optional = |id| Filter { flags: Filter::OPTIONAL, ..filter(id, &[]) };
    let filters = [filter(2, &[8]), optional(1), optional(ZSTANDARD), filter(3, &[]), optional(777)];
    let (stored, mask) = round(&filters, &noise);
    assert_eq!((stored.len(), mask), (1004, 0b10110));
    assert!(check(&filters).is_ok());
    assert!(matches!(check(&[filter(777, &[])]), Err(Error::Unsupported { .. })));
}

#[test]
fn a_flipped_bit_under_a_checksum_is_corrupt() {
    let filters = [filter(3, &[])];
    let (mut stored, mask) = round(&filters, b"some elements");
    stored[3] ^= 4;
    let error = decode(&filters, mask, stored, 13, &|| "a test".to_owned()).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

#[test]
fn chunks_are_stored_as_hdf5_stores_them() {
    let lines = include_str!("native.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let [filters, elements, stored, back] = words[..] else { panic!("{line}") };
        let filters: Vec<Filter> = filters
            .split(';')
            .map(|one| {
                let (id, values) = one.split_once(':').unwrap();
                let values = values.split(',').filter(|value| !value.is_empty());
                filter(id.parse().unwrap(), &values.map(|value| value.parse().unwrap()).collect::<Vec<_>>())
            })
            .collect();
        let [elements, stored, back] = [elements, stored, back].map(bytes_of);
        let (encoded, mask) = encode(&filters, &elements).unwrap();
        assert_eq!((&*encoded, mask), (&stored[..], 0), "{line}");
        let decoded = decode(&filters, 0, stored, elements.len(), &|| "a test".to_owned()).unwrap();
        assert_eq!(decoded, back, "{line}");
        count += 1;
    }
    assert_eq!(count, 18);
}

/// The values for 100 integers of 4 bytes.
fn integers(bits: u32, sign: u32, order: u32, fill: Option<u32>) -> Filter {
    let mut values = vec![2, bits, 100, 0, 4, sign, order, fill.is_some().into(), fill.unwrap_or(0)];
    values.resize(20, 0);
    filter(SCALE_OFFSET, &values)
}

#[test]
fn integers_less_their_smallest_take_few_bits() {
    let bytes = |numbers: &[i32]| -> Vec<u8> { numbers.iter().flat_map(|one| one.to_le_bytes()).collect() };
    let numbers: Vec<i32> = (0..100).map(|at| at % 8 - 3).collect();
    let (stored, _) = round(&[integers(0, 1, 0, None)], &bytes(&numbers));
    assert_eq!(stored.len(), 21 + 100 * 4 * 3 / 32 + 1);
    assert_eq!(stored[..13], [3, 0, 0, 0, 8, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(stored[21..24], [0b0000_0101, 0b0011_1001, 0b0111_0111]);
    // With a fill value, all ones stand for it.
    let (stored, _) =
        round(&[integers(0, 1, 0, Some(5_000_000))], &bytes(&[&numbers[1..], &[5_000_000]].concat()));
    assert_eq!(stored[0], 4);
    let swapped: Vec<u8> =
        bytes(&numbers).chunks(4).flat_map(|one| [one[3], one[2], one[1], one[0]]).collect();
    assert_eq!(round(&[integers(0, 1, 1, None)], &swapped).0[0], 3);
    let wide: Vec<i32> = (0..100).map(|at| if at == 7 { i32::MIN } else { i32::MAX }).collect();
    assert_eq!(round(&[integers(0, 1, 0, None)], &bytes(&wide)).0[0], 32);
    assert_eq!(round(&[integers(0, 1, 0, None)], &bytes(&[9; 100])).0[0], 0);
    round(&[integers(32, 1, 0, None)], &bytes(&wide));
    round(&[integers(6, 0, 0, None)], &bytes(&numbers[..].iter().map(|one| one + 90).collect::<Vec<_>>()));
}

#[test]
fn decimal_numbers_keep_their_digits() {
    for size in [4, 8] {
        let mut values = vec![0, 2, 50, 1, size, 0, 0, 0];
        values.resize(20, 0);
        let filters = [filter(SCALE_OFFSET, &values)];
        let numbers: Vec<f64> = (0..50).map(|at| f64::from(at) * 0.37 - 4.0).collect();
        let bytes: Vec<u8> = match size {
            4 => numbers.iter().flat_map(|one| (*one as f32).to_le_bytes()).collect(),
            _ => numbers.iter().flat_map(|one| one.to_le_bytes()).collect(),
        };
        let (stored, mask) = encode(&filters, &bytes).unwrap();
        assert!(stored.len() < bytes.len(), "{} of {}", stored.len(), bytes.len());
        let decoded =
            decode(&filters, mask, stored.into_owned(), bytes.len(), &|| "a test".to_owned()).unwrap();
        for (one, expected) in decoded.chunks(size as usize).zip(&numbers) {
            let number = match size {
                4 => f64::from(f32::from_le_bytes(one.try_into().unwrap())),
                _ => f64::from_le_bytes(one.try_into().unwrap()),
            };
            assert!((number - expected).abs() < 0.006, "{number} {expected}");
        }
    }
}

#[test]
fn the_used_bits_of_numbers_are_kept() {
    // 17 bits from bit 3 on of 4 bytes, in both orders.
    for order in [0, 1] {
        let numbers = (0..60_u32).map(|at| (at * 2000 % (1 << 17)) << 3);
        let bytes: Vec<u8> =
            numbers.flat_map(|one| if order == 0 { one } else { one.swap_bytes() }.to_le_bytes()).collect();
        let (stored, _) = round(&[filter(NBIT, &[8, 0, 60, 1, 4, order, 17, 3])], &bytes);
        assert_eq!(stored.len(), 60 * 17 / 8 + 1);
        assert_eq!(stored[..5], [0, 0, 1, 0xf4, 1]);
    }
    // A compound of a byte with 4 bits, text, and an array of two numbers of 9 bits.
    let values = [0, 0, 3, 3, 8, 3, 0, 1, 1, 0, 4, 0, 1, 4, 3, 4, 2, 4, 1, 2, 0, 9, 0];
    let mut values = values.to_vec();
    values[0] = values.len() as u32;
    let bytes: Vec<u8> = (0..3).flat_map(|at| [at, b'a', b'b', b'c', at, 1, 255, 0]).collect();
    assert_eq!(round(&[filter(NBIT, &values)], &bytes).0.len(), 3 * 46 / 8 + 1);
    round(&[filter(NBIT, &[8, 1, 60, 1, 4, 0, 32, 0])], &bytes);
}

proptest! {
    #[test]
    fn random_values_of_a_filter_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..100),
        mut values in prop::collection::vec(prop_oneof![0..9_u32, any::<u32>()], 0..24),
        count in any::<bool>(),
    ) {
        if let (true, count) = (count, values.len() as u32) {
            values.iter_mut().take(1).for_each(|first| *first = count);
        }
        for id in [1_u16, 2, 3, NBIT, SCALE_OFFSET, LZ4, ZSTANDARD] {
            let filters = [filter(id, &values)];
            if let Ok((stored, mask)) = encode(&filters, &bytes) {
                let _ = decode(&filters, mask, stored.into_owned(), bytes.len(), &|| "a test".to_owned());
            }
            let _ = decode(&filters, 0, bytes.clone(), 64, &|| "a test".to_owned());
        }
    }

    #[test]
    fn random_bytes_decode_to_an_error_or_the_right_length(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        id in prop::sample::select(vec![1_u16, 2, 3, LZ4, ZSTANDARD]),
        mask in 0..2_u32,
    ) {
        let decoded = decode(&[filter(id, &[4])], mask, bytes, 64, &|| "a test".to_owned());
        prop_assert!(decoded.is_err() || decoded.unwrap().len() == 64);
    }

    #[test]
    fn a_damaged_stream_never_panics(at in 0..60_usize, bit in 0..8_u32) {
        let plain: Vec<u8> = (0..200_u8).map(|byte| byte / 9).collect();
        for id in [1_u16, 2, 3, LZ4, ZSTANDARD] {
            let filters = [filter(id, &[4])];
            let (mut stored, mask) = round(&filters, &plain);
            if let Some(byte) = stored.get_mut(at) {
                *byte ^= 1 << bit;
            }
            let _ = decode(&filters, mask, stored, 200, &|| "a test".to_owned());
        }
    }
}
