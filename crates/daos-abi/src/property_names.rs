//! Properties of containers by name, as DAOS's own tools write them.

use crate::properties::*;

/// What the text of a property's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// A number, decimal or with `0x` before it.
    Number,
    /// A number of bytes from the first to the second, a multiple of the third: like a number, or with a unit (`64KiB`).
    Bytes(u64, u64, u64),
    /// A level: a number above 0 of 32 bits.
    Level,
    /// One of these words, or its number.
    Choices(&'static [(&'static str, u64)]),
    /// A label.
    Text,
    /// One of these words: the first is the number 0.
    Words(&'static [&'static str]),
    /// Whether more failed than the container survives; set to `healthy`, it says that the loss is accepted.
    Status,
}

/// A property that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// One of the `DAOS_PROP_CO_*` numbers.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub values: Values,
    /// Whether a container can be given it by name when it is made.
    pub is_settable: bool,
}

/// The names of checksums, at their numbers.
pub const CHECKSUMS: &[&str] = &["off", "crc16", "crc32", "crc64", "sha1", "sha256", "sha512", "adler32"];
const SWITCH: &[&str] = &["off", "on"];
const DEDUPLICATIONS: &[&str] = &["off", "memcmp", "hash"];
const COMPRESSIONS: &[&str] = &["off", "lz4", "deflate", "deflate1", "deflate2", "deflate3", "deflate4"];
const ENCRYPTIONS: &[&str] = &[
    "off",
    "aes-xts128",
    "aes-xts256",
    "aes-cbc128",
    "aes-cbc192",
    "aes-cbc256",
    "aes-gcm128",
    "aes-gcm256",
];
/// The levels at which failures count.
const LEVELS: &[(&str, u64)] = &[("rank", DAOS_PROP_CO_REDUN_RANK), ("node", DAOS_PROP_CO_REDUN_NODE)];
/// The levels of performance domains: DAOS's numbers of a pool's parts.
const DOMAINS: &[(&str, u64)] = &[("root", 255), ("group", 200)];
/// The least and the most bytes of numbers that DAOS keeps in 32 bits.
const CHUNKS: Values = Values::Bytes(0, u32::MAX as u64, 1);
const THRESHOLDS: Values = Values::Bytes(4 << 10, u32::MAX as u64, 1);
const CELLS: Values = Values::Bytes(4 << 10, 1 << 20, 32);
const FACTORS: &[&str] = &["0", "1", "2", "3", "4"];
/// The names of what containers hold, at their numbers.
pub const LAYOUTS: &[&str] =
    &["unknown", "POSIX", "HDF5", "PYTHON", "SPARK", "DATABASE", "ROOT", "SEISMIC", "METEO"];

const fn settable(number: u32, name: &'static str, values: Values) -> Named {
    Named { number, name, values, is_settable: true }
}

const fn read_only(number: u32, name: &'static str, values: Values) -> Named {
    Named { number, name, values, is_settable: false }
}

/// The properties that have names, but for owner, group and access control list.
pub const NAMES: [Named; 22] = [
    settable(DAOS_PROP_CO_LABEL, "label", Values::Text),
    read_only(DAOS_PROP_CO_LAYOUT_TYPE, "layout_type", Values::Words(LAYOUTS)),
    read_only(DAOS_PROP_CO_LAYOUT_VER, "layout_version", Values::Number),
    settable(DAOS_PROP_CO_CSUM, "cksum", Values::Words(CHECKSUMS)),
    settable(DAOS_PROP_CO_CSUM_CHUNK_SIZE, "cksum_size", CHUNKS),
    settable(DAOS_PROP_CO_CSUM_SERVER_VERIFY, "srv_cksum", Values::Words(SWITCH)),
    settable(DAOS_PROP_CO_REDUN_FAC, "rd_fac", Values::Words(FACTORS)),
    read_only(DAOS_PROP_CO_REDUN_LVL, "rd_lvl", Values::Choices(LEVELS)),
    read_only(DAOS_PROP_CO_SNAPSHOT_MAX, "max_snapshot", Values::Number),
    settable(DAOS_PROP_CO_COMPRESS, "compression", Values::Words(COMPRESSIONS)),
    settable(DAOS_PROP_CO_ENCRYPT, "encryption", Values::Words(ENCRYPTIONS)),
    settable(DAOS_PROP_CO_DEDUP, "dedup", Values::Words(DEDUPLICATIONS)),
    settable(DAOS_PROP_CO_DEDUP_THRESHOLD, "dedup_threshold", THRESHOLDS),
    read_only(DAOS_PROP_CO_STATUS, "status", Values::Status),
    read_only(DAOS_PROP_CO_ALLOCED_OID, "alloc_oid", Values::Number),
    settable(DAOS_PROP_CO_EC_CELL_SZ, "ec_cell_sz", CELLS),
    settable(DAOS_PROP_CO_EC_PDA, "ec_pda", Values::Level),
    settable(DAOS_PROP_CO_RP_PDA, "rp_pda", Values::Level),
    read_only(DAOS_PROP_CO_GLOBAL_VERSION, "global_version", Values::Number),
    read_only(DAOS_PROP_CO_SCRUBBER_DISABLED, "scrubber_disabled", Values::Words(SWITCH)),
    read_only(DAOS_PROP_CO_OBJ_VERSION, "obj_version", Values::Number),
    settable(DAOS_PROP_CO_PERF_DOMAIN, "perf_domain", Values::Choices(DOMAINS)),
];

impl Values {
    /// The number that a text stands for, if the property can have it.
    pub fn number_of(self, text: &str) -> Option<u64> {
        let number = match self {
            Self::Words(words) => {
                words.iter().position(|word| word.eq_ignore_ascii_case(text)).map(|at| at as u64)
            }
            Self::Choices(words) => {
                let word = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text));
                word.map(|(_, number)| *number).or_else(|| plain(text))
            }
            Self::Bytes(..) => plain(text).or_else(|| bytes(text)),
            Self::Number | Self::Level | Self::Status => plain(text),
            Self::Text => None,
        };
        number.filter(|number| self.can_be(*number))
    }

    /// Whether a property can have a number.
    pub fn can_be(self, number: u64) -> bool {
        match self {
            Self::Words(words) => number < words.len() as u64,
            Self::Choices(words) => words.iter().any(|(_, known)| *known == number),
            Self::Bytes(least, most, multiple) => {
                (least..=most).contains(&number) && number.is_multiple_of(multiple)
            }
            Self::Level => number > 0 && number <= u64::from(u32::MAX),
            Self::Status => [DAOS_PROP_CO_HEALTHY, DAOS_PROP_CO_UNCLEAN].contains(&status_of(number)),
            Self::Number | Self::Text => true,
        }
    }

    /// What is expected of a value, for people.
    pub fn expected(self) -> String {
        match self {
            Self::Words(words) => format!("one of {}", words.join(", ")),
            Self::Choices(words) => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Bytes(least, most, 1) => format!("{least} to {most} bytes, as in 64KiB"),
            Self::Bytes(least, most, multiple) => {
                format!("{least} to {most} bytes, a multiple of {multiple}, as in 64KiB")
            }
            Self::Level => "a number above 0".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Text => "a label".to_owned(),
            Self::Status => "healthy".to_owned(),
        }
    }
}

/// A number, decimal or with `0x` before it.
fn plain(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A number with a unit of bytes behind it, as DAOS's tools read it: `64KiB`, `64 kib` and `64ki` are 65536, and `64k` and `64KB` are 64000.
fn bytes(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at(split);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let (letter, base) = match unit.strip_suffix('i') {
        Some(letter) => (letter, 1024_u64),
        None => (unit, 1000),
    };
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == letter)?;
    digits.parse::<u64>().ok()?.checked_mul(base.checked_pow(power as u32)?)
}

impl Named {
    /// The property of a name, as it is now or was in DAOS 2.0.
    pub fn of(name: &str) -> Option<&'static Self> {
        let name = match name {
            "rf" => "rd_fac",
            "rf_lvl" => "rd_lvl",
            name => name,
        };
        NAMES.iter().find(|property| property.name == name)
    }

    /// Whether a property, by DAOS's number of it, can have a value.
    pub fn can_be(number: u32, value: u64) -> bool {
        NAMES
            .iter()
            .find(|property| property.number == number)
            .is_none_or(|property| property.values.can_be(value))
    }
}

/// A status as the value of a property: what it is, a flag, and the version of the pool's map. Layout: `DAOS_PROP_CO_STATUS_VAL`.
pub const fn status_value(status: u16, flags: u16, map_version: u32) -> u64 {
    (flags as u64) << 48 | (status as u64) << 32 | map_version as u64
}

/// What a container's status is, of the value of the property.
pub const fn status_of(value: u64) -> u16 {
    (value >> 32) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_as_daos_tools_read_them_and_values_have_their_ranges() {
        let number = |name, text| Named::of(name).unwrap().values.number_of(text);
        for (text, expected) in
            [("65536", 65_536), ("0x10000", 65_536), ("64KiB", 65_536), ("64 kib", 65_536)]
        {
            assert_eq!(number("ec_cell_sz", text), Some(expected), "{text}");
        }
        assert_eq!(
            (number("ec_cell_sz", "64k"), number("ec_cell_sz", "1MiB")),
            (Some(64_000), Some(1 << 20))
        );
        assert_eq!((number("perf_domain", "root"), number("perf_domain", "200")), (Some(255), Some(200)));
        assert_eq!((number("rf_lvl", "Node"), number("cksum", "CRC32")), (Some(2), Some(2)));
        for (name, wrong) in [
            ("ec_cell_sz", "7"),
            ("ec_cell_sz", "2MiB"),
            ("ec_cell_sz", "KiB"),
            ("ec_cell_sz", "64KiBi"),
            ("cksum_size", "4GiB"),
            ("cksum_size", "k"),
            ("dedup_threshold", "1"),
            ("perf_domain", "99999999999"),
            ("ec_pda", "0"),
            ("cksum", "md5"),
        ] {
            assert_eq!(number(name, wrong), None, "{name}:{wrong}");
        }
        assert!(Named::can_be(DAOS_PROP_CO_LAYOUT_TYPE, 8) && !Named::can_be(DAOS_PROP_CO_LAYOUT_TYPE, 9));
        assert!(Named::can_be(DAOS_PROP_CO_STATUS, status_value(DAOS_PROP_CO_UNCLEAN, 0, 3)));
    }
}
