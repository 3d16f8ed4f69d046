//! What a caller asks an engine to change: cells, updates, preconditions, transactions.
//!
//! An update is atomic by itself. The updates of a [`Transaction`] count at one epoch, and only if all its
//! preconditions hold at that place in the container's history, before its own updates.
//!
//! A cell of the general form holds a value or bytes, as the last write decides: `Put` drops bytes, `Write`
//! and `SetSize` drop a value. `Punch` only makes holes in bytes that are there: it creates and drops
//! nothing. An attribute key, a distribution key and an object are there as long as they hold something, so
//! removing the last attribute key of a distribution key removes that too.

use std::fmt;

use crate::{Epoch, Error, ObjectClass, ObjectId, ObjectType, Result};

/// The longest key (KV key, distribution key or attribute key), in bytes. The shortest is 1.
pub const MAX_KEY: usize = 65_535;

/// The largest value of a KV entry or of a single value, in bytes. Larger things are arrays.
pub const MAX_VALUE: usize = 64 << 20;

/// Shows bytes in few words: short ones as text, and of long ones the beginning, the length and a sum.
#[derive(Clone, Copy)]
pub struct Brief<'a>(pub &'a [u8]);

impl fmt::Debug for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Brief(bytes) = self;
        if bytes.len() <= 24 {
            return write!(f, "\"{}\"", bytes.escape_ascii());
        }
        let sum = bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
        write!(f, "<{} bytes, \"{}\"..., sum {sum:08x}>", bytes.len(), bytes[..8].escape_ascii())
    }
}

/// The address of one value: a KV entry, an array, or a value in the general form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell<'a> {
    /// The object.
    pub object: ObjectId,
    /// The KV key or the distribution key; empty for an array.
    pub dkey: &'a [u8],
    /// The attribute key; empty for a KV entry and for an array.
    pub akey: &'a [u8],
}

impl fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { object, dkey, akey } = self;
        write!(f, "{:?}-{}[{:?} {:?}]", object.otype(), object.lo(), Brief(dkey), Brief(akey))
    }
}

impl<'a> Cell<'a> {
    /// The entry of a KV object under `key`.
    pub const fn kv(object: ObjectId, key: &'a [u8]) -> Self {
        Self { object, dkey: key, akey: &[] }
    }

    /// The bytes of an array object.
    pub const fn array(object: ObjectId) -> Self {
        Self { object, dkey: &[], akey: &[] }
    }

    /// A value in the general form. The same attribute key holds either a single value or records.
    pub const fn general(object: ObjectId, dkey: &'a [u8], akey: &'a [u8]) -> Self {
        Self { object, dkey, akey }
    }

    /// Refuses a cell that does not fit the type of its object, or a key of a forbidden length.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn check(&self) -> Result<()> {
        let expected = match self.object.otype() {
            ObjectType::KeyValue if self.akey.is_empty() => return check_key("key", self.dkey),
            ObjectType::KeyValue => "a key, and no attribute key, for a key-value object",
            ObjectType::Array if self.dkey.is_empty() && self.akey.is_empty() => return Ok(()),
            ObjectType::Array => "no keys for an array",
            ObjectType::System => return Err(not_a_callers(self.object)),
            ObjectType::General => {
                check_key("distribution key", self.dkey)?;
                return check_key("attribute key", self.akey);
            }
        };
        Err(Error::invalid(format!("keys given for object {}", self.object), expected))
    }

    /// Refuses a cell that cannot hold a value (an array); also for reading one.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn check_value(&self) -> Result<()> {
        match self.object.otype() {
            ObjectType::Array => Err(wrong_type(self.object, "a key-value or general object for a value")),
            _ => self.check(),
        }
    }

    /// Refuses a cell that cannot hold bytes at an offset (a KV entry); also for reading them.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn check_extent(&self) -> Result<()> {
        match self.object.otype() {
            ObjectType::KeyValue => {
                Err(wrong_type(self.object, "an array or general object for bytes at an offset"))
            }
            _ => self.check(),
        }
    }
}

fn wrong_type(object: ObjectId, expected: &str) -> Error {
    Error::invalid(format!("object {object} of type {:?}", object.otype()), expected)
}

/// An object of the engine's, which no operation takes.
fn not_a_callers(object: ObjectId) -> Error {
    wrong_type(object, "an object of the caller's")
}

fn check_key(what: &str, key: &[u8]) -> Result<()> {
    if (1..=MAX_KEY).contains(&key.len()) {
        return Ok(());
    }
    Err(Error::invalid(format!("{what} of {} bytes", key.len()), format!("1 to {MAX_KEY} bytes")))
}

/// One change. Offsets, lengths and sizes are in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Update<'a> {
    /// Sets a KV entry or a single value, whole. An empty value is present.
    Put {
        /// Where.
        cell: Cell<'a>,
        /// The new value.
        value: &'a [u8],
    },
    /// Removes a KV entry, or a value or the records of an attribute key. Removing an absent cell succeeds.
    Remove {
        /// Where.
        cell: Cell<'a>,
    },
    /// Writes bytes into an array or into the records of an attribute key; creates it if it is absent.
    /// As in POSIX, a write of no bytes does not change the size, wherever it is; it creates an empty array.
    Write {
        /// Where.
        cell: Cell<'a>,
        /// The first byte written.
        offset: u64,
        /// The bytes.
        data: &'a [u8],
    },
    /// Sets the size: shrinking drops bytes, growing adds a hole. Creates the array if it is absent.
    SetSize {
        /// Where.
        cell: Cell<'a>,
        /// The new size.
        size: u64,
    },
    /// Makes a hole, which reads as zeros. The size stays. Where there are no bytes it does nothing.
    Punch {
        /// Where.
        cell: Cell<'a>,
        /// The first byte of the hole.
        offset: u64,
        /// Its length; what lies past the end is ignored.
        length: u64,
    },
    /// Removes a distribution key with all its attribute keys.
    RemoveDkey {
        /// The object, of the general form.
        object: ObjectId,
        /// The distribution key.
        dkey: &'a [u8],
    },
    /// Removes an object with everything in it. It may be written again afterwards.
    Destroy {
        /// The object, of any type.
        object: ObjectId,
    },
}

impl fmt::Debug for Update<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put { cell, value } => write!(f, "put {cell:?} {:?}", Brief(value)),
            Self::Remove { cell } => write!(f, "remove {cell:?}"),
            Self::Write { cell, offset, data } => write!(f, "write {cell:?} at {offset} {:?}", Brief(data)),
            Self::SetSize { cell, size } => write!(f, "set size of {cell:?} to {size}"),
            Self::Punch { cell, offset, length } => write!(f, "punch {cell:?} at {offset} for {length}"),
            Self::RemoveDkey { object, dkey } => write!(f, "remove dkey {object} {:?}", Brief(dkey)),
            Self::Destroy { object } => write!(f, "destroy {object}"),
        }
    }
}

impl<'a> Update<'a> {
    /// The object that is changed.
    pub fn object(&self) -> ObjectId {
        self.scope().object
    }

    /// The cell that is changed. Without an attribute key or both keys it stands for everything under the distribution key or in
    /// the object.
    pub fn scope(&self) -> Cell<'a> {
        match *self {
            Self::Put { cell, .. }
            | Self::Remove { cell }
            | Self::Write { cell, .. }
            | Self::SetSize { cell, .. }
            | Self::Punch { cell, .. } => cell,
            Self::RemoveDkey { object, dkey } => Cell { object, dkey, akey: &[] },
            Self::Destroy { object } => Cell { object, dkey: &[], akey: &[] },
        }
    }

    /// Refuses what no engine may take: a wrong type, a key or value of a forbidden size, an extent past
    /// 2^63 - 1. Every engine calls this first, so that all refuse alike.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Put { cell, value } if value.len() > MAX_VALUE => Err(Error::invalid(
                format!("value of {} bytes for object {}", value.len(), cell.object),
                format!("at most {MAX_VALUE} bytes; an array holds more"),
            )),
            Self::Put { cell, .. } => cell.check_value(),
            Self::Remove { cell } if cell.object.otype() == ObjectType::Array => {
                Err(wrong_type(cell.object, "a key-value or general object; an array is destroyed whole"))
            }
            Self::Remove { cell } => cell.check(),
            Self::Write { cell, offset, data } => {
                check_end(*offset, data.len() as u64).and(cell.check_extent())
            }
            Self::SetSize { cell, size } => check_end(*size, 0).and(cell.check_extent()),
            Self::Punch { cell, offset, .. } => check_end(*offset, 0).and(cell.check_extent()),
            Self::RemoveDkey { object, dkey } => match object.otype() {
                ObjectType::General => check_key("distribution key", dkey),
                _ => Err(wrong_type(*object, "a general object for a distribution key")),
            },
            Self::Destroy { object } if object.otype() == ObjectType::System => Err(not_a_callers(*object)),
            Self::Destroy { .. } => Ok(()),
        }
    }

    /// As [`Update::check`], and refuses a redundant object class where the engine keeps one copy.
    ///
    /// # Errors
    /// [`Error::InvalidInput`], [`Error::Unsupported`].
    pub fn check_for(&self, engine: &'static str, redundancy: bool) -> Result<()> {
        check_class(self.object().class(), engine, redundancy)?;
        self.check()
    }
}

fn check_class(class: ObjectClass, engine: &'static str, redundancy: bool) -> Result<()> {
    if class.is_redundant() && !redundancy {
        return Err(Error::Unsupported { engine, what: format!("object class {class}: it keeps one copy") });
    }
    Ok(())
}

fn check_end(offset: u64, length: u64) -> Result<()> {
    match offset.checked_add(length) {
        Some(end) if end <= i64::MAX as u64 => Ok(()),
        _ => Err(Error::invalid(format!("extent of {length} bytes at {offset}"), "an end below 2^63")),
    }
}

/// What must hold at the transaction's place in the history for it to count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Precondition<'a> {
    /// The cell holds nothing.
    Absent(Cell<'a>),
    /// The cell holds something.
    Present(Cell<'a>),
    /// The KV entry or single value is present and equals this. Records never equal a value.
    Equals(Cell<'a>, &'a [u8]),
    /// No update has named the cell after this epoch: the read set of a transaction. An update names its
    /// cell whether or not it finds anything there; `RemoveDkey` and `Destroy` name every cell under them,
    /// also those that never were. So the answer follows from the history alone.
    /// An engine need not keep the history for ever: an epoch from long ago may fail without a change. One without
    /// [`crate::Capabilities::transactions`] keeps none, and refuses this; one without [`crate::Capabilities::history`] compares what
    /// the cell holds with what it held at the epoch.
    Unchanged(Cell<'a>, Epoch),
}

impl fmt::Debug for Precondition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(cell) => write!(f, "{cell:?} is absent"),
            Self::Present(cell) => write!(f, "{cell:?} is present"),
            Self::Equals(cell, value) => write!(f, "{cell:?} equals {:?}", Brief(value)),
            Self::Unchanged(cell, epoch) => write!(f, "{cell:?} is unchanged since epoch {epoch}"),
        }
    }
}

impl<'a> Precondition<'a> {
    /// The cell it speaks of.
    pub fn cell(&self) -> Cell<'a> {
        match self {
            Self::Absent(cell) | Self::Present(cell) | Self::Equals(cell, _) | Self::Unchanged(cell, _) => {
                *cell
            }
        }
    }

    /// Refuses what no engine may take.
    ///
    /// # Errors
    /// [`Error::InvalidInput`].
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Equals(cell, _) => cell.check_value(),
            _ => self.cell().check(),
        }
    }

    /// The conflict to report when it does not hold.
    pub fn conflict(&self) -> Error {
        let cell = self.cell();
        let expected = match self {
            Self::Absent(_) => "exists already",
            Self::Present(_) => "does not exist",
            Self::Equals(..) => "does not have the expected value",
            Self::Unchanged(..) => "was changed by another writer",
        };
        let key = String::from_utf8_lossy(cell.dkey);
        Error::Conflict { what: format!("object {} key {key:?} {expected}", cell.object) }
    }
}

/// Updates of one container that become visible together, or not at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transaction<'a> {
    /// What must hold.
    pub preconditions: Vec<Precondition<'a>>,
    /// What is changed, in this order.
    pub updates: Vec<Update<'a>>,
}

impl<'a> Transaction<'a> {
    /// An empty transaction.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a precondition.
    #[must_use]
    pub fn require(mut self, precondition: Precondition<'a>) -> Self {
        self.preconditions.push(precondition);
        self
    }

    /// Adds an update.
    #[must_use]
    pub fn update(mut self, update: Update<'a>) -> Self {
        self.updates.push(update);
        self
    }

    /// Checks every part for an engine with this name and redundancy; see [`Update::check_for`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`], [`Error::Unsupported`].
    pub fn check_for(&self, engine: &'static str, redundancy: bool) -> Result<()> {
        self.preconditions.iter().try_for_each(Precondition::check)?;
        self.updates.iter().try_for_each(|update| update.check_for(engine, redundancy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(otype: ObjectType) -> ObjectId {
        ObjectId::new(otype, ObjectClass::S1, 0, 1)
    }

    #[test]
    fn each_update_is_refused_for_the_wrong_type_of_object() {
        let (kv, array) = (object(ObjectType::KeyValue), object(ObjectType::Array));
        let system = object(ObjectType::System);
        let wrong = [
            Update::Put { cell: Cell::array(array), value: b"x" },
            Update::Put { cell: Cell::kv(array, b"k"), value: b"x" },
            Update::Write { cell: Cell::kv(kv, b"k"), offset: 0, data: b"x" },
            Update::RemoveDkey { object: kv, dkey: b"k" },
            Update::Remove { cell: Cell::array(array) },
            Update::Put { cell: Cell::kv(kv, b""), value: b"x" },
            Update::Put { cell: Cell::general(object(ObjectType::General), b"d", b""), value: b"x" },
            Update::Write { cell: Cell::array(array), offset: u64::MAX, data: b"x" },
            Update::Destroy { object: system },
            Update::Put { cell: Cell::kv(system, b"k"), value: b"x" },
            Update::Remove { cell: Cell::general(system, b"d", b"a") },
            Update::Write { cell: Cell::array(system), offset: 0, data: b"x" },
            Update::RemoveDkey { object: system, dkey: b"k" },
        ];
        for update in wrong {
            assert_eq!(update.check().unwrap_err().code(), "invalid-input", "{update:?}");
        }
    }

    #[test]
    fn a_redundant_class_is_refused_by_an_engine_that_keeps_one_copy() {
        let id = ObjectId::new(ObjectType::KeyValue, ObjectClass::RP_2G1, 0, 1);
        let update = Update::Put { cell: Cell::kv(id, b"k"), value: b"" };
        assert_eq!(update.check_for("posix", false).unwrap_err().code(), "unsupported");
        assert!(update.check_for("daos", true).is_ok());
    }
}
