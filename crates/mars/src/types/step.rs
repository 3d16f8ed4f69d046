//! Forecast steps: a duration in hours unless it names other units, or a range of two.

use std::fmt::Write;

use crate::text::Expected;

const EXPECTED: &str = "a step, such as 24, 1h30m or 0-24";

pub(super) fn canonical(text: &str, out: &mut String) -> Result<(), Expected> {
    if is_plain(text) {
        out.push_str(text);
        return Ok(());
    }
    let Some((from, to)) = text.split_once('-') else {
        write_seconds(seconds(text).ok_or(EXPECTED)?, out);
        return Ok(());
    };
    let from = seconds(from.trim_end()).ok_or(EXPECTED)?;
    let to = seconds(to.trim_start()).ok_or(EXPECTED)?;
    if from > to {
        return Err(Expected::Borrowed("a range of steps that ends after it begins"));
    }
    write_seconds(from, out);
    if from != to {
        out.push('-');
        write_seconds(to, out);
    }
    Ok(())
}

/// The two ends, in seconds, of a range of steps such as `0-24`.
pub(super) fn span(text: &str) -> Option<(i64, i64)> {
    let (from, to) = text.split_once('-')?;
    Some((seconds(from.trim_end())?, seconds(to.trim_start())?)).filter(|(from, to)| from <= to)
}

/// Whole hours as they would be written.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=9).contains(&bytes.len())
        && bytes.iter().all(u8::is_ascii_digit)
        && (bytes[0] != b'0' || bytes.len() == 1)
}

/// Appends a duration: whole hours bare, anything finer with units.
pub(super) fn write_seconds(seconds: i64, out: &mut String) {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if minutes == 0 && rest == 0 {
        let _ = write!(out, "{hours}");
        return;
    }
    for (count, unit) in [(hours, 'h'), (minutes, 'm'), (rest, 's')] {
        if count != 0 {
            let _ = write!(out, "{count}{unit}");
        }
    }
}

/// The seconds of one duration: `24`, `24.5`, `3:30`, `1d12h30m`.
pub(super) fn seconds(text: &str) -> Option<i64> {
    if text.contains(':') {
        return with_colons(text);
    }
    match text.bytes().last()? {
        b'0'..=b'9' => hours(text),
        _ => seconds_with_units(text),
    }
}

/// Hours with at most one decimal point; the fraction must come to whole seconds, within half a second.
fn hours(text: &str) -> Option<i64> {
    if text.len() > 18 || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let Some((whole, fraction)) = text.split_once('.') else { return bounded(text.parse().ok()?, 3600) };
    let digits = u32::try_from(fraction.len()).ok()?;
    let (fraction, scale): (i128, i128) = (fraction.parse().ok()?, 10_i128.checked_pow(digits)?);
    let part = (fraction * 7200 + scale) / (2 * scale);
    bounded(whole.parse().ok()?, 3600)?.checked_add(i64::try_from(part).ok()?)
}

fn with_colons(text: &str) -> Option<i64> {
    let mut total = 0_i64;
    for (part, unit) in text.splitn(4, ':').zip([3600, 60, 1, 0]) {
        let digits = (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        let count: i64 = part.parse().ok().filter(|count| digits && (unit == 3600 || *count < 60))?;
        total = total.checked_add(bounded(count, unit)?).filter(|_| unit > 0)?;
    }
    Some(total)
}

/// The seconds of a duration whose every number has its unit, in falling order: `1d12h30m20s`.
pub(super) fn seconds_with_units(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut total = 0_i64;
    let mut before = i64::MAX;
    while !rest.is_empty() {
        let digits = rest
            .find(|character: char| !character.is_ascii_digit())
            .filter(|digits| (1..=12).contains(digits))?;
        let unit = match rest.as_bytes()[digits] {
            b'd' | b'D' => 86_400,
            b'h' | b'H' => 3600,
            b'm' | b'M' => 60,
            b's' | b'S' => 1,
            _ => return None,
        };
        if unit >= before {
            return None;
        }
        before = unit;
        total = total.checked_add(bounded(rest[..digits].parse().ok()?, unit)?)?;
        rest = &rest[digits + 1..];
    }
    (before != i64::MAX).then_some(total)
}

/// `count` units in seconds, unless that is past a million years: sums of a few never overflow.
fn bounded(count: i64, unit: i64) -> Option<i64> {
    count.checked_mul(unit).filter(|seconds| *seconds < 1 << 45)
}

#[cfg(test)]
mod tests {
    use crate::KeyType;
    use crate::types::tests::{all_mean, all_refused};

    #[test]
    fn units_are_normalised_to_hours() {
        all_mean(KeyType::Step, &["24", "024", "24h", "24H", "1d", "1440m", "24.0", "24:00"], "24");
        all_mean(KeyType::Step, &["0", "0m", "0h", "00", "0-0", "0.0"], "0");
        all_mean(KeyType::Step, &["36", "1d12h", "36h"], "36");
        all_mean(KeyType::Step, &["1", "60m", "3600s"], "1");
        all_mean(KeyType::Step, &["1200"], "1200");
    }

    #[test]
    fn steps_below_the_hour_have_units() {
        all_mean(KeyType::Step, &["90m", "1h30m", "1.5", "1:30", "5400s"], "1h30m");
        all_mean(KeyType::Step, &["2h30m", "1h90m"], "2h30m");
        all_mean(KeyType::Step, &["30m", "0.5", "0:30"], "30m");
        all_mean(KeyType::Step, &["30s"], "30s");
        all_mean(KeyType::Step, &["1.33333"], "1h20m");
        all_mean(KeyType::Step, &["1h1s"], "1h1s");
    }

    #[test]
    fn a_range_is_normalised_at_both_ends() {
        all_mean(KeyType::Step, &["0-24", "00-24", "0h-1d", "0 - 24"], "0-24");
        all_mean(KeyType::Step, &["0-90m", "0-1h30m"], "0-1h30m");
    }

    #[test]
    fn invalid_steps_are_refused() {
        all_refused(
            KeyType::Step,
            &["", "-6", "24-12", "1-2-3", "x", "30s90m", "1h1h", "h", "1:60", "1:2:3:4", "é", "24é"],
        );
        all_refused(KeyType::Step, &["999999999999999999", "1.", ".", "1..2", "9999999999999d", "-", "1-"]);
    }
}
