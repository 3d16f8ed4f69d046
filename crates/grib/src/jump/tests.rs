//! Messages that ecCodes encodes, compared with what ecCodes decodes of them.

use std::ffi::CStr;

use md5::{Digest, Md5};
use proptest::collection::vec;
use proptest::prelude::*;

use super::ccsds::coder::Coder;
use super::ccsds::tests::{coded_choice, coded_parameters, coded_values};
use super::*;
use crate::ffi::Handle;
use crate::needs_eccodes::eccodes;
use crate::{Eccodes, EccodesError, FieldName, ForecastPlan, MessageMaker};

/// Stands for a missing value inside ecCodes.
const MISSING: f64 = 9999.0;
const GRIB_1: &CStr = c"regular_ll_pl_grib1";
const GRIB_2: &CStr = c"regular_ll_pl_grib2";

/// A message on a regular grid, packed as the keys say.
fn encoded(
    eccodes: &'static Eccodes,
    sample: &CStr,
    packing: &str,
    keys: &[(&CStr, i64)],
    values: &[f64],
) -> Vec<u8> {
    let mut handle = Handle::sample(eccodes.api().unwrap(), sample).unwrap();
    let rows = if values.len() > 600_000 { 1000 } else { 10 };
    handle.set_long(c"Ni", values.len() as i64 / rows).unwrap();
    handle.set_long(c"Nj", rows).unwrap();
    handle.set_string(c"packingType", packing).unwrap();
    handle.set_double(c"missingValue", MISSING).unwrap();
    for (key, value) in keys {
        handle.set_long(key, *value).unwrap();
    }
    handle.set_doubles(c"values", values).unwrap();
    // The packing of second order is refused without a word while the values are those of the sample.
    if packing == "grid_second_order" {
        handle.set_string(c"packingType", packing).unwrap();
    }
    handle.message().unwrap()
}

/// Values that look like a field: smooth, with some noise.
fn field(count: usize) -> Vec<f64> {
    let noise = |number: usize| (number * 7919 % 1009) as f64 / 1009.0;
    (0..count).map(|number| 250.0 + 30.0 * (number as f64 / 97.0).sin() + noise(number)).collect()
}

/// With every so many points missing, and a stretch of them.
fn with_missing(mut values: Vec<f64>, every: usize) -> Vec<f64> {
    let count = values.len();
    values.iter_mut().step_by(every).for_each(|value| *value = MISSING);
    values[count / 3..count / 2].fill(MISSING);
    values
}

fn same(ours: &[f64], theirs: &[f64]) -> bool {
    let one =
        |(our, their): (&f64, &f64)| our.to_bits() == their.to_bits() || (our.is_nan() && their.is_nan());
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(one)
}

/// Checks all that an index gives of a message against ecCodes, and returns the index.
fn checked(eccodes: &'static Eccodes, message: &[u8]) -> JumpInfo {
    let info = JumpInfo::of(message).unwrap();
    let info = JumpInfo::from_bytes(&info.to_bytes()).unwrap();
    let all = eccodes.values(message).unwrap();
    assert_eq!(info.points(), all.len() as u64);
    for threads in [1, 3] {
        assert!(same(&info.decode(message, threads).unwrap(), &all), "{threads} threads");
    }
    assert!(same(&decoded_in_one_pass(&info, message), &all));
    let points = info.points();
    let ranges = [
        0..1,
        points - 1..points,
        points / 2..points / 2,
        points / 3..points / 3 + 5,
        2..points / 2,
        0..points,
    ];
    let expected: Vec<f64> =
        ranges.iter().flat_map(|range| &all[range.start as usize..range.end as usize]).copied().collect();
    assert!(same(&extracted(&info, message, &ranges).0, &expected));
    for point in (0..points).step_by(points as usize / 61 + 1) {
        let found = extracted(&info, message, std::slice::from_ref(&(point..point + 1))).0;
        assert!(same(&found, &all[point as usize..][..1]), "point {point}");
    }
    info
}

/// All values, decoded without an index. Those of single precision are compared on the way.
fn decoded_in_one_pass(info: &JumpInfo, message: &[u8]) -> Vec<f64> {
    let packed = PackedMessage::of(message).unwrap();
    assert_eq!((packed.points(), packed.grid_md5()), (info.points(), info.grid_md5()));
    let points = packed.points() as usize;
    let (mut values, mut single) = (vec![0.0; points], vec![0.0; points]);
    packed.decode_into(&mut values).unwrap();
    packed.decode_into_single(&mut single).unwrap();
    let close = |one: f64, single: f32| (one - f64::from(single)).abs() <= one.abs() * 1e-6 + 1e-37;
    assert!(
        values
            .iter()
            .zip(&single)
            .all(|(one, single)| close(*one, *single) || one.is_nan() && single.is_nan())
    );
    let wrong = packed.decode_into(&mut vec![0.0; points + 1]);
    assert!(matches!(wrong, Err(JumpError::OutOfRange { .. })), "{wrong:?}");
    values
}

/// The values of ranges of points, and how many bytes were read for them.
fn extracted(info: &JumpInfo, message: &[u8], ranges: &[std::ops::Range<u64>]) -> (Vec<f64>, u64) {
    let mut read = 0;
    let values = info.extract(ranges, |bytes| {
        read += bytes.end - bytes.start;
        Ok::<_, JumpError>(&message[bytes.start as usize..bytes.end as usize])
    });
    (values.unwrap(), read)
}

#[test]
fn every_width_of_simple_packing_decodes_as_by_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    for sample in [GRIB_1, GRIB_2] {
        for bits in 1..=32 {
            for decimal in [-1, 0, 2] {
                let keys = [(c"bitsPerValue", bits), (c"decimalScaleFactor", decimal)];
                let info = checked(eccodes, &encoded(eccodes, sample, "grid_simple", &keys, &field(770)));
                assert_eq!((info.packing(), info.has_missing()), ("grid_simple", false));
            }
        }
    }
}

#[test]
fn every_width_of_ccsds_decodes_as_by_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    for bits in 1..=32 {
        let keys = [(c"bitsPerValue", bits), (c"ccsdsRsi", 16)];
        let info = checked(eccodes, &encoded(eccodes, GRIB_2, "grid_ccsds", &keys, &field(3010)));
        assert_eq!(info.packing(), "grid_ccsds");
    }
}

#[test]
fn missing_points_are_not_a_number() {
    let Some(eccodes) = eccodes() else { return };
    for (sample, packing) in [(GRIB_1, "grid_simple"), (GRIB_2, "grid_simple"), (GRIB_2, "grid_ccsds")] {
        for (count, every) in [(770, 3), (70_010, 50), (140_000, 2)] {
            let keys = [(c"bitsPerValue", 12), (c"bitmapPresent", 1)];
            let values = with_missing(field(count), every);
            let message = encoded(eccodes, sample, packing, &keys, &values);
            let info = checked(eccodes, &message);
            assert!(info.has_missing());
            let missing = |value: &f64| value.is_nan();
            assert!(
                info.decode(&message, 1)
                    .unwrap()
                    .iter()
                    .map(missing)
                    .eq(values.iter().map(|value| *value == MISSING))
            );
        }
    }
}

#[test]
fn constant_fields_and_fields_without_any_value_decode_as_by_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    for (sample, packing) in [(GRIB_1, "grid_simple"), (GRIB_2, "grid_simple"), (GRIB_2, "grid_ccsds")] {
        for decimal in [0, 3] {
            let keys = [(c"decimalScaleFactor", decimal)];
            let message = encoded(eccodes, sample, packing, &keys, &[273.25; 500]);
            let info = checked(eccodes, &message);
            assert_eq!(
                extracted(&info, &message, std::slice::from_ref(&(3..400))).1,
                0,
                "a constant is read from the index"
            );
        }
        let keys = [(c"bitmapPresent", 1)];
        checked(eccodes, &encoded(eccodes, sample, packing, &keys, &with_missing(vec![1.5; 500], 7)));
        checked(eccodes, &encoded(eccodes, sample, packing, &keys, &[MISSING; 500]));
    }
}

#[test]
fn a_message_of_grib_1_above_eight_mib_decodes_as_by_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    let keys = [(c"bitsPerValue", 16)];
    let message = encoded(eccodes, GRIB_1, "grid_simple", &keys, &field(4_300_000));
    assert!(message.len() > 0x80_0000);
    checked(eccodes, &message);
}

#[test]
fn the_hash_of_the_grid_is_that_of_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    for sample in
        [c"regular_ll_pl_grib1", c"reduced_gg_pl_grib1", c"reduced_gg_pl_grib2", c"reduced_ll_sfc_grib2"]
    {
        let handle = Handle::sample(eccodes.api().unwrap(), sample).unwrap();
        let message = handle.message().unwrap();
        let hash = Md5::digest(grid_section(&message).unwrap());
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, handle.string(c"md5GridSection").unwrap(), "{sample:?}");
    }
    let message = encoded(eccodes, GRIB_2, "grid_simple", &[], &field(500));
    assert_eq!(
        JumpInfo::of(&message).unwrap().grid_md5()[..],
        Md5::digest(grid_section(&message).unwrap())[..]
    );
}

#[test]
fn other_packings_are_refused_by_name() {
    let Some(eccodes) = eccodes() else { return };
    for (sample, packing, what) in [
        (GRIB_2, "grid_ieee", "the packing of template 5.4 of GRIB 2"),
        (GRIB_2, "grid_second_order", "the packing of template 5.5000"),
        (GRIB_1, "grid_second_order", "a packing of GRIB 1 with the flags 0x"),
    ] {
        let message = encoded(eccodes, sample, packing, &[], &field(500));
        let error = JumpInfo::of(&message).unwrap_err();
        assert!(
            matches!(&error, JumpError::Unsupported { what: found } if found.starts_with(what)),
            "{error}"
        );
    }
}

#[test]
fn one_point_of_a_large_message_costs_a_small_read() {
    let Some(eccodes) = eccodes() else { return };
    for (packing, most) in [("grid_simple", 3), ("grid_ccsds", 10_000)] {
        let message = encoded(eccodes, GRIB_2, packing, &[(c"bitsPerValue", 16)], &field(500_000));
        let info = checked(eccodes, &message);
        let (values, read) = extracted(&info, &message, std::slice::from_ref(&(314_159..314_160)));
        assert!(read <= most, "{packing}: {read} bytes");
        assert!(same(&values, &eccodes.values(&message).unwrap()[314_159..314_160]));
    }
}

#[test]
fn every_point_of_a_smooth_field_is_decoded_alone() {
    let Some(eccodes) = eccodes() else { return };
    let plan = ForecastPlan { message_size: 64 << 10, ..ForecastPlan::default() };
    let name = FieldName { member: 1, step: 6, level: 850, param: 130 };
    let simple = MessageMaker::new(eccodes, plan).unwrap().message(name).unwrap();
    let message = eccodes.edit_message(&simple, [("packingType", "grid_ccsds")]).unwrap();
    let info = checked(eccodes, &message);
    let all = info.decode(&message, 1).unwrap();
    for point in 0..info.points() {
        let found = extracted(&info, &message, std::slice::from_ref(&(point..point + 1))).0;
        assert!(same(&found, &all[point as usize..][..1]), "point {point}");
    }
}

#[test]
fn points_that_the_grid_does_not_have_are_refused() {
    let Some(eccodes) = eccodes() else { return };
    let message = encoded(eccodes, GRIB_2, "grid_simple", &[(c"bitsPerValue", 16)], &field(500));
    let info = JumpInfo::of(&message).unwrap();
    let error = info.extraction(&[0..1, 499..501]).unwrap_err();
    assert_eq!(error.to_string(), "points 499 to 501 (exclusive) of a grid of 500 points");
    let error = info.extract(std::slice::from_ref(&(0..1)), |_| Ok::<_, JumpError>([0])).unwrap_err();
    assert!(matches!(error, JumpError::ShortRead { found: 1, .. }), "{error}");
    assert!(info.decode(&message[..200], 1).is_err());
    assert!(info.decode_into(&message, 1, &mut [0.0; 499]).is_err());
}

/// Values of a few kinds, so that CCSDS uses all of its options.
fn rough_field() -> impl Strategy<Value = Vec<f64>> {
    let stretch = prop_oneof![
        (-50..50_i32, 1..3000_usize).prop_map(|(value, count)| vec![f64::from(value); count]),
        vec(-1.0..1.0_f64, 1..200),
        (0.0..1000.0_f64, vec(-0.01..0.01_f64, 1..600))
            .prop_map(|(value, steps)| steps.iter().map(|step| value + step).collect()),
    ];
    vec(stretch, 1..8).prop_map(|stretches| {
        let mut values = stretches.concat();
        values.resize(values.len().next_multiple_of(10), 0.0);
        values
    })
}

#[test]
fn streams_of_any_parameters_decode_as_by_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    let block = prop::sample::select(vec![8_i64, 16, 32, 64]);
    let missing = prop::option::of(2..30_usize);
    let parameters = (rough_field(), 1..=32_i64, block, 1..300_i64, any::<bool>(), missing);
    proptest!(ProptestConfig::with_cases(150), |((values, bits, block, blocks, predicted, missing) in parameters)| {
        // libaec knows a restricted set of options for up to 4 bits.
        let restricted = if bits <= 4 && blocks % 2 == 0 { 16 } else { 0 };
        let flags = 6 | restricted | if predicted { 8 } else { 0 };
        let mut keys = vec![
            (c"bitsPerValue", bits), (c"ccsdsFlags", flags), (c"ccsdsBlockSize", block), (c"ccsdsRsi", blocks),
        ];
        keys.extend(missing.map(|_| (c"bitmapPresent", 1)));
        let values = match missing {
            Some(every) => with_missing(values, every),
            None => values,
        };
        checked(eccodes, &encoded(eccodes, GRIB_2, "grid_ccsds", &keys, &values));
    });
}

#[test]
fn streams_with_any_choice_of_options_decode_as_by_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    let parameters = (coded_parameters(), coded_values(), vec(coded_choice(), 1..20));
    proptest!(ProptestConfig::with_cases(150), |((ccsds, bits, values, choices) in parameters.prop_map(
        |((ccsds, bits), values, choices)| (ccsds, bits, values, choices)
    ))| {
        let mut numbers: Vec<u32> = values.iter().map(|value| value & (u32::MAX >> (32 - bits))).collect();
        numbers.resize(numbers.len().next_multiple_of(10), 0);
        let (flags, block, blocks) = ccsds.parameters();
        let keys = [
            (c"bitsPerValue", bits.into()), (c"ccsdsFlags", flags.into()), (c"ccsdsBlockSize", block.into()),
            (c"ccsdsRsi", blocks.into()),
        ];
        let message = encoded(eccodes, GRIB_2, "grid_ccsds", &keys, &field(numbers.len()));
        let (stream, _) = Coder::code(ccsds, &numbers, &choices);
        checked(eccodes, &with_stream(&message, &stream));
    });
}

/// The message of GRIB 2 with another data section.
fn with_stream(message: &[u8], stream: &[u8]) -> Vec<u8> {
    let data = sections::Sections::of(message).unwrap().data;
    let mut changed = message[..data.start - 5].to_vec();
    changed.extend((stream.len() as u32 + 5).to_le_bytes().iter().rev());
    changed.push(7);
    changed.extend_from_slice(stream);
    changed.extend_from_slice(b"7777");
    let length = changed.len() as u64;
    let place = length.to_le_bytes();
    changed[8..16].iter_mut().zip(place.iter().rev()).for_each(|(to, byte)| *to = *byte);
    changed
}

#[test]
fn broken_messages_are_refused_or_decoded_without_a_panic() {
    let Some(eccodes) = eccodes() else { return };
    let mut messages = Vec::new();
    for (sample, packing) in [(GRIB_1, "grid_simple"), (GRIB_2, "grid_simple"), (GRIB_2, "grid_ccsds")] {
        for bitmap in [0, 1] {
            let keys = [(c"bitsPerValue", 11), (c"bitmapPresent", bitmap)];
            messages.push(encoded(eccodes, sample, packing, &keys, &field(300)));
        }
    }
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 1..6);
    proptest!(ProptestConfig::with_cases(2000), |(message in prop::sample::select(messages), changes in changes)| {
        let mut message = message;
        for (place, byte) in changes {
            let place = place.index(message.len());
            message[place] = byte;
        }
        if let Ok(packed) = PackedMessage::of(&message) && packed.points() < 1 << 20 {
            let _ = packed.decode_into(&mut vec![0.0; packed.points() as usize]);
        }
        if let Ok(info) = JumpInfo::of(&message) && info.points() < 1 << 20 {
            let _ = info.decode(&message, 2);
            let points = info.points();
            let _ = info.extract(std::slice::from_ref(&(0..points.min(3))), |bytes| {
                Ok::<_, JumpError>(&message[bytes.start as usize..bytes.end as usize])
            });
        }
    });
}

#[test]
fn a_cut_message_is_refused() {
    let Some(eccodes) = eccodes() else { return };
    let message = encoded(eccodes, GRIB_2, "grid_simple", &[(c"bitsPerValue", 16)], &field(500));
    for length in 0..message.len() {
        assert!(JumpInfo::of(&message[..length]).is_err(), "{length}");
    }
    assert!(matches!(eccodes.values(&message[..99]), Err(EccodesError::NotOneMessage { .. })));
}
