//! Writing entries: many at once without a condition, or one with one.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Range,
    sync::Arc,
};

use isotach_engine_kit::context::Context;
use isotach_object::{ObjectId, Result};

use super::{EntryChanges, Omaps, PER_OPERATION, Shard, mark::State, retry, split::Look};
use crate::{
    ffi::{Compare, Errno, IfFound, Pending, ReadOp, WriteOp},
    keys::{self, LEVEL},
};

/// Bytes of keys and values that one operation writes, unless one entry has more.
pub(super) const BYTES_PER_OPERATION: usize = 8 << 20;

/// Changes of an object's entries: first the ranges of keys are removed, then entries are set or removed.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Each of one distribution key: from the first key on, and before the second.
    pub(crate) ranges: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) changes: EntryChanges,
}

/// What an entry must be for it to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    Absent,
    Present,
    Is(Vec<u8>),
}

impl Condition {
    /// Whether it holds of a stored entry, which is never empty.
    pub(crate) fn holds(&self, stored: Option<&[u8]>) -> bool {
        match self {
            Self::Absent => stored.is_none(),
            Self::Present => stored.is_some(),
            Self::Is(expected) => stored == Some(expected.as_slice()),
        }
    }

    fn require(&self, op: &mut WriteOp, key: &[u8]) {
        match self {
            Self::Absent => op.require_entry(key, Compare::Equal, b""),
            Self::Present => op.require_entry(key, Compare::Greater, b""),
            Self::Is(expected) => op.require_entry(key, Compare::Equal, expected),
        };
    }
}

impl Omaps {
    /// Does the changes of a batch, each by itself.
    pub(crate) fn write(&self, object: ObjectId, batch: Batch) -> Result<()> {
        // Before anything is set: what is asked for again would remove that.
        for (begin, end) in batch.ranges {
            self.remove_range(object, &begin, &end)?;
        }
        let mut left = batch.changes;
        retry(object, || {
            left = self.try_write(object, std::mem::take(&mut left))?;
            Ok(left.is_empty().then_some(()))
        })
    }

    /// Removes the entries of a range of keys, which have one hash.
    fn remove_range(&self, object: ObjectId, begin: &[u8], end: &[u8]) -> Result<()> {
        retry(object, || {
            let shard = self.locate_to_write(object, keys::hash_of(begin).unwrap_or_default())?;
            let name = keys::entries_name(object, shard.start);
            let mut op = WriteOp::new().context(|| format!("remove entries of RADOS object {name}"))?;
            op.require_entry(LEVEL, Compare::Equal, &shard.mark.encode()).remove_range(begin, end);
            Ok(self.is_done(object, &shard, self.io.write(&name, &op))?.then_some(()))
        })
    }

    /// Applies what it can, and returns the changes whose omaps have changed.
    fn try_write(&self, object: ObjectId, changes: EntryChanges) -> Result<EntryChanges> {
        let mut stream = Stream::new(object);
        stream.send(changes, self)?;
        stream.end(self)
    }

    fn begin(&self, object: ObjectId, part: &ShardChanges) -> Result<Pending> {
        let shard = &part.shard;
        let name = keys::entries_name(object, shard.start);
        let begin = || {
            let set: Vec<_> = part.changes().filter_map(|(key, stored)| Some((key, stored?))).collect();
            let removed: Vec<_> =
                part.changes().filter(|(_, stored)| stored.is_none()).map(|(key, _)| key).collect();
            let mut op = WriteOp::new()?;
            if shard.start == 0 && !set.is_empty() {
                op.ensure();
            }
            op.require_entry(LEVEL, Compare::Equal, &shard.mark.encode());
            if !set.is_empty() {
                op.set_entries(&set);
            }
            if !removed.is_empty() {
                op.remove_entries(&removed);
            }
            self.io.begin(&name, &op)
        };
        begin().context(|| format!("write {} entries of RADOS object {name}", part.numbers.len()))
    }

    /// Whether a write was done, and not refused since the omap has changed, which is known then.
    fn is_done(&self, object: ObjectId, shard: &Shard, outcome: Result<u64, Errno>) -> Result<bool> {
        match outcome {
            Ok(_) => Ok(true),
            // The removal of an absent entry.
            Err(Errno::NOT_FOUND) if shard.mark.encode().is_empty() => Ok(true),
            Err(errno) if errno.is_refusal() => self.refused(object, shard).map(|()| false),
            Err(errno) => {
                let name = keys::entries_name(object, shard.start);
                Err(errno).context(|| format!("write entries of RADOS object {name}"))
            }
        }
    }

    /// Changes one entry if it is as the condition says; whether it was.
    pub(crate) fn write_if(
        &self,
        object: ObjectId,
        key: &[u8],
        condition: &Condition,
        value: Option<&[u8]>,
    ) -> Result<bool> {
        retry(object, || {
            let shard = self.locate_to_write(object, keys::hash_of(key).unwrap_or_default())?;
            let name = keys::entries_name(object, shard.start);
            let what = || format!("write an entry of RADOS object {name}");
            let written = self.io.write_if(&name, what, |op| {
                if shard.start == 0 && value.is_some() {
                    op.ensure();
                }
                op.require_entry(LEVEL, Compare::Equal, &shard.mark.encode());
                condition.require(op, key);
                match value {
                    Some(value) => op.set_entries(&[(key, value)]),
                    None => op.remove_entries(&[key]),
                }
            })?;
            if written.is_none() {
                return self.judged(object, &shard, key, condition, value.is_none());
            }
            self.split_if_large(object, &shard, u64::from(value.is_some())).map(|()| Some(true))
        })
    }

    /// Why a write was refused: the condition does not hold, or (`None`) the omap has changed, or the entry just now.
    fn judged(
        &self,
        object: ObjectId,
        shard: &Shard,
        key: &[u8],
        condition: &Condition,
        removes: bool,
    ) -> Result<Option<bool>> {
        let name = keys::entries_name(object, shard.start);
        let op = ReadOp::new().entries(vec![key, LEVEL]);
        let answer = self.io.read(&name, op).if_found().context(|| format!("read RADOS object {name}"))?;
        let entries = answer.map(|answer| answer.entries.into_vec()).unwrap_or_default();
        let stored = |wanted: &[u8]| {
            entries.iter().find(|(found, _)| found == wanted).map(|(_, value)| value.as_slice())
        };
        if stored(LEVEL).unwrap_or_default() != shard.mark.encode() || shard.mark.state != State::Settled {
            return self.refused(object, shard).map(|()| None);
        }
        match condition.holds(stored(key)) {
            // If the object does not exist, Ceph refuses the removal of an absent entry, and nothing is left to do.
            true if removes && entries.is_empty() && *condition == Condition::Absent => Ok(Some(true)),
            true => Ok(None),
            false => Ok(Some(false)),
        }
    }
}

/// Changes that one operation does.
#[derive(Debug)]
struct ShardChanges {
    shard: Shard,
    all: Arc<EntryChanges>,
    /// Which of them.
    numbers: Range<usize>,
}

impl ShardChanges {
    fn changes(&self) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
        self.all.range(self.numbers.clone())
    }
}

/// What a stream has under way.
#[derive(Debug)]
enum Begun {
    ShardChanges(ShardChanges, Pending),
    Look(Look),
}

/// Changes of one object's entries that are sent while more are taken. What was sent later counts.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) object: ObjectId,
    begun: VecDeque<Begun>,
    /// How many entries each omap was sent since it was last looked at.
    given: HashMap<Shard, u64>,
    /// Those that were refused, and not sent again since.
    left: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Stream {
    pub(crate) fn new(object: ObjectId) -> Self {
        Self { object, begun: VecDeque::new(), given: HashMap::new(), left: BTreeMap::new() }
    }

    /// Begins changes.
    pub(crate) fn send(&mut self, changes: EntryChanges, omaps: &Omaps) -> Result<()> {
        let all = Arc::new(changes.sorted());
        let mut from = 0;
        while from < all.len() {
            let hash = keys::hash_of(all.at(from).0).unwrap_or_default();
            let shard = omaps.locate_to_write(self.object, hash)?;
            let numbers = from..end_of_part(&all, from, &keys::bound(shard.end()));
            from = numbers.end;
            self.begin(ShardChanges { shard, all: Arc::clone(&all), numbers }, omaps)?;
        }
        Ok(())
    }

    fn begin(&mut self, part: ShardChanges, omaps: &Omaps) -> Result<()> {
        self.make_space(omaps)?;
        let pending = omaps.begin(self.object, &part)?;
        let shard = part.shard.clone();
        let set = part.changes().filter(|(_, stored)| stored.is_some()).count();
        self.begun.push_back(Begun::ShardChanges(part, pending));
        let given = self.given.entry(shard.clone()).or_default();
        *given += set as u64;
        if *given <= omaps.unseen() {
            return Ok(());
        }
        let given = std::mem::take(given);
        self.look_if_due(&shard, given, omaps)
    }

    /// Waits until one operation more may be under way.
    fn make_space(&mut self, omaps: &Omaps) -> Result<()> {
        while self.begun.len() >= omaps.io.depth() {
            self.end_oldest(omaps)?;
        }
        Ok(())
    }

    /// Begins to count an omap's entries, after the operations that added so many, if a count is due.
    fn look_if_due(&mut self, shard: &Shard, given: u64, omaps: &Omaps) -> Result<()> {
        if omaps.should_look(shard, given)? {
            self.make_space(omaps)?;
            self.begun.push_back(Begun::Look(omaps.begin_look(self.object, shard)));
        }
        Ok(())
    }

    fn end_oldest(&mut self, omaps: &Omaps) -> Result<()> {
        let (part, pending) = match self.begun.pop_front() {
            None => return Ok(()),
            Some(Begun::Look(look)) => {
                omaps.end_look(self.object, look);
                return Ok(());
            }
            Some(Begun::ShardChanges(part, pending)) => (part, pending),
        };
        if !omaps.is_done(self.object, &part.shard, pending.wait())? {
            let owned = part.changes().map(|(key, stored)| (key.to_vec(), stored.map(<[u8]>::to_vec)));
            self.left.extend(owned);
            return Ok(());
        }
        if !self.left.is_empty() {
            part.changes().for_each(|(key, _)| drop(self.left.remove(key)));
        }
        Ok(())
    }

    /// Waits for everything, and returns the changes whose omaps have changed.
    pub(crate) fn end(mut self, omaps: &Omaps) -> Result<EntryChanges> {
        for (shard, given) in std::mem::take(&mut self.given) {
            self.look_if_due(&shard, given, omaps)?;
        }
        while !self.begun.is_empty() {
            self.end_oldest(omaps)?;
        }
        let mut left = EntryChanges::default();
        self.left.iter().for_each(|(key, stored)| left.push((key, stored.as_deref())));
        Ok(left)
    }
}

/// The end of the operation that begins with the change `from`: before the key `end`, and within the limits of an operation.
fn end_of_part(all: &EntryChanges, from: usize, end: &[u8]) -> usize {
    let (key, stored) = all.at(from);
    let mut bytes = key.len() + stored.map_or(0, <[u8]>::len);
    let mut fits = |(key, stored): (&[u8], Option<&[u8]>)| {
        bytes += key.len() + stored.map_or(0, <[u8]>::len);
        key < end && bytes <= BYTES_PER_OPERATION
    };
    let most = all.len().min(from + PER_OPERATION);
    from + 1 + all.range(from + 1..most).take_while(|change| fits(*change)).count()
}
