//! The bytes of arrays, and of records in the general form: their place, and how they are read and replaced.
//!
//! What must stay true:
//! - An array is one object. Its attribute `table` lists the places of its bytes. Its attribute `tag` is unique to each table.
//!   One operation replaces the object's own bytes and the table.
//! - All other bytes are in objects that are written once, before the table that names them, and never change.
//! - An operation that replaces a table requires the tag of the table that it started from. So no concurrent write is lost, and
//!   readers see whole writes.
//! - Records work alike, but their table is the contents of their entry.

mod change;
mod load;
mod read;
mod write;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use isotach_engine_kit::random;
use isotach_object::{Cell, ObjectId, ObjectType, Result};

use crate::{keys, options::Options, space::Space, table::Table};

pub(crate) use change::{ArrayChange, Job};
pub(crate) use read::Ended;
pub(crate) use write::Creation;

/// The attribute with the table, or where it is.
const TABLE: &str = "table";
/// The attribute with the tag of the table.
const TAG: &str = "tag";

/// What holds bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Array(ObjectId),
    /// An entry of a general object, by its stored key.
    Records(ObjectId, Vec<u8>),
}

impl Slot {
    /// The slot of a cell that may hold bytes.
    pub(crate) fn of(cell: &Cell<'_>) -> Self {
        match cell.object.otype() {
            ObjectType::Array => Self::Array(cell.object),
            _ => Self::Records(cell.object, keys::entry_key(cell)),
        }
    }

    fn object(&self) -> ObjectId {
        match self {
            Self::Array(object) | Self::Records(object, _) => *object,
        }
    }
}

/// What a slot holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    Nothing,
    /// A single value, by its stored entry.
    Value(Vec<u8>),
    /// Bytes; of records with the stored entry.
    Bytes(Table, Vec<u8>),
}

impl Held {
    pub(crate) fn table(&self) -> Option<&Table> {
        match self {
            Self::Bytes(table, _) => Some(table),
            _ => None,
        }
    }
}

/// The bytes of a container's arrays and records, as one handle reads and writes them.
#[derive(Debug)]
pub(crate) struct Arrays {
    pub(crate) space: Arc<Space>,
    /// The handle's number, with which the names of its pieces begin. Never zero.
    writer: u64,
    /// The number of its next piece.
    next: AtomicU64,
}

impl Arrays {
    pub(crate) fn new(space: Arc<Space>) -> Result<Self> {
        Ok(Self { space, writer: random::number()?.max(1), next: AtomicU64::new(0) })
    }

    fn next_piece(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// How many writes, or reads, may be under way at once.
    pub(crate) fn depth(&self) -> usize {
        self.options().depth
    }

    fn options(&self) -> &Options {
        &self.space.options
    }
}
