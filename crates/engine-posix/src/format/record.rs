//! The body of a transaction's frame: preconditions, then updates, one record each (FORMAT.md section 5).
//!
//! Values up to [`INLINE_MAX`] are in the record. Larger values and all array bytes are extents of data files. Decoding never trusts a
//! length: a record that does not fit its frame is damage.

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::{Cell, Epoch, ObjectClass, ObjectId, ObjectType, Precondition};

use crate::format::{
    extent::{DIGEST, Digest, Extent},
    frame::FRAME_MAX,
};

/// The longest value that is stored in the log.
pub(crate) const INLINE_MAX: usize = 16 * 1024;

/// The system object whose keys are the names of snapshots. Its values are empty.
pub(crate) const SNAPSHOTS: ObjectId = ObjectId::new(ObjectType::System, ObjectClass::S1, 0, 0);
/// The system object whose entries are the prepared transactions.
pub(crate) const PREPARED: ObjectId = ObjectId::new(ObjectType::System, ObjectClass::S1, 0, 1);

/// A value, or where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stored<'a> {
    Inline(&'a [u8]),
    Extent(Extent, Digest),
}

/// An update in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CellChange<'a> {
    Put(Stored<'a>),
    Remove,
    Write { offset: u64, extent: Extent },
    SetSize(u64),
    Punch { offset: u64, length: u64 },
    RemoveDkey,
    Destroy,
}

/// One record of a frame's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    Require(Precondition<'a>),
    Change(Cell<'a>, CellChange<'a>),
    /// An extent with the records of further changes.
    Segment(Extent),
}

mod op {
    pub(crate) const PUT: u8 = 1;
    pub(crate) const PUT_EXTENT: u8 = 2;
    pub(crate) const REMOVE: u8 = 3;
    pub(crate) const WRITE: u8 = 4;
    pub(crate) const SET_SIZE: u8 = 5;
    pub(crate) const PUNCH: u8 = 6;
    pub(crate) const REMOVE_DKEY: u8 = 7;
    pub(crate) const DESTROY: u8 = 8;
    pub(crate) const SEGMENT: u8 = 9;
    pub(crate) const ABSENT: u8 = 16;
    pub(crate) const PRESENT: u8 = 17;
    pub(crate) const EQUALS: u8 = 18;
    pub(crate) const UNCHANGED: u8 = 19;
}

/// Bytes of a record before its keys.
const HEAD: usize = 24;

fn head(out: &mut Vec<u8>, op: u8, cell: &Cell<'_>) {
    // Key lengths were checked against `isotach_object::MAX_KEY`.
    out.put_u8(op);
    out.put_u8(0);
    out.put_u16(cell.dkey.len() as u16);
    out.put_u16(cell.akey.len() as u16);
    out.put_u16(0);
    out.put_u64(cell.object.hi());
    out.put_u64(cell.object.lo());
    out.extend_from_slice(cell.dkey);
    out.extend_from_slice(cell.akey);
}

fn blob(out: &mut Vec<u8>, bytes: &[u8]) {
    out.put_u32(bytes.len() as u32);
    out.extend_from_slice(bytes);
}

/// Appends a change to a frame's body.
pub(crate) fn encode_change(out: &mut Vec<u8>, cell: &Cell<'_>, change: &CellChange<'_>) {
    match change {
        CellChange::Put(Stored::Inline(value)) => {
            head(out, op::PUT, cell);
            blob(out, value);
        }
        CellChange::Put(Stored::Extent(extent, digest)) => {
            head(out, op::PUT_EXTENT, cell);
            extent.encode(out);
            out.extend_from_slice(digest);
        }
        CellChange::Remove => head(out, op::REMOVE, cell),
        CellChange::Write { offset, extent } => {
            head(out, op::WRITE, cell);
            out.put_u64(*offset);
            extent.encode(out);
        }
        CellChange::SetSize(size) => {
            head(out, op::SET_SIZE, cell);
            out.put_u64(*size);
        }
        CellChange::Punch { offset, length } => {
            head(out, op::PUNCH, cell);
            out.put_u64(*offset);
            out.put_u64(*length);
        }
        CellChange::RemoveDkey => head(out, op::REMOVE_DKEY, cell),
        CellChange::Destroy => head(out, op::DESTROY, cell),
    }
}

/// Appends a record for an extent with further records to a frame's body.
pub(crate) fn encode_segment(out: &mut Vec<u8>, segment: &Extent) {
    out.put_u8(op::SEGMENT);
    out.resize(out.len() + HEAD - 1, 0);
    segment.encode(out);
}

/// Appends a precondition to a frame's body.
pub(crate) fn encode_condition(out: &mut Vec<u8>, condition: &Precondition<'_>) {
    match condition {
        Precondition::Absent(cell) => head(out, op::ABSENT, cell),
        Precondition::Present(cell) => head(out, op::PRESENT, cell),
        Precondition::Equals(cell, value) => {
            head(out, op::EQUALS, cell);
            blob(out, value);
        }
        Precondition::Unchanged(cell, epoch) => {
            head(out, op::UNCHANGED, cell);
            out.put_u64(epoch.0);
        }
    }
}

/// Takes one record off a frame's body; `None` if it is malformed, or forbidden by FORMAT.md section 5.2.
pub(crate) fn decode<'a>(reader: &mut Reader<'a>) -> Option<Record<'a>> {
    decode_any(reader).filter(is_sound)
}

fn is_sound(record: &Record<'_>) -> bool {
    let ends =
        |offset: u64, length: u64| offset.checked_add(length).is_some_and(|end| end <= i64::MAX as u64);
    let is_system = |cell: &Cell<'_>| cell.object.otype() == ObjectType::System;
    let names_entry = |cell: &Cell<'_>| !cell.dkey.is_empty() && cell.akey.is_empty();
    match record {
        Record::Require(condition) if is_system(&condition.cell()) => names_entry(&condition.cell()),
        Record::Require(Precondition::Equals(cell, _)) => cell.check_value().is_ok(),
        Record::Require(condition) => condition.cell().check().is_ok(),
        Record::Change(cell, change) => match change {
            CellChange::Put(_) | CellChange::Remove if is_system(cell) => names_entry(cell),
            CellChange::Put(_) | CellChange::Remove => cell.check_value().is_ok(),
            CellChange::Write { offset, extent } => {
                cell.check_extent().is_ok() && ends(*offset, extent.length)
            }
            CellChange::SetSize(size) => cell.check_extent().is_ok() && ends(*size, 0),
            CellChange::Punch { offset, .. } => cell.check_extent().is_ok() && ends(*offset, 0),
            CellChange::RemoveDkey => cell.object.otype() == ObjectType::General && names_entry(cell),
            CellChange::Destroy => cell.dkey.is_empty() && cell.akey.is_empty() && !is_system(cell),
        },
        // A segment is only a few records longer than the size at which it is closed.
        Record::Segment(segment) => segment.length <= FRAME_MAX as u64,
    }
}

fn decode_any<'a>(reader: &mut Reader<'a>) -> Option<Record<'a>> {
    let (op, _flags) = (reader.u8()?, reader.u8()?);
    let (dkey, akey, _reserved) = (reader.u16()?, reader.u16()?, reader.u16()?);
    let object = ObjectId::from_halves(reader.u64()?, reader.u64()?).ok()?;
    let dkey = reader.take(dkey.into())?;
    let cell = Cell { object, dkey, akey: reader.take(akey.into())? };
    let is_bare = (object.hi(), object.lo(), dkey, cell.akey) == (0, 0, b"", b"");
    let blob = |reader: &mut Reader<'a>| {
        let length = reader.u32()?;
        reader.take(length as usize)
    };
    let change = |change| Some(Record::Change(cell, change));
    let require = |condition| Some(Record::Require(condition));
    match op {
        op::PUT => change(CellChange::Put(Stored::Inline(blob(reader)?))),
        op::PUT_EXTENT => {
            let extent = Extent::decode(reader)?;
            change(CellChange::Put(Stored::Extent(extent, reader.take(DIGEST)?.try_into().ok()?)))
        }
        op::REMOVE => change(CellChange::Remove),
        op::WRITE => change(CellChange::Write { offset: reader.u64()?, extent: Extent::decode(reader)? }),
        op::SET_SIZE => change(CellChange::SetSize(reader.u64()?)),
        op::PUNCH => change(CellChange::Punch { offset: reader.u64()?, length: reader.u64()? }),
        op::REMOVE_DKEY => change(CellChange::RemoveDkey),
        op::DESTROY => change(CellChange::Destroy),
        op::SEGMENT if is_bare => Some(Record::Segment(Extent::decode(reader)?)),
        op::ABSENT => require(Precondition::Absent(cell)),
        op::PRESENT => require(Precondition::Present(cell)),
        op::EQUALS => require(Precondition::Equals(cell, blob(reader)?)),
        op::UNCHANGED => require(Precondition::Unchanged(cell, Epoch(reader.u64()?))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::extent::Sums;

    #[test]
    fn every_record_reads_back_and_no_prefix_of_it_does() {
        let id = |otype| ObjectId::new(otype, ObjectClass::S1, 1, 2);
        let kv = Cell::kv(id(ObjectType::KeyValue), b"key");
        let general = Cell::general(id(ObjectType::General), b"d\0", b"a");
        let dkey = Cell { akey: b"", ..general };
        let array = Cell::array(id(ObjectType::Array));
        let extent = Extent { file: 1, position: 2, length: 100_000, sums: Sums::of(&[1; 100_000]) };
        let values = [
            CellChange::Put(Stored::Inline(b"value")),
            CellChange::Put(Stored::Extent(extent.clone(), [7; DIGEST])),
            CellChange::Remove,
        ];
        let bytes = [
            CellChange::Write { offset: 5, extent: extent.clone() },
            CellChange::SetSize(9),
            CellChange::Punch { offset: 1, length: 2 },
        ];
        let mut records =
            vec![Record::Change(dkey, CellChange::RemoveDkey), Record::Change(array, CellChange::Destroy)];
        records.push(Record::Segment(extent));
        for cell in [kv, general] {
            records.extend(values.iter().map(|change| Record::Change(cell, change.clone())));
            let conditions = [
                Precondition::Absent(cell),
                Precondition::Present(cell),
                Precondition::Equals(cell, b"x"),
                Precondition::Unchanged(cell, Epoch(4)),
            ];
            records.extend(conditions.map(Record::Require));
        }
        for cell in [array, general] {
            records.extend(bytes.iter().map(|change| Record::Change(cell, change.clone())));
        }
        for record in records {
            let mut bytes = Vec::new();
            match &record {
                Record::Change(cell, change) => encode_change(&mut bytes, cell, change),
                Record::Require(condition) => encode_condition(&mut bytes, condition),
                Record::Segment(segment) => encode_segment(&mut bytes, segment),
            }
            assert_eq!(decode(&mut Reader(&bytes)), Some(record));
            for cut in 0..bytes.len() {
                assert_eq!(decode(&mut Reader(&bytes[..cut])), None, "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_forbidden_record_is_malformed() {
        let array = Cell::array(ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 1));
        let extent = Extent { file: 1, position: 2, length: 10, sums: Sums::of(&[1; 10]) };
        let wrong = [
            CellChange::Put(Stored::Inline(b"value")),
            CellChange::Write { offset: u64::MAX - 3, extent },
            CellChange::SetSize(u64::MAX),
            CellChange::RemoveDkey,
        ];
        let system = ObjectId::new(ObjectType::System, ObjectClass::S1, 0, 0);
        let named = |cell: Cell<'static>, change| {
            let mut bytes = Vec::new();
            encode_change(&mut bytes, &cell, &change);
            decode(&mut Reader(&bytes)).is_some()
        };
        assert!(named(Cell::kv(system, b"name"), CellChange::Remove));
        assert!(!named(Cell::array(system), CellChange::Remove));
        assert!(!named(Cell::array(system), CellChange::Destroy));
        assert!(!named(Cell::kv(system, b"name"), CellChange::SetSize(1)));
        for change in wrong {
            let mut bytes = Vec::new();
            encode_change(&mut bytes, &array, &change);
            assert_eq!(decode(&mut Reader(&bytes)), None, "{change:?}");
        }
    }

    #[test]
    fn a_segment_has_no_object_and_no_keys() {
        let mut right = Vec::new();
        encode_segment(&mut right, &Extent { file: 1, position: 2, length: 10, sums: Sums::of(&[1; 10]) });
        for at in [2, 4, 8, 23] {
            let mut wrong = right.clone();
            wrong[at] = 1;
            wrong.push(0);
            assert_eq!(decode(&mut Reader(&wrong)), None, "byte {at}");
        }
    }
}
