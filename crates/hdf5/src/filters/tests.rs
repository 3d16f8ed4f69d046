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

proptest! {
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
