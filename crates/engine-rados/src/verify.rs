//! Verifying a container: every entry and every table against its checksum, and the bytes of arrays if asked for.

use std::ops::Range;

use isotach_object::{
    ArrayRead, Cell, Error, Finding, FoundCell, ObjectId, ObjectType, Part, Result, Verified, Verify,
    VerifyProgress,
};

use crate::{
    arrays::{Arrays, Slot},
    entry::Entry,
    keys::{self, LAST, Name},
    listing,
    omaps::PER_OPERATION,
    size,
    space::Space,
    table::{Place, Table},
};

/// Bytes of an array that are read at once.
const WINDOW: u64 = 16 << 20;
/// Findings that are told.
const MOST_FINDINGS: usize = 1000;

/// What was looked at so far.
struct Look<'a> {
    space: &'a Space,
    arrays: Arrays,
    how: Verify,
    progress: VerifyProgress<'a>,
    /// Bytes that will be read, as far as they are known.
    total: u64,
    entries: u64,
    tables: u64,
    verified: Verified,
}

/// See [`isotach_object::Pool::verify_container`].
pub(crate) fn container(
    space: &std::sync::Arc<Space>,
    how: Verify,
    progress: VerifyProgress<'_>,
) -> Result<Verified> {
    let arrays = Arrays::new(std::sync::Arc::clone(space))?;
    let verified = Verified::default();
    let mut look = Look { space, arrays, how, progress, total: 0, entries: 0, tables: 0, verified };
    let names = listing::all_names(space)?;
    for name in &names {
        if let Name::Entries(object, 0) = name {
            look.entries_of(*object)?;
        }
    }
    let objects: Vec<ObjectId> = names.iter().filter_map(array).collect();
    for object in objects {
        look.array(object)?;
    }
    look.verified.checked = vec![("entries", look.entries), ("tables of pieces", look.tables)];
    Ok(look.verified)
}

fn array(name: &Name) -> Option<ObjectId> {
    match name {
        Name::Array(object) => Some(*object),
        _ => None,
    }
}

impl Look<'_> {
    fn read(&mut self, bytes: u64) {
        self.verified.bytes += bytes;
        self.total = self.total.max(self.verified.bytes);
        (self.progress)(self.verified.bytes, self.total);
    }

    /// Adds a finding; any other failure ends the verification.
    fn find(&mut self, part: Part, error: Error, cell: FoundCell) -> Result<()> {
        let Error::Corrupt { what, place } = error else { return Err(error) };
        match self.verified.findings.len() < MOST_FINDINGS {
            true => self.verified.findings.push(Finding { part, what, place, byte: None, cell: Some(cell) }),
            false => self.verified.more_findings += 1,
        }
        Ok(())
    }

    fn entries_of(&mut self, object: ObjectId) -> Result<()> {
        let mut after = Some(keys::FIRST.to_vec());
        while let Some(from) = after {
            let found = self.space.omaps.page(object, &from, LAST, PER_OPERATION, true)?;
            self.total +=
                found.entries.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum::<u64>();
            for (key, stored) in &found.entries {
                self.entry(object, key, stored)?;
            }
            after = found.next;
        }
        Ok(())
    }

    fn entry(&mut self, object: ObjectId, key: &[u8], stored: &[u8]) -> Result<()> {
        self.entries += 1;
        self.read((key.len() + stored.len()) as u64);
        let (dkey, akey) = keys::cell_keys(object, key).unwrap_or_default();
        let cell = FoundCell { object, dkey, akey };
        match Entry::decode(object, key, stored) {
            Ok(Entry::Value(_)) => Ok(()),
            Ok(Entry::Records(table)) => self.bytes_of(&table, cell),
            Err(error) => self.find(Part::Bytes, error, cell),
        }
    }

    fn array(&mut self, object: ObjectId) -> Result<()> {
        let cell = FoundCell { object, dkey: Vec::new(), akey: Vec::new() };
        match self.space.load_slots(&[Slot::Array(object)]) {
            Ok(held) => match held.first().and_then(|held| held.table()) {
                Some(table) => self.bytes_of(table, cell),
                // Removed meanwhile.
                None => Ok(()),
            },
            Err(error) => self.find(Part::Bytes, error, cell),
        }
    }

    fn bytes_of(&mut self, table: &Table, cell: FoundCell) -> Result<()> {
        self.tables += 1;
        if !self.how.data {
            return self.pieces_are_there(table, cell);
        }
        self.total += table.pieces().iter().map(|piece| piece.length).sum::<u64>();
        for piece in table.pieces() {
            let mut at = piece.start;
            while at < piece.end() {
                let end = piece.end().min(at.saturating_add(WINDOW));
                if let Err(error) = self.read_range(&cell, &(at..end)) {
                    self.find(Part::Bytes, error, cell.clone())?;
                }
                self.read(end - at);
                at = end;
            }
        }
        Ok(())
    }

    fn read_range(&self, cell: &FoundCell, range: &Range<u64>) -> Result<()> {
        let mut buffer = vec![0; (range.end - range.start) as usize];
        let cell = match cell.object.otype() {
            ObjectType::Array => Cell::array(cell.object),
            _ => Cell::general(cell.object, &cell.dkey, &cell.akey),
        };
        let read = ArrayRead { cell, offset: range.start, buffer: &mut buffer, filled: 0 };
        self.arrays.read_many(&mut [read])
    }

    /// Looks whether the objects that a table names are there, and as long as it says.
    fn pieces_are_there(&mut self, table: &Table, cell: FoundCell) -> Result<()> {
        let object = cell.object;
        let names: Vec<String> = table
            .pieces()
            .iter()
            .map(|piece| match piece.place {
                Place::Own => keys::array_name(object),
                Place::Apart(writer, number) => keys::piece_name(writer, number),
            })
            .collect();
        let found = size::stat(&self.space.data, &names, self.space)?;
        let short = table
            .pieces()
            .iter()
            .zip(found)
            .position(|(piece, found)| found.is_none_or(|found| found.size < piece.stored));
        let Some(at) = short else { return Ok(()) };
        // It may have been replaced since the table was read.
        let again = self.space.load_slots(&[slot(&cell)])?;
        if again.first().and_then(|held| held.table()).is_none_or(|now| now.tag != table.tag) {
            return Ok(());
        }
        let place = format!("RADOS object {}", names[at]);
        self.find(Part::Bytes, Error::corrupt("bytes that are missing", place), cell)
    }
}

fn slot(cell: &FoundCell) -> Slot {
    match cell.object.otype() {
        ObjectType::Array => Slot::Array(cell.object),
        _ => Slot::of(&Cell::general(cell.object, &cell.dkey, &cell.akey)),
    }
}
