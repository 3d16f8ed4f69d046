//! Keys of messages made from samples, as both ecCodes of Debian and of PyPI give them; and the pause around a fork.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use isotach_engine_kit::context::Context;

use super::*;
use crate::ffi::Handle;
use crate::needs_eccodes::eccodes;

/// A sample changed by `change`.
fn message(
    eccodes: &'static Eccodes,
    sample: &std::ffi::CStr,
    change: impl FnOnce(&mut Handle<'static>),
) -> Vec<u8> {
    let mut handle = Handle::sample(eccodes.api().unwrap(), sample).unwrap();
    change(&mut handle);
    handle.message().unwrap()
}

fn value(eccodes: &'static Eccodes, message: &[u8], key: &str) -> Option<String> {
    let pairs = eccodes.message_key(message).unwrap();
    pairs.into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// The step of a sample with its time range changed.
fn step(eccodes: &'static Eccodes, sample: &std::ffi::CStr, set: &[(&std::ffi::CStr, i64)]) -> String {
    let message = message(eccodes, sample, |handle| {
        for (key, value) in set {
            handle.set_long(key, *value).unwrap();
        }
    });
    value(eccodes, &message, "step").unwrap()
}

#[test]
fn a_grib_2_step_below_the_hour_keeps_its_unit() {
    let Some(eccodes) = eccodes() else { return };
    for (unit, time, expected) in [
        (0, 0, "0"),
        (0, 30, "30m"),
        (0, 90, "90m"),
        (0, 120, "2"),
        (13, 10, "10s"),
        (13, 5400, "90m"),
        (13, 3600, "1"),
        (1, 30, "30"),
        (2, 2, "48"),
    ] {
        let set = [(c"indicatorOfUnitOfTimeRange", unit), (c"forecastTime", time)];
        assert_eq!(step(eccodes, c"regular_ll_pl_grib2", &set), expected, "{time} in unit {unit}");
    }
}

#[test]
fn a_grib_1_step_below_the_hour_is_not_rounded_away() {
    let Some(eccodes) = eccodes() else { return };
    for (unit, time, expected) in
        [(0, 90, "90m"), (0, 60, "1"), (13, 2, "30m"), (14, 3, "90m"), (254, 40, "40s"), (1, 6, "6")]
    {
        let set = [(c"unitOfTimeRange", unit), (c"P1", time)];
        assert_eq!(step(eccodes, c"regular_ll_pl_grib1", &set), expected, "{time} in unit {unit}");
    }
}

#[test]
fn an_interval_has_its_end_for_a_step() {
    let Some(eccodes) = eccodes() else { return };
    for (unit, time, unit_of_length, length, expected) in
        [(1, 0, 1, 24, "24"), (0, 90, 0, 30, "2"), (1, 1, 0, 30, "90m"), (0, 30, 1, 6, "390m")]
    {
        let set = [
            (c"productDefinitionTemplateNumber", 8),
            (c"indicatorOfUnitOfTimeRange", unit),
            (c"forecastTime", time),
            (c"indicatorOfUnitForTimeRange", unit_of_length),
            (c"lengthOfTimeRange", length),
        ];
        assert_eq!(step(eccodes, c"regular_ll_sfc_grib2", &set), expected, "{set:?}");
    }
}

#[test]
fn a_level_between_whole_hectopascals_keeps_its_fraction() {
    let Some(eccodes) = eccodes() else { return };
    for (pascals, expected) in [(1, "0.01"), (10, "0.1"), (50_000, "500")] {
        let message = message(eccodes, c"regular_ll_pl_grib2", |handle| {
            handle.set_long(c"scaleFactorOfFirstFixedSurface", 0).unwrap();
            handle.set_long(c"scaledValueOfFirstFixedSurface", pascals).unwrap();
        });
        assert_eq!(value(eccodes, &message, "levelist").as_deref(), Some(expected));
    }
}

#[test]
fn messages_without_mars_labels_differ_by_their_levels() {
    let Some(eccodes) = eccodes() else { return };
    let at = |surfaces: &[(&std::ffi::CStr, i64)]| {
        message(eccodes, c"GRIB2", |handle| {
            surfaces.iter().for_each(|(key, value)| handle.set_long(key, *value).unwrap());
        })
    };
    // The top of clouds and the level of the strongest wind are one `unknown` to MARS.
    let kinds = [3, 6].map(|kind| at(&[(c"typeOfFirstFixedSurface", kind)]));
    let kinds = kinds.map(|message| value(eccodes, &message, "levtype").unwrap());
    assert_eq!(kinds, ["cloudtop", "maxwind"]);
    // Helicity of two layers above the ground.
    let layer = |top| {
        at(&[
            (c"discipline", 0),
            (c"parameterCategory", 7),
            (c"parameterNumber", 8),
            (c"typeOfFirstFixedSurface", 103),
            (c"typeOfSecondFixedSurface", 103),
            (c"scaleFactorOfFirstFixedSurface", 0),
            (c"scaledValueOfFirstFixedSurface", top),
            (c"scaleFactorOfSecondFixedSurface", 0),
            (c"scaledValueOfSecondFixedSurface", 0),
        ])
    };
    let levels = [3000, 1000].map(|top| value(eccodes, &layer(top), "levelist").unwrap());
    assert_eq!(levels, ["3000", "1000"]);
}

#[test]
fn a_grib_1_parameter_is_its_number_without_the_table() {
    let Some(eccodes) = eccodes() else { return };
    for (number, table, expected) in [(130, 128, "130"), (167, 128, "167"), (1, 228, "228001")] {
        let message = message(eccodes, c"regular_ll_pl_grib1", |handle| {
            handle.set_long(c"table2Version", table).unwrap();
            handle.set_long(c"indicatorOfParameter", number).unwrap();
        });
        assert_eq!(value(eccodes, &message, "param").as_deref(), Some(expected));
    }
}

#[test]
fn keys_come_in_an_order_and_hold_all_of_mars() {
    let Some(eccodes) = eccodes() else { return };
    let pairs = eccodes.message_key(&message(eccodes, c"regular_ll_pl_grib1", |_| ())).unwrap();
    let names: Vec<_> = pairs.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "domain", "levtype", "levelist", "date", "time", "step", "param", "class", "type", "stream", "expver",
    ];
    assert_eq!(names, expected);
}

#[test]
fn the_leg_of_a_forecast_is_no_part_of_the_key() {
    let Some(eccodes) = eccodes() else { return };
    for sample in [c"reduced_gg_pl_32_grib1", c"reduced_gg_pl_32_grib2"] {
        let message =
            message(eccodes, sample, |handle| handle.set_long(c"localDefinitionNumber", 30).unwrap());
        let all =
            Handle::borrow(eccodes.api().unwrap(), &message).unwrap().namespace(c"mars", |_| true).unwrap();
        assert!(all.iter().any(|(name, _)| name == "_leg_number"), "ecCodes gives it: {all:?}");
        let pairs = eccodes.message_key(&message).unwrap();
        assert!(pairs.iter().all(|(name, _)| !name.starts_with('_')), "{pairs:?}");
    }
}

#[test]
fn a_message_on_an_unknown_grid_is_refused_for_that() {
    let Some(eccodes) = eccodes() else { return };
    let mut message = message(eccodes, c"regular_ll_pl_grib2", |_| ());
    // 999, in two bytes. The number of the grid's template stands in bytes 13 and 14 of section 3, which comes after the sections 0 to 2.
    let mut at = 16;
    while message[at + 4] != 3 {
        at += message[at..at + 4].iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    }
    message[at + 12..at + 14].copy_from_slice(&[3, 231]);
    let error = eccodes.message_key(&message).unwrap_err();
    assert!(matches!(error, EccodesError::TooOld { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        format!(
            "ecCodes {} does not know this grid (template 3.999 of GRIB 2); a newer one may",
            eccodes.version()
        )
    );
}

#[test]
fn only_one_whole_message_is_accepted() {
    let Some(eccodes) = eccodes() else { return };
    let whole = message(eccodes, c"regular_ll_pl_grib2", |_| ());
    let told = |bytes: &[u8]| eccodes.message_key(bytes).unwrap_err().to_string();
    let length = whole.len();
    assert_eq!(told(b""), "not one whole GRIB message: no GRIB message found in 0 bytes");
    assert_eq!(
        told(&[whole.as_slice(), b"\0"].concat()),
        format!(
            "not one whole GRIB message: {} bytes, in which the first message is bytes 0 to {length}",
            length + 1
        )
    );
    assert_eq!(
        told(&whole[..length - 1]),
        format!(
            "not one whole GRIB message: message 1 at byte 0 is cut short: expected {length} bytes, \
             the input ends after {}",
            length - 1
        )
    );
}

#[test]
fn a_refusal_names_the_attempt_and_the_answer_of_eccodes() {
    let Some(eccodes) = eccodes() else { return };
    let mut handle = Handle::sample(eccodes.api().unwrap(), c"regular_ll_pl_grib2").unwrap();
    let error =
        handle.set_string(c"noSuchKey", "1").context(|| "set the key noSuchKey".to_owned()).unwrap_err();
    assert_eq!(error.to_string(), "ecCodes cannot set the key noSuchKey: Key/value not found");
    let Err(refusal) = Handle::sample(eccodes.api().unwrap(), c"no_such_sample") else {
        panic!("there is no such sample")
    };
    assert!(refusal.reason.contains("no_such_sample"), "what ecCodes logs is kept: {}", refusal.reason);
}

#[test]
fn damaged_headers_are_refused_or_read_but_do_no_harm() {
    let Some(eccodes) = eccodes() else { return };
    let whole = message(eccodes, c"regular_ll_pl_grib2", |_| ());
    // Version, tables and templates may say anything; lengths of sections are left, the scan vouches for the total only.
    for at in [6, 25, 26, 27, 80, 81, 82, 83] {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = byte;
            let _ = eccodes.message_key(&damaged);
        }
    }
}

#[test]
fn eccodes_and_the_scan_agree_on_the_length_of_a_large_grib_1_message() {
    let Some(eccodes) = eccodes() else { return };
    let (columns, rows) = (2500_u32, 1700_u32);
    let large = message(eccodes, c"regular_ll_pl_grib1", |handle| {
        handle.set_long(c"Ni", columns.into()).unwrap();
        handle.set_long(c"Nj", rows.into()).unwrap();
        handle.set_long(c"bitsPerValue", 16).unwrap();
        let values: Vec<f64> = (0..columns * rows).map(|at| f64::from(at % 65_536)).collect();
        handle.set_doubles(c"values", &values).unwrap();
    });
    assert!(large.len() > 8 << 20 && large[4] & 0x80 != 0, "the length does not fit three bytes");
    let file = [large.as_slice(), &large, b"padding"].concat();
    let lengths: Vec<_> = crate::SliceScanner::new(&file).map(|found| found.unwrap().bytes.len()).collect();
    assert_eq!(lengths, [large.len(); 2]);
}

#[test]
fn a_pause_waits_for_the_first_load_of_another_thread() {
    let load = loading();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let pause = Eccodes::pause();
            sender.send(()).unwrap();
            drop(pause);
        });
        assert!(receiver.recv_timeout(Duration::from_millis(100)).is_err(), "it did not wait");
        drop(load);
        receiver.recv().unwrap();
    });
}

#[test]
fn a_pause_keeps_the_reserve_and_the_loader_free_of_other_threads() {
    let pause = Eccodes::pause();
    assert!(LOADING.try_lock().is_err() && reserve::is_in_use());
    drop(pause);
}
