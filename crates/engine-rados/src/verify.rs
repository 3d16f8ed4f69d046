//! Verifying a container: every entry and every table against its checksum, and the bytes of arrays if asked for.

use std::ops::Range;

use isotach_object::{
    ArrayRead, Cell, Error, Finding, FoundCell, ObjectId, ObjectType, Part, Result, Verified, Verify,
    VerifyProgress,
};

use crate::{
    arrays::{Arrays, Slot},
    entry::Entry,
    keys::{self, Name},
    listing,
    space::Space,
    table::Table,
};

/// Bytes of an array that are read at once.
const WINDOW: u64 = 16 << 20;
/// Arrays whose tables are read together.
const AT_ONCE: usize = 256;
/// The most findings that are reported.
const FINDINGS_MAX: usize = 1000;

/// What was looked at so far.
struct Look<'a> {
    space: &'a Space,
    arrays: Arrays,
    how: Verify,
    progress: VerifyProgress<'a>,
    /// The known part of the bytes that will be read.
    total: u64,
    entries: u64,
    tables: u64,
    verified: Verified,
}

/// See [`isotach_object::Maintenance::verify`].
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
    let objects: Vec<ObjectId> = names.iter().filter_map(Name::array).collect();
    objects.chunks(AT_ONCE).try_for_each(|some| look.arrays(some))?;
    look.verified.checked = vec![("entries", look.entries), ("tables of pieces", look.tables)];
    Ok(look.verified)
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
        match self.verified.findings.len() < FINDINGS_MAX {
            true => self.verified.findings.push(Finding { part, what, place, byte: None, cell: Some(cell) }),
            false => self.verified.more_findings += 1,
        }
        Ok(())
    }

    fn entries_of(&mut self, object: ObjectId) -> Result<()> {
        self.space.omaps.each_page(object, |entries| {
            self.total += listing::bytes_of(entries);
            entries.iter().try_for_each(|(key, stored)| self.entry(object, key, stored))
        })
    }

    fn entry(&mut self, object: ObjectId, key: &[u8], stored: &[u8]) -> Result<()> {
        self.entries += 1;
        self.read((key.len() + stored.len()) as u64);
        let (dkey, akey) = keys::cell_keys(object, key).unwrap_or_default();
        let cell = FoundCell { object, dkey, akey };
        match Entry::decode(object, key, stored) {
            Ok(Entry::Value(_)) => Ok(()),
            Ok(Entry::Records(table)) => self.bytes_of(&[(cell, table)]),
            Err(error) => self.find(Part::Bytes, error, cell),
        }
    }

    fn arrays(&mut self, objects: &[ObjectId]) -> Result<()> {
        let slots: Vec<Slot> = objects.iter().map(|object| Slot::Array(*object)).collect();
        let cell = |object: ObjectId| FoundCell { object, dkey: Vec::new(), akey: Vec::new() };
        let held = match (self.space.load_slots(&slots), objects) {
            (Ok(held), _) => held,
            (Err(error), [object]) => return self.find(Part::Bytes, error, cell(*object)),
            // One of several is damaged: each by itself, to name it.
            (Err(_), _) => return objects.iter().try_for_each(|object| self.arrays(&[*object])),
        };
        // Arrays that have been removed have none.
        let tables: Vec<(FoundCell, Table)> = objects
            .iter()
            .zip(&held)
            .filter_map(|(object, held)| Some((cell(*object), held.table()?.clone())))
            .collect();
        self.bytes_of(&tables)
    }

    fn bytes_of(&mut self, tables: &[(FoundCell, Table)]) -> Result<()> {
        self.tables += tables.len() as u64;
        if !self.how.data {
            return self.pieces_are_there(tables);
        }
        let pieces =
            || tables.iter().flat_map(|(cell, table)| table.pieces().iter().map(move |piece| (cell, piece)));
        self.total += pieces().map(|(_, piece)| piece.length).sum::<u64>();
        for (cell, piece) in pieces() {
            let mut at = piece.start;
            while at < piece.end() {
                let end = piece.end().min(at.saturating_add(WINDOW));
                if let Err(error) = self.read_range(cell, &(at..end)) {
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
        let read = ArrayRead { cell: cell_of(cell), offset: range.start, buffer: &mut buffer, filled: 0 };
        self.arrays.read_many(&mut [read])
    }

    /// Looks whether the objects that tables name are there, and as long as they say.
    fn pieces_are_there(&mut self, tables: &[(FoundCell, Table)]) -> Result<()> {
        let named: Vec<(usize, String, u64)> = tables
            .iter()
            .enumerate()
            .flat_map(|(number, (cell, table))| {
                let pieces = table.pieces().iter();
                pieces.map(move |piece| (number, piece.place.name(cell.object), piece.stored))
            })
            .collect();
        let names: Vec<String> = named.iter().map(|(_, name, _)| name.clone()).collect();
        let found = listing::stat(&self.space.data, &names, self.space)?;
        for ((number, name, stored), found) in named.into_iter().zip(found) {
            if found.is_some_and(|found| found.size >= stored) {
                continue;
            }
            let (cell, table) = &tables[number];
            // It may have been replaced since the table was read.
            let again = self.space.load_slots(&[Slot::of(&cell_of(cell))])?;
            if again.first().and_then(|held| held.table()).is_some_and(|now| now.tag == table.tag) {
                let error = Error::corrupt("bytes that are missing", format!("RADOS object {name}"));
                self.find(Part::Bytes, error, cell.clone())?;
            }
        }
        Ok(())
    }
}

fn cell_of(cell: &FoundCell) -> Cell<'_> {
    match cell.object.otype() {
        ObjectType::Array => Cell::array(cell.object),
        _ => Cell::general(cell.object, &cell.dkey, &cell.akey),
    }
}
