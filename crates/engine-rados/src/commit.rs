//! Transactions of one cell: preconditions and changes, in one operation on the object that holds the cell.

use isotach_object::{Cell, Error, ObjectType, Precondition, Result, Transaction, Update};

use crate::{
    arrays::{ArrayChange, Arrays, Job, Judge, Outcome, Slot},
    entry, keys,
    omaps::Condition,
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
    let conditions = &transaction.preconditions;
    let refused = match (cell.object.otype(), conditions.as_slice(), transaction.updates.last()) {
        (ObjectType::KeyValue, [] | [_], Some(update)) => {
            return commit_entry(conditions.first(), update, cell, space);
        }
        _ => {
            let judges = conditions.iter().filter_map(judge).collect();
            let changes = transaction.updates.iter().map(change).collect();
            arrays.settle(vec![Job::new(Slot::of(&cell), judges, changes)])?
        }
    };
    match refused.first() {
        Some(Outcome::Refused(judge)) => Err(conflict(conditions.get(*judge))),
        _ => Ok(()),
    }
}

fn conflict(condition: Option<&Precondition<'_>>) -> Error {
    condition.map_or_else(|| Error::Conflict { what: "a precondition".to_owned() }, Precondition::conflict)
}

/// Changes an entry under at most one condition, without reading it. Of several changes the last one counts.
fn commit_entry(
    condition: Option<&Precondition<'_>>,
    update: &Update<'_>,
    cell: Cell<'_>,
    space: &Space,
) -> Result<()> {
    let key = keys::entry_key(&cell);
    let stored = |value: &[u8]| entry::encode_value(cell.object, &key, value);
    let new = match update {
        Update::Put { value, .. } => Some(stored(value)),
        _ => None,
    };
    let wanted = match condition {
        Some(Precondition::Absent(_)) => Condition::Absent,
        Some(Precondition::Present(_)) => Condition::Present,
        Some(Precondition::Equals(_, value)) => Condition::Is(stored(value)),
        _ => {
            let mut batch = crate::omaps::Batch::default();
            batch.changes.push((&key, new.as_deref()));
            return space.omaps.write(cell.object, batch);
        }
    };
    match space.omaps.write_if(cell.object, &key, &wanted, new.as_deref())? {
        true => Ok(()),
        false => Err(conflict(condition)),
    }
}

fn judge(condition: &Precondition<'_>) -> Option<Judge> {
    match condition {
        Precondition::Absent(_) => Some(Judge::Absent),
        Precondition::Present(_) => Some(Judge::Present),
        Precondition::Equals(_, value) => Some(Judge::Equals(value.to_vec())),
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
