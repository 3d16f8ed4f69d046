//! Key types: what a value means, and the one canonical form in which it is stored, compared and shown.
//!
//! What must stay true: the canonical form of a canonical form is itself, so that a key read back from a store can be
//! archived, or asked for, again.

mod calendar;
pub(crate) mod civil;
mod number;
mod param;
mod quantile;
mod range;
mod step;
mod time_of_day;
pub(crate) mod wind;
mod word;

use std::fmt;
use std::str::FromStr;

use crate::clock::Clock;
use crate::text::Expected;

pub(crate) use calendar::named_month;
pub use param::{param_id, param_name};
pub(crate) use range::{RangeFault, VALUES_MAX, expand};

/// The type of a key, as declared in a schema by `key: Type;`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyType {
    /// Any text; case does not matter, and is stored lower.
    #[default]
    Default,
    /// The first three letters of a text.
    First3,
    /// A date reduced to month and day, `MMDD`; also `jan-05`.
    ClimateDaily,
    /// A date reduced to its month, `1` to `12`; also a month's name.
    ClimateMonthly,
    /// A date, `YYYYMMDD`; also `2024-01-01`, `2024-001` (day of the year), and `0`, `-1` (days from today). A date of a
    /// climatology has no year: `aug-01`, `aug`.
    Date,
    /// A number, `850.5`.
    Double,
    /// An experiment version: four characters, padded with zeros in front.
    Expver,
    /// The name of a grid, `/` written as `+`.
    Grid,
    /// Whatever is given counts as nothing.
    Ignore,
    /// A whole number.
    Integer,
    /// The month of a date, `1` to `12`, kept under the name `month`; also a month's name.
    Month,
    /// The month of a date with two digits, kept under the name `month`.
    MonthOfDate,
    /// A parameter: its number; also its short name (`t`) and the form with a table (`130.128`).
    Param,
    /// As [`KeyType::Param`].
    ParamId,
    /// A forecast step or a range of them, `24`, `1h30m`, `0-24`.
    Step,
    /// A time of day, `HHMM`; also `12`, `12:00`, `12:00:00`.
    Time,
    /// The year of a date, kept under the name `year`.
    Year,
    /// The year and month of a date, `YYYYMM`.
    YearMonth,
}

/// Every type with its name in the schema language.
const NAMES: [(KeyType, &str); 18] = [
    (KeyType::ClimateDaily, "ClimateDaily"),
    (KeyType::ClimateMonthly, "ClimateMonthly"),
    (KeyType::Date, "Date"),
    (KeyType::Default, "Default"),
    (KeyType::Double, "Double"),
    (KeyType::Expver, "Expver"),
    (KeyType::First3, "First3"),
    (KeyType::Grid, "Grid"),
    (KeyType::Ignore, "Ignore"),
    (KeyType::Integer, "Integer"),
    (KeyType::Month, "Month"),
    (KeyType::MonthOfDate, "MonthOfDate"),
    (KeyType::Param, "Param"),
    (KeyType::ParamId, "ParamID"),
    (KeyType::Step, "Step"),
    (KeyType::Time, "Time"),
    (KeyType::Year, "Year"),
    (KeyType::YearMonth, "YearMonth"),
];

impl KeyType {
    /// Every type there is.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(kind, _)| *kind)
    }

    /// The name of the type in the schema language.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(kind, _)| *kind == self).map_or("Default", |(_, name)| name)
    }

    /// The name under which a level keeps a key of this type, where that is not the key's own: a `date` of type
    /// `Year` is kept as `year`.
    #[must_use]
    pub fn kept_as(self) -> Option<&'static str> {
        match self {
            Self::Year => Some("year"),
            Self::Month | Self::MonthOfDate => Some("month"),
            _ => None,
        }
    }

    /// Whether a value may be counted from today.
    pub(crate) fn depends_on_day(self) -> bool {
        match self {
            Self::Date
            | Self::Year
            | Self::YearMonth
            | Self::Month
            | Self::MonthOfDate
            | Self::ClimateMonthly
            | Self::ClimateDaily => true,
            Self::Default
            | Self::First3
            | Self::Expver
            | Self::Grid
            | Self::Ignore
            | Self::Double
            | Self::Integer
            | Self::Param
            | Self::ParamId
            | Self::Step
            | Self::Time => false,
        }
    }

    /// Appends the canonical form of `text` to `out`. On error `out` may hold part of it.
    pub(crate) fn canonical(self, text: &str, clock: Clock, out: &mut String) -> Result<(), Expected> {
        let text = text.trim();
        match self {
            Self::Default => word::lower(text, out),
            Self::First3 => word::first3(text, out),
            Self::Expver => word::expver(text, out),
            Self::Grid => word::grid(text, out),
            Self::Ignore => {}
            Self::Double => return number::double(text, out),
            Self::Integer => return number::integer(text, out),
            Self::Param | Self::ParamId => return param::canonical(text, out),
            Self::Step => return step::canonical(text, out),
            Self::Time => return time_of_day::canonical(text, out),
            Self::Date => return calendar::date(text, clock, out),
            Self::Year => return calendar::year(text, clock, out),
            Self::YearMonth => return calendar::year_month(text, clock, out),
            Self::Month => return calendar::month(text, 1, clock, out),
            Self::MonthOfDate => return calendar::month(text, 2, clock, out),
            Self::ClimateMonthly => return calendar::climate_month(text, clock, out),
            Self::ClimateDaily => return calendar::climate_day(text, clock, out),
        }
        Ok(())
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for KeyType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        NAMES.iter().find(|(_, name)| *name == text).map(|(kind, _)| *kind).ok_or(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::borrow::Cow;

    use super::*;

    /// The canonical form of `text`, today being the first of March 2024; or what was expected.
    pub(crate) fn canonical(kind: KeyType, text: &str) -> Result<String, String> {
        let mut out = String::new();
        let clock = Clock::fixed(2024, 3, 1).unwrap();
        kind.canonical(text, clock, &mut out).map(|()| out).map_err(Cow::into_owned)
    }

    #[track_caller]
    pub(crate) fn all_mean(kind: KeyType, texts: &[&str], meant: &str) {
        for text in texts {
            assert_eq!(canonical(kind, text).as_deref(), Ok(meant), "{kind} {text:?}");
        }
    }

    #[track_caller]
    pub(crate) fn all_refused(kind: KeyType, texts: &[&str]) {
        for text in texts {
            assert!(canonical(kind, text).is_err(), "{kind} {text:?} became {:?}", canonical(kind, text));
        }
    }

    #[test]
    fn every_type_is_found_by_its_name() {
        for kind in KeyType::all() {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert_eq!(KeyType::all().count(), 18);
    }
}
