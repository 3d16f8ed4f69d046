//! An object in memory: its cells, what updates do to them, and their form in a file.

use std::{collections::BTreeMap, ops::Range};

use isotach_object::{Cell, Precondition, Update};

/// The content of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Value(Vec<u8>),
    Bytes(Bytes),
}

/// Bytes by offset: the written parts, which do not overlap, and the size. The rest are holes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    size: u64,
    parts: BTreeMap<u64, Vec<u8>>,
}

impl Bytes {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Fills the buffer. Returns the number of bytes before the end.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let rest = self.size.saturating_sub(offset);
        let filled = buffer.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..filled];
        buffer.fill(0);
        let end = offset + filled as u64;
        for (start, part) in self.overlapping(offset..end) {
            let (from, to) = (start.max(offset), (start + part.len() as u64).min(end));
            buffer[(from - offset) as usize..(to - offset) as usize]
                .copy_from_slice(&part[(from - start) as usize..(to - start) as usize]);
        }
        filled
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let end = offset + data.len() as u64;
        self.punch(offset..end);
        self.parts.insert(offset, data.to_vec());
        self.size = self.size.max(end);
    }

    fn resize(&mut self, size: u64) {
        self.punch(size..u64::MAX);
        self.size = size;
    }

    fn punch(&mut self, hole: Range<u64>) {
        let starts: Vec<u64> = self.overlapping(hole.clone()).map(|(start, _)| start).collect();
        for start in starts {
            let Some(mut part) = self.parts.remove(&start) else { continue };
            let end = start + part.len() as u64;
            if end > hole.end {
                self.parts.insert(hole.end, part.split_off((hole.end - start) as usize));
            }
            if start < hole.start {
                part.truncate((hole.start - start) as usize);
                self.parts.insert(start, part);
            }
        }
    }

    /// The parts with a byte in the range.
    fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = (u64, &Vec<u8>)> {
        let first = self.parts.range(..=range.start).next_back().map_or(range.start, |(start, _)| *start);
        let parts = self.parts.range(first..range.end.max(first)).map(|(start, part)| (*start, part));
        parts.filter(move |(start, part)| start + part.len() as u64 > range.start && *start < range.end)
    }
}

/// The cells of an object by distribution key and attribute key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Object {
    cells: BTreeMap<(Vec<u8>, Vec<u8>), Content>,
}

impl Object {
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub(crate) fn cell(&self, cell: &Cell<'_>) -> Option<&Content> {
        self.cells.get(&key_of(cell))
    }

    /// All cells in the order of their keys: the distribution key, the attribute key, the content.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (&[u8], &[u8], &Content)> {
        self.cells.iter().map(|((dkey, akey), content)| (dkey.as_slice(), akey.as_slice(), content))
    }

    /// Applies an update of this object.
    pub(crate) fn apply(&mut self, update: &Update<'_>) {
        match update {
            Update::Put { cell, value } => {
                self.cells.insert(key_of(cell), Content::Value(value.to_vec()));
            }
            Update::Remove { cell } => {
                self.cells.remove(&key_of(cell));
            }
            Update::Write { cell, offset, data } => self.change(cell, |bytes| bytes.write(*offset, data)),
            Update::SetSize { cell, size } => self.change(cell, |bytes| bytes.resize(*size)),
            Update::Punch { cell, offset, length } => {
                if let Some(Content::Bytes(bytes)) = self.cells.get_mut(&key_of(cell)) {
                    bytes.punch(*offset..offset.saturating_add(*length));
                }
            }
            Update::RemoveDkey { dkey, .. } => self.cells.retain(|(there, _), _| there != dkey),
            Update::Destroy { .. } => self.cells.clear(),
        }
    }

    /// Changes the bytes of a cell. Afterwards the cell holds bytes, whatever it held before.
    fn change(&mut self, cell: &Cell<'_>, act: impl FnOnce(&mut Bytes)) {
        let mut bytes = match self.cells.remove(&key_of(cell)) {
            Some(Content::Bytes(bytes)) => bytes,
            _ => Bytes::default(),
        };
        act(&mut bytes);
        self.cells.insert(key_of(cell), Content::Bytes(bytes));
    }

    /// Whether a precondition holds; `Unchanged` never does.
    pub(crate) fn holds(&self, precondition: &Precondition<'_>) -> bool {
        let content = self.cell(&precondition.cell());
        match precondition {
            Precondition::Absent(_) => content.is_none(),
            Precondition::Present(_) => content.is_some(),
            Precondition::Equals(_, value) => matches!(content, Some(Content::Value(held)) if held == value),
            Precondition::Unchanged(..) => false,
        }
    }

    /// The form in a file. All numbers have 64 bits.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, self.cells.len() as u64);
        for (dkey, akey, content) in self.cells() {
            string(&mut out, dkey);
            string(&mut out, akey);
            match content {
                Content::Value(value) => {
                    number(&mut out, 0);
                    string(&mut out, value);
                }
                Content::Bytes(bytes) => {
                    number(&mut out, 1);
                    number(&mut out, bytes.size);
                    number(&mut out, bytes.parts.len() as u64);
                    for (start, part) in &bytes.parts {
                        number(&mut out, *start);
                        string(&mut out, part);
                    }
                }
            }
        }
        out
    }

    /// Reads what `encode` wrote; `None` for anything else.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut object = Self::default();
        for _ in 0..take_number(&mut rest)? {
            let key = (take_string(&mut rest)?.to_vec(), take_string(&mut rest)?.to_vec());
            let content = match take_number(&mut rest)? {
                0 => Content::Value(take_string(&mut rest)?.to_vec()),
                1 => {
                    let mut bytes = Bytes { size: take_number(&mut rest)?, parts: BTreeMap::new() };
                    for _ in 0..take_number(&mut rest)? {
                        let start = take_number(&mut rest)?;
                        let part = take_string(&mut rest)?;
                        start.checked_add(part.len() as u64).filter(|end| *end <= bytes.size)?;
                        bytes.parts.insert(start, part.to_vec());
                    }
                    Content::Bytes(bytes)
                }
                _ => return None,
            };
            object.cells.insert(key, content);
        }
        rest.is_empty().then_some(object)
    }
}

fn key_of(cell: &Cell<'_>) -> (Vec<u8>, Vec<u8>) {
    (cell.dkey.to_vec(), cell.akey.to_vec())
}

fn number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Takes a number from the front.
pub(crate) fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*number))
}

fn take_string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (string, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(string)
}
