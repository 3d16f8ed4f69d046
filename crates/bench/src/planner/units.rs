//! Quantities with units, as sites and options write them: `70 TiB`, `2.5 GiB/s`, `350 us`, `25M`.
//!
//! What must stay true: a printed quantity parses to the same value.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

const BINARY: [(&str, f64); 6] = [
    ("PiB", (1_u64 << 50) as f64),
    ("TiB", (1_u64 << 40) as f64),
    ("GiB", (1_u64 << 30) as f64),
    ("MiB", (1_u64 << 20) as f64),
    ("KiB", 1024.0),
    ("B", 1.0),
];
const DECIMAL: [(&str, f64); 5] = [("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
const BITS: [(&str, f64); 3] = [("Tbit", 1.25e11), ("Gbit", 1.25e8), ("Mbit", 1.25e5)];
/// Nanoseconds of each unit of time.
const TIMES: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];
/// More have no exact text in seconds.
const NANOSECONDS_MAX: f64 = (1_u64 << 50) as f64;
const COUNTS: [(&str, f64); 4] = [("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)];

/// A number of bytes, above zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Size(pub(crate) f64);

/// Bytes per second, above zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Rate(pub(crate) f64);

/// A length of time in nanoseconds, which may be zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Span(pub(crate) u64);

/// A number of things, above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Count(pub(crate) u64);

impl Span {
    pub(crate) fn seconds(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// A number of seconds, rounded to nanoseconds; negative ones are zero.
    pub(crate) fn of_seconds(seconds: f64) -> Self {
        Self((seconds.max(0.0) * 1e9).round() as u64)
    }
}

/// Splits `2.5 GiB` in its number and the factor of its unit.
fn split(text: &str, units: impl IntoIterator<Item = (&'static str, f64)>) -> Option<(f64, f64)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (text[..end].parse::<f64>().ok()?, text[end..].trim_start());
    let factor = units.into_iter().find(|(name, _)| *name == unit)?.1;
    number.is_finite().then_some((number, factor))
}

fn positive(parts: Option<(f64, f64)>, text: &str, expected: &str) -> Result<f64, String> {
    let value = parts.map(|(number, factor)| number * factor).filter(|value| *value > 0.0);
    value.ok_or_else(|| format!("{text:?}, expected {expected}"))
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = split(text, BINARY.into_iter().chain(DECIMAL));
        positive(parts, text, "bytes above zero with a unit, as in 70 TiB, 3.5 MiB or 1 GB").map(Self)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = BINARY.into_iter().chain(DECIMAL).chain(BITS);
        let parts = text.trim().strip_suffix("/s").and_then(|text| split(text, units));
        positive(parts, text, "a rate above zero, as in 2.5 GiB/s, 300 MB/s or 100 Gbit/s").map(Self)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = split(text, TIMES.map(|(name, factor)| (name, factor as f64)));
        let nanoseconds = parts.map(|(number, factor)| (number * factor).round());
        let nanoseconds = nanoseconds.filter(|value| *value <= NANOSECONDS_MAX);
        let value = nanoseconds.ok_or_else(|| {
            format!("{text:?}, expected a time with a unit, at most 13 d, as in 350 us, 1.5 ms or 1 h")
        });
        value.map(|nanoseconds| Self(nanoseconds as u64))
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count =
            positive(split(text, COUNTS), text, "a whole number above zero, as in 25000000, 25M or 40k")?;
        let is_whole = count.fract() == 0.0 && count < (1_u64 << 53) as f64;
        is_whole.then_some(Self(count as u64)).ok_or_else(|| format!("{text:?}, expected a whole number"))
    }
}

/// The value in the largest unit of which there is at least one.
fn in_unit(value: f64) -> (f64, &'static str) {
    let found = BINARY.into_iter().find(|(_, factor)| value >= *factor).unwrap_or(("B", 1.0));
    (value / found.1, found.0)
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = in_unit(self.0);
        f.pad(&format!("{value} {unit}"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = in_unit(self.0);
        f.pad(&format!("{value} {unit}/s"))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // From a minute on only a unit of which there is a whole number: a third of an hour has no decimals.
        let fits =
            |factor: u64| self.0 >= factor && (factor <= 1_000_000_000 || self.0.is_multiple_of(factor));
        let (unit, factor) =
            TIMES.into_iter().find(|(_, factor)| fits(*factor)).unwrap_or(("s", 1_000_000_000));
        f.pad(&format!("{} {unit}", self.0 as f64 / factor as f64))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = COUNTS.into_iter().find(|(_, factor)| self.0.is_multiple_of(*factor as u64));
        let (unit, factor) = found.unwrap_or(("", 1.0));
        f.pad(&format!("{}{unit}", self.0 / factor as u64))
    }
}

/// Reads and writes a quantity as text in YAML.
macro_rules! as_text {
    ($($quantity:ty),*) => {$(
        impl TryFrom<String> for $quantity {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$quantity> for String {
            fn from(quantity: $quantity) -> Self {
                quantity.to_string()
            }
        }
    )*};
}

as_text!(Size, Rate, Span);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantities_are_read_in_binary_decimal_and_network_units() {
        assert_eq!("70TiB".parse(), Ok(Size(70.0 * (1_u64 << 40) as f64)));
        assert_eq!("100 Gbit/s".parse(), Ok(Rate(12.5e9)));
        assert!(["1h", "60 min", "3600s"].iter().all(|text| text.parse() == Ok(Span(3_600_000_000_000))));
        assert!(["25M", "25000k", "25000000"].iter().all(|text| text.parse() == Ok(Count(25_000_000))));
        assert_eq!("6.44 us".parse(), Ok(Span(6440)));
    }

    #[test]
    fn quantities_print_in_the_unit_that_people_use() {
        assert_eq!(Size(1.5 * 1024.0).to_string(), "1.5 KiB");
        assert_eq!(Rate(2.5 * (1_u64 << 30) as f64).to_string(), "2.5 GiB/s");
        assert_eq!(
            [0, 350_000, 90_000_000_000, 3_600_000_000_000].map(|t| Span(t).to_string()),
            ["0 s", "350 us", "90 s", "1 h"]
        );
        assert_eq!([25_000_000, 40_000, 1234].map(|count| Count(count).to_string()), ["25M", "40k", "1234"]);
    }

    #[test]
    fn a_quantity_without_unit_or_above_no_zero_is_refused_with_an_example() {
        for text in ["", "70", "70 tib", "0 TiB", "-1 TiB", "1e3 TiB", "TiB", "nan B"] {
            let error = text.parse::<Size>().unwrap_err();
            assert!(error.contains("as in 70 TiB"), "{text}: {error}");
        }
        assert!("2.5 GiB".parse::<Rate>().unwrap_err().contains("2.5 GiB/s"));
        assert!(
            "5".parse::<Span>().is_err() && "1.5".parse::<Count>().is_err() && "0".parse::<Count>().is_err()
        );
    }

    proptest! {
        #[test]
        fn printed_quantities_parse_to_the_same_value(bits in 1_u64..1 << 53, nanoseconds in 0_u64..1 << 50) {
            let value = bits as f64 / 1024.0;
            prop_assert_eq!(Size(value).to_string().parse(), Ok(Size(value)));
            prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
            prop_assert_eq!(Span(nanoseconds).to_string().parse(), Ok(Span(nanoseconds)));
            prop_assert_eq!(Count(bits).to_string().parse(), Ok(Count(bits)));
        }
    }
}
