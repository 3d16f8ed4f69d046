//! The table of an array or of records: a list of the pieces of its bytes, with checksums, that is replaced whole.

use std::ops::Range;

use isotach_engine_kit::{
    bytes::Reader,
    checksum::{combined_blocks, crc32c},
};
use isotach_object::{Error, ObjectId, Result};

use crate::keys;

/// Bytes that one checksum covers: what is read of a piece is whole blocks.
pub(crate) const BLOCK: usize = 64 << 10;

/// Which object holds the bytes of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum PiecePlace {
    /// The array's own. Its bytes are replaced together with the table.
    Own,
    /// One that a writer made for them, by writer and number; it never changes.
    Apart(u64, u64),
}

impl PiecePlace {
    /// Writer and number of an object that is not the array's own.
    pub(crate) fn apart(self) -> Option<(u64, u64)> {
        match self {
            Self::Own => None,
            Self::Apart(writer, number) => Some((writer, number)),
        }
    }

    /// The name of the object, for an array.
    pub(crate) fn name(self, array: ObjectId) -> String {
        let apart = self.apart().map(|(writer, number)| keys::piece_name(writer, number));
        apart.unwrap_or_else(|| keys::array_name(array))
    }
}

/// A part of the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it begins.
    pub(crate) start: u64,
    /// How long it is; at least one byte.
    pub(crate) length: u64,
    /// Where its bytes are.
    pub(crate) place: PiecePlace,
    /// Where they begin there.
    pub(crate) offset: u64,
    /// How many bytes are there in all.
    pub(crate) stored: u64,
    /// The checksums of the blocks that its bytes are in.
    pub(crate) sums: Vec<u32>,
}

impl Piece {
    /// A piece that is all that is stored in a place.
    pub(crate) fn whole(start: u64, place: PiecePlace, data: &[u8]) -> Self {
        let sums = data.chunks(BLOCK).map(crc32c).collect();
        let length = data.len() as u64;
        Self { start, length, place, offset: 0, stored: length, sums }
    }

    /// The checksum of all that is stored there. The piece has all of it.
    pub(crate) fn sum(&self) -> u32 {
        combined_blocks(&self.sums, BLOCK as u64, self.stored)
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.length
    }

    /// The part of it in a range, which it meets.
    fn part(&self, range: &Range<u64>) -> Self {
        let (start, end) = (self.start.max(range.start), self.end().min(range.end));
        let offset = self.offset + (start - self.start);
        let blocks = blocks(offset, end - start);
        let first = blocks.start - self.offset / BLOCK as u64;
        let sums = self.sums.iter().skip(first as usize).take((blocks.end - blocks.start) as usize);
        Self { start, length: end - start, offset, sums: sums.copied().collect(), ..*self }
    }

    /// The stored bytes that must be read for a part of the piece: whole blocks, but for the last of all.
    pub(crate) fn to_read(&self, range: &Range<u64>) -> (Range<u64>, &[u32]) {
        let (start, end) = (self.start.max(range.start), self.end().min(range.end));
        let blocks = blocks(self.offset + (start - self.start), end - start);
        let first = (blocks.start - self.offset / BLOCK as u64) as usize;
        let count = (blocks.end - blocks.start) as usize;
        let block = BLOCK as u64;
        let stored = blocks.start * block..(blocks.end * block).min(self.stored);
        (stored, self.sums.get(first..first + count).unwrap_or_default())
    }
}

/// The numbers of the blocks that so many bytes from an offset on are in.
fn blocks(offset: u64, length: u64) -> Range<u64> {
    offset / BLOCK as u64..(offset + length).div_ceil(BLOCK as u64)
}

/// The first block, by its number among these, whose bytes fail their checksum.
pub(crate) fn damaged(bytes: &[u8], sums: &[u32]) -> Option<usize> {
    let wrong = bytes.chunks(BLOCK).zip(sums).position(|(block, sum)| crc32c(block) != *sum);
    wrong.or_else(|| (bytes.len().div_ceil(BLOCK) != sums.len()).then_some(sums.len().saturating_sub(1)))
}

/// All pieces, and the size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// Random, another one for each table that is ever written.
    pub(crate) tag: [u8; 16],
    pub(crate) size: u64,
    /// In order, none over another. What lies between is a hole.
    pieces: Vec<Piece>,
    /// The object that the table itself is in, by writer and number, where it is not in an attribute or entry.
    pub(crate) apart: Option<(u64, u64)>,
}

impl Table {
    /// A table of one piece, which is all there is.
    pub(crate) fn of(piece: Piece) -> Self {
        Self { size: piece.length, pieces: vec![piece], ..Self::default() }
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The pieces that meet a range.
    pub(crate) fn pieces_in(&self, range: &Range<u64>) -> &[Piece] {
        let first = self.pieces.partition_point(|piece| piece.end() <= range.start);
        let end = self.pieces.partition_point(|piece| piece.start < range.end);
        self.pieces.get(first..end).unwrap_or_default()
    }

    /// Whether the array's own object holds some of the bytes.
    pub(crate) fn has_own(&self) -> bool {
        self.pieces.iter().any(|piece| piece.place == PiecePlace::Own)
    }

    /// Puts pieces that follow each other over what is there.
    pub(crate) fn write(&mut self, new: &[Piece]) {
        let (Some(first), Some(last)) = (new.first(), new.last()) else { return };
        let range = first.start..last.end();
        self.size = self.size.max(range.end);
        self.replace(range, new);
    }

    pub(crate) fn punch(&mut self, offset: u64, length: u64) {
        self.replace(offset..offset.saturating_add(length).min(self.size).max(offset), &[]);
    }

    pub(crate) fn set_size(&mut self, size: u64) {
        if size < self.size {
            self.replace(size..self.size, &[]);
        }
        self.size = size;
    }

    fn replace(&mut self, range: Range<u64>, new: &[Piece]) {
        if range.is_empty() {
            return;
        }
        let first = self.pieces.partition_point(|piece| piece.end() <= range.start);
        let end = self.pieces.partition_point(|piece| piece.start < range.end);
        let before = self.pieces.get(first).filter(|piece| first < end && piece.start < range.start);
        let before = before.map(|piece| piece.part(&(0..range.start)));
        let after =
            self.pieces.get(end.wrapping_sub(1)).filter(|piece| first < end && piece.end() > range.end);
        let after = after.map(|piece| piece.part(&(range.end..u64::MAX)));
        let between = before.into_iter().chain(new.iter().cloned()).chain(after);
        self.pieces.splice(first..end, between);
    }

    /// The objects that it names besides the array's own, by writer and number.
    pub(crate) fn named(&self) -> impl Iterator<Item = (u64, u64)> {
        self.pieces.iter().filter_map(|piece| piece.place.apart()).chain(self.apart)
    }

    /// The table as it is stored; its checksum is over whose it is, too.
    pub(crate) fn encode(&self, whose: &[u8]) -> Vec<u8> {
        let mut bytes = self.tag.to_vec();
        bytes.extend(self.size.to_le_bytes());
        bytes.extend((self.pieces.len() as u64).to_le_bytes());
        for piece in &self.pieces {
            let (writer, number) = piece.place.apart().unwrap_or_default();
            for field in [piece.start, piece.length, writer, number, piece.offset, piece.stored] {
                bytes.extend(field.to_le_bytes());
            }
            bytes.extend((piece.sums.len() as u32).to_le_bytes());
            piece.sums.iter().for_each(|sum| bytes.extend(sum.to_le_bytes()));
        }
        let sum = crc32c(&[&bytes, whose].concat());
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Reads what [`Table::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8], whose: &[u8], place: impl Fn() -> String) -> Result<Self> {
        let fields = bytes.split_last_chunk::<4>();
        let is_whole = |(fields, sum): &(&[u8], &[u8; 4])| {
            crc32c(&[fields, whose].concat()) == u32::from_le_bytes(**sum)
        };
        let Some((fields, _)) = fields.filter(is_whole) else {
            return Err(Error::corrupt("a table of pieces that fails its checksum", place()));
        };
        let strange = || Error::corrupt("a table of pieces that contradicts itself", place());
        Self::fields(&mut Reader(fields)).filter(Self::is_in_order).ok_or_else(strange)
    }

    fn fields(reader: &mut Reader<'_>) -> Option<Self> {
        let (tag, size, count) = (reader.array()?, reader.u64()?, reader.u64()?);
        let mut pieces = Vec::new();
        for _ in 0..count {
            let [start, length, writer, number, offset, stored] = fields(reader)?;
            let sums = reader.u32()?;
            let sums: Option<Vec<u32>> = (0..sums).map(|_| reader.u32()).collect();
            let place = if writer == 0 { PiecePlace::Own } else { PiecePlace::Apart(writer, number) };
            pieces.push(Piece { start, length, place, offset, stored, sums: sums? });
        }
        reader.0.is_empty().then_some(Self { tag, size, pieces, apart: None })
    }

    fn is_in_order(&self) -> bool {
        let mut end = 0;
        self.pieces.iter().all(|piece| {
            let fits = piece.start >= end
                && piece.length > 0
                && piece.start.checked_add(piece.length).is_some_and(|end| end <= self.size)
                && piece.offset.checked_add(piece.length).is_some_and(|end| end <= piece.stored);
            end = if fits { piece.end() } else { u64::MAX };
            fits && {
                let blocks = blocks(piece.offset, piece.length);
                blocks.end - blocks.start == piece.sums.len() as u64
            }
        })
    }
}

fn fields<const N: usize>(reader: &mut Reader<'_>) -> Option<[u64; N]> {
    let mut fields = [0; N];
    for field in &mut fields {
        *field = reader.u64()?;
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// What is done to a table, and to a plain vector beside it.
    #[derive(Debug, Clone)]
    enum ArrayChange {
        Write(u64, u64),
        Punch(u64, u64),
        SetSize(u64),
    }

    const FAR: u64 = 5 * BLOCK as u64;

    fn change() -> impl Strategy<Value = ArrayChange> {
        prop_oneof![
            (0..FAR, 1..FAR).prop_map(|(offset, length)| ArrayChange::Write(offset, length)),
            (0..FAR, 0..FAR).prop_map(|(offset, length)| ArrayChange::Punch(offset, length)),
            (0..FAR).prop_map(ArrayChange::SetSize),
        ]
    }

    fn apply(
        change: &ArrayChange,
        number: u64,
        table: &mut Table,
        stored: &mut Vec<Vec<u8>>,
        plain: &mut Vec<u8>,
    ) {
        match *change {
            ArrayChange::Write(offset, length) => {
                let data: Vec<u8> = (0..length).map(|at| (at * 7 + number * 13) as u8 | 1).collect();
                table.write(&[Piece::whole(offset, PiecePlace::Apart(1, stored.len() as u64), &data)]);
                let end = (offset + length) as usize;
                plain.resize(plain.len().max(end), 0);
                plain[offset as usize..end].copy_from_slice(&data);
                stored.push(data);
            }
            ArrayChange::Punch(offset, length) => {
                table.punch(offset, length);
                let end = plain.len().min((offset + length) as usize);
                plain[(offset as usize).min(end)..end].fill(0);
            }
            ArrayChange::SetSize(size) => {
                table.set_size(size);
                plain.resize(size as usize, 0);
            }
        }
    }

    /// Reads a range as a reader does: whole blocks, each checked.
    fn read(table: &Table, stored: &[Vec<u8>], range: &Range<u64>) -> Vec<u8> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        for piece in table.pieces_in(range) {
            let PiecePlace::Apart(_, number) = piece.place else { panic!("own") };
            let (there, sums) = piece.to_read(range);
            let found = &stored[number as usize][there.start as usize..there.end as usize];
            assert_eq!(damaged(found, sums), None);
            let (start, end) = (piece.start.max(range.start), piece.end().min(range.end));
            let from = (piece.offset + (start - piece.start) - there.start) as usize;
            bytes[(start - range.start) as usize..(end - range.start) as usize]
                .copy_from_slice(&found[from..from + (end - start) as usize]);
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn a_table_agrees_with_a_plain_vector(changes in vec(change(), 1..12), from in 0..FAR, to in 0..2 * FAR) {
            let (mut table, mut stored, mut plain) = (Table::default(), Vec::new(), Vec::new());
            for (number, change) in (0..).zip(&changes) {
                apply(change, number, &mut table, &mut stored, &mut plain);
                prop_assert!(table.is_in_order(), "{table:?}");
                prop_assert_eq!(table.size, plain.len() as u64);
            }
            let again = Table::decode(&table.encode(b"whose"), b"whose", String::new).unwrap();
            prop_assert_eq!(&again, &table);
            let (from, to) = (from.min(table.size), to.max(from).min(table.size));
            let range = from.min(to)..to;
            prop_assert!(read(&again, &stored, &range) == plain[range.start as usize..range.end as usize]);
        }
    }

    #[test]
    fn the_checksums_of_blocks_make_that_of_all_bytes() {
        let data: Vec<u8> = (0..2 * BLOCK + 77).map(|at| ((at * 31) >> 3) as u8).collect();
        for length in [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, data.len()] {
            let piece = Piece::whole(0, PiecePlace::Own, &data[..length]);
            assert_eq!(piece.sum(), crc32c(&data[..length]), "{length} bytes");
        }
    }

    #[test]
    fn a_table_that_is_damaged_or_anothers_is_corrupt() {
        let table = Table::of(Piece::whole(0, PiecePlace::Own, b"abc"));
        let bytes = table.encode(b"me");
        assert!(Table::decode(&bytes, b"you", String::new).is_err());
        for at in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            let error = Table::decode(&bytes, b"me", || "there".to_owned()).unwrap_err();
            assert!(error.code() == "corrupt" && error.to_string().ends_with("in there"), "{error}");
        }
    }
}
