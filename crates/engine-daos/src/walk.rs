//! Looking at everything in a container: how much it is, and whether it can be read.

use isotach_engine_kit::context::Context;
use isotach_object::{
    Anchor, Cell, Error, Finding, FoundCell, ObjectId, ObjectType, Page, Part, Result, Verified, Verify,
    VerifyProgress,
};

use crate::{
    listing::{self, Objects},
    read::{self, of_one_state},
    space::Space,
};

/// Keys or objects that are asked for at once.
const PER_PAGE: usize = 1000;
/// Bytes that are read at once.
const WINDOW: usize = 16 << 20;
/// Findings that are told.
const MOST_FINDINGS: usize = 1000;

/// Does something with every cell of a container.
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
        ObjectType::KeyValue => pages(
            |anchor| listing::entries(space, None, object, (anchor, PER_PAGE), false),
            |key| act(&Cell::kv(object, key)),
        ),
        ObjectType::General => pages(
            |anchor| listing::dkeys(space, None, object, anchor, PER_PAGE),
            |dkey| {
                pages(
                    |anchor| listing::akeys(space, None, object, dkey, (anchor, PER_PAGE)),
                    |akey| act(&Cell::general(object, dkey, akey)),
                )
            },
        ),
        ObjectType::System => Ok(()),
    }
}

fn pages(page: impl Fn(&Anchor) -> Result<Page>, mut act: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut anchor = Some(Anchor::start());
    while let Some(from) = anchor {
        let page = page(&from)?;
        page.keys().try_for_each(&mut act)?;
        anchor = page.next().cloned();
    }
    Ok(())
}

/// How many bytes a container's keys and values have. DAOS tells what a pool takes, and not a container.
pub(crate) fn size(space: &Space) -> Result<u64> {
    let mut sum = 0;
    cells(space, |cell| {
        let size = of_one_state(space, None, 1, |tx| read::size(space, tx, cell))?;
        let size = match cell.object.otype() {
            ObjectType::Array => array_size(space, cell.object, size.unwrap_or(0))?,
            _ => size.unwrap_or(0),
        };
        sum += size + (cell.dkey.len() + cell.akey.len()) as u64;
        Ok(())
    })?;
    Ok(sum)
}

/// What an array of this size takes, at most: its holes count in as far as they are in chunks that have something.
fn array_size(space: &Space, object: ObjectId, size: u64) -> Result<u64> {
    if size <= space.chunk {
        return Ok(size);
    }
    let what = || format!("list the chunks of array {object} of container {}", space.label);
    // The bare object has the keys; that the array is open makes known how long a chunk is.
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

/// Reads everything: DAOS compares what it gives with its checksums.
pub(crate) fn verify(space: &Space, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
    let (mut verified, mut values, mut extents) = (Verified::default(), 0, 0);
    let mut window = Vec::new();
    cells(space, |cell| {
        match look(space, cell, how, &mut window) {
            Ok((read, is_value)) => {
                verified.bytes += read;
                *(if is_value { &mut values } else { &mut extents }) += 1;
            }
            Err(Error::Corrupt { what, place }) if verified.findings.len() < MOST_FINDINGS => {
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

/// Reads a cell; how many bytes there were, and whether it is a value.
fn look(space: &Space, cell: &Cell<'_>, how: Verify, window: &mut Vec<u8>) -> Result<(u64, bool)> {
    let is_array = cell.object.otype() == ObjectType::Array;
    if !is_array && let Some(value) = of_one_state(space, None, 1, |tx| read::value(space, tx, cell))? {
        return Ok((value.len() as u64, true));
    }
    if !how.data {
        return Ok((0, false));
    }
    window.resize(WINDOW, 0);
    let mut offset = 0;
    loop {
        let read = of_one_state(space, None, 1, |tx| read::bytes(space, tx, cell, offset, window))? as u64;
        offset += read;
        if read < WINDOW as u64 {
            return Ok((offset, false));
        }
    }
}
