//! Dates, and the types that keep part of one. Each also reads its own canonical form.

use std::fmt::Write;

use super::civil::{self, Day};
use crate::clock::Clock;
use crate::text::Expected;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// The letters of a month's name that identify it.
const MONTH_LETTERS: usize = 3;
const EXPECTED: &str = "a date, such as 20240131, 2024-01-31, 2024-031 or -1";

/// The day `text` names: absolute, or counted from today (`0`, `-1`, ...).
pub(super) fn day(text: &str, clock: Clock) -> Option<Day> {
    let back = text.strip_prefix('-').unwrap_or(text);
    let relative = text.starts_with('-') || text.bytes().all(|byte| byte == b'0');
    if !relative {
        return Day::parse_absolute(text);
    }
    let plain = (1..=7).contains(&back.len()) && back.bytes().all(|byte| byte.is_ascii_digit());
    back.parse().ok().filter(|_: &i64| plain).and_then(|back| clock.today().plus(-back))
}

pub(super) fn date(text: &str, clock: Clock, out: &mut String) -> Result<(), Expected> {
    match day(text, clock) {
        Some(day) => day.write(out),
        None => write_of_any_year(text, out).ok_or(EXPECTED)?,
    }
    Ok(())
}

/// Appends a date of a climatology, which has no year: `aug-01`, or the month alone, `aug`.
fn write_of_any_year(text: &str, out: &mut String) -> Option<()> {
    let (name, of_month) = text.split_once('-').map_or((text, None), |(name, day)| (name, Some(day)));
    let month = named_month(name)?;
    let day = match of_month {
        Some(day) => Some(in_leap_year(month, small(day, 2, 31)?)?.1),
        None => None,
    };
    out.push_str(MONTHS.get(usize::from(month) - 1)?.get(..MONTH_LETTERS)?);
    if let Some(day) = day {
        let _ = write!(out, "-{day:02}");
    }
    Some(())
}

/// The 29th of February is a day of the climate's year, so its days are those of a leap year.
fn in_leap_year(month: u16, day: u16) -> Option<(u8, u8)> {
    let day = Day::from_civil(2000, u8::try_from(month).ok()?, u8::try_from(day).ok()?)?;
    Some((day.civil().1, day.civil().2))
}

/// The number `text` is written with, if it has at most `digits` digits and lies in 1 to `last`.
fn small(text: &str, digits: usize, last: u16) -> Option<u16> {
    civil::number(text, digits).filter(|number| (1..=last).contains(number))
}

pub(super) fn year(text: &str, clock: Clock, out: &mut String) -> Result<(), Expected> {
    let year =
        small(text, 4, 9999).or_else(|| Some(day(text, clock)?.civil().0)).ok_or("a date or a year")?;
    let _ = write!(out, "{year}");
    Ok(())
}

pub(super) fn year_month(text: &str, clock: Clock, out: &mut String) -> Result<(), Expected> {
    let own = || {
        let (year, month) = (text.get(..text.len().checked_sub(2)?)?, text.get(text.len() - 2..)?);
        Some((small(year, 4, 9999)?, small(month, 2, 12)?)).filter(|_| text.len() > 2)
    };
    let of_day = || day(text, clock).map(|day| (day.civil().0, u16::from(day.civil().1)));
    let (year, month) = of_day().or_else(own).ok_or("a date, or a year and month such as 202401")?;
    let _ = write!(out, "{year}{month:02}");
    Ok(())
}

/// The month of a date, with at least `width` digits.
pub(super) fn month(text: &str, width: usize, clock: Clock, out: &mut String) -> Result<(), Expected> {
    let of_day = || Some(u16::from(day(text, clock)?.civil().1));
    let month = small(text, 2, 12)
        .or_else(|| named_month(text))
        .or_else(of_day)
        .ok_or("a date, or a month by its number or name")?;
    let _ = write!(out, "{month:0width$}");
    Ok(())
}

/// The number of the month with this name, of which three letters are enough: `nov`, `November`.
pub(crate) fn named_month(text: &str) -> Option<u16> {
    let is_of = |month: &&str| {
        let start = month.get(..text.len()).filter(|_| text.len() >= MONTH_LETTERS);
        start.is_some_and(|start| start.eq_ignore_ascii_case(text))
    };
    let index = MONTHS.iter().position(is_of)?;
    u16::try_from(index + 1).ok()
}

pub(super) fn climate_month(text: &str, clock: Clock, out: &mut String) -> Result<(), Expected> {
    month(text, 1, clock, out)
}

pub(super) fn climate_day(text: &str, clock: Clock, out: &mut String) -> Result<(), Expected> {
    let (month, day) =
        month_and_day(text, clock).ok_or("a date, or a day of the year such as jan-05 or 0105")?;
    let _ = write!(out, "{month:02}{day:02}");
    Ok(())
}

fn month_and_day(text: &str, clock: Clock) -> Option<(u8, u8)> {
    let own = || Some(text).filter(|text| text.len() == 4 && text.is_ascii()).map(|text| text.split_at(2));
    if let Some((month, day)) =
        own().and_then(|(month, day)| Some((small(month, 2, 12)?, small(day, 2, 31)?)))
    {
        return in_leap_year(month, day);
    }
    let named = text.split_once('-').and_then(|(name, of_month)| Some((named_month(name)?, of_month)));
    if let Some((month, of_month)) = named {
        return in_leap_year(month, small(of_month, 2, 31)?);
    }
    day(text, clock).map(|day| (day.civil().1, day.civil().2))
}

#[cfg(test)]
mod tests {
    use crate::KeyType;
    use crate::types::tests::{all_mean, all_refused};

    #[test]
    fn a_date_is_absolute_or_counted_from_today() {
        all_mean(KeyType::Date, &["20240229", "2024-02-29", "2024-060", "-1", "-01"], "20240229");
        all_mean(KeyType::Date, &["0", "-0", "20240301"], "20240301");
        all_mean(KeyType::Date, &["-366"], "20230301");
        all_mean(KeyType::Date, &["aug-01", "AUG-1", "August-01"], "aug-01");
        all_mean(KeyType::Date, &["feb-29"], "feb-29");
        all_mean(KeyType::Date, &["aug", "AUGUST"], "aug");
        all_refused(
            KeyType::Date,
            &[
                "",
                "-",
                "1",
                "20230229",
                "2024-13-01",
                "240101",
                "20240101.5",
                "today",
                "-9999999",
                "-1-1",
                "feb-30",
                "aug-",
                "aug-1-1",
                "-aug",
            ],
        );
    }

    #[test]
    fn part_of_a_date_is_kept_as_its_type_says() {
        all_mean(KeyType::Year, &["20240229", "2024", "-1"], "2024");
        all_mean(KeyType::YearMonth, &["20240229", "202402", "-1"], "202402");
        all_mean(KeyType::Month, &["20240229", "2", "02", "-1"], "2");
        all_mean(KeyType::Month, &["nov", "NOV", "November", "11", "20231105"], "11");
        all_mean(KeyType::MonthOfDate, &["20240229", "2", "02", "feb", "February"], "02");
        all_refused(KeyType::Year, &["", "x", "20241301"]);
        all_refused(KeyType::YearMonth, &["", "2", "202413", "20241301"]);
        all_refused(KeyType::Month, &["", "13", "x", "é"]);
    }

    #[test]
    fn climate_types_read_names_of_months() {
        all_mean(KeyType::ClimateMonthly, &["may", "MAY", "5", "20240501", "2024-05-01"], "5");
        all_mean(
            KeyType::ClimateDaily,
            &["jan-05", "JAN-5", "january-5", "0105", "20240105", "2024-01-05"],
            "0105",
        );
        all_mean(KeyType::ClimateDaily, &["feb-29", "0229"], "0229");
        all_refused(KeyType::ClimateMonthly, &["", "foo", "13", "m", "may-5"]);
        all_refused(KeyType::ClimateDaily, &["", "jan", "jan-32", "feb-30", "1301", "jan-05-06"]);
    }
}
