//! What a handle has taken and not yet handed over.
//!
//! What must stay true:
//! - Bytes of arrays are under way while the caller goes on; all else waits. When all is handed over, bytes that are written come
//!   first and then the rest, object by object, in the order in which the objects were first named. So an entry never counts before
//!   the bytes that it may speak of, nor before the entries of objects that were named before its own; and an array that goes, goes
//!   after the entries that were named before it.
//! - No more than [`MOST_BYTES`] are under way, but for one write that has more, and no more than [`MOST_WAITING`] wait.
//! - After a failure nothing more is taken: nobody knows what came of what was under way.

use std::collections::VecDeque;

use isotach_engine_kit::context::Context;
use isotach_object::{Cell, Error, ObjectId, ObjectType, Result, Update};

use crate::{
    apply,
    changes::{Change, Changes, ObjectChanges},
    commit,
    edits::Edit,
    failure::Stop,
    ffi::{self, Begun, Operation, Write},
    space::Space,
};

/// Bytes of array writes that are under way before the caller has to wait.
const MOST_BYTES: usize = 64 << 20;
/// Bytes of changes that wait, and how many: what comes of one object may be one transaction, which has its limit.
const MOST_WAITING: usize = 16 << 20;
const MOST_UPDATES: usize = 20_000;
/// Arrays that are written at once from this size on; smaller ones wait for others that follow them.
const LARGE: usize = 64 << 10;

/// A write that is under way.
#[derive(Debug)]
struct Sent {
    object: ObjectId,
    length: usize,
    write: Begun<Write<'static>>,
}

/// What a handle has taken.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    sent: VecDeque<Sent>,
    sent_bytes: usize,
    waiting: Changes,
    failed: bool,
}

impl Pipeline {
    /// Refuses a handle of which something failed.
    pub(crate) fn check(&self, space: &Space) -> Result<()> {
        match self.failed {
            true => Err(Error::Poisoned { what: format!("container {}", space.label) }),
            false => Ok(()),
        }
    }

    /// Does something after whose failure the handle takes no more.
    pub(crate) fn or_fail<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = act(self);
        self.failed |= outcome.is_err();
        outcome
    }

    /// Whether nothing waits or is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.waiting.is_empty()
    }

    /// Whether something of this object waits or is under way.
    pub(crate) fn has(&self, object: ObjectId) -> bool {
        self.waiting.objects.contains_key(&object) || self.sent.iter().any(|one| one.object == object)
    }

    /// Takes an update.
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
        let is_much = self.waiting.bytes > MOST_WAITING || self.waiting.updates > MOST_UPDATES;
        if is_much { self.hand_over(space) } else { Ok(()) }
    }

    /// Takes the bytes of an array that is not there, and that nobody knows of before it is flushed. Under several keys they are written
    /// one by one: who lists the objects may meet it in parts, as may whoever comes after a writer that died.
    pub(crate) fn take_new(&mut self, object: ObjectId, data: &[u8], space: &Space) -> Result<()> {
        if data.is_empty() || self.has(object) {
            return self.take(&Update::Write { cell: Cell::array(object), offset: 0, data }, space);
        }
        self.send(object, 0, data, space)
    }

    fn send(&mut self, object: ObjectId, offset: u64, data: &[u8], space: &Space) -> Result<()> {
        while !self.sent.is_empty()
            && (self.sent.len() >= space.options.depth || self.sent_bytes + data.len() > MOST_BYTES)
        {
            self.end_oldest(space)?;
        }
        let what = || space.naming("write bytes of", &Cell::array(object));
        let array = space.array(object).context(what)?;
        if space.options.depth == 1 {
            // Nothing else is to be under way, so the bytes need not be copied.
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

    /// Hands over everything, and waits until it counts.
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

    /// Hands over the changes of one object: those that are one call all at once, the others one by one.
    fn hand_over_object(&self, space: &Space, object: ObjectId, changes: &ObjectChanges) -> Result<()> {
        apply::clearing(space, None, object, changes).map_err(outside(space, object))?;
        let mut begun = VecDeque::new();
        for ((dkey, akey), change) in &changes.cells {
            let cell = Cell { object, dkey, akey };
            if let Change::Value(value) = change
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
                Change::Removed => apply::remove(space, None, &cell).map_err(outside(space, object))?,
                _ if apply::is_one_call(space, object, change) => write(space, &cell, change)?,
                _ => commit::one_cell(space, &cell, change)?,
            }
        }
        begun.into_iter().try_for_each(|oldest| end(oldest, space, object))
    }
}

/// Whether nothing becomes of an array but that bytes are written.
fn is_written_only(object: ObjectId, changes: &ObjectChanges) -> bool {
    let is_written = |change: &Change| match change {
        Change::Bytes { edits, .. } => edits.iter().all(|edit| matches!(edit, Edit::Write { .. })),
        _ => false,
    };
    object.otype() == ObjectType::Array && !changes.is_destroyed && changes.cells.values().all(is_written)
}

/// Writes a range of an array that lies under one key.
fn write(space: &Space, cell: &Cell<'_>, change: &Change) -> Result<()> {
    let Change::Bytes { edits, .. } = change else { return Ok(()) };
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

/// Where there is no transaction, nothing can begin anew.
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
