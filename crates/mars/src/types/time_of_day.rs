//! Times of day: `12`, `1200`, `12:00`, `12:00:00`, `12h` are one time. Kept to the minute.

use std::fmt::Write;

use super::step::seconds_with_units;
use crate::text::Expected;

const EXPECTED: &str = "a time of day, such as 12, 1200 or 12:00";

pub(super) fn canonical(text: &str, out: &mut String) -> Result<(), Expected> {
    let minutes = minutes(text).ok_or(EXPECTED)?;
    write_minutes(minutes, out);
    Ok(())
}

pub(super) fn write_minutes(minutes: i64, out: &mut String) {
    let _ = write!(out, "{:02}{:02}", minutes / 60, minutes % 60);
}

/// The minute of the day that `text` names.
pub(super) fn minutes(text: &str) -> Option<i64> {
    let seconds = match text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') {
        true => clock_seconds(text)?,
        false => seconds_with_units(text)?,
    };
    // Seconds have no place in the canonical form: a time that has some would be another time than it says.
    (seconds % 60 == 0 && seconds < 86_400).then_some(seconds / 60)
}

fn clock_seconds(text: &str) -> Option<i64> {
    let mut parts = if text.contains(':') { text.splitn(4, ':').collect() } else { cut(text)? };
    parts.resize(parts.len().max(3), "0");
    let [hours, minutes, seconds] = parts.as_slice() else { return None };
    let part = |part: &str, below: i64| {
        let fits = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|number: &i64| fits && *number < below)
    };
    Some(part(hours, 24)? * 3600 + part(minutes, 60)? * 60 + part(seconds, 60)?)
}

/// Hours, minutes and seconds of digits without a colon.
fn cut(text: &str) -> Option<Vec<&str>> {
    Some(match text.len() {
        1 | 2 => vec![text],
        3 | 4 => vec![&text[..text.len() - 2], &text[text.len() - 2..]],
        6 => vec![&text[..2], &text[2..4], &text[4..]],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::KeyType;
    use crate::types::tests::{all_mean, all_refused};

    #[test]
    fn all_spellings_of_a_time_are_one() {
        all_mean(KeyType::Time, &["12", "1200", "12:00", "12:00:00", "120000", "12h"], "1200");
        all_mean(KeyType::Time, &["0", "00", "0000", "000000", "0:00", "00:00"], "0000");
        all_mean(KeyType::Time, &["6", "06", "600", "0600", "6:00", "6h"], "0600");
        all_mean(KeyType::Time, &["0030", "030", "0:30", "30m"], "0030");
        all_mean(KeyType::Time, &["1:30", "130", "0130", "1h30m", "90m"], "0130");
    }

    #[test]
    fn times_that_are_not_of_a_day_are_refused() {
        all_refused(
            KeyType::Time,
            &["", "24", "2400", "25", "1260", "12:60", "12:00:30", "12:", ":", "1:2:3:4", "12345"],
        );
        all_refused(KeyType::Time, &["x", "-1", "1d", "24h", "12:00x", "1.5.5"]);
    }
}
