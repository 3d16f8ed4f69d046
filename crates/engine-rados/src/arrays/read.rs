//! Reads bytes of arrays and records, all reads of a call together.
//!
//! An array that is read once in the call takes one operation for its table and its own bytes. A field needs no more. Bytes in
//! other objects are read next. If such an object has been removed, the table is read again. A read of one array may go on while the
//! caller does something else.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};

use isotach_engine_kit::context::Context;
use isotach_object::{ArrayRead, Cell, Error, ObjectId, PendingRead, Result};

use super::{Arrays, Held, Slot, TAG};
use crate::{
    ffi::{OwnedRead, ReadOp},
    keys,
    table::{BLOCK, PiecePlace, Table, damaged},
};

/// How often a read is repeated because its bytes were replaced, before it fails.
const ATTEMPTS_MAX: usize = 10_000;

/// What one read wants of one array.
#[derive(Debug)]
struct Asked {
    /// The number of the read.
    number: usize,
    object: ObjectId,
    offset: u64,
    length: usize,
}

impl Asked {
    fn of(number: usize, read: &ArrayRead<'_>) -> Self {
        Self { number, object: read.cell.object, offset: read.offset, length: read.buffer.len() }
    }

    /// How many bytes it gets.
    fn filled(&self, table: &Table) -> usize {
        table.size.saturating_sub(self.offset).min(self.length as u64) as usize
    }
}

/// Bytes that one object has and one read wants.
struct ObjectRead<'t> {
    /// The number of the read.
    number: usize,
    name: String,
    /// The tag that the array must still have.
    tag: Option<[u8; 16]>,
    /// Which bytes of the object are read.
    stored: Range<u64>,
    sums: &'t [u32],
}

/// Where bytes go.
struct Target<'b> {
    wanted: &'b mut [u8],
    /// Where they are read to when more must be read than is wanted.
    aside: Vec<u8>,
    /// How many of these come before those that are wanted.
    skip: usize,
}

impl Arrays {
    /// See [`isotach_object::Container::read_many`].
    pub(crate) fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        let mut left: Vec<usize> = (0..reads.len()).collect();
        let mut tags = HashMap::new();
        for _ in 0..ATTEMPTS_MAX {
            left = self.try_read(reads, &left, &mut tags)?;
            if left.is_empty() {
                return Ok(());
            }
        }
        let object = reads[left[0]].cell.object;
        Err(Error::corrupt("bytes that are not where its table says", format!("object {object}")))
    }

    /// Runs these reads, and returns those whose bytes were replaced during the read.
    fn try_read(
        &self,
        reads: &mut [ArrayRead<'_>],
        which: &[usize],
        tags: &mut HashMap<usize, [u8; 16]>,
    ) -> Result<Vec<usize>> {
        let mut by_slot: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
        which
            .iter()
            .for_each(|number| by_slot.entry(Slot::of(&reads[*number].cell)).or_default().push(*number));
        let (single, shared): (Vec<_>, Vec<_>) = by_slot
            .into_iter()
            .partition(|(slot, numbers)| matches!(slot, Slot::Array(_)) && numbers.len() == 1);
        let mut tables: BTreeMap<usize, (Table, usize)> = self.read_single(reads, single)?;
        let slots: Vec<Slot> = shared.iter().map(|(slot, _)| slot.clone()).collect();
        for ((_, numbers), held) in shared.iter().zip(self.space.load_slots(&slots)?) {
            for number in numbers {
                reads[*number].filled = 0;
                if let Held::Bytes(table, _) = &held {
                    tables.insert(*number, (table.clone(), 0));
                }
            }
        }
        self.read_rest(reads, &tables, tags)
    }

    /// Reads arrays with one read each: table and own bytes in one operation. Gives the tables of those of which bytes are
    /// missing, and how many are there.
    fn read_single(
        &self,
        reads: &mut [ArrayRead<'_>],
        single: Vec<(Slot, Vec<usize>)>,
    ) -> Result<BTreeMap<usize, (Table, usize)>> {
        let mut numbers: Vec<usize> = single.into_iter().flat_map(|(_, numbers)| numbers).collect();
        numbers.sort_unstable();
        let asked: Vec<Asked> = numbers.iter().map(|number| Asked::of(*number, &reads[*number])).collect();
        let mut wanted = numbers.into_iter().peekable();
        let chosen = reads.iter_mut().enumerate().filter(|(number, _)| wanted.next_if_eq(number).is_some());
        let ops = chosen.map(|(_, read)| {
            read.filled = 0;
            (keys::array_name(read.cell.object), with_bytes(read.offset, read.buffer))
        });
        let (mut tables, mut filled) = (BTreeMap::new(), vec![0; asked.len()]);
        self.space.data.read_together(ops, |at, outcome| {
            let asked = &asked[at];
            let Some((table, bytes)) = self.space.table_of(asked.object, outcome)? else { return Ok(()) };
            filled[at] = asked.filled(&table);
            let done = own_bytes(asked, &table, bytes)?;
            if done < filled[at] {
                tables.insert(asked.number, (table, done));
            }
            Ok::<_, Error>(())
        })?;
        asked.iter().zip(filled).for_each(|(asked, filled)| reads[asked.number].filled = filled);
        Ok(tables)
    }

    /// Reads what the tables say, but for the first bytes that are there already.
    fn read_rest(
        &self,
        reads: &mut [ArrayRead<'_>],
        tables: &BTreeMap<usize, (Table, usize)>,
        tags: &mut HashMap<usize, [u8; 16]>,
    ) -> Result<Vec<usize>> {
        let (mut parts, mut targets) = (Vec::new(), Vec::new());
        for (number, read) in reads.iter_mut().enumerate() {
            let Some((table, done)) = tables.get(&number) else { continue };
            read.filled = Asked::of(number, read).filled(table);
            for (part, target) in parts_of(number, read, table, *done) {
                parts.push(part);
                targets.push(target);
            }
        }
        let ops = parts.iter().zip(&mut targets).map(|(part, target)| {
            let op = ReadOp::new();
            let op = match &part.tag {
                Some(tag) => op.require_attribute(TAG, tag),
                None => op,
            };
            let buffer = if target.aside.is_empty() { &mut *target.wanted } else { &mut target.aside };
            (part.name.clone(), op.bytes(part.stored.start, buffer))
        });
        let mut left = Vec::new();
        self.space.data.read_together(ops, |at, outcome| {
            let part = &parts[at];
            match outcome {
                Ok(answer) => check(answer.bytes, part.sums, &part.name, part.stored.start)?,
                Err(errno) if errno.is_refusal() => {
                    let tag = tables.get(&part.number).map(|(table, _)| table.tag).unwrap_or_default();
                    // Whoever removes bytes has put another table in the place of the one that names them.
                    if left.last() != Some(&part.number) && tags.insert(part.number, tag) == Some(tag) {
                        let place = format!("RADOS object {}", part.name);
                        return Err(Error::corrupt("bytes that are missing", place));
                    }
                    left.push(part.number);
                }
                Err(errno) => return Err(errno).context(|| format!("read RADOS object {}", part.name)),
            }
            Ok(())
        })?;
        targets.into_iter().for_each(Target::fill);
        left.dedup();
        Ok(left)
    }
}

/// A read of an array's table and own bytes that is under way.
#[derive(Debug)]
struct Ahead {
    arrays: Arc<Arrays>,
    asked: Asked,
    read: OwnedRead,
}

impl Arrays {
    /// Begins to read an array from an offset on.
    pub(crate) fn begin_read(
        self: &Arc<Self>,
        cell: &Cell<'_>,
        offset: u64,
        buffer: Vec<u8>,
    ) -> Box<dyn PendingRead> {
        let asked = Asked { number: 0, object: cell.object, offset, length: buffer.len() };
        let name = keys::array_name(cell.object);
        let read = self.space.data.begin_owned(&name, buffer, |buffer| with_bytes(offset, buffer));
        Box::new(Ahead { arrays: Arc::clone(self), asked, read })
    }
}

impl PendingRead for Ahead {
    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        let Self { arrays, asked, read } = *self;
        let (found, mut buffer) =
            read.wait(|outcome| match arrays.space.table_of(asked.object, outcome)? {
                Some((table, bytes)) => own_bytes(&asked, &table, bytes).map(|done| Some((table, done))),
                None => Ok(None),
            });
        let found: Option<(Table, usize)> = found?;
        let filled = found.as_ref().map_or(0, |(table, _)| asked.filled(table));
        if found.as_ref().is_none_or(|(_, done)| *done == filled) {
            buffer.truncate(filled);
            return Ok(buffer);
        }
        // Some of the bytes are elsewhere, where the table says, or have been replaced since.
        let cell = Cell::array(asked.object);
        let mut reads = [ArrayRead { cell, offset: asked.offset, buffer: &mut buffer, filled: 0 }];
        let tables = found.into_iter().map(|found| (0, found)).collect();
        if !arrays.read_rest(&mut reads, &tables, &mut HashMap::new())?.is_empty() {
            arrays.read_many(&mut reads)?;
        }
        let filled = reads[0].filled;
        buffer.truncate(filled);
        Ok(buffer)
    }
}

/// A read that has ended.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) Vec<u8>);

impl PendingRead for Ended {
    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        Ok(self.0)
    }
}

impl Target<'_> {
    /// Takes what is wanted of what was read aside.
    fn fill(self) {
        if !self.aside.is_empty() {
            self.wanted.copy_from_slice(&self.aside[self.skip..self.skip + self.wanted.len()]);
        }
    }
}

/// Reads the table, and own bytes where their checksums can be looked at.
fn with_bytes(offset: u64, buffer: &mut [u8]) -> ReadOp<'_> {
    let op = ReadOp::new().attributes();
    match offset.is_multiple_of(BLOCK as u64) && i64::try_from(offset).is_ok() {
        true => op.bytes(offset, buffer),
        false => op,
    }
}

/// Checks bytes that came with the table, and says how many of the read's first ones are right: none where they are not what
/// the table says, and else all but those of a block that was not read to its end.
fn own_bytes(asked: &Asked, table: &Table, bytes: &[u8]) -> Result<usize> {
    let [piece] = table.pieces() else { return Ok(0) };
    let is_all =
        piece.place == PiecePlace::Own && piece.start == 0 && piece.offset == 0 && piece.length == table.size;
    let filled = bytes.len();
    if !is_all || filled == 0 || filled != asked.filled(table) {
        return Ok(0);
    }
    let end = asked.offset + filled as u64;
    let done = if end == piece.stored { filled } else { filled - filled % BLOCK };
    let range = asked.offset..asked.offset + done as u64;
    if range.is_empty() {
        return Ok(0);
    }
    let (_, sums) = piece.to_read(&range);
    check(&bytes[..done], sums, &keys::array_name(asked.object), asked.offset)?;
    Ok(done)
}

/// What is to be read of a table's pieces for a read. Holes are filled with zeros.
fn parts_of<'t, 'b>(
    number: usize,
    read: &'b mut ArrayRead<'_>,
    table: &'t Table,
    done: usize,
) -> Vec<(ObjectRead<'t>, Target<'b>)> {
    let object: ObjectId = read.cell.object;
    let end = read.offset + read.filled as u64;
    let mut at = read.offset + done as u64;
    let mut rest = &mut read.buffer[done..read.filled];
    let mut parts = Vec::new();
    for piece in table.pieces_in(&(at..end)) {
        let (start, stop) = (piece.start.max(at), piece.end().min(end));
        let (hole, tail) = rest.split_at_mut((start - at) as usize);
        hole.fill(0);
        let (wanted, tail) = tail.split_at_mut((stop - start) as usize);
        (rest, at) = (tail, stop);
        let (stored, sums) = piece.to_read(&(start..stop));
        let skip = (piece.offset + (start - piece.start) - stored.start) as usize;
        let length = (stored.end - stored.start) as usize;
        let aside = if length == wanted.len() { Vec::new() } else { vec![0; length] };
        let tag = (piece.place == PiecePlace::Own).then_some(table.tag);
        let name = piece.place.name(object);
        parts.push((ObjectRead { number, name, tag, stored, sums }, Target { wanted, aside, skip }));
    }
    rest.fill(0);
    parts
}

fn check(bytes: &[u8], sums: &[u32], name: &str, start: u64) -> Result<()> {
    match damaged(bytes, sums) {
        None => Ok(()),
        Some(block) => {
            let at = start + (block * BLOCK) as u64;
            let what = format!("bytes from {at} on that fail their checksum");
            Err(Error::corrupt(what, format!("RADOS object {name}")))
        }
    }
}
