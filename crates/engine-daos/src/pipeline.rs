//! The updates that a handle has accepted and not yet handed over.
//!
//! What must stay true:
//! - Bytes of arrays are written in the background, and all other updates wait. A hand-over first completes the written bytes and then
//!   applies the rest, object by object, in the order of their first update. So an entry never counts before the bytes that it may refer
//!   to, nor before the entries of objects that were updated before its own. An array is removed after the entries that were updated
//!   before it.
//! - At most [`BYTES_MAX`] are being written, except for a single larger write, and at most [`WAITING_MAX`] wait.
//! - After a failure the handle accepts no more updates, since the outcome of pending ones is unknown.

use std::collections::VecDeque;

use isotach_engine_kit::context::Context;
use isotach_object::{Cell, Error, ObjectId, ObjectType, Result, Update};

use crate::{
    apply,
    changes::{CellChange, Changes, ObjectChanges},
    commit,
    edits::Edit,
    failure::Stop,
    ffi::{self, Begun, Operation, Write},
    space::Space,
};

/// The most bytes of pending array writes. Beyond it the caller waits.
const BYTES_MAX: usize = 64 << 20;
/// The most bytes and updates that wait. The changes of one object may be one transaction, which is limited.
const WAITING_MAX: usize = 16 << 20;
const UPDATES_MAX: usize = 20_000;
/// The smallest array that is written at once. Smaller ones wait for further updates.
const LARGE: usize = 64 << 10;

/// A pending write.
#[derive(Debug)]
struct Sent {
    object: ObjectId,
    length: usize,
    write: Begun<Write<'static>>,
}

/// The pending updates of a handle.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    sent: VecDeque<Sent>,
    sent_bytes: usize,
    waiting: Changes,
    failed: bool,
}

impl Pipeline {
    /// Refuses a handle after a failure.
    pub(crate) fn check(&self, space: &Space) -> Result<()> {
        match self.failed {
            true => Err(Error::Poisoned { what: format!("container {}", space.label) }),
            false => Ok(()),
        }
    }

    /// Runs an operation whose failure makes the handle refuse further updates.
    pub(crate) fn or_fail<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = act(self);
        self.failed |= outcome.is_err();
        outcome
    }

    /// Whether nothing is pending.
    pub(crate) fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.waiting.is_empty()
    }

    /// Whether an update of this object is pending.
    pub(crate) fn has(&self, object: ObjectId) -> bool {
        self.waiting.objects.contains_key(&object) || self.sent.iter().any(|one| one.object == object)
    }

    /// Accepts an update.
    pub(crate) fn take(&mut self, update: &Update<'_>, space: &Space) -> Result<()> {
        if let Update::Write { cell, offset, data } = *update
            && cell.object.otype() == ObjectType::Array
            && data.len() >= LARGE
            && offset / space.chunk == (offset + data.len() as u64 - 1) / space.chunk
            && !self.has(cell.object)
        {
            return self.send(cell.object, offset, data, space);
        }
        self.waiting.add(update);
        let is_much = self.waiting.bytes > WAITING_MAX || self.waiting.updates > UPDATES_MAX;
        if is_much { self.hand_over(space) } else { Ok(()) }
    }

    /// Accepts the bytes of a new array, which no other process knows before it is flushed. Bytes under several keys are written
    /// one by one, so a listing of the objects may find a part of it, also after the death of its writer.
    pub(crate) fn take_new(&mut self, object: ObjectId, data: &[u8], space: &Space) -> Result<()> {
        if data.is_empty() || self.has(object) {
            return self.take(&Update::Write { cell: Cell::array(object), offset: 0, data }, space);
        }
        self.send(object, 0, data, space)
    }

    fn send(&mut self, object: ObjectId, offset: u64, data: &[u8], space: &Space) -> Result<()> {
        while !self.sent.is_empty()
            && (self.sent.len() >= space.options.depth || self.sent_bytes + data.len() > BYTES_MAX)
        {
            self.end_oldest(space)?;
        }
        let what = || space.naming("write bytes of", &Cell::array(object));
        let array = space.array(object).context(what)?;
        if space.options.depth == 1 {
            // No other write is pending, so the bytes need no copy.
            return Write::new(&array, None, offset, data).run().context(what);
        }
        let write = space.cont.begin(Write::new(&array, None, offset, data.to_vec())).context(what)?;
        self.sent_bytes += data.len();
        self.sent.push_back(Sent { object, length: data.len(), write });
        Ok(())
    }

    fn end_oldest(&mut self, space: &Space) -> Result<()> {
        let Some(oldest) = self.sent.pop_front() else { return Ok(()) };
        self.sent_bytes -= oldest.length;
        let what = || space.naming("write bytes of", &Cell::array(oldest.object));
        oldest.write.wait().context(what).map(drop)
    }

    /// Hands over all updates, and waits until they count.
    pub(crate) fn hand_over(&mut self, space: &Space) -> Result<()> {
        while !self.sent.is_empty() {
            self.end_oldest(space)?;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let (bytes, others): (Vec<_>, Vec<_>) =
            waiting.objects.into_iter().partition(|(object, changes)| is_written_only(*object, changes));
        let mut all = bytes.iter().chain(&others);
        all.try_for_each(|(object, changes)| self.hand_over_object(space, *object, changes))
    }

    /// Hands over the changes of one object: those of a single call together, the others one by one.
    fn hand_over_object(&self, space: &Space, object: ObjectId, changes: &ObjectChanges) -> Result<()> {
        apply::clearing(space, None, object, changes).map_err(outside(space, object))?;
        let mut begun = VecDeque::new();
        for ((dkey, akey), change) in &changes.cells {
            let cell = Cell { object, dkey, akey };
            if let CellChange::Value(value) = change
                && apply::is_one_call(space, object, change)
            {
                if begun.len() >= space.options.depth
                    && let Some(oldest) = begun.pop_front()
                {
                    end(oldest, space, object)?;
                }
                let update = apply::put(space, None, &cell, value).map_err(outside(space, object))?;
                begun.push_back(
                    space.cont.begin(update.into_owned()).context(|| space.naming("write", &cell))?,
                );
                continue;
            }
            match change {
                CellChange::Removed => apply::remove(space, None, &cell).map_err(outside(space, object))?,
                _ if apply::is_one_call(space, object, change) => write(space, &cell, change)?,
                _ => commit::one_cell(space, &cell, change)?,
            }
        }
        begun.into_iter().try_for_each(|oldest| end(oldest, space, object))
    }
}

/// Whether all changes of an array are writes of bytes.
fn is_written_only(object: ObjectId, changes: &ObjectChanges) -> bool {
    let is_written = |change: &CellChange| match change {
        CellChange::Bytes { edits, .. } => edits.iter().all(|edit| matches!(edit, Edit::Write { .. })),
        _ => false,
    };
    object.otype() == ObjectType::Array && !changes.is_destroyed && changes.cells.values().all(is_written)
}

/// Writes a range of an array under one key.
fn write(space: &Space, cell: &Cell<'_>, change: &CellChange) -> Result<()> {
    let CellChange::Bytes { edits, .. } = change else { return Ok(()) };
    let what = || space.naming("write bytes of", cell);
    let array = space.array(cell.object).context(what)?;
    edits.iter().try_for_each(|edit| match edit {
        Edit::Write { offset, data } => {
            Write::new(&array, None, *offset, data.as_slice()).run().context(what)
        }
        _ => Ok(()),
    })
}

fn end(begun: Begun<ffi::Update<'static>>, space: &Space, object: ObjectId) -> Result<()> {
    let what = || format!("write entries of object {object} of container {}", space.label);
    begun.wait().context(what).map(drop)
}

/// Where there is no transaction, nothing can begin again.
fn outside(space: &Space, object: ObjectId) -> impl Fn(Stop) -> Error {
    move |stop| match stop {
        Stop::Failed(error) => error,
        Stop::Restart => {
            let what =
                format!("change object {object} of container {}: another was at the same", space.label);
            Error::Conflict { what }
        }
    }
}
