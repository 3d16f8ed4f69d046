//! Where "today" comes from: dates such as `-1` are counted from it.

use crate::types::civil::Day;

/// The day that relative dates are counted from.
///
/// ```
/// use isotach_mars::{Clock, Key, Schema};
///
/// let schema = Schema::parse("date: Date; [ date [ [ param ] ] ]")?.with_clock(Clock::fixed(2024, 1, 1).unwrap());
/// let split = schema.split(&"date=-1,param=t".parse::<Key>()?)?;
/// assert_eq!(split.dataset.get("date"), Some("20231231"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    fixed: Option<Day>,
}

impl Clock {
    /// The system's clock, in UTC.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands at this day; `None` if there is no such day.
    #[must_use]
    pub fn fixed(year: u16, month: u8, day: u8) -> Option<Self> {
        Some(Self { fixed: Some(Day::from_civil(year, month, day)?) })
    }

    /// A clock that stands at the day `text` names, as `20240101` or `2024-01-01`; `None` if it names none.
    #[must_use]
    pub fn at(text: &str) -> Option<Self> {
        Some(Self { fixed: Some(Day::parse_absolute(text)?) })
    }

    /// The day it is.
    pub(crate) fn today(self) -> Day {
        self.fixed.unwrap_or_else(|| {
            let now = time::OffsetDateTime::now_utc();
            Day::from_unix_seconds(now.unix_timestamp())
        })
    }
}
