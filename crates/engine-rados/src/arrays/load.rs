//! Reading the tables of arrays and records.

use isotach_engine_kit::{bytes::Reader, context::Context};
use isotach_object::{Error, ObjectId, Result};

use super::{Held, Slot, TABLE};
use crate::{
    entry::Entry,
    ffi::{Answer, Errno, IfFound, ReadOp},
    keys,
    omaps::Condition,
    space::Space,
    table::Table,
};

/// A table that is itself the value of the attribute, and one that is in an object of its own.
pub(super) const HERE: u8 = 1;
pub(super) const APART: u8 = 2;
/// How often a table that is apart is looked for, before it is taken for lost.
const LOOKS_MAX: usize = 100;

/// What a table's checksum covers besides the table: its owner.
pub(super) fn owner(object: ObjectId) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&object.hi().to_le_bytes());
    bytes[8..].copy_from_slice(&object.lo().to_le_bytes());
    bytes
}

/// Where the table of an array is.
enum StoredTable {
    Table(Table),
    /// In an object of its own, by writer and number, if that is still there.
    Apart(u64, u64),
}

impl Space {
    /// What slots hold, each at one moment.
    pub(crate) fn load_slots(&self, slots: &[Slot]) -> Result<Vec<Held>> {
        let mut held = vec![Held::Nothing; slots.len()];
        let arrays: Vec<(usize, ObjectId)> = numbered(slots, |slot| match slot {
            Slot::Array(object) => Some(*object),
            Slot::Records(..) => None,
        });
        let reads = arrays.iter().map(|(_, object)| (keys::array_name(*object), ReadOp::new().attributes()));
        self.data.read_together(reads, |at, outcome| {
            let (number, object) = arrays[at];
            if let Some((table, _)) = self.table_of(object, outcome)? {
                held[number] = Held::Bytes(table, Vec::new());
            }
            Ok(())
        })?;
        self.load_records(slots, &mut held)?;
        Ok(held)
    }

    fn load_records(&self, slots: &[Slot], held: &mut [Held]) -> Result<()> {
        let (numbers, wanted): (Vec<usize>, Vec<_>) = numbered(slots, |slot| match slot {
            Slot::Array(_) => None,
            Slot::Records(object, key) => Some((*object, key.clone())),
        })
        .into_iter()
        .unzip();
        let decode =
            |(object, key): &(ObjectId, Vec<u8>), stored: &[u8]| match Entry::decode(*object, key, stored)? {
                Entry::Value(_) => Ok(Held::Value(stored.to_vec())),
                Entry::Records(table) => Ok(Held::Bytes(table, stored.to_vec())),
            };
        for (number, found) in numbers.into_iter().zip(self.omaps.get(&wanted, decode)?) {
            held[number] = found.unwrap_or(Held::Nothing);
        }
        Ok(())
    }

    /// The table of an array, by what reading its attributes gave, and the bytes of its own that came with it.
    pub(super) fn table_of<'b>(
        &self,
        object: ObjectId,
        mut outcome: Result<Answer<'b>, Errno>,
    ) -> Result<Option<(Table, &'b mut [u8])>> {
        let name = keys::array_name(object);
        for _ in 0..LOOKS_MAX {
            let answer = outcome.if_found().context(|| format!("read RADOS object {name}"))?;
            let Some(answer) = answer else { return Ok(None) };
            let apart = match found(object, &name, &answer)? {
                StoredTable::Table(table) => return Ok(Some((table, answer.bytes))),
                StoredTable::Apart(writer, number) => (writer, number),
            };
            let place = keys::piece_name(apart.0, apart.1);
            if let Some(bytes) = self.read_all(&place)? {
                let mut table = Table::decode(&bytes, &owner(object), || format!("RADOS object {place}"))?;
                table.apart = Some(apart);
                return Ok(Some((table, answer.bytes)));
            }
            // Another table has replaced it, whose bytes this read does not have.
            outcome = self.data.read(&name, ReadOp::new().attributes());
        }
        Err(Error::corrupt(
            "a table of pieces that is not where it should be",
            format!("RADOS object {name}"),
        ))
    }

    /// All bytes of an object; `None` if it does not exist.
    fn read_all(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let what = || format!("read RADOS object {name}");
        let stat = self.data.read(name, ReadOp::new().stat()).if_found().context(what)?;
        let Some(stat) = stat else { return Ok(None) };
        let mut bytes = vec![0; stat.size as usize];
        let answer = self.data.read(name, ReadOp::new().bytes(0, &mut bytes)).if_found().context(what)?;
        let Some(filled) = answer.map(|answer| answer.bytes.len()) else { return Ok(None) };
        bytes.truncate(filled);
        Ok(Some(bytes))
    }
}

fn numbered<T>(slots: &[Slot], pick: impl Fn(&Slot) -> Option<T>) -> Vec<(usize, T)> {
    slots.iter().enumerate().filter_map(|(number, slot)| Some((number, pick(slot)?))).collect()
}

fn found(object: ObjectId, name: &str, answer: &Answer<'_>) -> Result<StoredTable> {
    let place = || format!("RADOS object {name}");
    let Some(stored) = answer.attribute(TABLE) else {
        return Err(Error::corrupt("an array without a table of its pieces", place()));
    };
    match stored.split_first() {
        Some((&HERE, table)) => Table::decode(table, &owner(object), place).map(StoredTable::Table),
        Some((&APART, rest)) => match numbers(rest) {
            Some((writer, number)) => Ok(StoredTable::Apart(writer, number)),
            None => Err(Error::corrupt("a table of pieces that is nowhere", place())),
        },
        _ => Err(Error::corrupt("a table of pieces of an unknown kind", place())),
    }
}

fn numbers(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut reader = Reader(bytes);
    Some((reader.u64()?, reader.u64()?))
}

impl Held {
    /// That the slot still holds this, for records.
    pub(super) fn condition(&self) -> Condition {
        match self {
            Self::Nothing => Condition::Absent,
            Self::Value(stored) | Self::Bytes(_, stored) => Condition::Is(stored.clone()),
        }
    }
}
