//! Applying changes by calls of DAOS.

use isotach_object::{Cell, ObjectId, ObjectType};

use crate::{
    changes::{CellChange, Changes, ObjectChanges},
    edits::{Edit, Effect, effect},
    failure::{InStep, Step},
    ffi::{AkeyUpdate, Operation, Tx, Update, Write},
    keys::{self, MARK, MARKED, ONLY, RECORDS, SIZE, VALUE, suffixed},
    read,
    space::Space,
};

/// Makes all changes in a transaction.
pub(crate) fn changes(space: &Space, tx: &Tx, changes: &Changes) -> Step<()> {
    changes.objects.iter().try_for_each(|(object, changes)| {
        clearing(space, Some(tx), *object, changes)?;
        changes.cells.iter().try_for_each(|((dkey, akey), change)| {
            let cell = Cell { object: *object, dkey, akey };
            one(space, tx, &cell, change)
        })
    })
}

/// Makes the removals that come before changes of cells.
pub(crate) fn clearing(
    space: &Space,
    tx: Option<&Tx>,
    object: ObjectId,
    changes: &ObjectChanges,
) -> Step<()> {
    if changes.is_destroyed {
        let what = || format!("remove object {object} of container {}", space.label);
        let removed = match object.otype() {
            ObjectType::Array => space.array(object).and_then(|array| array.destroy(tx)),
            _ => space.object(space.id(object)).and_then(|object| object.punch(tx)),
        };
        removed.in_step(what)?;
    }
    changes.dkeys.iter().try_for_each(|dkey| {
        let punched = space.object(space.id(object)).and_then(|object| object.punch_dkey(tx, dkey));
        punched
            .in_step(|| format!("remove a distribution key of object {object} of container {}", space.label))
    })
}

/// Whether a change of one cell is one call of DAOS, and so atomic without a transaction.
pub(crate) fn is_one_call(space: &Space, object: ObjectId, change: &CellChange) -> bool {
    match change {
        // A value replaces records, which have to be removed.
        CellChange::Value(_) => object.otype() == ObjectType::KeyValue,
        CellChange::Removed => true,
        CellChange::Bytes { edits, .. } => match edits.as_slice() {
            [Edit::Write { offset, data }] if object.otype() == ObjectType::Array => {
                let end = offset + data.len() as u64;
                !data.is_empty() && offset / space.chunk == (end - 1) / space.chunk
            }
            _ => false,
        },
    }
}

/// The update that stores a value.
pub(crate) fn put<'d>(space: &Space, tx: Option<&Tx>, cell: &Cell<'d>, value: &'d [u8]) -> Step<Update<'d>> {
    let object = space.object(space.id(cell.object)).in_step(|| space.naming("write", cell))?;
    let (dkey, akey) = keys::of_value(cell);
    let value = AkeyUpdate::Value { akey: akey.into(), bytes: space.format.encoded(value) };
    Ok(Update::new(&object, tx, dkey, vec![value]))
}

/// Removes a cell.
pub(crate) fn remove(space: &Space, tx: Option<&Tx>, cell: &Cell<'_>) -> Step<()> {
    let removed = space.object(space.id(cell.object)).and_then(|object| match cell.object.otype() {
        ObjectType::General => {
            let akeys = [VALUE, SIZE, RECORDS].map(|suffix| suffixed(cell.akey, suffix));
            object.punch_akeys(tx, cell.dkey, &akeys.each_ref().map(Vec::as_slice))
        }
        _ => object.punch_dkey(tx, cell.dkey),
    });
    removed.in_step(|| space.naming("remove a key of", cell))
}

/// Changes one cell in a transaction.
pub(crate) fn one(space: &Space, tx: &Tx, cell: &Cell<'_>, change: &CellChange) -> Step<()> {
    match change {
        CellChange::Value(value) => {
            if cell.object.otype() == ObjectType::General {
                remove_records(space, tx, cell)?;
            }
            put(space, Some(tx), cell, value)?.run().in_step(|| space.naming("write", cell))
        }
        CellChange::Removed => remove(space, Some(tx), cell),
        CellChange::Bytes { is_new, edits } => {
            let stored = if *is_new { None } else { read::extent(space, Some(tx), cell)? };
            match effect(stored, edits) {
                None => Ok(()),
                Some(effect) if cell.object.otype() == ObjectType::Array => array(space, tx, cell, &effect),
                Some(effect) => records(space, tx, cell, stored, &effect),
            }
        }
    }
}

/// Removes the records of a cell, if any.
fn remove_records(space: &Space, tx: &Tx, cell: &Cell<'_>) -> Step<()> {
    if read::extent(space, Some(tx), cell)?.is_none() {
        return Ok(());
    }
    let akeys = [SIZE, RECORDS].map(|suffix| suffixed(cell.akey, suffix));
    let object = space.object(space.id(cell.object));
    let removed = object
        .and_then(|object| object.punch_akeys(Some(tx), cell.dkey, &akeys.each_ref().map(Vec::as_slice)));
    removed.in_step(|| space.naming("write", cell))
}

/// Edits an array.
fn array(space: &Space, tx: &Tx, cell: &Cell<'_>, effect: &Effect<'_>) -> Step<()> {
    let what = || space.naming("write bytes of", cell);
    let array = space.array(cell.object).in_step(what)?;
    if let Some(cut) = effect.cut {
        array.set_size(Some(tx), cut).in_step(what)?;
    }
    for (offset, length) in &effect.holes {
        array.punch(Some(tx), *offset, *length).in_step(what)?;
    }
    for (offset, data) in &effect.writes {
        Write::new(&array, Some(tx), *offset, *data).run().in_step(what)?;
    }
    match effect.size {
        // DAOS derives the size of an array from its last byte.
        size if effect.ends_in_hole => Write::new(&array, Some(tx), size - 1, &[0][..]).run().in_step(what),
        0 => mark(space, tx, cell),
        _ => Ok(()),
    }
}

/// Stores the mark of an array of no bytes.
fn mark(space: &Space, tx: &Tx, cell: &Cell<'_>) -> Step<()> {
    let what = || space.naming("write", cell);
    let object = space.object(space.id(cell.object)).in_step(what)?;
    let mark = AkeyUpdate::Value { akey: ONLY.into(), bytes: MARKED.into() };
    Update::new(&object, Some(tx), MARK, vec![mark]).run().in_step(what)
}

/// Edits records, given the number of stored bytes.
fn records(space: &Space, tx: &Tx, cell: &Cell<'_>, stored: Option<u64>, effect: &Effect<'_>) -> Step<()> {
    let what = || space.naming("write bytes of", cell);
    let object = space.object(space.id(cell.object)).in_step(what)?;
    let akey = suffixed(cell.akey, RECORDS);
    match stored {
        // An existing value is removed, with remains of earlier records.
        None => {
            let akeys = [VALUE, RECORDS].map(|suffix| suffixed(cell.akey, suffix));
            object.punch_akeys(Some(tx), cell.dkey, &akeys.each_ref().map(Vec::as_slice)).in_step(what)?;
        }
        Some(stored) => {
            let mut ranges = effect.holes.clone();
            ranges.extend(effect.cut.map(|cut| (cut, stored - cut)));
            if !ranges.is_empty() {
                let punch = vec![AkeyUpdate::Punch { akey: akey.as_slice().into(), ranges }];
                Update::new(&object, Some(tx), cell.dkey, punch).run().in_step(what)?;
            }
        }
    }
    let size = effect.size.to_le_bytes().to_vec();
    let mut parts = vec![AkeyUpdate::Value { akey: suffixed(cell.akey, SIZE).into(), bytes: size.into() }];
    if !effect.writes.is_empty() {
        let extents = effect.writes.iter().map(|(offset, data)| (*offset, (*data).into())).collect();
        parts.push(AkeyUpdate::Records { akey: akey.into(), extents });
    }
    Update::new(&object, Some(tx), cell.dkey, parts).run().in_step(what)
}
