//! Transactions of one cell: preconditions and changes, in one operation on the object that holds the cell.

use isotach_object::{Cell, Error, ObjectId, ObjectType, Precondition, Result, Transaction, Update};

use crate::{
    arrays::{ArrayChange, Arrays, Job, Slot},
    entry, keys,
    omaps::{Batch, Condition},
    options::SCHEME,
    space::Space,
};

fn unsupported(what: &str) -> Error {
    Error::Unsupported { engine: SCHEME, what: what.to_owned() }
}

/// The one cell of a transaction; none of an empty one.
pub(crate) fn only_cell<'a>(transaction: &Transaction<'a>) -> Result<Option<Cell<'a>>> {
    let named = transaction.updates.iter().map(|update| match update {
        Update::Put { cell, .. }
        | Update::Remove { cell }
        | Update::Write { cell, .. }
        | Update::SetSize { cell, .. }
        | Update::Punch { cell, .. } => Ok(*cell),
        Update::Destroy { object } if object.otype() == ObjectType::Array => Ok(Cell::array(*object)),
        Update::RemoveDkey { .. } | Update::Destroy { .. } => {
            Err(unsupported("a transaction that removes more than one cell"))
        }
    });
    let mut only = None;
    for cell in transaction.preconditions.iter().map(|condition| Ok(condition.cell())).chain(named) {
        let cell = cell?;
        if only.is_some_and(|only| only != cell) {
            return Err(unsupported(
                "a transaction of more than one cell: Ceph changes one object at a time",
            ));
        }
        only = Some(cell);
    }
    let is_unchanged = |condition: &Precondition<'_>| matches!(condition, Precondition::Unchanged(..));
    match transaction.preconditions.iter().any(is_unchanged) {
        true => Err(unsupported("the precondition Unchanged: it keeps no history of a cell")),
        false => Ok(only),
    }
}

/// Does a transaction of one cell. What the handle took before is handed over already.
pub(crate) fn commit(
    transaction: &Transaction<'_>,
    cell: Cell<'_>,
    space: &Space,
    arrays: &Arrays,
) -> Result<()> {
    let (preconditions, key) = (&transaction.preconditions, keys::entry_key(&cell));
    let mut conditions: Vec<_> = preconditions.iter().filter_map(|one| condition(one, &key)).collect();
    let refused = match (cell.object.otype(), conditions.len(), transaction.updates.last()) {
        (ObjectType::KeyValue, 0 | 1, Some(update)) => {
            let is_done = commit_entry(conditions.pop(), update, (cell.object, &key), space)?;
            (!is_done).then_some(0)
        }
        _ => {
            let changes = transaction.updates.iter().map(change).collect();
            arrays.settle(vec![Job::new(Slot::of(&cell), conditions, changes)])?.pop().flatten()
        }
    };
    refused.map_or(Ok(()), |at| Err(preconditions[at].conflict()))
}

/// Changes an entry under at most one condition, without reading it; whether that holds. Of several changes the last one counts.
fn commit_entry(
    condition: Option<Condition>,
    update: &Update<'_>,
    (object, key): (ObjectId, &[u8]),
    space: &Space,
) -> Result<bool> {
    let new = match update {
        Update::Put { value, .. } => Some(entry::encode_value(object, key, value)),
        _ => None,
    };
    if let Some(condition) = condition {
        return space.omaps.write_if(object, key, &condition, new.as_deref());
    }
    let mut batch = Batch::default();
    batch.changes.push((key, new.as_deref()));
    space.omaps.write(object, batch).map(|()| true)
}

/// What a precondition asks of what is stored under a key. No array is equal to a value.
fn condition(precondition: &Precondition<'_>, key: &[u8]) -> Option<Condition> {
    match precondition {
        Precondition::Absent(_) => Some(Condition::Absent),
        Precondition::Present(_) => Some(Condition::Present),
        Precondition::Equals(cell, value) => {
            Some(Condition::Is(entry::encode_value(cell.object, key, value)))
        }
        // Refused before.
        Precondition::Unchanged(..) => None,
    }
}

fn change(update: &Update<'_>) -> ArrayChange {
    match *update {
        Update::Put { value, .. } => ArrayChange::Put(value.to_vec()),
        Update::Write { offset, data, .. } => ArrayChange::Write { offset, data: data.to_vec() },
        Update::SetSize { size, .. } => ArrayChange::SetSize(size),
        Update::Punch { offset, length, .. } => ArrayChange::Punch { offset, length },
        Update::Remove { .. } | Update::RemoveDkey { .. } | Update::Destroy { .. } => ArrayChange::Remove,
    }
}
