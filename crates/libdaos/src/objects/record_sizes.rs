//! How many bytes the records under an attribute key have, where that is not one: a value under the same two keys of another object, which is
//! beside the program's and which no program may open.
//!
//! What must stay true: where there are records their size is there, too. Whoever writes or punches records relies on the size that he has
//! read, and whoever removes records removes their size in the same change. Where an engine changes one thing at a time the size stays: where
//! there are no records it says nothing.

use isotach_object::{Cell, ObjectId, ObjectType, Update};

use crate::{
    abi::errors::DER_REC_SIZE,
    runtime::error::{Result, invalid, refuse},
    transactions::scope::Scope,
};

/// The bits of an id that say how many copies there are; that of every object of a program has one set.
const COPIES: u64 = 0xff << 48;

/// Whether an object is one of this library's, in which sizes are.
pub(crate) fn has_sizes(object: ObjectId) -> bool {
    object.otype() == ObjectType::General && object.hi() & COPIES == 0
}

/// The object with the sizes of an object's records.
fn beside(object: ObjectId) -> Result<ObjectId> {
    match object.otype() {
        ObjectType::General => Ok(ObjectId::from_halves(object.hi() & !COPIES, object.lo())?),
        _ => invalid("records in a map"),
    }
}

/// Where the size of the records in a cell is.
fn size_cell(records: Cell<'_>) -> Result<Cell<'_>> {
    Ok(Cell { object: beside(records.object)?, ..records })
}

/// How many bytes a record has by what is kept, if something is.
fn told(stored: Option<Vec<u8>>) -> u64 {
    stored.and_then(|stored| stored.try_into().ok()).map_or(1, u64::from_le_bytes)
}

/// How many bytes each record in a cell has.
pub(crate) fn of(scope: &Scope, records: Cell<'_>) -> Result<u64> {
    Ok(told(scope.get(size_cell(records)?)?))
}

/// As [`of`], after what waits for the commit of the same transaction.
pub(crate) fn next(scope: &Scope, records: Cell<'_>) -> Result<u64> {
    let cell = size_cell(records)?;
    match scope.own(|own| own.value(&cell))? {
        Some(stored) => Ok(told(stored)),
        None => of(scope, records),
    }
}

/// The change of what is kept that records of so many bytes in a cell need, if any.
///
/// # Errors
/// `DER_REC_SIZE` where there are some of another size.
pub(crate) fn change<'u>(scope: &Scope, records: Cell<'u>, bytes: &'u [u8; 8]) -> Result<Option<Update<'u>>> {
    let (known, size) = (next(scope, records)?, u64::from_le_bytes(*bytes));
    if known == size {
        return Ok(None);
    }
    let has_records = match scope.own(|own| own.is_there(&records))? {
        Some(is_there) => is_there,
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

/// A removal, with that of the sizes of the records that are removed.
pub(crate) fn with_sizes<'u>(scope: &Scope, removal: Update<'u>) -> Result<Vec<Update<'u>>> {
    if removal.object().otype() != ObjectType::General || !scope.container.inner.capabilities().transactions {
        return Ok(vec![removal]);
    }
    let of_sizes = match removal {
        Update::Remove { cell } => Update::Remove { cell: size_cell(cell)? },
        Update::RemoveDkey { object, dkey } => Update::RemoveDkey { object: beside(object)?, dkey },
        Update::Destroy { object } => Update::Destroy { object: beside(object)? },
        other => other,
    };
    Ok(vec![removal, of_sizes])
}
