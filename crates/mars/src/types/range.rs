//! Lists of values as requests write them, `0/to/24/by/6` among them, made into canonical values.
//!
//! What must stay true: the work is bounded by [`VALUES_MAX`] whatever the text says, and order is the request's.

use std::collections::HashSet;
use std::fmt::Write;

use super::{KeyType, calendar, quantile, step, time_of_day};
use crate::clock::Clock;
use crate::text::Expected;

/// The most values that one key of a request may come to.
pub(crate) const VALUES_MAX: usize = 1_000_000;

/// Why a list of values could not be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RangeFault {
    /// A value is not of the key's type.
    Value { value: String, expected: Expected },
    /// A `to`/`by` range is invalid.
    Range { range: String, reason: Expected },
    /// The list comes to more than [`VALUES_MAX`] values.
    TooMany,
}

/// How the ends of a range are read and its values written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Days,
    Minutes,
    Seconds,
    /// Decimal numbers counted in units of the last of this many places.
    Decimal(u32),
}

/// The canonical values of a request's list, in its order, each once.
pub(crate) fn expand(kind: KeyType, values: &[String], clock: Clock) -> Result<Vec<String>, RangeFault> {
    let mut list = List { kind, clock, seen: HashSet::new(), values: Vec::with_capacity(values.len()) };
    if kind == KeyType::Grid
        && values.len() == 2
        && values.iter().all(|value| value.trim().parse::<f64>().is_ok())
    {
        // A grid's two increments stand with a slash between them, which a request reads as a list.
        list.push(&values.join("/"))?;
        return Ok(list.values);
    }
    if let [value] = values
        && !is_word(Some(value), "to")
    {
        return Ok(vec![list.canonical(value)?]);
    }
    let mut index = 0;
    while let Some(value) = values.get(index) {
        index += match list.range_at(values, index)? {
            Some(used) => used,
            None => {
                list.push(value)?;
                1
            }
        };
    }
    Ok(list.values)
}

struct List {
    kind: KeyType,
    clock: Clock,
    seen: HashSet<String>,
    values: Vec<String>,
}

fn is_word(value: Option<&String>, word: &str) -> bool {
    value.is_some_and(|value| value.trim().eq_ignore_ascii_case(word))
}

impl List {
    fn canonical(&self, value: &str) -> Result<String, RangeFault> {
        let mut canonical = String::with_capacity(value.len());
        // An empty value asks for fields that lack the key, whatever its type.
        if !value.trim().is_empty() {
            self.kind
                .canonical(value, self.clock, &mut canonical)
                .map_err(|expected| RangeFault::Value { value: value.to_owned(), expected })?;
        }
        Ok(canonical)
    }

    fn push(&mut self, value: &str) -> Result<(), RangeFault> {
        let canonical = self.canonical(value)?;
        if self.seen.contains(&canonical) {
            return Ok(());
        }
        if self.values.len() == VALUES_MAX {
            return Err(RangeFault::TooMany);
        }
        self.seen.insert(canonical.clone());
        self.values.push(canonical);
        Ok(())
    }

    /// Expands the range whose `to` is at `index`, after its first value; `None` if there is no `to`. Otherwise the
    /// number of words it is made of, from `to` on.
    fn range_at(&mut self, values: &[String], index: usize) -> Result<Option<usize>, RangeFault> {
        if !is_word(values.get(index), "to") || !self.has_ranges(values, index) {
            return Ok(None);
        }
        let by = is_word(values.get(index + 2), "by");
        let used = if by { 4 } else { 2 };
        let first = index.saturating_sub(1);
        let words = &values[first..values.len().min(index + used)];
        let fault = |reason: Expected| RangeFault::Range { range: words.join("/"), reason };
        let (Some(from), Some(to)) =
            (index.checked_sub(1).and_then(|at| values.get(at)), values.get(index + 1))
        else {
            return Err(fault("'to' needs a value before and after it".into()));
        };
        if by && values.len() <= index + 3 {
            return Err(fault("'by' needs a value after it".into()));
        }
        let increment = if by { values.get(index + 3) } else { None };
        self.push_range(from, to, increment).map_err(|stop| match stop {
            Stop::Reason(reason) => fault(reason),
            Stop::Fault(inner) => inner,
        })?;
        Ok(Some(used))
    }

    /// Whether `to` is the word of a range here. For types that are words themselves it may be a value (a class is
    /// called `to`), unless it stands between numbers.
    fn has_ranges(&self, values: &[String], index: usize) -> bool {
        if !matches!(
            self.kind,
            KeyType::Default | KeyType::First3 | KeyType::Expver | KeyType::Grid | KeyType::Ignore
        ) {
            return true;
        }
        let value = |at: Option<usize>| at.and_then(|at| values.get(at)).map(|value| value.trim());
        let both = |has: fn(&str) -> bool| {
            value(index.checked_sub(1)).is_some_and(has) && value(Some(index + 1)).is_some_and(has)
        };
        both(|value| value.parse::<f64>().is_ok()) || both(|value| quantile::parts(value).is_some())
    }

    fn push_range(&mut self, from: &str, to: &str, by: Option<&String>) -> Result<(), Stop> {
        if let (KeyType::Step, Some(from), Some(to)) =
            (self.kind, step::span(from.trim()), step::span(to.trim()))
        {
            return self.push_spans(from, to, by);
        }
        if let (KeyType::Default, Some(from), Some(to)) =
            (self.kind, quantile::parts(from.trim()), quantile::parts(to.trim()))
        {
            return self.push_quantiles(from, to, by);
        }
        let (scale, from_count, to_count) = self.ends(from.trim(), to.trim(), by)?;
        let increment = increment(scale, by)?;
        check_direction(from_count, to_count, increment)?;
        let steps = (i128::from(to_count) - i128::from(from_count)) / i128::from(increment);
        if steps >= VALUES_MAX as i128 {
            return Err(Stop::Fault(RangeFault::TooMany));
        }
        let mut text = String::new();
        let mut count = from_count;
        // The first value stands in the list already, as it stands in the request.
        for _ in 0..steps {
            count += increment;
            text.clear();
            write_count(scale, count, &mut text);
            self.push(&text)?;
        }
        Ok(())
    }

    /// A range of ranges of steps, `0-24/to/72-96/by/24`: both ends move together.
    fn push_spans(&mut self, from: (i64, i64), to: (i64, i64), by: Option<&String>) -> Result<(), Stop> {
        let increment = increment(Scale::Seconds, by)?;
        if from.1 - from.0 != to.1 - to.0 {
            return Err("its first and last ranges of steps are not equally long".into());
        }
        check_direction(from.0, to.0, increment)?;
        let count = (to.0 - from.0) / increment;
        if count >= VALUES_MAX as i64 {
            return Err(Stop::Fault(RangeFault::TooMany));
        }
        let mut text = String::new();
        for moved in (1..=count).map(|at| at * increment) {
            text.clear();
            step::write_seconds(from.0 + moved, &mut text);
            text.push('-');
            step::write_seconds(from.1 + moved, &mut text);
            self.push(&text)?;
        }
        Ok(())
    }

    /// A range of quantiles, `1:10/to/10:10`: of one number of parts.
    fn push_quantiles(&mut self, from: (i64, i64), to: (i64, i64), by: Option<&String>) -> Result<(), Stop> {
        let increment = increment(Scale::Decimal(0), by)?;
        if from.1 != to.1 {
            return Err("its first and last quantiles are not of one number of parts".into());
        }
        check_direction(from.0, to.0, increment)?;
        for moved in (1..=(to.0 - from.0) / increment).map(|at| at * increment) {
            self.push(&quantile::text(from.0 + moved, from.1))?;
        }
        Ok(())
    }

    /// The scale of a range and its two ends on it.
    fn ends(&self, from: &str, to: &str, by: Option<&String>) -> Result<(Scale, i64, i64), Stop> {
        let scale = self.scale(&[Some(from), Some(to), by.map(|by| by.trim())]);
        let read = |text: &str| self.read_end(scale, text);
        let fault = |value: &str| {
            let mut scratch = String::new();
            let wrong = self.kind.canonical(value, self.clock, &mut scratch).err();
            match wrong {
                Some(expected) => Stop::Fault(RangeFault::Value { value: value.to_owned(), expected }),
                None => Stop::Reason(format!("'{value}' cannot be the end of a range").into()),
            }
        };
        Ok((scale, read(from).ok_or_else(|| fault(from))?, read(to).ok_or_else(|| fault(to))?))
    }

    fn scale(&self, words: &[Option<&str>]) -> Scale {
        match self.kind {
            KeyType::Date => Scale::Days,
            KeyType::Year
            | KeyType::YearMonth
            | KeyType::Month
            | KeyType::MonthOfDate
            | KeyType::ClimateMonthly
            | KeyType::ClimateDaily
                if words[..2].iter().flatten().all(|word| calendar::day(word, self.clock).is_some()) =>
            {
                Scale::Days
            }
            KeyType::Time => Scale::Minutes,
            KeyType::Step => Scale::Seconds,
            _ => {
                let places = |word: &&str| word.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                let most = words.iter().flatten().map(places).max().unwrap_or(0);
                Scale::Decimal(u32::try_from(most).unwrap_or(u32::MAX))
            }
        }
    }

    fn read_end(&self, scale: Scale, text: &str) -> Option<i64> {
        match scale {
            Scale::Days => calendar::day(text, self.clock).map(super::civil::Day::number),
            Scale::Minutes => time_of_day::minutes(text),
            Scale::Seconds => step::seconds(text),
            Scale::Decimal(places) => decimal(text, places),
        }
    }
}

/// Why a range stops: something about the range as a whole, or about one value.
enum Stop {
    Reason(Expected),
    Fault(RangeFault),
}

impl From<RangeFault> for Stop {
    fn from(fault: RangeFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<&'static str> for Stop {
    fn from(reason: &'static str) -> Self {
        Self::Reason(reason.into())
    }
}

fn check_direction(from: i64, to: i64, increment: i64) -> Result<(), &'static str> {
    match increment.signum() {
        0 => Err("'by' must not be zero"),
        1 if from > to => Err("it ends before it begins; to go down, 'by' must be negative"),
        -1 if from < to => Err("'by' is negative, but it ends after it begins"),
        _ => Ok(()),
    }
}

/// The increment that a range names, or that it has without one.
fn increment(scale: Scale, by: Option<&String>) -> Result<i64, Stop> {
    let Some(by) = by else {
        return Ok(match scale {
            Scale::Days => 1,
            Scale::Minutes => 6 * 60,
            Scale::Seconds => 12 * 3600,
            Scale::Decimal(places) => 10_i64.checked_pow(places).unwrap_or(i64::MAX),
        });
    };
    read_increment(scale, by.trim()).ok_or(Stop::Reason(Expected::Borrowed(match scale {
        Scale::Days => "'by' must be a number of days",
        Scale::Minutes => "'by' must be a duration of at most a day, such as 6 or 30m",
        Scale::Seconds => "'by' must be a duration, such as 6 or 30m",
        Scale::Decimal(_) => "'by' must be a number",
    })))
}

fn read_increment(scale: Scale, text: &str) -> Option<i64> {
    if let Scale::Decimal(places) = scale {
        return decimal(text, places);
    }
    let (sign, amount) = match text.strip_prefix('-') {
        Some(amount) => (-1, amount),
        None => (1, text),
    };
    let amount = match scale {
        Scale::Days => {
            amount.strip_suffix(['d', 'D']).unwrap_or(amount).parse().ok().filter(|days: &i64| *days >= 0)?
        }
        // As an end of a range it would be a time of day, but an increment may be a whole day.
        Scale::Minutes if amount == "24" || amount == "2400" => 24 * 60,
        Scale::Minutes => time_of_day::minutes(amount)?,
        Scale::Seconds | Scale::Decimal(_) => step::seconds(amount)?,
    };
    Some(sign * amount)
}

/// A decimal number in units of the last of `places` places.
fn decimal(text: &str, places: u32) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |part: &str| part.len() <= 18 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let missing = places.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    let number: i64 = format!("0{whole}{fraction}").parse().ok()?;
    let scaled = number.checked_mul(10_i64.checked_pow(missing)?)?;
    Some(if text.starts_with('-') { -scaled } else { scaled })
}

fn write_count(scale: Scale, count: i64, out: &mut String) {
    match scale {
        Scale::Days => {
            // Both ends are days of the calendar, so everything between them is.
            if let Some(day) = super::civil::Day::from_unix_seconds(0).plus(count) {
                day.write(out);
            }
        }
        Scale::Minutes => time_of_day::write_minutes(count, out),
        Scale::Seconds => step::write_seconds(count, out),
        Scale::Decimal(0) => {
            let _ = write!(out, "{count}");
        }
        Scale::Decimal(places) => {
            let unit = 10_u64.checked_pow(places).unwrap_or(u64::MAX);
            let (whole, fraction) = (count.unsigned_abs() / unit, count.unsigned_abs() % unit);
            let sign = if count < 0 { "-" } else { "" };
            let _ = write!(out, "{sign}{whole}.{fraction:0width$}", width = places as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(kind: KeyType, text: &str) -> Result<Vec<String>, RangeFault> {
        let values: Vec<String> = text.split('/').map(str::to_owned).collect();
        expand(kind, &values, Clock::fixed(2024, 3, 1).unwrap())
    }

    #[test]
    fn ranges_of_steps_move_as_a_whole() {
        comes_to(KeyType::Step, "0-24/to/72-96/by/24", "0-24/24-48/48-72/72-96");
        comes_to(KeyType::Step, "0-6/to/12-18", "0-6/12-18");
        assert!(reason(KeyType::Step, "0-24/to/24-30/by/24").contains("not equally long"));
        assert!(reason(KeyType::Step, "24-48/to/0-24/by/24").contains("it ends before it begins"));
    }

    #[track_caller]
    fn comes_to(kind: KeyType, text: &str, expected: &str) {
        assert_eq!(list(kind, text).map(|values| values.join("/")), Ok(expected.to_owned()), "{kind} {text}");
    }

    #[track_caller]
    fn reason(kind: KeyType, text: &str) -> String {
        match list(kind, text).unwrap_err() {
            RangeFault::Range { range, reason } => format!("{range}: {reason}"),
            RangeFault::Value { value, expected } => format!("value {value}: {expected}"),
            RangeFault::TooMany => "too many".to_owned(),
        }
    }

    #[test]
    fn ranges_are_expanded_in_the_units_of_their_type() {
        comes_to(KeyType::Step, "0/to/24/by/6", "0/6/12/18/24");
        comes_to(KeyType::Step, "0/to/2/by/30m", "0/30m/1/1h30m/2");
        comes_to(KeyType::Step, "0/TO/24", "0/12/24");
        comes_to(KeyType::Date, "20240227/to/-0", "20240227/20240228/20240229/20240301");
        comes_to(KeyType::Date, "20240201/to/20240301/by/14", "20240201/20240215/20240229");
        comes_to(KeyType::Time, "0/to/18/by/6", "0000/0600/1200/1800");
        comes_to(KeyType::Time, "00:00/to/01:00/by/30m", "0000/0030/0100");
        comes_to(KeyType::Integer, "1/to/3", "1/2/3");
        comes_to(KeyType::Double, "0.1/to/0.5/by/0.1", "0.1/0.2/0.3/0.4/0.5");
        comes_to(KeyType::Default, "1/to/3", "1/2/3");
        comes_to(KeyType::Year, "2020/to/2022", "2020/2021/2022");
        comes_to(KeyType::Year, "20201231/to/20210101", "2020/2021");
        comes_to(KeyType::Month, "20240131/to/20240301", "1/2/3");
    }

    #[test]
    fn a_range_may_go_down_and_need_not_hit_its_end() {
        comes_to(KeyType::Step, "24/to/0/by/-12", "24/12/0");
        comes_to(KeyType::Double, "1000/to/500/by/-200", "1000/800/600");
        comes_to(KeyType::Integer, "5/to/10/by/3", "5/8");
        comes_to(KeyType::Integer, "5/to/5", "5");
        comes_to(KeyType::Integer, "-2/to/2/by/2", "-2/0/2");
    }

    #[test]
    fn lists_and_ranges_mix_and_each_value_counts_once() {
        comes_to(KeyType::Step, "6/0/to/12/by/6/24/0", "6/0/12/24");
        comes_to(KeyType::Param, "t/130/130.128/u", "130/131");
        comes_to(KeyType::Time, "12/1200/12:00/0", "1200/0000");
    }

    #[test]
    fn quantiles_range_over_their_parts() {
        let quantiles = |text| list(KeyType::Default, text).map(|values| values.join("/"));
        assert_eq!(quantiles("1:10/to/3:10").unwrap(), "1:10/2:10/3:10");
        assert_eq!(quantiles("0:100/to/100:100/by/50").unwrap(), "0:100/50:100/100:100");
        assert!(quantiles("1:10/to/3:5").is_err());
        assert!(quantiles("3:10/to/1:10").is_err());
    }

    #[test]
    fn a_word_may_be_called_to() {
        comes_to(KeyType::Default, "od/to/rd", "od/to/rd");
        comes_to(KeyType::Default, "to", "to");
    }

    #[test]
    fn a_grid_of_two_numbers_is_one_value() {
        comes_to(KeyType::Grid, "1.5/1.5", "1.5+1.5");
        comes_to(KeyType::Grid, "o1280/n320", "o1280/n320");
    }

    #[test]
    fn ranges_that_make_no_sense_say_why() {
        assert_eq!(
            reason(KeyType::Step, "10/to/0/by/1"),
            "10/to/0/by/1: it ends before it begins; to go down, 'by' must be negative"
        );
        assert_eq!(reason(KeyType::Step, "0/to/9/by/0"), "0/to/9/by/0: 'by' must not be zero");
        assert_eq!(reason(KeyType::Step, "0/to"), "0/to: 'to' needs a value before and after it");
        assert_eq!(reason(KeyType::Step, "to/9"), "to/9: 'to' needs a value before and after it");
        assert_eq!(reason(KeyType::Step, "0/to/9/by"), "0/to/9/by: 'by' needs a value after it");
        assert_eq!(
            reason(KeyType::Step, "0/to/9/by/x"),
            "0/to/9/by/x: 'by' must be a duration, such as 6 or 30m"
        );
        assert_eq!(reason(KeyType::Step, "0-6/to/9"), "0-6/to/9: '0-6' cannot be the end of a range");
        assert_eq!(
            reason(KeyType::Date, "20240101/to/2024"),
            "value 2024: a date, such as 20240131, 2024-01-31, 2024-031 or -1"
        );
        assert_eq!(reason(KeyType::Integer, "0/to/1000001"), "too many");
        assert_eq!(reason(KeyType::Double, "0/to/1/by/0.0000000001"), "too many");
    }
}
