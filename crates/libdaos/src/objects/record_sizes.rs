//! The size of the records under an attribute key, where it is not one byte. It is a value under the same two keys of a companion object that
//! no program may open.
//!
//! What must stay true: wherever there are records, their size exists too. A write or a punch of records is conditional on the size that was
//! read, and a removal of records removes their size in the same transaction. On an engine without transactions the size stays; without
//! records it means nothing.

use isotach_object::{Cell, ObjectId, ObjectType, Update};

use crate::{
    abi::errors::DER_REC_SIZE,
    runtime::error::{Result, invalid, refuse},
    transactions::scope::Scope,
};

/// The bits of an id with the number of copies. Every object of a program has at least one of them set.
const COPIES: u64 = 0xff << 48;

/// Whether an object is a companion with sizes.
pub(crate) fn has_sizes(object: ObjectId) -> bool {
    object.otype() == ObjectType::General && object.hi() & COPIES == 0
}

/// The companion object with the sizes of an object's records.
fn companion(object: ObjectId) -> Result<ObjectId> {
    match object.otype() {
        ObjectType::General => Ok(ObjectId::from_halves(object.hi() & !COPIES, object.lo())?),
        _ => invalid("records in a map"),
    }
}

/// The cell with the size of the records in a cell.
fn size_cell(records: Cell<'_>) -> Result<Cell<'_>> {
    Ok(Cell { object: companion(records.object)?, ..records })
}

/// The size of a record: the stored one, or one byte.
fn size_in(stored: Option<Vec<u8>>) -> u64 {
    stored.and_then(|stored| stored.try_into().ok()).map_or(1, u64::from_le_bytes)
}

/// The size of each record in a cell.
pub(crate) fn of(scope: &Scope, records: Cell<'_>) -> Result<u64> {
    Ok(size_in(scope.get(size_cell(records)?)?))
}

/// As [`of`], after the waiting updates of the same transaction.
pub(crate) fn next(scope: &Scope, records: Cell<'_>) -> Result<u64> {
    let cell = size_cell(records)?;
    match scope.own(|own| own.value(&cell))? {
        Some(stored) => Ok(size_in(stored)),
        None => of(scope, records),
    }
}

/// The update of the stored size that a write of records of this size needs, if any.
///
/// # Errors
/// `DER_REC_SIZE` if the cell holds records of another size.
pub(crate) fn change<'u>(scope: &Scope, records: Cell<'u>, bytes: &'u [u8; 8]) -> Result<Option<Update<'u>>> {
    let (known, size) = (next(scope, records)?, u64::from_le_bytes(*bytes));
    if known == size {
        return Ok(None);
    }
    let has_records = match scope.own(|own| own.exists(&records))? {
        Some(exists) => exists,
        None => scope.size(records)?.is_some() && scope.get(records)?.is_none(),
    };
    let cell = size_cell(records)?;
    match size {
        _ if has_records => {
            refuse(DER_REC_SIZE, &format!("records of {size} bytes where there are some of {known}"))
        }
        1 => Ok(Some(Update::Remove { cell })),
        _ => Ok(Some(Update::Put { cell, value: bytes })),
    }
}

/// A removal, together with that of the sizes of the removed records.
pub(crate) fn with_sizes<'u>(scope: &Scope, removal: Update<'u>) -> Result<Vec<Update<'u>>> {
    if removal.object().otype() != ObjectType::General || !scope.container.inner.capabilities().transactions {
        return Ok(vec![removal]);
    }
    let of_sizes = match removal {
        Update::Remove { cell } => Update::Remove { cell: size_cell(cell)? },
        Update::RemoveDkey { object, dkey } => Update::RemoveDkey { object: companion(object)?, dkey },
        Update::Destroy { object } => Update::Destroy { object: companion(object)? },
        other => other,
    };
    Ok(vec![removal, of_sizes])
}
