//! Days of the Gregorian calendar, counted so that ranges and relative dates are plain arithmetic.

use std::fmt::Write;

/// A day, as a number of days since 1970-01-01. Always in the years 1 to 9999, so that it has eight digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(i64);

const FIRST: i64 = -719_162;
const LAST: i64 = 2_932_896;

/// Days before the first of each month of a year that is not a leap year.
const DAYS_BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first of this year.
fn days_before_year(year: i64) -> i64 {
    let past = year - 1;
    past * 365 + past / 4 - past / 100 + past / 400
}

impl Day {
    pub(crate) fn from_civil(year: u16, month: u8, day: u8) -> Option<Self> {
        let whole = i64::from(year);
        if !(1..=9999).contains(&year)
            || !(1..=12).contains(&month)
            || day == 0
            || day > days_in(whole, month)
        {
            return None;
        }
        let leap = i64::from(month > 2 && is_leap(whole));
        let of_year = DAYS_BEFORE[usize::from(month) - 1] + leap + i64::from(day) - 1;
        Some(Self(FIRST + days_before_year(whole) + of_year))
    }

    pub(crate) fn from_ordinal(year: u16, day_of_year: u16) -> Option<Self> {
        let first = Self::from_civil(year, 1, 1)?;
        let length = if is_leap(i64::from(year)) { 366 } else { 365 };
        (1..=length).contains(&day_of_year).then(|| Self(first.0 + i64::from(day_of_year) - 1))
    }

    pub(crate) fn from_unix_seconds(seconds: i64) -> Self {
        Self(seconds.div_euclid(86_400).clamp(FIRST, LAST))
    }

    /// The day `days` later (or earlier, if negative); `None` outside the years 1 to 9999.
    pub(crate) fn plus(self, days: i64) -> Option<Self> {
        let moved = self.0.checked_add(days)?;
        (FIRST..=LAST).contains(&moved).then_some(Self(moved))
    }

    pub(crate) fn number(self) -> i64 {
        self.0
    }

    /// `(year, month, day)`.
    pub(crate) fn civil(self) -> (u16, u8, u8) {
        let since_first = self.0 - FIRST;
        // 400 years have 146 097 days: the estimate is at most one year too high.
        let mut year = since_first * 400 / 146_097 + 1;
        while days_before_year(year) > since_first {
            year -= 1;
        }
        while days_before_year(year + 1) <= since_first {
            year += 1;
        }
        let mut rest = since_first - days_before_year(year);
        let mut month = 1;
        while month < 12 && rest >= i64::from(days_in(year, month)) {
            rest -= i64::from(days_in(year, month));
            month += 1;
        }
        (u16::try_from(year).unwrap_or(9999), month, u8::try_from(rest + 1).unwrap_or(31))
    }

    /// Appends the day as `YYYYMMDD`.
    pub(crate) fn write(self, out: &mut String) {
        let (year, month, day) = self.civil();
        let _ = write!(out, "{year:04}{month:02}{day:02}");
    }

    /// Reads `20240101`, `2024-01-01`, or a day of the year, `2024-001`.
    pub(crate) fn parse_absolute(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '-');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(year), Some(month), Some(day), None) => {
                return Self::from_civil(number(year, 4)?, small(month)?, small(day)?);
            }
            (Some(year), Some(of_year), None, None) => {
                return Self::from_ordinal(number(year, 4)?, number(of_year, 3)?);
            }
            _ => {}
        }
        if text.len() != 8 || !text.is_ascii() {
            return None;
        }
        Self::from_civil(number(&text[..4], 4)?, small(&text[4..6])?, small(&text[6..])?)
    }
}

/// A number of one to `digits` digits and nothing else.
pub(super) fn number(text: &str, digits: usize) -> Option<u16> {
    let plain = !text.is_empty() && text.len() <= digits && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn small(text: &str) -> Option<u8> {
    u8::try_from(number(text, 2)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(day: Day) -> String {
        let mut out = String::new();
        day.write(&mut out);
        out
    }

    #[test]
    fn every_day_of_the_calendar_comes_back_from_its_number() {
        let mut day = Day::from_civil(1, 1, 1).unwrap();
        assert_eq!(day.number(), FIRST);
        let mut count = 1;
        while let Some(next) = day.plus(1) {
            let (year, month, date) = next.civil();
            assert_eq!(Day::from_civil(year, month, date), Some(next), "{year}-{month}-{date}");
            day = next;
            count += 1;
        }
        assert_eq!(written(day), "99991231");
        assert_eq!(count, 3_652_059);
    }

    #[test]
    fn the_unix_epoch_is_day_zero() {
        assert_eq!(Day::from_civil(1970, 1, 1).unwrap().number(), 0);
        assert_eq!(written(Day::from_unix_seconds(-1)), "19691231");
    }

    #[test]
    fn dates_are_read_in_three_forms() {
        for text in ["20240229", "2024-02-29", "2024-2-29", "2024-060"] {
            assert_eq!(Day::parse_absolute(text).map(written), Some("20240229".to_owned()), "{text}");
        }
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for text in [
            "20230229",
            "2024-13-01",
            "2024-366-1",
            "2023-366",
            "240101",
            "2024010",
            "00000101",
            "2024--1",
            "é240101",
        ] {
            assert_eq!(Day::parse_absolute(text), None, "{text}");
        }
    }
}
