//! Reading entries by their keys: all omaps that are concerned at once.

use std::collections::BTreeMap;

use isotach_object::{ObjectId, Result};

use super::{MOST_ATTEMPTS, Omaps, PER_OPERATION, Shard, too_fast};
use crate::{
    failure::Doing,
    ffi::{Answer, Errno, ReadOp, Told},
    keys::{self, LEVEL},
};

/// A key of an object's entry.
pub(crate) type Wanted = (ObjectId, Vec<u8>);

/// Keys of one omap, by their numbers among those that are wanted.
type Group = (ObjectId, Shard, Vec<usize>);

impl Omaps {
    /// What is stored under these keys, in their order.
    pub(crate) fn get(&self, wanted: &[Wanted]) -> Result<Vec<Option<Vec<u8>>>> {
        let mut found = vec![None; wanted.len()];
        let mut left: Vec<usize> = (0..wanted.len()).collect();
        for _ in 0..MOST_ATTEMPTS {
            left = self.try_get(wanted, &left, &mut found)?;
            if left.is_empty() {
                return Ok(found);
            }
        }
        Err(too_fast(wanted[left[0]].0))
    }

    /// Reads what it can, and gives the numbers of those whose omaps have changed.
    fn try_get(
        &self,
        wanted: &[Wanted],
        which: &[usize],
        found: &mut [Option<Vec<u8>>],
    ) -> Result<Vec<usize>> {
        let groups = self.grouped(wanted, which)?;
        let reads = groups.iter().map(|(object, shard, numbers)| {
            let keys = numbers.iter().map(|number| wanted[*number].1.clone()).collect();
            let op = ReadOp::new().require_entry(LEVEL, &shard.mark.encode()).entries(keys);
            (keys::entries_name(*object, shard.start), op)
        });
        let mut outcomes = Vec::with_capacity(groups.len());
        self.io.read_together(reads, &mut |_, outcome| outcomes.push(outcome));
        let mut left = Vec::new();
        for ((object, shard, numbers), outcome) in groups.into_iter().zip(outcomes) {
            match self.taken(object, &shard, outcome)? {
                Some(answer) => hand_out(answer, &numbers, wanted, found),
                None => left.extend(numbers),
            }
        }
        Ok(left)
    }

    /// The answer of a read of an omap; `None` where the omap has changed, which is known then.
    pub(super) fn taken(
        &self,
        object: ObjectId,
        shard: &Shard,
        outcome: Told<Answer>,
    ) -> Result<Option<Answer>> {
        match outcome {
            Ok(answer) => Ok(Some(answer)),
            // An object that was never written, or was removed.
            Err(Errno::NOT_FOUND) if shard.mark.encode().is_empty() => Ok(Some(Answer::default())),
            Err(errno) if errno.is_refusal() => self.refused(object, shard).map(|()| None),
            Err(errno) => {
                let name = keys::entries_name(object, shard.start);
                Err(errno).doing(|| format!("read entries of RADOS object {name}"))
            }
        }
    }

    fn grouped(&self, wanted: &[Wanted], which: &[usize]) -> Result<Vec<Group>> {
        let mut by_object: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
        which.iter().for_each(|number| by_object.entry(wanted[*number].0).or_default().push(*number));
        let mut groups: Vec<Group> = Vec::new();
        for (object, numbers) in by_object {
            let mut by_shard: BTreeMap<u32, (Shard, Vec<usize>)> = BTreeMap::new();
            for number in numbers {
                let shard = self.locate(object, keys::hash_of(&wanted[number].1).unwrap_or_default())?;
                by_shard.entry(shard.start).or_insert_with(|| (shard, Vec::new())).1.push(number);
            }
            for (shard, numbers) in by_shard.into_values() {
                let parts = numbers.chunks(PER_OPERATION);
                groups.extend(parts.map(|part| (object, shard.clone(), part.to_vec())));
            }
        }
        Ok(groups)
    }
}

/// Gives each key what was found under it. The keys of an answer are sorted.
fn hand_out(answer: Answer, numbers: &[usize], wanted: &[Wanted], found: &mut [Option<Vec<u8>>]) {
    if let [number] = numbers {
        found[*number] = answer.entries.into_iter().next().map(|(_, value)| value);
        return;
    }
    for number in numbers {
        let at = answer.entries.binary_search_by(|(key, _)| key.cmp(&wanted[*number].1));
        found[*number] = at.ok().map(|at| answer.entries[at].1.clone());
    }
}
