//! Streams with every option, and broken ones.

use proptest::collection::vec;
use proptest::prelude::*;

use super::coder::{Choice, Coder};
use super::*;

pub(in crate::jump) fn coded_choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        2 => Just(Choice::Zero),
        2 => Just(Choice::Pairs),
        3 => (0..30_u32).prop_map(Choice::Split),
        1 => Just(Choice::Plain),
    ]
}

/// Parameters, and how many bits a value has.
pub(in crate::jump) fn coded_parameters() -> impl Strategy<Value = (Ccsds, u8)> {
    let block = prop::sample::select(vec![8_u8, 16, 32, 64]);
    let flags = prop::sample::select(vec![0, PREDICTED, PADDED, PREDICTED | PADDED]);
    (flags, any::<bool>(), 1..=32_u8, block, 1..200_u16).prop_map(
        |(flags, restricted, bits, block, blocks)| {
            // Values in whole bytes, the most significant first, which says nothing of the stream.
            let flags = 6 | flags | if restricted && bits <= 4 { RESTRICTED } else { 0 };
            (Ccsds::new(flags, bits, block, blocks).unwrap(), bits)
        },
    )
}

/// Values that stay for a while, then wander, then jump, so that all options have blocks that permit them.
pub(in crate::jump) fn coded_values() -> impl Strategy<Value = Vec<u32>> {
    let run = prop_oneof![
        (any::<u32>(), 1..3000_usize).prop_map(|(value, count)| vec![value; count]),
        (any::<u32>(), vec(0..3_u32, 1..300))
            .prop_map(|(value, steps)| steps.iter().map(|step| value.wrapping_add(*step)).collect()),
        vec(any::<u32>(), 1..100),
        vec(0..200_u32, 1..300),
    ];
    vec(run, 1..6).prop_map(|runs| runs.concat())
}

/// Decodes a stream interval by interval.
fn decoded(stream: Ccsds, bytes: &[u8], count: usize) -> Vec<u32> {
    let starts = stream.intervals(bytes, count as u64).unwrap();
    let interval = stream.interval() as usize;
    let mut all = Vec::new();
    let mut values = Vec::new();
    for start in starts {
        stream.decode(bytes, start, &mut values, interval.min(count - all.len())).unwrap();
        all.extend_from_slice(&values);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_coded_with_any_options_is_decoded_from_every_interval(
        (stream, _) in coded_parameters(), values in coded_values(), choices in vec(coded_choice(), 1..20),
    ) {
        let values: Vec<u32> = values.into_iter().map(|value| value & stream.max()).collect();
        let (bytes, starts) = Coder::code(stream, &values, &choices);
        prop_assert_eq!(stream.intervals(&bytes, values.len() as u64).unwrap(), starts);
        prop_assert_eq!(decoded(stream, &bytes, values.len()), values);
    }

    #[test]
    fn the_first_values_of_an_interval_are_decoded_without_the_others(
        (stream, _) in coded_parameters(), values in coded_values(), choices in vec(coded_choice(), 1..20), wanted in 1..500_usize,
    ) {
        let values: Vec<u32> = values.into_iter().map(|value| value & stream.max()).collect();
        let (bytes, _) = Coder::code(stream, &values, &choices);
        let wanted = wanted.min(values.len()).min(stream.interval() as usize);
        let mut first = Vec::new();
        stream.decode(&bytes, 0, &mut first, wanted).unwrap();
        prop_assert_eq!(&first[..], &values[..wanted]);
    }

    #[test]
    fn a_broken_stream_is_refused_or_gives_values_of_the_stated_bits(
        (stream, _) in coded_parameters(), bytes in vec(prop_oneof![any::<u8>(), Just(0), Just(1)], 0..400), start in 0..200_u64,
    ) {
        let mut values = Vec::new();
        let wanted = stream.interval() as usize;
        if stream.decode(&bytes, start, &mut values, wanted).is_ok() {
            prop_assert_eq!(values.len(), wanted);
            prop_assert!(values.iter().all(|value| *value <= stream.max()));
        }
        let _ = stream.intervals(&bytes, u64::from(u32::MAX));
    }
}

#[test]
fn a_cut_stream_is_refused() {
    let stream = Ccsds::new(PREDICTED, 12, 32, 4).unwrap();
    let values: Vec<u32> = (0..300).map(|value| value * 13 % 4096).collect();
    let (bytes, _) = Coder::code(stream, &values, &[Choice::Split(7), Choice::Plain]);
    assert!(stream.intervals(&bytes, 300).is_ok());
    let error = stream.intervals(&bytes[..bytes.len() - 2], 300).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the message is corrupt: its CCSDS stream is broken: it ends within a block"
    );
}

#[test]
fn a_run_of_zero_blocks_ends_with_its_segment() {
    let stream = Ccsds::new(PREDICTED, 16, 8, 200).unwrap();
    let mut values = vec![7; 1600];
    values[64 * 8] = 9;
    let (bytes, _) = Coder::code(stream, &values, &[Choice::Zero, Choice::Zero, Choice::Plain]);
    assert_eq!(decoded(stream, &bytes, 1600), values);
}

#[test]
fn parameters_that_the_decoder_does_not_know_are_refused_with_their_names() {
    let refused = |flags, bits, block, blocks| Ccsds::new(flags, bits, block, blocks).unwrap_err();
    assert!(refused(0, 33, 32, 128).contains("values of 33 bits"));
    assert!(refused(0, 16, 12, 128).contains("blocks of 12 values"));
    assert!(refused(0, 16, 32, 0).contains("intervals of 0 blocks"));
    assert!(refused(SIGNED, 16, 32, 128).contains("signed values"));
    assert!(refused(RESTRICTED, 8, 32, 128).contains("restricted options for 8 bits"));
}
