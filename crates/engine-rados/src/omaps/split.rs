//! Splits an omap that has grown large: the upper half of its hashes moves to an omap of its own.
//!
//! 1. The omap is marked as frozen: writers wait, readers continue.
//! 2. A new omap is marked as being built, and the entries of the upper half are copied into it. Only the owner knows it.
//! 3. The new omap is marked as settled.
//! 4. One operation gives the old omap its new level and removes the upper half from it. From here on the new omap counts.
//!
//! Each step requires the mark of the step before. A process that takes over from a dead owner first puts its own number into the
//! marks, so operations that the dead owner still had under way fail.

use std::time::{Duration, Instant};

use isotach_engine_kit::{context::Context, random};
use isotach_object::{ObjectId, ObjectType, Result};

use super::{
    Omaps, PER_OPERATION, Shard,
    mark::{Mark, State},
    write::BYTES_PER_OPERATION,
};
use crate::{
    ffi::{Compare, OwnedRead, ReadOp, WriteOp},
    keys::{self, HASH_BITS, LAST, LEVEL},
};

/// A stored key, and what is stored under it.
type Entry = (Vec<u8>, Vec<u8>);

/// Entries that are counted to estimate how many there are. Of general objects it is as many as one operation reads: all
/// attribute keys of a distribution key have one hash, so a small part of the hashes may hold none of them.
const SAMPLE: u64 = 100;
const SAMPLE_OF_GENERAL: u64 = PER_OPERATION as u64 - 1;
/// An omap is looked at, in the mean, once in so many of the entries that it may hold.
const LOOKS: u64 = 20;
/// The time between two heartbeats of an owner that copies; well below the patience of those that wait.
const RENEWAL: Duration = Duration::from_secs(3);
/// The highest level: the range of an omap has two hashes then.
const LEVELS_MAX: u8 = HASH_BITS - 1;

/// A count of an omap's entries that is under way.
#[derive(Debug)]
pub(super) struct Look {
    shard: Shard,
    /// The part of the hashes ends before this key.
    end: Vec<u8>,
    /// How many entries this part may have.
    most: u64,
    read: OwnedRead,
}

impl Omaps {
    /// How many entries may be written to an omap before they are counted for certain.
    pub(super) fn unseen(&self) -> u64 {
        self.most / 10
    }

    /// Splits an omap if so many more entries have made it too large. Counts seldom.
    pub(super) fn split_if_large(&self, object: ObjectId, shard: &Shard, written: u64) -> Result<()> {
        if self.should_look(shard, written)? {
            self.end_look(object, self.begin_look(object, shard));
        }
        Ok(())
    }

    /// Whether a count of an omap is due after so many written entries.
    pub(super) fn should_look(&self, shard: &Shard, written: u64) -> Result<bool> {
        let look = (self.most / LOOKS).max(1);
        Ok(shard.mark.level < LEVELS_MAX && random::number()? % look < written)
    }

    /// Begins to count the entries in a part of an omap's hashes.
    pub(super) fn begin_look(&self, object: ObjectId, shard: &Shard) -> Look {
        let sample = if object.otype() == ObjectType::General { SAMPLE_OF_GENERAL } else { SAMPLE };
        let most = self.most.min(sample);
        let width = (shard.mark.width() * most / self.most).clamp(1, shard.mark.width());
        let end = if most == self.most { shard.end() } else { u64::from(shard.start) + width };
        let begin = keys::bound(shard.start.into());
        let name = keys::entries_name(object, shard.start);
        let read = self.io.begin_owned(&name, Vec::new(), |_| ReadOp::new().page(&begin, most + 1, false));
        Look { shard: shard.clone(), end: keys::bound(end), most, read }
    }

    /// Splits an omap if the count exceeds its limit. Written entries count even if the split fails: the next writer tries again.
    pub(super) fn end_look(&self, object: ObjectId, look: Look) {
        let Look { shard, end, most, read } = look;
        let (is_large, _) = read.wait(|outcome| {
            let mut count = 0;
            if let Ok(answer) = outcome {
                answer.entries.each(|key, _| count += u64::from(key < end.as_slice()));
            }
            count > most
        });
        if is_large {
            let _ = self.split(object, &shard);
        }
    }

    /// Splits an omap that is settled, or that another has begun to split. Does nothing if it has changed.
    ///
    /// # Errors
    /// Those of Ceph. The omap then stays frozen until a waiting process completes the split: a settled upper half is valid only
    /// while the lower one is not written.
    pub(super) fn split(&self, object: ObjectId, shard: &Shard) -> Result<()> {
        let mut frozen = shard.mark.with(random::number()?, State::Frozen);
        if self.set_mark(object, shard.start, &shard.mark, &frozen)? {
            self.move_upper(object, shard, &mut frozen)?;
        }
        self.load(object, shard.start).map(drop)
    }

    /// Moves the upper half of a frozen omap to one of its own, unless another process takes over.
    fn move_upper(&self, object: ObjectId, shard: &Shard, frozen: &mut Mark) -> Result<()> {
        let Some(upper) = self.fill_upper(object, shard.start, frozen)? else { return Ok(()) };
        let lower = Mark { level: upper.level, ..frozen.with(frozen.owner, State::Settled) };
        let upper = keys::bound(u64::from(shard.start) + lower.width());
        self.change(object, shard.start, frozen, &lower, |op| {
            op.remove_range(&upper, &keys::bound(shard.end()));
        })
        .map(drop)
    }

    /// Creates the omap of the upper half and returns its mark; `None` if another process has taken over.
    fn fill_upper(&self, object: ObjectId, start: u32, frozen: &mut Mark) -> Result<Option<Mark>> {
        let middle = start + (frozen.width() / 2) as u32;
        let building = Mark { level: frozen.level + 1, ..frozen.with(frozen.owner, State::Building) };
        let old = match self.load(object, middle)? {
            // Whoever was here before had come so far.
            Some(mark) if mark.state == State::Settled => return Ok(Some(mark)),
            Some(mark) => mark,
            None => Mark::default(),
        };
        let made = self.change(object, middle, &old, &building, |op| {
            op.remove_range(keys::FIRST, LAST);
        })?;
        if !made || !self.copy_upper(object, start, frozen, middle, &building)? {
            return Ok(None);
        }
        let settled = building.with(building.owner, State::Settled);
        let done = self.set_mark(object, middle, &building, &settled)?;
        Ok(done.then_some(settled))
    }

    /// Copies the entries of the upper half. Returns false if another process has taken over.
    fn copy_upper(
        &self,
        object: ObjectId,
        start: u32,
        frozen: &mut Mark,
        middle: u32,
        building: &Mark,
    ) -> Result<bool> {
        let from = keys::entries_name(object, start);
        let end = keys::bound(u64::from(start) + frozen.width());
        let mut after = keys::bound(middle.into());
        let mut renewed = Instant::now();
        loop {
            if renewed.elapsed() > RENEWAL {
                let anew = frozen.with(random::number()?, State::Frozen);
                if !self.set_mark(object, start, frozen, &anew)? {
                    return Ok(false);
                }
                *frozen = anew;
                renewed = Instant::now();
            }
            let op = ReadOp::new().require_entry(LEVEL, &frozen.encode());
            let answer = match self.io.read(&from, op.page(&after, PER_OPERATION as u64, true)) {
                Err(errno) if errno.is_refusal() => return Ok(false),
                outcome => outcome.context(|| format!("copy entries of RADOS object {from}"))?,
            };
            let (more, all) = (answer.more, answer.entries.into_vec());
            let entries = &all[..all.partition_point(|(key, _)| *key < end)];
            let Some((last, _)) = entries.last() else { return Ok(true) };
            for part in entries.chunk_by(in_one_operation()) {
                if !self.copy(object, middle, building, part)? {
                    return Ok(false);
                }
            }
            if !more || entries.len() < all.len() {
                return Ok(true);
            }
            after.clone_from(last);
        }
    }

    /// Sets entries of an omap that is being built. Returns false if another process has taken over.
    fn copy(&self, object: ObjectId, middle: u32, building: &Mark, part: &[Entry]) -> Result<bool> {
        let to = keys::entries_name(object, middle);
        let what = || format!("copy entries to RADOS object {to}");
        let copied = self.io.write_if(&to, what, |op| {
            op.require_entry(LEVEL, Compare::Equal, &building.encode()).set_entries(part)
        })?;
        Ok(copied.is_some())
    }

    /// Replaces a mark; whether it was the old one.
    pub(super) fn set_mark(&self, object: ObjectId, start: u32, old: &Mark, new: &Mark) -> Result<bool> {
        self.change(object, start, old, new, |_| {})
    }

    /// Replaces a mark, with what else is to be done in the same operation; whether it was the old one.
    pub(super) fn change(
        &self,
        object: ObjectId,
        start: u32,
        old: &Mark,
        new: &Mark,
        more: impl FnOnce(&mut WriteOp),
    ) -> Result<bool> {
        let name = keys::entries_name(object, start);
        let what = || format!("mark RADOS object {name}");
        let changed = self.io.write_if(&name, what, |op| {
            op.ensure().require_entry(LEVEL, Compare::Equal, &old.encode());
            more(op);
            op.set_entries(&[(LEVEL, new.encode())])
        })?;
        Ok(changed.is_some())
    }
}

/// Whether an entry fits into the same operation as the one before.
fn in_one_operation() -> impl FnMut(&Entry, &Entry) -> bool {
    let mut bytes = 0;
    move |before, next| {
        bytes += before.0.len() + before.1.len();
        let fits = bytes + next.0.len() + next.1.len() <= BYTES_PER_OPERATION;
        if !fits {
            bytes = 0;
        }
        fits
    }
}
