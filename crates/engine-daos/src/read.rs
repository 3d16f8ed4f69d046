//! Reading cells at present, or in a transaction.

use std::{collections::VecDeque, sync::Arc};

use isotach_daos_abi::errors::{DER_DATA_LOSS, DER_NONEXIST, DER_REC2BIG};
use isotach_engine_kit::context::Context;
use isotach_object::{ArrayRead, Cell, Error, ObjectType, Result};

use crate::{
    failure::{InStep, Step, Stop},
    ffi::{self, Begun, Buffer, Der, Fetch, Object, Operation, Tx},
    keys::{self, CellContent, suffixed},
    space::{Space, number},
};

/// The number of restarts of consistent reads before they fail.
const ATTEMPTS_MAX: u32 = 100;
/// The end of the last possible byte.
const LAST: u64 = i64::MAX as u64;
/// The largest cell that is compared. A larger one counts as changed.
const COMPARED_MAX: u64 = 64 << 20;
/// Bytes that are compared at once.
const WINDOW: u64 = 4 << 20;

/// Runs reads of one consistent state: in the past, in a transaction, or directly for a single read.
pub(crate) fn consistent_read<T>(
    space: &Space,
    past: Option<&Tx>,
    parts: usize,
    mut read: impl FnMut(Option<&Tx>) -> Step<T>,
) -> Result<T> {
    let what = || format!("read from container {}", space.label);
    let begun =
        if past.is_none() && parts > 1 { Some(Tx::of_reads(&space.cont).context(what)?) } else { None };
    for _ in 0..ATTEMPTS_MAX {
        match read(past.or(begun.as_ref())) {
            Ok(answer) => return Ok(answer),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Restart) => begun.as_ref().map_or(Ok(()), Tx::restart).context(what)?,
        }
    }
    Err(Error::Conflict { what: format!("{}: others always were faster", what()) })
}

/// The content under two keys.
fn fetched(space: &Space, tx: Option<&Tx>, cell: &Cell<'_>, akey: &[u8]) -> Step<Option<Vec<u8>>> {
    let (dkey, _) = keys::of_value(cell);
    let result = space.object(space.id(cell.object)).and_then(|object| object.value(tx, dkey, akey));
    result.in_step(|| space.naming("read", cell))
}

/// The content of a cell other than an array.
pub(crate) fn held(space: &Space, tx: Option<&Tx>, cell: &Cell<'_>) -> Step<Option<CellContent>> {
    let value = value(space, tx, cell)?;
    if value.is_some() || cell.object.otype() != ObjectType::General {
        return Ok(value.map(CellContent::Value));
    }
    let size = fetched(space, tx, cell, &suffixed(cell.akey, keys::SIZE))?;
    let wrong = || Error::corrupt("a size of records that Isotach did not store", space.naming("of", cell));
    Ok(size.map(|size| number(&size).map(CellContent::Records).ok_or_else(wrong)).transpose()?)
}

/// A value, or `None` for bytes.
pub(crate) fn value(space: &Space, tx: Option<&Tx>, cell: &Cell<'_>) -> Step<Option<Vec<u8>>> {
    let (_, akey) = keys::of_value(cell);
    Ok(fetched(space, tx, cell, &akey)?.map(|stored| space.format.decoded(stored)))
}

/// The values of cells, each `None` for bytes. The options limit how many reads run in parallel.
pub(crate) fn values(space: &Space, tx: Option<&Tx>, cells: &[Cell<'_>]) -> Step<Vec<Option<Vec<u8>>>> {
    let depth = space.options.depth;
    if depth == 1 || cells.len() == 1 {
        return cells.iter().map(|cell| value(space, tx, cell)).collect();
    }
    let guesses = fetches(space, cells, |object, dkey, akey| Fetch::of_guess(object, tx, dkey, akey))?;
    // All reads have ended, so none can request a restart any more. After such a request a transaction reads nothing.
    let absent = cells.iter().zip(&guesses).filter(|(_, guess)| matches!(guess, Fetched::Absent));
    let absent: Vec<Cell<'_>> = absent.map(|(cell, _)| *cell).collect();
    let looks = fetches(space, &absent, |object, dkey, akey| Fetch::of_look(object, tx, dkey, akey))?;
    let mut looks = looks.into_iter();
    let found = cells.iter().zip(guesses).map(|(cell, guess)| match guess {
        Fetched::Whole(value) => Ok(Some(space.format.decoded(value))),
        Fetched::TooLong => value(space, tx, cell),
        Fetched::Absent => match looks.next() {
            Some(Fetched::Whole(value)) if value.is_empty() => Ok(None),
            Some(Fetched::Whole(value)) => Ok(Some(space.format.decoded(value))),
            Some(Fetched::TooLong) => value(space, tx, cell),
            Some(Fetched::Absent) | None => Err(Der(DER_DATA_LOSS)).in_step(|| space.naming("read", cell)),
        },
    });
    found.collect()
}

/// The result of a fetch of a value of unknown size.
enum Fetched {
    Whole(Vec<u8>),
    Absent,
    TooLong,
}

/// Fetches of cells. The options limit how many run in parallel.
fn fetches(
    space: &Space,
    cells: &[Cell<'_>],
    fetch: impl Fn(&Arc<Object>, &[u8], &[u8]) -> Fetch,
) -> Step<Vec<Fetched>> {
    let depth = space.options.depth;
    let (mut begun, mut found) = (VecDeque::with_capacity(depth), Vec::with_capacity(cells.len()));
    for cell in cells {
        if begun.len() == depth
            && let Some(oldest) = begun.pop_front()
        {
            found.push(ended(space, oldest)?);
        }
        let what = || space.naming("read", cell);
        let (dkey, akey) = keys::of_value(cell);
        let object = space.object(space.id(cell.object)).in_step(what)?;
        begun.push_back((cell, space.cont.begin(fetch(&object, dkey, &akey)).in_step(what)?));
    }
    for one in begun {
        found.push(ended(space, one)?);
    }
    Ok(found)
}

fn ended(space: &Space, (cell, begun): (&Cell<'_>, Begun<Fetch>)) -> Step<Fetched> {
    match begun.wait() {
        Err(Der(DER_REC2BIG)) => Ok(Fetched::TooLong),
        Err(Der(DER_NONEXIST)) => Ok(Fetched::Absent),
        outcome => Ok(Fetched::Whole(outcome.in_step(|| space.naming("read", cell))?.into_value())),
    }
}

/// The size of a cell in bytes, or `None` if it does not exist.
pub(crate) fn size(space: &Space, tx: Option<&Tx>, cell: &Cell<'_>) -> Step<Option<u64>> {
    if cell.object.otype() != ObjectType::Array {
        return Ok(held(space, tx, cell)?.map(|held| held.size()));
    }
    let result = space.array(cell.object).and_then(|array| array.size(tx));
    match result.in_step(|| space.naming("ask for the size of", cell))? {
        // An array of no bytes has a mark.
        0 => Ok(value(space, tx, cell)?.map(|_| 0)),
        size => Ok(Some(size)),
    }
}

/// The number of bytes that can be read or edited: 0 for a value.
pub(crate) fn extent(space: &Space, tx: Option<&Tx>, cell: &Cell<'_>) -> Step<Option<u64>> {
    if cell.object.otype() == ObjectType::Array {
        return size(space, tx, cell);
    }
    Ok(match held(space, tx, cell)? {
        Some(CellContent::Records(size)) => Some(size),
        _ => None,
    })
}

/// Reads a range and returns the number of bytes.
pub(crate) fn bytes(
    space: &Space,
    tx: Option<&Tx>,
    cell: &Cell<'_>,
    offset: u64,
    buffer: &mut [u8],
) -> Step<usize> {
    // No bytes exist beyond the last possible one.
    if buffer.is_empty() || offset.checked_add(buffer.len() as u64).is_none_or(|end| end > LAST) {
        let there = LAST.saturating_sub(offset).min(buffer.len() as u64) as usize;
        return if there == 0 { Ok(0) } else { bytes(space, tx, cell, offset, &mut buffer[..there]) };
    }
    let what = || space.naming("read bytes of", cell);
    if cell.object.otype() == ObjectType::Array {
        return array_bytes(space, tx, cell, offset, buffer);
    }
    let there = extent(space, tx, cell)?.unwrap_or(0).saturating_sub(offset);
    let filled = there.min(buffer.len() as u64) as usize;
    if filled == 0 {
        return Ok(0);
    }
    let object = space.object(space.id(cell.object)).in_step(what)?;
    let akey = suffixed(cell.akey, keys::RECORDS);
    let mut fetch = Fetch::of_records(&object, tx, (cell.dkey, &akey), offset, filled);
    fetch.run().map_err(Der::of_look).in_step(what)?;
    buffer[..filled].copy_from_slice(&fetch.into_bytes());
    Ok(filled)
}

/// Reads a range of an array. After a short read DAOS compares with the array's present size, even for a read of the past. So this reads
/// the size of the same state first, except for a read at present, under one key, that finds all bytes.
fn array_bytes(
    space: &Space,
    tx: Option<&Tx>,
    cell: &Cell<'_>,
    offset: u64,
    buffer: &mut [u8],
) -> Step<usize> {
    let what = || space.naming("read bytes of", cell);
    let array = space.array(cell.object).in_step(what)?;
    let begun;
    let tx = match tx {
        Some(tx) => tx,
        None => {
            let mut read = ffi::Read::new(&array, None, offset, Buffer::Lent(buffer));
            read.run().in_step(what)?;
            if read.is_whole() {
                return Ok(buffer.len());
            }
            begun = Tx::of_reads(&space.cont).in_step(what)?;
            &begun
        }
    };
    let size = array.size(Some(tx)).in_step(what)?;
    let there = size.saturating_sub(offset).min(buffer.len() as u64) as usize;
    if there > 0 {
        // DAOS may leave buffers unchanged where this state has holes.
        buffer[..there].fill(0);
        ffi::Read::new(&array, Some(tx), offset, Buffer::Lent(&mut buffer[..there])).run().in_step(what)?;
    }
    Ok(there)
}

/// Runs a batch of reads.
pub(crate) fn batch(space: &Space, past: Option<&Tx>, reads: &mut [ArrayRead<'_>]) -> Result<()> {
    // Bytes under several keys can change between two reads.
    let parts: usize = reads.iter().map(|read| parts_of(space, read)).sum();
    consistent_read(space, past, parts, |tx| {
        reads.iter_mut().try_for_each(|read| {
            read.filled = bytes(space, tx, &read.cell, read.offset, read.buffer)?;
            Ok(())
        })
    })
}

/// The largest number of reads to learn the content of cells.
pub(crate) fn parts(cells: &[Cell<'_>]) -> usize {
    cells.iter().map(|cell| if cell.object.otype() == ObjectType::KeyValue { 1 } else { 2 }).sum()
}

fn parts_of(space: &Space, read: &ArrayRead<'_>) -> usize {
    if read.cell.object.otype() != ObjectType::Array {
        return 2;
    }
    let end = read.offset.saturating_add(read.buffer.len() as u64);
    (end.div_ceil(space.chunk) - read.offset / space.chunk) as usize
}

/// Whether a cell has the same content in both states. `false` for a cell too large to compare.
pub(crate) fn same(space: &Space, one: Option<&Tx>, other: Option<&Tx>, cell: &Cell<'_>) -> Step<bool> {
    if cell.object.otype() != ObjectType::Array {
        let (in_one, in_other) = (held(space, one, cell)?, held(space, other, cell)?);
        if in_one != in_other || !matches!(in_one, Some(CellContent::Records(_))) {
            return Ok(in_one == in_other);
        }
    }
    let size = extent(space, one, cell)?;
    if size != extent(space, other, cell)? || size.is_some_and(|size| size > COMPARED_MAX) {
        return Ok(false);
    }
    let (mut offset, size) = (0, size.unwrap_or(0));
    let (mut window, mut other_window) = (Vec::new(), Vec::new());
    while offset < size {
        let length = WINDOW.min(size - offset);
        window.resize(length as usize, 0);
        other_window.resize(length as usize, 0);
        bytes(space, one, cell, offset, &mut window)?;
        bytes(space, other, cell, offset, &mut other_window)?;
        if window != other_window {
            return Ok(false);
        }
        offset += length;
    }
    Ok(true)
}
