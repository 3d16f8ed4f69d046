//! The container's own objects: the names of snapshots and the prepared transactions (FORMAT.md sections 5.8 and 5.9).

use isotach_object::{Epoch, Error, Label, ObjectId, Result, Snapshot};

use crate::{
    format::{
        path,
        record::{PREPARED, SNAPSHOTS},
    },
    index::{entry::Entry, merge::Merge, raw::LazyEntry, state::State},
};

/// Calls `each`, in order, with the key and the entry of everything in a system object whose key begins with `prefix`.
fn for_each(
    state: &State,
    object: ObjectId,
    prefix: &[u8],
    each: &mut dyn FnMut(&[u8], LazyEntry<'_>) -> Result<()>,
) -> Result<()> {
    let object = path::of_object(object);
    let start = [&object[..], prefix].concat();
    let mut merge = Merge::of_state(state, &start)?;
    while let Some((path, entry)) = merge.next()? {
        if !path.starts_with(&start) {
            break;
        }
        if entry.is_live()? {
            each(&path[object.len()..], entry)?;
        }
    }
    Ok(())
}

/// All snapshots, oldest first.
pub(crate) fn snapshots(state: &State) -> Result<Vec<Snapshot>> {
    let mut snapshots = Vec::new();
    for_each(state, SNAPSHOTS, &[], &mut |name, entry| {
        let label = str::from_utf8(name).ok().and_then(|name| name.parse::<Label>().ok());
        let damaged = || Error::corrupt("the name of a snapshot", format!("{:?}", name.escape_ascii()));
        snapshots.push(Snapshot { name: label.ok_or_else(damaged)?, epoch: Epoch(entry.epoch()) });
        Ok(())
    })?;
    snapshots.sort_by_key(|snapshot| snapshot.epoch);
    Ok(snapshots)
}

/// Calls `each`, in order, with the name and the entry of every prepared transaction whose name begins with `prefix`.
pub(crate) fn for_each_prepared(
    state: &State,
    prefix: &str,
    each: &mut dyn FnMut(&str, &Entry) -> Result<()>,
) -> Result<()> {
    for_each(state, PREPARED, prefix.as_bytes(), &mut |name, entry| {
        each(&String::from_utf8_lossy(name), &entry.into_versioned()?.entry)
    })
}
