//! Reading entries by their keys: all omaps that are concerned at once.

use isotach_engine_kit::context::Context;
use isotach_object::{ObjectId, Result};

use super::{ATTEMPTS_MAX, Omaps, PER_OPERATION, Shard, too_fast};
use crate::{
    ffi::{Answer, Errno, ReadOp},
    keys::{self, LEVEL},
};

/// A key of an object's entry.
pub(crate) type Wanted = (ObjectId, Vec<u8>);

/// Keys of one omap, by their numbers among those that are wanted.
type Group = (ObjectId, Shard, Vec<usize>);

impl Omaps {
    /// The values under these keys, in their order, as `decode` returns them. It is called as the answers arrive.
    pub(crate) fn get<T>(
        &self,
        wanted: &[Wanted],
        decode: impl Fn(&Wanted, &[u8]) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let mut found: Vec<Option<T>> = wanted.iter().map(|_| None).collect();
        let mut left: Vec<usize> = (0..wanted.len()).collect();
        for _ in 0..ATTEMPTS_MAX {
            left = self.try_get(wanted, &left, &decode, &mut found)?;
            if left.is_empty() {
                return Ok(found);
            }
        }
        Err(too_fast(wanted[left[0]].0))
    }

    /// Reads what it can, and returns the numbers of the keys whose omaps have changed.
    fn try_get<T>(
        &self,
        wanted: &[Wanted],
        which: &[usize],
        decode: &impl Fn(&Wanted, &[u8]) -> Result<T>,
        found: &mut [Option<T>],
    ) -> Result<Vec<usize>> {
        let groups = self.grouped(wanted, which)?;
        let reads = groups.iter().map(|(object, shard, numbers)| {
            let keys = numbers.iter().map(|number| wanted[*number].1.as_slice()).collect();
            let op = ReadOp::new().require_entry(LEVEL, &shard.mark.encode()).entries(keys);
            (keys::entries_name(*object, shard.start), op)
        });
        let mut left = Vec::new();
        self.io.read_together(reads, |group, outcome| {
            let (object, shard, numbers) = &groups[group];
            match self.taken(*object, shard, outcome)? {
                Some(answer) => hand_out(answer, numbers, wanted, decode, found)?,
                None => left.extend_from_slice(numbers),
            }
            Ok(())
        })?;
        Ok(left)
    }

    /// The answer of a read of an omap; `None` where the omap has changed, which is known then.
    pub(super) fn taken<'b>(
        &self,
        object: ObjectId,
        shard: &Shard,
        outcome: Result<Answer<'b>, Errno>,
    ) -> Result<Option<Answer<'b>>> {
        match outcome {
            Ok(answer) => Ok(Some(answer)),
            // An object that was never written, or was removed.
            Err(Errno::NOT_FOUND) if shard.mark.encode().is_empty() => Ok(Some(Answer::default())),
            Err(errno) if errno.is_refusal() => self.refused(object, shard).map(|()| None),
            Err(errno) => {
                let name = keys::entries_name(object, shard.start);
                Err(errno).context(|| format!("read entries of RADOS object {name}"))
            }
        }
    }

    fn grouped(&self, wanted: &[Wanted], which: &[usize]) -> Result<Vec<Group>> {
        // Nearly all differ in the first bytes of the key, which are quicker to compare than keys that lie apart.
        let mut sorted: Vec<(ObjectId, [u8; keys::PREFIX], usize)> = which
            .iter()
            .map(|number| (wanted[*number].0, keys::prefix(&wanted[*number].1), *number))
            .collect();
        sorted.sort_unstable_by(|(object, prefix, number), (other, behind, next)| {
            (object, prefix).cmp(&(other, behind)).then_with(|| wanted[*number].1.cmp(&wanted[*next].1))
        });
        let mut groups: Vec<Group> = Vec::new();
        let mut end = Vec::new();
        for (_, _, number) in sorted {
            let (object, key) = &wanted[number];
            // In the order of the keys the omaps follow each other.
            let last = groups.last_mut().filter(|(last, _, _)| last == object && *key < end);
            match last {
                Some((_, _, numbers)) if numbers.len() < PER_OPERATION => numbers.push(number),
                Some((_, shard, _)) => {
                    let shard = shard.clone();
                    groups.push((*object, shard, vec![number]));
                }
                None => {
                    let shard = self.locate(*object, keys::hash_of(key).unwrap_or_default())?;
                    end = keys::bound(shard.end());
                    groups.push((*object, shard, vec![number]));
                }
            }
        }
        Ok(groups)
    }
}

/// Gives each key what was found under it. Keys and answer are in the same order.
fn hand_out<T>(
    answer: Answer<'_>,
    numbers: &[usize],
    wanted: &[Wanted],
    decode: &impl Fn(&Wanted, &[u8]) -> Result<T>,
    found: &mut [Option<T>],
) -> Result<()> {
    let mut left = numbers.iter().copied().peekable();
    let mut outcome = Ok(());
    answer.entries.each(|key, stored| {
        while left.next_if(|number| wanted[*number].1.as_slice() < key).is_some() {}
        // One key may be wanted more than once.
        while let Some(number) = left.next_if(|number| outcome.is_ok() && wanted[*number].1 == key) {
            match decode(&wanted[number], stored) {
                Ok(decoded) => found[number] = Some(decoded),
                Err(error) => outcome = Err(error),
            }
        }
    });
    outcome
}
