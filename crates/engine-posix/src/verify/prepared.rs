//! Verifying prepared transactions: all their data must exist when they are committed.

use isotach_object::{Error, Part, Result, Verify};

use super::{
    extents::Lengths,
    found::{Report, cell_of},
};
use crate::{
    format::{
        extent::{Extent, ExtentPart},
        path,
        record::{CellChange, PREPARED, Record, Stored},
    },
    index::{entry::Entry, state::State, system},
    io::storage::Storage,
    transaction::prepared,
};

/// Checks all prepared transactions of a state: their segments always, and the bytes that their records refer to if `how` says so. Returns
/// the number of stages.
pub(super) fn check(storage: &Storage, state: &State, how: Verify, seen: &Report<'_>) -> Result<u64> {
    let mut lengths = Lengths::of(storage);
    let mut stages = 0;
    system::for_each_prepared(state, "", &mut |name, entry| {
        stages += 1;
        let cell = cell_of(&[&path::of_object(PREPARED)[..], name.as_bytes()].concat());
        match check_stage(storage, &mut lengths, name, entry, how, seen) {
            Ok(None) => {}
            Ok(Some((what, place, byte))) => seen.found.add(Part::Bytes, what, place, byte, cell),
            Err(error) => seen.found.take(Part::Bytes, cell, error)?,
        }
        Ok(())
    })?;
    Ok(stages)
}

/// The first damage of a stage: what is wrong, in which file, and at which byte.
fn check_stage(
    storage: &Storage,
    lengths: &mut Lengths<'_>,
    name: &str,
    entry: &Entry,
    how: Verify,
    seen: &Report<'_>,
) -> Result<Option<(String, String, Option<u64>)>> {
    let mut damage = None;
    let mut buffer = Vec::new();
    let stage = prepared::stage(name, entry)?;
    stage.for_each(storage, &mut |record| {
        seen.named.record(record);
        let Some(extent) = extent_of(record).filter(|extent| damage.is_none() && extent.length > 0) else {
            return Ok(());
        };
        if !stage.files.contains(&extent.file) {
            let what = format!("stage {name} does not name a data file that it refers to");
            return Err(Error::corrupt(what, storage.data.path(extent.file).display().to_string()));
        }
        if let Some((what, place)) = lengths.lost(extent)? {
            damage = Some((what, place, None));
        } else if how.data {
            let part = ExtentPart { offset: 0, length: extent.length, skip: 0, extent: extent.clone() };
            if let Some(byte) =
                storage.data.find_bad_chunk(&part, &mut buffer, |bytes| seen.meter.read(bytes))?
            {
                let file = storage.data.path(extent.file).display().to_string();
                damage = Some(("stored bytes fail their checksum".to_owned(), file, Some(byte)));
            }
        }
        Ok(())
    })?;
    Ok(damage)
}

fn extent_of<'r>(record: &'r Record<'_>) -> Option<&'r Extent> {
    match record {
        Record::Change(_, CellChange::Put(Stored::Extent(extent, _)) | CellChange::Write { extent, .. }) => {
            Some(extent)
        }
        _ => None,
    }
}
