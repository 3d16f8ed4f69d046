//! Removes an object with all its omaps, so that no reader sees a part of it.
//!
//! One operation removes an object of one omap. An object of several omaps gets a mark on its first omap that holds off readers and
//! writers; then the others get it, and all are removed, the first one last. A process that finds the mark completes the removal
//! before its own work. Repeating it is safe: each omap is removed only if it has the mark of this removal.

use isotach_engine_kit::{context::Context, random};
use isotach_object::{ObjectId, Result};

use super::{
    Omaps, Shard,
    mark::{Mark, State},
    retry,
};
use crate::{
    ffi::{Compare, WriteOp},
    keys::{self, HASH_BITS, LEVEL},
};

impl Omaps {
    /// Removes all entries of an object.
    pub(crate) fn destroy(&self, object: ObjectId) -> Result<()> {
        retry(object, || {
            let mark = self.load(object, 0)?.unwrap_or_default();
            match mark.state {
                State::Settled if mark == Mark::default() => {
                    return Ok(self.remove(object, 0, &mark)?.then_some(()));
                }
                State::Settled => {
                    let gone = mark.with(random::number()?, State::Gone);
                    if self.set_mark(object, 0, &mark, &gone)? {
                        return self.finish_removal(object).map(Some);
                    }
                }
                // That removal began before this one, which has to find what was put since.
                State::Gone => self.finish_removal(object)?,
                State::Frozen | State::Building => {
                    self.wait_or_take_over(object, &Shard { start: 0, mark })?;
                }
            }
            Ok(None)
        })
    }

    /// Does what is left to do of the removal of an object that is marked so.
    pub(super) fn finish_removal(&self, object: ObjectId) -> Result<()> {
        if let Some(mark) = self.load(object, 0)?.filter(|mark| mark.state == State::Gone) {
            self.mark_parts(object, 0, 0, &mark)?;
            self.remove_parts(object, 0, 0, &mark)?;
        }
        self.forget(object)
    }

    /// Marks all omaps that came from halving the range of this one, which was halved `level` times before.
    fn mark_parts(&self, object: ObjectId, start: u32, level: u8, gone: &Mark) -> Result<()> {
        retry(object, || {
            // Removed already.
            let Some(mark) = self.load(object, start)? else { return Ok(Some(())) };
            let shard = Shard { start, mark };
            match shard.mark.state {
                State::Gone => {
                    let mark_part = |start, level| self.mark_parts(object, start, level, gone);
                    return each_part(start, level, shard.mark.level, mark_part).map(Some);
                }
                State::Settled if start > 0 => {
                    // Read after the part: if the removal still runs, the part belongs to the same incarnation.
                    if self.load(object, 0)?.as_ref() != Some(gone) {
                        return Ok(Some(()));
                    }
                    self.set_mark(object, start, &shard.mark, &shard.mark.with(gone.owner, State::Gone))?;
                }
                State::Settled => return Ok(Some(())),
                State::Frozen | State::Building => self.wait_or_take_over(object, &shard)?,
            }
            Ok(None)
        })
    }

    /// Removes all omaps of this removal that came from this one, and then this one.
    fn remove_parts(&self, object: ObjectId, start: u32, level: u8, gone: &Mark) -> Result<()> {
        let mark = self.load(object, start)?;
        let Some(mark) = mark.filter(|mark| mark.state == State::Gone && mark.owner == gone.owner) else {
            return Ok(());
        };
        each_part(start, level, mark.level, |start, level| self.remove_parts(object, start, level, gone))?;
        self.remove(object, start, &mark).map(drop)
    }

    /// Removes an omap with this mark. Returns whether it had it or did not exist.
    fn remove(&self, object: ObjectId, start: u32, mark: &Mark) -> Result<bool> {
        let name = keys::entries_name(object, start);
        let what = || format!("remove RADOS object {name}");
        let mut op = WriteOp::new().context(what)?;
        op.require_entry(LEVEL, Compare::Equal, &mark.encode()).remove();
        match self.io.write(&name, &op) {
            Ok(_) | Err(crate::ffi::Errno::NOT_FOUND) => Ok(true),
            Err(errno) if errno.is_refusal() => Ok(false),
            Err(errno) => Err(errno).context(what),
        }
    }
}

/// The omaps created by each halving of a range, from `level` to `now`: their first hashes and levels.
fn each_part(start: u32, level: u8, now: u8, mut visit: impl FnMut(u32, u8) -> Result<()>) -> Result<()> {
    (level..now).try_for_each(|level| visit(start + (1 << (HASH_BITS - 1 - level)), level + 1))
}
