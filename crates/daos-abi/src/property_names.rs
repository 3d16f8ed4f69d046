//! Properties of containers by name, as DAOS's own tools write them.

use crate::properties::*;

/// What the text of a property's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// A number, decimal or with `0x` before it.
    Number,
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
    pub is_given: bool,
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
const FACTORS: &[&str] = &["0", "1", "2", "3", "4"];
const LAYOUTS: &[&str] =
    &["unknown", "POSIX", "HDF5", "PYTHON", "SPARK", "DATABASE", "ROOT", "SEISMIC", "METEO"];

const fn given(number: u32, name: &'static str, values: Values) -> Named {
    Named { number, name, values, is_given: true }
}

const fn told(number: u32, name: &'static str, values: Values) -> Named {
    Named { number, name, values, is_given: false }
}

/// The properties that have names, but for owner, group and access control list.
pub const NAMES: [Named; 22] = [
    given(DAOS_PROP_CO_LABEL, "label", Values::Text),
    told(DAOS_PROP_CO_LAYOUT_TYPE, "layout_type", Values::Words(LAYOUTS)),
    told(DAOS_PROP_CO_LAYOUT_VER, "layout_version", Values::Number),
    given(DAOS_PROP_CO_CSUM, "cksum", Values::Words(CHECKSUMS)),
    given(DAOS_PROP_CO_CSUM_CHUNK_SIZE, "cksum_size", Values::Number),
    given(DAOS_PROP_CO_CSUM_SERVER_VERIFY, "srv_cksum", Values::Words(SWITCH)),
    given(DAOS_PROP_CO_REDUN_FAC, "rd_fac", Values::Words(FACTORS)),
    told(DAOS_PROP_CO_REDUN_LVL, "rd_lvl", Values::Number),
    told(DAOS_PROP_CO_SNAPSHOT_MAX, "max_snapshot", Values::Number),
    given(DAOS_PROP_CO_COMPRESS, "compression", Values::Words(COMPRESSIONS)),
    given(DAOS_PROP_CO_ENCRYPT, "encryption", Values::Words(ENCRYPTIONS)),
    given(DAOS_PROP_CO_DEDUP, "dedup", Values::Words(DEDUPLICATIONS)),
    given(DAOS_PROP_CO_DEDUP_THRESHOLD, "dedup_threshold", Values::Number),
    told(DAOS_PROP_CO_STATUS, "status", Values::Status),
    told(DAOS_PROP_CO_ALLOCED_OID, "alloc_oid", Values::Number),
    given(DAOS_PROP_CO_EC_CELL_SZ, "ec_cell_sz", Values::Number),
    given(DAOS_PROP_CO_EC_PDA, "ec_pda", Values::Number),
    given(DAOS_PROP_CO_RP_PDA, "rp_pda", Values::Number),
    told(DAOS_PROP_CO_GLOBAL_VERSION, "global_version", Values::Number),
    told(DAOS_PROP_CO_SCRUBBER_DISABLED, "scrubber_disabled", Values::Words(SWITCH)),
    told(DAOS_PROP_CO_OBJ_VERSION, "obj_version", Values::Number),
    given(DAOS_PROP_CO_PERF_DOMAIN, "perf_domain", Values::Number),
];

impl Values {
    /// The number that a text stands for: a number, or one of the words.
    pub fn number_of(self, text: &str) -> Option<u64> {
        match self {
            Self::Words(words) => words.iter().position(|word| *word == text).map(|at| at as u64),
            _ => match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            },
        }
    }
}

impl Named {
    /// The property of a name.
    pub fn of(name: &str) -> Option<&'static Self> {
        NAMES.iter().find(|property| property.name == name)
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
