//! Sizes, rates and times in text. JSON has raw bytes and seconds instead.

use std::{fmt, time::Duration};

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// A number of bytes, as in `1.5 MiB`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        let text = if unit == 0 { format!("{} B", self.0) } else { format!("{value:.1} {}", UNITS[unit]) };
        f.pad(&text)
    }
}

/// Bytes per second, as in `1.5 MiB/s`, or `-` for a duration of zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate(pub(crate) u64, pub(crate) Duration);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.1.as_secs_f64();
        if seconds == 0.0 {
            return f.pad("-");
        }
        f.pad(&format!("{}/s", Bytes((self.0 as f64 / seconds) as u64)))
    }
}

/// A count with its noun, as in `1 field` or `2 fields`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A time in seconds, as in `1.25 s`.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

/// A time in microseconds since 1970, as in `2024-01-31T12:00:00Z`.
pub(crate) fn utc(microseconds: u64) -> String {
    let whole_seconds = i64::try_from(microseconds / 1_000_000).unwrap_or(i64::MAX);
    let time = OffsetDateTime::from_unix_timestamp(whole_seconds).ok();
    time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rates_counts_and_times_have_units() {
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Bytes(1023).to_string(), "1023 B");
        assert_eq!(Bytes(1 << 20).to_string(), "1.0 MiB");
        assert_eq!(Bytes(u64::MAX).to_string(), "16384.0 PiB");
        assert_eq!(Rate(3 << 20, Duration::from_secs(2)).to_string(), "1.5 MiB/s");
        assert_eq!(Rate(1, Duration::ZERO).to_string(), "-");
        assert_eq!(count(1, "field"), "1 field");
        assert_eq!(count(0, "field"), "0 fields");
        assert_eq!(utc(86_400_000_000), "1970-01-02T00:00:00Z");
    }
}
