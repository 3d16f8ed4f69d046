//! Object ids: 128 bits, of which 96 are the caller's.
//!
//! The encoding is DAOS's: in the high half, bits 63..56 are the object type, 55..48 the redundancy of the
//! class and 47..32 its group count; the low 32 bits of the high half and the whole low half belong to the
//! caller. Source: DAOS `daos_obj.h`, `daos_obj_generate_oid`.

use std::{fmt, ops::Range, str::FromStr};

use crate::{Error, ObjectClass};

/// What an object is; the value is that of DAOS's `daos_otype_t` for it. An id may also carry another number of the same kind
/// (DAOS's types with integer or sorted keys, and its arrays with attributes), which makes it another id and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ObjectType {
    /// The general form: values under a distribution key and an attribute key (`DAOS_OT_MULTI_HASHED`).
    General = 0,
    /// A flat map from keys to values (`DAOS_OT_KV_HASHED`).
    KeyValue = 8,
    /// An array of bytes (`DAOS_OT_ARRAY_BYTE`).
    Array = 13,
    /// The engine's own: it keeps there what belongs to the container and to no caller, such as the names of snapshots.
    /// No operation takes such an object, and no listing shows one.
    System = 255,
}

impl ObjectType {
    fn from_number(number: u8) -> Option<Self> {
        match number {
            0 | 2..=7 => Some(Self::General),
            8..=10 => Some(Self::KeyValue),
            11..=13 => Some(Self::Array),
            255 => Some(Self::System),
            _ => None,
        }
    }
}

/// The name of an object within its container.
///
/// ```
/// use isotach_object::{ObjectClass, ObjectId, ObjectType};
/// let id = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 7);
/// assert_eq!(id.to_string(), "08010001000000000000000000000007");
/// assert_eq!(id.to_string().parse::<ObjectId>()?, id);
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    hi: u64,
    lo: u64,
}

impl ObjectId {
    /// The id with this type and class and the caller's 96 bits (32 in `user_hi`, 64 in `user_lo`).
    pub const fn new(otype: ObjectType, class: ObjectClass, user_hi: u32, user_lo: u64) -> Self {
        let class_bits = (class.redundancy() as u64) << 48 | (class.groups() as u64) << 32;
        Self { hi: (otype as u64) << 56 | class_bits | user_hi as u64, lo: user_lo }
    }

    /// The id with these two halves.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] when the type bits name no [`ObjectType`].
    pub fn from_halves(hi: u64, lo: u64) -> Result<Self, Error> {
        let number = (hi >> 56) as u8;
        if ObjectType::from_number(number).is_none() {
            return Err(Error::invalid(
                format!("object id {hi:016x}{lo:016x} of type {number}"),
                "type 0 or 2 to 7 (general), 8 to 10 (key-value) or 11 to 13 (array); 255 is the engine's",
            ));
        }
        Ok(Self { hi, lo })
    }

    /// The high half: type, class, and 32 bits of the caller's.
    pub const fn hi(self) -> u64 {
        self.hi
    }

    /// The low half: 64 bits of the caller's.
    pub const fn lo(self) -> u64 {
        self.lo
    }

    /// What the object is.
    pub fn otype(self) -> ObjectType {
        // Every constructor admits only known types; the general form reads any id.
        ObjectType::from_number((self.hi >> 56) as u8).unwrap_or(ObjectType::General)
    }

    /// Refuses an object of another type.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn expect_type(self, wanted: ObjectType) -> Result<(), Error> {
        if self.otype() == wanted {
            return Ok(());
        }
        let found = format!("object {self} of type {:?}", self.otype());
        Err(Error::invalid(found, format!("an object of type {wanted:?}")))
    }

    /// The class it asks for.
    pub fn class(self) -> ObjectClass {
        ObjectClass::from_parts((self.hi >> 48) as u8, (self.hi >> 32) as u16)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.hi, self.lo)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ObjectId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::invalid(format!("object id {text:?}"), "32 hexadecimal digits");
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let half = |digits| u64::from_str_radix(digits, 16).map_err(|_| wrong());
        Self::from_halves(half(&text[..16])?, half(&text[16..])?)
    }
}

/// Low halves of object ids that a container hands out once and never again: `[start, end)`.
pub type IdRange = Range<u64>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_stand_where_daos_puts_them() {
        let id = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);
        assert_eq!(id.hi(), 0x0801_0001_0000_0000);
        let id = ObjectId::new(ObjectType::Array, ObjectClass::SX, 0xdead_beef, u64::MAX);
        assert_eq!((id.hi(), id.lo()), (0x0d01_ffff_dead_beef, u64::MAX));
        assert_eq!((id.otype(), id.class()), (ObjectType::Array, ObjectClass::SX));
    }

    #[test]
    fn ids_of_types_of_one_kind_are_of_that_kind_and_not_the_same() {
        let kinds =
            [(8..=10, ObjectType::KeyValue), (11..=13, ObjectType::Array), (2..=7, ObjectType::General)];
        for (numbers, kind) in kinds {
            let ids: Vec<_> =
                numbers.map(|number| ObjectId::from_halves(number << 56 | 1 << 48, 7).unwrap()).collect();
            assert!(ids.iter().all(|id| id.otype() == kind), "{ids:?}");
            assert!(ids.windows(2).all(|two| two[0] != two[1]), "{ids:?}");
        }
    }

    #[test]
    fn an_unknown_type_or_a_malformed_text_is_refused() {
        for (number, what) in [(1, "DAOS's own"), (14, "DAOS's own"), (99, "unknown")] {
            assert!(ObjectId::from_halves(number << 56, 0).is_err(), "type {number}, {what}");
        }
        for text in ["", "08", "zz010001000000000000000000000007", "+8010001000000000000000000000007"] {
            assert!(text.parse::<ObjectId>().is_err(), "{text}");
        }
    }
}
