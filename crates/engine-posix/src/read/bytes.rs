//! Reading cells: from entries of the state to the bytes of data files.

use isotach_object::{ArrayRead, Cell, Error, ObjectId, Result, SharedBytes};

use crate::{
    format::path,
    handle::PosixContainer,
    index::{entry::Entry, ops::Resolved, state::State},
    read::lookup::CellContent,
};

impl PosixContainer {
    /// Adds the object to an error about data files. A destroyed container has none any more.
    pub(crate) fn naming_object<T>(&self, object: ObjectId, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| match error {
            Error::Corrupt { .. } if self.check_current().is_err() => self.destroyed(),
            Error::Corrupt { what, place } => {
                Error::corrupt(format!("{what} (object {object} of container {})", self.label), place)
            }
            other => other,
        })
    }

    pub(crate) fn value(&self, cell: &Cell<'_>, entry: Option<Entry>) -> Result<Option<Vec<u8>>> {
        match entry {
            Some(Entry::Value(value)) => Ok(Some(value.into_vec())),
            Some(Entry::ValueExtent(extent, _)) => {
                self.naming_object(cell.object, self.storage.data.read_extent(&extent)).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn read(&self, read: &mut ArrayRead<'_>, resolved: &Resolved) -> Result<()> {
        let there = resolved.size.saturating_sub(read.offset);
        let filled = read.buffer.len().min(usize::try_from(there).unwrap_or(usize::MAX));
        let (start, end) = (read.offset, read.offset + filled as u64);
        let mut done = start;
        let first = resolved.parts.partition_point(|part| part.end() <= start);
        for part in resolved.parts[first..].iter().take_while(|part| part.offset < end) {
            let Some(part) = part.clip(start, end) else { continue };
            let (from, to) = ((part.offset - start) as usize, (part.end() - start) as usize);
            read.buffer[(done - start) as usize..from].fill(0);
            let outcome = self.storage.data.read_part(&part, &mut read.buffer[from..to]);
            self.naming_object(read.cell.object, outcome)?;
            done = part.end();
        }
        read.buffer[(done - start) as usize..filled].fill(0);
        read.filled = filled;
        Ok(())
    }

    /// Lends bytes of an array. Bytes in several places or with holes are copied.
    pub(crate) fn lend_resolved(
        &self,
        cell: Cell<'_>,
        offset: u64,
        length: u64,
        resolved: &Resolved,
    ) -> Result<SharedBytes> {
        let length = length.min(resolved.size.saturating_sub(offset));
        let whole = match &resolved.parts[..] {
            [part] => part.clip(offset, offset + length).filter(|part| part.length == length),
            _ => None,
        };
        if let Some(part) = whole {
            match self.naming_object(cell.object, self.storage.data.share(&part)) {
                // A process has a limited number of maps: copy instead.
                Err(Error::Io { .. }) => {}
                outcome => return outcome,
            }
        }
        let mut buffer = zeros(length)?;
        let mut read = ArrayRead { cell, offset, buffer: &mut buffer, filled: 0 };
        self.read(&mut read, resolved)?;
        Ok(buffer.into())
    }
}

/// The entry of a cell.
pub(crate) fn find(state: &State, cell: &Cell<'_>) -> Result<Option<Entry>> {
    state.find(&path::of(cell))
}

/// The contents of a cell, with the parts of a range if it holds bytes.
pub(crate) fn lookup(state: &State, cell: &Cell<'_>, offset: u64, length: u64) -> Result<CellContent> {
    state.lookup(&path::of(cell), offset..offset.saturating_add(length))
}

/// A range of an array or of records. Empty for other cells.
pub(crate) fn bytes(state: &State, cell: &Cell<'_>, offset: u64, length: u64) -> Result<Resolved> {
    match lookup(state, cell, offset, length)? {
        CellContent::Bytes(resolved) => Ok(resolved),
        _ => Ok(Resolved::default()),
    }
}

/// A buffer of zeros, or an error if there is no memory for it.
fn zeros(length: u64) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let what = || Error::NoSpace { what: format!("memory to gather {length} bytes") };
    buffer.try_reserve_exact(length).map_err(|_| what())?;
    buffer.resize(length, 0);
    Ok(buffer)
}
