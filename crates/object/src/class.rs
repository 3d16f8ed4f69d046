//! Object classes: how an object asks for striping and redundancy, by DAOS's names and numbers.
//!
//! A class is `redundancy << 24 | groups`; `groups` 0xffff means as many as the pool has (written X).
//! Source: DAOS `daos_obj_class.h`.

use std::{fmt, str::FromStr};

use crate::Error;

/// An object class such as `S1`, `SX`, `RP_2G1` or `EC_4P1GX`.
///
/// ```
/// use isotach_object::ObjectClass;
/// assert_eq!("SX".parse::<ObjectClass>()?, ObjectClass::SX);
/// assert_eq!("RP_2G1".parse::<ObjectClass>()?.to_string(), "RP_2G1");
/// assert_eq!(ObjectClass::S1.id(), 0x100_0001);
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectClass {
    redundancy: u8,
    groups: u16,
}

/// Redundancy numbers and the names they print as, before the group count.
const REDUNDANCY: [(u8, &str); 25] = [
    (1, "S"),
    (8, "RP_2G"),
    (9, "RP_3G"),
    (10, "RP_4G"),
    (11, "RP_5G"),
    (12, "RP_6G"),
    (13, "RP_8G"),
    (14, "RP_12G"),
    (15, "RP_16G"),
    (16, "RP_24G"),
    (17, "RP_32G"),
    (18, "RP_48G"),
    (19, "RP_64G"),
    (20, "RP_128G"),
    (0x20, "EC_2P1G"),
    (0x21, "EC_2P2G"),
    (0x22, "EC_4P1G"),
    (0x23, "EC_4P2G"),
    (0x24, "EC_8P1G"),
    (0x25, "EC_8P2G"),
    (0x26, "EC_16P1G"),
    (0x27, "EC_16P2G"),
    (0x28, "EC_4P3G"),
    (0x29, "EC_8P3G"),
    (0x2a, "EC_16P3G"),
];

/// The group count that stands for "as many as there are".
const ALL_GROUPS: u16 = 0xffff;

impl ObjectClass {
    /// One shard: the class of a small index or of one field.
    pub const S1: Self = Self { redundancy: 1, groups: 1 };
    /// Two shards.
    pub const S2: Self = Self { redundancy: 1, groups: 2 };
    /// A shard on every target.
    pub const SX: Self = Self { redundancy: 1, groups: ALL_GROUPS };
    /// Two replicas, one group.
    pub const RP_2G1: Self = Self { redundancy: 8, groups: 1 };
    /// Erasure code, 4 data and 1 parity cells, one group.
    pub const EC_4P1G1: Self = Self { redundancy: 0x22, groups: 1 };

    /// The class with these parts of an object id, whether or not it has a name.
    pub fn from_parts(redundancy: u8, groups: u16) -> Self {
        Self { redundancy, groups }
    }

    /// DAOS's number of the class.
    pub const fn id(self) -> u32 {
        (self.redundancy as u32) << 24 | self.groups as u32
    }

    /// The redundancy number, bits 63..56 of a class and 55..48 of an object id's high half.
    pub const fn redundancy(self) -> u8 {
        self.redundancy
    }

    /// The number of groups (stripes); 0xffff for all.
    pub const fn groups(self) -> u16 {
        self.groups
    }

    /// Whether the redundancy number is one of DAOS's.
    pub fn is_known(self) -> bool {
        REDUNDANCY.iter().any(|(number, _)| *number == self.redundancy)
    }

    /// Whether the class asks for more than one copy or for parity, which an engine must have or refuse.
    pub fn is_redundant(self) -> bool {
        self.redundancy > 1
    }
}

impl fmt::Display for ObjectClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((_, name)) = REDUNDANCY.iter().find(|(number, _)| *number == self.redundancy) else {
            return write!(f, "0x{:x}", self.id());
        };
        if self.groups == ALL_GROUPS { write!(f, "{name}X") } else { write!(f, "{name}{}", self.groups) }
    }
}

impl fmt::Debug for ObjectClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ObjectClass {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong =
            || Error::invalid(format!("object class {text:?}"), "a name such as S1, SX, RP_2G1 or EC_4P1GX");
        let split = text.rfind(|c: char| !c.is_ascii_digit() && c != 'X').map_or(0, |at| at + 1);
        let (name, groups) = text.split_at(split);
        let (redundancy, _) = REDUNDANCY.iter().find(|(_, known)| *known == name).ok_or_else(wrong)?;
        let groups = match groups {
            "X" => ALL_GROUPS,
            digits => digits.parse().ok().filter(|n| *n > 0 && *n < ALL_GROUPS).ok_or_else(wrong)?,
        };
        Ok(Self { redundancy: *redundancy, groups })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_reads_back_from_its_name_and_has_the_number_of_daos() {
        for (redundancy, _) in REDUNDANCY {
            for groups in [1, 2, 32, ALL_GROUPS] {
                let class = ObjectClass { redundancy, groups };
                assert_eq!(class.to_string().parse::<ObjectClass>().unwrap(), class);
            }
        }
        let ids = [("S1", 0x100_0001), ("SX", 0x100_ffff), ("RP_2GX", 0x800_ffff), ("EC_8P2GX", 0x2500_ffff)];
        for (name, id) in ids {
            assert_eq!(name.parse::<ObjectClass>().unwrap().id(), id, "{name}");
        }
    }

    #[test]
    fn a_name_that_is_no_class_is_refused() {
        for name in ["", "S", "S0", "Q1", "RP_2", "S1X", "EC_4P1", "s1"] {
            assert!(name.parse::<ObjectClass>().is_err(), "{name}");
        }
    }
}
