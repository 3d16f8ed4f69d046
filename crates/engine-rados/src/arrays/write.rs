//! Replacing what slots hold, many at a time: read the tables, store bytes, replace the tables, and again where others were
//! faster.

use std::{collections::HashSet, collections::VecDeque, thread, time::Duration};

use isotach_engine_kit::{context::Context, random};
use isotach_object::{Error, ObjectClass, ObjectId, Result};

use super::{
    ArrayChange, Arrays, Held, Job, Slot, TABLE, TAG,
    change::Next,
    load::{APART, HERE, owner},
};
use crate::{
    entry::{self, Entry},
    ffi::{Errno, IfFound, Pending, ReadOp, WriteOp},
    keys,
    space::Space,
    table::{BLOCK, Piece, PiecePlace, Table},
};

/// The largest table that the attribute holds.
const HERE_MAX: usize = 32 << 10;
/// How many stripes a class of as many as there are gets.
const ALL_STRIPES: u64 = 8;
const STRIPES_MAX: u64 = 64;
/// How often a job is tried before it is an error that others are always faster.
const ATTEMPTS_MAX: u32 = 10_000;
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// The operation that creates a new array with bytes of its own, and fails if the array exists.
pub(crate) struct Preparation {
    object: ObjectId,
    length: usize,
    tag: [u8; 16],
    op: WriteOp,
    /// The checksum of the bytes.
    pub(crate) sum: u32,
}

/// A new array that is being created.
#[derive(Debug)]
pub(crate) struct Creation {
    pub(crate) object: ObjectId,
    /// How many bytes it has.
    pub(crate) length: usize,
    /// The bytes once more, where the array may be there.
    spare: Option<Vec<u8>>,
    /// Of the table that is written with it.
    tag: [u8; 16],
    pending: Pending,
}

impl Creation {
    pub(crate) fn has_ended(&self) -> bool {
        self.pending.has_ended()
    }

    /// Keeps the bytes, for an array that may be there.
    pub(crate) fn keeping(self, data: Vec<u8>) -> Self {
        Self { spare: Some(data), ..self }
    }

    /// Waits for the creation. Returns the bytes if the array existed.
    pub(crate) fn wait(self, arrays: &Arrays) -> Result<Option<Vec<u8>>> {
        let object = self.object;
        match (self.pending.wait(), self.spare) {
            (Ok(_), _) => Ok(None),
            (Err(Errno::EXISTS), Some(data)) => Ok(Some(data)),
            // Sent again by librados, it may have met itself.
            (Err(Errno::EXISTS), None) if arrays.has_tag(object, &self.tag)? => Ok(None),
            (Err(Errno::EXISTS), None) => {
                Err(Error::Conflict { what: format!("array {object} was written as a new one, and exists") })
            }
            (Err(errno), _) => Err(errno).context(|| format!("write array {object}")),
        }
    }
}

impl Arrays {
    /// Whether so many bytes from the beginning of an array on can be stored with it.
    pub(crate) fn fits_own(&self, class: ObjectClass, length: usize) -> bool {
        length > 0 && length <= self.options().chunk && stripe(class, length, self.options().chunk) >= length
    }

    /// Sums and copies the bytes of a new array, which takes a while, and sends nothing.
    pub(crate) fn prepare_create(object: ObjectId, data: &[u8]) -> Result<Preparation> {
        let piece = Piece::whole(0, PiecePlace::Own, data);
        let sum = piece.sum();
        let mut table = Table::of(piece);
        table.tag = random::bytes()?;
        let mut op = WriteOp::new().context(|| format!("write array {object}"))?;
        op.create().write_full(data);
        set_table(&mut op, &table.tag, &here(&table, object));
        Ok(Preparation { object, length: data.len(), tag: table.tag, op, sum })
    }

    /// Begins to create an array.
    pub(crate) fn begin_create(&self, prepared: Preparation) -> Result<Creation> {
        let Preparation { object, length, tag, op, .. } = prepared;
        let pending = self.space.data.begin(&keys::array_name(object), &op);
        let pending = pending.context(|| format!("write array {object}"))?;
        Ok(Creation { object, length, spare: None, tag, pending })
    }

    /// Whether an array is as the table with this tag says.
    fn has_tag(&self, object: ObjectId, tag: &[u8]) -> Result<bool> {
        let answer = self.space.data.read(&keys::array_name(object), ReadOp::new().attributes()).if_found();
        let answer = answer.context(|| format!("read array {object}"))?;
        Ok(answer.is_some_and(|answer| answer.attribute(TAG) == Some(tag)))
    }

    /// Does jobs of different slots. Returns by which of its conditions each was refused, if it was.
    pub(crate) fn settle(&self, mut jobs: Vec<Job>) -> Result<Vec<Option<usize>>> {
        let mut refused = vec![None; jobs.len()];
        let mut left: Vec<usize> = (0..jobs.len()).collect();
        for attempt in 0..ATTEMPTS_MAX {
            left = self.try_settle(&mut jobs, &left, &mut refused)?;
            if left.is_empty() {
                return Ok(refused);
            }
            let pause = Duration::from_micros(100 << attempt.min(8)).min(LONGEST_PAUSE);
            thread::sleep(pause.mul_f64((random::number()? % 1000) as f64 / 1000.0));
        }
        let what = format!("write object {}: others always were faster", jobs[left[0]].object());
        Err(Error::Conflict { what })
    }

    /// Tries these jobs, and returns those that lost a race.
    fn try_settle(
        &self,
        jobs: &mut [Job],
        which: &[usize],
        refused: &mut [Option<usize>],
    ) -> Result<Vec<usize>> {
        let slots: Vec<Slot> = which.iter().map(|number| jobs[*number].slot.clone()).collect();
        let held = self.space.load_slots(&slots)?;
        let mut open: Vec<(usize, Held)> = Vec::new();
        for (number, held) in which.iter().copied().zip(held) {
            refused[number] = jobs[number].refused(&held);
            if refused[number].is_none() {
                open.push((number, held));
            }
        }
        self.store_pieces(jobs, &open)?;
        let mut left = Vec::new();
        let mut unused = HashSet::new();
        let mut begun: VecDeque<(usize, Held, Next, Pending)> = VecDeque::new();
        let mut end = |(number, held, next, pending): (usize, Held, Next, Pending)| -> Result<()> {
            match pending.wait() {
                Ok(_) => unused.extend(replaced(&held, &next)),
                // Another handle has removed or changed it.
                Err(errno) if errno.is_refusal() => left.push(number),
                Err(errno) => return Err(errno).context(|| format!("write array {}", jobs[number].object())),
            }
            Ok(())
        };
        let mut records = Vec::new();
        for (number, held) in open {
            let job = &jobs[number];
            let next = match job.whole(&held, self.options().chunk).filter(|_| self.is_one_stripe(job)) {
                Some(change) => Next::Own(change),
                None => job.next(&held),
            };
            if let Slot::Records(object, key) = &job.slot {
                records.push((number, *object, key, held, next));
                continue;
            }
            let Some((next, pending)) = self.begin_replace(job, &held, next)? else { continue };
            begun.push_back((number, held, next, pending));
            if begun.len() >= self.space.data.depth()
                && let Some(first) = begun.pop_front()
            {
                end(first)?;
            }
        }
        begun.into_iter().try_for_each(&mut end)?;
        for (number, object, key, held, next) in records {
            match self.replace_records(object, key, &held, &next)? {
                true => unused.extend(replaced(&held, &next)),
                false => left.push(number),
            }
        }
        self.space.remove_pieces(unused);
        Ok(left)
    }

    fn is_one_stripe(&self, job: &Job) -> bool {
        match job.changes.last() {
            Some(ArrayChange::Write { data, .. }) => self.fits_own(job.object().class(), data.len()),
            _ => false,
        }
    }

    /// Stores the bytes of jobs that have not been stored yet.
    fn store_pieces(&self, jobs: &mut [Job], open: &[(usize, Held)]) -> Result<()> {
        let mut begun: VecDeque<Pending> = VecDeque::new();
        for (number, held) in open {
            let job = &mut jobs[*number];
            if job.whole(held, self.options().chunk).is_some() && self.is_one_stripe(job) {
                continue;
            }
            let class = job.object().class();
            for (change, pieces) in job.changes.iter().zip(&mut job.pieces) {
                let ArrayChange::Write { offset, data } = change else { continue };
                if pieces.is_none() {
                    *pieces = Some(self.begin_pieces(class, *offset, data, &mut begun)?);
                }
            }
        }
        begun.into_iter().try_for_each(|pending| pending.wait().context(storing).map(drop))
    }

    fn begin_pieces(
        &self,
        class: ObjectClass,
        offset: u64,
        data: &[u8],
        begun: &mut VecDeque<Pending>,
    ) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut start = offset;
        for part in data.chunks(stripe(class, data.len(), self.options().chunk)) {
            let number = self.next_piece();
            pieces.push(Piece::whole(start, PiecePlace::Apart(self.writer, number), part));
            start += part.len() as u64;
            if begun.len() >= self.space.data.depth()
                && let Some(first) = begun.pop_front()
            {
                first.wait().context(storing)?;
            }
            begun.push_back(self.begin_piece(number, part).context(storing)?);
        }
        Ok(pieces)
    }

    fn begin_piece(&self, number: u64, data: &[u8]) -> Result<Pending, Errno> {
        let mut op = WriteOp::new()?;
        op.create().write_full(data);
        self.space.data.begin(&keys::piece_name(self.writer, number), &op)
    }

    /// Begins to put what is next in the place of what an array holds; nothing where that is the same.
    fn begin_replace(&self, job: &Job, held: &Held, next: Next) -> Result<Option<(Next, Pending)>> {
        let object = job.object();
        let what = || format!("write array {object}");
        let mut op = WriteOp::new().context(what)?;
        match held.table() {
            Some(table) => op.require_attribute(TAG, &table.tag),
            None => op.create(),
        };
        let had_own = held.table().is_some_and(Table::has_own);
        let next = match next {
            Next::Same | Next::Value(_) => return Ok(None),
            Next::Nothing if held.table().is_none() => return Ok(None),
            Next::Nothing => {
                op.remove();
                Next::Nothing
            }
            Next::Own(change) => {
                let ArrayChange::Write { data, .. } = &job.changes[change] else { return Ok(None) };
                let mut table = Table::of(Piece::whole(0, PiecePlace::Own, data));
                table.tag = random::bytes()?;
                op.write_full(data);
                set_table(&mut op, &table.tag, &here(&table, object));
                Next::Pieces(table)
            }
            Next::Pieces(mut table) => {
                table.tag = random::bytes()?;
                if had_own && !table.has_own() {
                    op.write_full(b"");
                }
                set_table(&mut op, &table.tag, &self.table_attribute(&table, object)?);
                Next::Pieces(table)
            }
        };
        let pending = self.space.data.begin(&keys::array_name(object), &op).context(what)?;
        Ok(Some((next, pending)))
    }

    /// A table as the attribute holds it; a large one is stored apart.
    fn table_attribute(&self, table: &Table, object: ObjectId) -> Result<Vec<u8>> {
        let attribute = here(table, object);
        if attribute.len() <= HERE_MAX {
            return Ok(attribute);
        }
        let number = self.next_piece();
        self.begin_piece(number, &attribute[1..]).and_then(Pending::wait).context(storing)?;
        Ok([&[APART][..], &self.writer.to_le_bytes(), &number.to_le_bytes()].concat())
    }

    /// Replaces the contents of records. Returns false if another handle was faster.
    fn replace_records(&self, object: ObjectId, key: &[u8], held: &Held, next: &Next) -> Result<bool> {
        let stored = match next {
            Next::Same | Next::Own(_) => return Ok(true),
            Next::Nothing if *held == Held::Nothing => return Ok(true),
            Next::Nothing => None,
            Next::Value(value) => Some(entry::encode_value(object, key, value)),
            Next::Pieces(table) => {
                let mut table = table.clone();
                table.tag = random::bytes()?;
                Some(Entry::Records(table).encode(object, key))
            }
        };
        self.space.omaps.write_if(object, key, &held.condition(), stored.as_deref())
    }
}

impl Space {
    /// Removes pieces that no table names any more. What fails is left to a purge.
    pub(crate) fn remove_pieces(&self, unused: impl IntoIterator<Item = (u64, u64)>) {
        let mut begun = VecDeque::new();
        for (writer, number) in unused {
            if begun.len() >= self.data.depth() {
                begun.pop_front().map(Pending::wait);
            }
            let removal = WriteOp::new().and_then(|mut op| {
                op.remove();
                self.data.begin(&keys::piece_name(writer, number), &op)
            });
            begun.extend(removal.ok());
        }
        begun.into_iter().for_each(|pending| {
            let _ = pending.wait();
        });
    }
}

/// The pieces that were named before and are not any more.
fn replaced(held: &Held, next: &Next) -> Vec<(u64, u64)> {
    let kept: HashSet<_> = match next {
        // The table itself is stored anew.
        Next::Pieces(table) => table.pieces().iter().filter_map(|piece| piece.place.apart()).collect(),
        Next::Same => return Vec::new(),
        _ => HashSet::new(),
    };
    held.table().into_iter().flat_map(Table::named).filter(|piece| !kept.contains(piece)).collect()
}

fn here(table: &Table, object: ObjectId) -> Vec<u8> {
    [&[HERE][..], &table.encode(&owner(object))].concat()
}

fn set_table(op: &mut WriteOp, tag: &[u8], table: &[u8]) {
    op.set_attribute(TAG, tag).set_attribute(TABLE, table);
}

fn storing() -> String {
    "store bytes of an array".to_owned()
}

/// How many bytes of a write go into one object: by the groups of the class, whole blocks, and at most a chunk.
fn stripe(class: ObjectClass, length: usize, chunk: usize) -> usize {
    let groups = match u64::from(class.groups()) {
        0 | 1 => return chunk,
        0xffff => ALL_STRIPES,
        groups => groups.min(STRIPES_MAX),
    };
    length.div_ceil(groups as usize).next_multiple_of(BLOCK).clamp(BLOCK, chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_says_into_how_many_objects_a_write_goes() {
        let parts = |class: &str, length: usize| {
            let class: ObjectClass = class.parse().unwrap();
            length.div_ceil(stripe(class, length, 8 << 20))
        };
        assert_eq!([parts("S1", 1 << 20), parts("S2", 1 << 20), parts("SX", 1 << 20)], [1, 2, 8]);
        assert_eq!([parts("S1", 20 << 20), parts("S4", 64 << 20), parts("SX", 1000)], [3, 8, 1]);
    }
}
