//! What is to be done to the bytes of a slot, and what comes of it.

use isotach_object::ObjectId;

use super::{Held, Slot};
use crate::{
    omaps::Condition,
    table::{Piece, Table},
};

/// One change of what a slot holds.
#[derive(Debug, Clone)]
pub(crate) enum ArrayChange {
    Write {
        offset: u64,
        data: Vec<u8>,
    },
    SetSize(u64),
    Punch {
        offset: u64,
        length: u64,
    },
    Remove,
    /// A single value, in the general form.
    Put(Vec<u8>),
}

/// Changes of one slot, which happen together.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) slot: Slot,
    /// What must hold of what is stored.
    conditions: Vec<Condition>,
    pub(crate) changes: Vec<ArrayChange>,
    /// For each change the pieces that its bytes were stored in, once they are.
    pub(super) pieces: Vec<Option<Vec<Piece>>>,
}

/// What a slot is to hold.
#[derive(Debug)]
pub(super) enum Next {
    /// What it holds.
    Same,
    Nothing,
    Value(Vec<u8>),
    /// Bytes that are all in pieces.
    Pieces(Table),
    /// Bytes that are all of one change, by its number.
    Own(usize),
}

impl Job {
    pub(crate) fn new(slot: Slot, conditions: Vec<Condition>, changes: Vec<ArrayChange>) -> Self {
        let pieces = changes.iter().map(|_| None).collect();
        Self { slot, conditions, changes, pieces }
    }

    pub(super) fn object(&self) -> ObjectId {
        self.slot.object()
    }

    /// The first condition that fails. One on a value never holds of bytes.
    pub(super) fn refused(&self, held: &Held) -> Option<usize> {
        let stored = match held {
            Held::Nothing => None,
            Held::Value(stored) => Some(stored.as_slice()),
            Held::Bytes(..) => Some(&[][..]),
        };
        self.conditions.iter().position(|condition| !condition.holds(stored))
    }

    /// The change whose bytes are the whole array, if it exists and has at most so many bytes.
    pub(super) fn whole(&self, held: &Held, most: usize) -> Option<usize> {
        let number = self.changes.len().checked_sub(1)?;
        let ArrayChange::Write { offset: 0, data } = &self.changes[number] else { return None };
        let size = self.changes[..number].iter().fold(held.table().map_or(0, |table| table.size), grown);
        let is_whole = !data.is_empty() && data.len() <= most && data.len() as u64 >= size;
        (matches!(self.slot, Slot::Array(_)) && is_whole).then_some(number)
    }

    /// What the slot is to hold after the changes. All bytes have been stored in pieces.
    pub(super) fn next(&self, held: &Held) -> Next {
        let mut next = Next::Same;
        for (change, pieces) in self.changes.iter().zip(&self.pieces) {
            next = match change {
                ArrayChange::Remove => Next::Nothing,
                ArrayChange::Put(value) => Next::Value(value.clone()),
                // It creates nothing, and drops nothing.
                ArrayChange::Punch { offset, length } => table_before(next, held).map_or_else(
                    |next| next,
                    |mut table| {
                        table.punch(*offset, *length);
                        Next::Pieces(table)
                    },
                ),
                ArrayChange::SetSize(size) => {
                    let mut table = table_before(next, held).unwrap_or_default();
                    table.set_size(*size);
                    Next::Pieces(table)
                }
                ArrayChange::Write { .. } => {
                    let mut table = table_before(next, held).unwrap_or_default();
                    table.write(pieces.as_deref().unwrap_or_default());
                    Next::Pieces(table)
                }
            };
        }
        next
    }
}

/// The bytes that a change is applied to, or the stored ones.
fn table_before(next: Next, held: &Held) -> Result<Table, Next> {
    match next {
        Next::Same => held.table().cloned().ok_or(Next::Same),
        Next::Pieces(table) => Ok(table),
        other => Err(other),
    }
}

/// The size after one more change.
fn grown(size: u64, change: &ArrayChange) -> u64 {
    match change {
        ArrayChange::Write { data, .. } if data.is_empty() => size,
        ArrayChange::Write { offset, data } => size.max(offset + data.len() as u64),
        ArrayChange::SetSize(size) => *size,
        ArrayChange::Punch { .. } => size,
        ArrayChange::Remove | ArrayChange::Put(_) => 0,
    }
}
