//! Whether a message holds a value that was set. ecCodes may ignore a value, or a part of it, and report success.

use std::ffi::CStr;

use crate::ffi::{Handle, Refusal};

/// Keys that say nothing of what was set: actions, and the packing, of which constant values have only some.
const NOT_KEPT: [&CStr; 5] =
    [c"packingType", c"scaleValuesBy", c"offsetValuesBy", c"swapScanningX", c"swapScanningY"];
/// The precision of an angle in GRIB 1, in degrees.
const ANGLE_PRECISION: f64 = 1e-3;
/// The precision of a 32-bit floating-point number, relative.
const PRECISION: f64 = 1e-6;
/// The codes of a missing value: one to four bytes with all bits set.
const MISSING: [i64; 4] = [0xff, 0xffff, 0xff_ffff, 0xffff_ffff];

/// Refuses a value that the message does not hold afterwards.
pub(super) fn check_kept(handle: &Handle<'static>, key: &CStr, value: &str) -> Result<(), Refusal> {
    // A key that cannot be read, as an array, was set or refused.
    let Ok(kept) = handle.string(key) else { return Ok(()) };
    let is_code = value.parse().is_ok_and(|code: i64| match kept.as_str() {
        "MISSING" => MISSING.contains(&code),
        _ => handle.long(key).is_ok_and(|kept| kept == code),
    });
    // The text of a number has six digits.
    let is_number = value.parse().is_ok_and(|number: f64| {
        let is_kept = if is_angle(key) { is_same_angle } else { is_near };
        handle.double(key).is_ok_and(|kept| is_kept(number, kept))
    });
    if is_code || is_number || is_same(value.trim(), kept.trim()) || NOT_KEPT.contains(&key) {
        return Ok(());
    }
    Err(Refusal { reason: format!("The message would have {kept} there") })
}

/// Whether a key is an angle in degrees.
pub(super) fn is_angle(key: &CStr) -> bool {
    key.to_bytes().ends_with(b"InDegrees")
}

/// Whether a message keeps an angle. It may keep -10 as 350.
fn is_same_angle(value: f64, kept: f64) -> bool {
    let difference = (kept - value).abs();
    difference <= ANGLE_PRECISION || (difference - 360.0).abs() <= ANGLE_PRECISION
}

/// Whether a message keeps a number with a fraction, with the precision of 32 bits.
fn is_near(value: f64, kept: f64) -> bool {
    kept.fract() != 0.0 && (kept - value).abs() <= PRECISION * kept.abs()
}

/// Whether two texts say the same: a word in any case, a number, a duration with a unit (`90m`) and one in hours (`1.5`), or
/// a range of such (`60m-120m`, `1-2`). A range of one value is that value.
fn is_same(value: &str, kept: &str) -> bool {
    if let Some((from, to)) = range(value) {
        let (kept_from, kept_to) = range(kept).unwrap_or((kept, kept));
        return is_same(from, kept_from) && is_same(to, kept_to);
    }
    let is_equal = |of: &dyn Fn(&str) -> Option<f64>| of(value).is_some() && of(value) == of(kept);
    value.eq_ignore_ascii_case(kept) || is_equal(&|text| text.parse().ok()) || is_equal(&seconds)
}

/// The ends of a range.
fn range(text: &str) -> Option<(&str, &str)> {
    text.split_once('-').filter(|(from, to)| !from.is_empty() && !to.is_empty())
}

/// The seconds of a duration, which is in hours if it has no unit.
fn seconds(text: &str) -> Option<f64> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let (digits, unit) = match unit {
        "s" => (digits, 1.0),
        "m" => (digits, 60.0),
        "h" => (digits, 3600.0),
        "D" => (digits, 86_400.0),
        _ => (text, 3600.0),
    };
    digits.parse::<f64>().ok().map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_as_a_number_a_word_or_a_duration() {
        for (value, kept) in [
            ("6", "6.0"),
            ("RD", "rd"),
            ("90m", "1.5"),
            ("1D", "24"),
            ("60m", "3600s"),
            ("0001", "1"),
            ("60m-120m", "1-2"),
            ("6-6", "6"),
            ("-10", "-10"),
            ("a-b", "A-B"),
        ] {
            assert!(is_same(value, kept), "{value} {kept}");
        }
        for (value, kept) in [
            ("abc", "0"),
            ("60m", "60"),
            ("5.5", "5"),
            ("bogus", "surface"),
            ("", "0"),
            ("0-6", "0-7"),
            ("0-6", "6"),
            ("inf", "0"),
            ("-", "0"),
            ("\u{e9}", "0"),
        ] {
            assert!(!is_same(value, kept), "{value} {kept}");
        }
    }

    #[test]
    fn a_number_is_kept_as_precisely_as_its_key_allows() {
        assert!(is_same_angle(59.123_456, 59.123) && is_same_angle(-10.5, 349.5));
        assert!(!is_same_angle(f64::INFINITY, 0.0) && !is_same_angle(60.0, 59.0));
        assert!(is_near(99.123_456, 99.123_45));
        for (value, kept) in [(5.0009, 5.0), (20_240_105.4, 20_240_105.0), (f64::INFINITY, 0.5), (360.0, 0.0)]
        {
            assert!(!is_near(value, kept), "{value} {kept}");
        }
    }
}
