//! Walking a container: measuring its size and verifying that it is readable.

use isotach_engine_kit::context::Context;
use isotach_object::{
    Anchor, Cell, Error, Finding, FoundCell, ObjectId, ObjectType, Part, Result, Verified, Verify,
    VerifyProgress,
};

use crate::{
    listing::{self, Objects},
    read::{self, consistent_read},
    space::Space,
};

/// The keys or objects of one listing.
const PER_PAGE: usize = 1000;
/// The bytes of one read.
const WINDOW: usize = 16 << 20;
/// The most reported findings.
const FINDINGS_MAX: usize = 1000;

/// Calls a function for every cell of a container.
fn cells(space: &Space, mut act: impl FnMut(&Cell<'_>) -> Result<()>) -> Result<()> {
    let (objects, mut anchor) = (Objects::default(), Some(Anchor::start()));
    while let Some(from) = anchor {
        let (page, next) = objects.page(space, None, &from, PER_PAGE)?;
        page.into_iter().try_for_each(|object| cells_of(space, object, &mut act))?;
        anchor = next;
    }
    Ok(())
}

fn cells_of(space: &Space, object: ObjectId, act: &mut impl FnMut(&Cell<'_>) -> Result<()>) -> Result<()> {
    match object.otype() {
        ObjectType::Array => act(&Cell::array(object)),
        ObjectType::KeyValue => keys(space, object, None, |key| act(&Cell::kv(object, key))),
        ObjectType::General => keys(space, object, None, |dkey| {
            keys(space, object, Some(dkey), |akey| act(&Cell::general(object, dkey, akey)))
        }),
        ObjectType::System => Ok(()),
    }
}

fn keys(
    space: &Space,
    object: ObjectId,
    dkey: Option<&[u8]>,
    mut act: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut anchor = Some(Anchor::start());
    while let Some(from) = anchor {
        let page = listing::keys(space, None, object, dkey, (&from, PER_PAGE))?;
        page.keys().try_for_each(&mut act)?;
        anchor = page.next().cloned();
    }
    Ok(())
}

/// The size of a container's keys and values in bytes. DAOS reports the used space of a pool, but not of a container.
pub(crate) fn size(space: &Space) -> Result<u64> {
    let mut sum = 0;
    cells(space, |cell| {
        let size = consistent_read(space, None, 1, |tx| read::size(space, tx, cell))?;
        let size = match cell.object.otype() {
            ObjectType::Array => array_size(space, cell.object, size.unwrap_or(0))?,
            _ => size.unwrap_or(0),
        };
        sum += size + (cell.dkey.len() + cell.akey.len()) as u64;
        Ok(())
    })?;
    Ok(sum)
}

/// The most space of an array of this size. Holes count if their chunk has any bytes.
fn array_size(space: &Space, object: ObjectId, size: u64) -> Result<u64> {
    if size <= space.chunk {
        return Ok(size);
    }
    let what = || format!("list the chunks of array {object} of container {}", space.label);
    // The bare object has the keys. The open array provides the size of a chunk.
    let (_array, object) =
        (space.array(object).context(what)?, space.object(space.id(object)).context(what)?);
    let (mut chunks, mut anchor) = (0, Some(Vec::new()));
    while let Some(from) = anchor {
        let found = object.keys(None, None, &from, PER_PAGE).context(what)?;
        chunks += found.keys.len() as u64;
        anchor = found.next;
    }
    Ok(size.min(chunks.saturating_mul(space.chunk)))
}

/// Reads everything. DAOS verifies its checksums at each read.
pub(crate) fn verify(space: &Space, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
    let (mut verified, mut values, mut extents) = (Verified::default(), 0, 0);
    let mut window = Vec::new();
    cells(space, |cell| {
        match look(space, cell, how, &mut window) {
            Ok((read, is_value)) => {
                verified.bytes += read;
                *(if is_value { &mut values } else { &mut extents }) += 1;
            }
            Err(Error::Corrupt { what, place }) if verified.findings.len() < FINDINGS_MAX => {
                let (dkey, akey) = (cell.dkey.to_vec(), cell.akey.to_vec());
                let cell = Some(FoundCell { object: cell.object, dkey, akey });
                verified.findings.push(Finding { part: Part::Bytes, what, place, byte: None, cell });
            }
            Err(Error::Corrupt { .. }) => verified.more_findings += 1,
            Err(error) => return Err(error),
        }
        progress(verified.bytes, verified.bytes);
        Ok(())
    })?;
    verified.checked = vec![("values", values), ("arrays and records", extents)];
    Ok(verified)
}

/// Reads a cell. Returns its number of bytes and whether it is a value.
fn look(space: &Space, cell: &Cell<'_>, how: Verify, window: &mut Vec<u8>) -> Result<(u64, bool)> {
    let is_array = cell.object.otype() == ObjectType::Array;
    if !is_array && let Some(value) = consistent_read(space, None, 1, |tx| read::value(space, tx, cell))? {
        return Ok((value.len() as u64, true));
    }
    if !how.data {
        return Ok((0, false));
    }
    window.resize(WINDOW, 0);
    let mut offset = 0;
    loop {
        let read = consistent_read(space, None, 1, |tx| read::bytes(space, tx, cell, offset, window))? as u64;
        offset += read;
        if read < WINDOW as u64 {
            return Ok((offset, false));
        }
    }
}
