//! The parts of a history that have no key in common. A history has an order if each of its parts has one, so each is
//! looked at by itself: what many keys make a long search of, few make short.

use std::collections::{BTreeMap, HashMap};

use super::operation::{Key, Operation};

/// The operations of each part, in the order of their calls.
pub(super) fn parts(operations: &[Operation]) -> Vec<Vec<&Operation>> {
    let mut leaders = Leaders::default();
    for operation in operations {
        let mut keys = operation.keys();
        if let Some(first) = keys.next() {
            keys.for_each(|key| leaders.join(first, key));
        }
    }
    let mut parts: BTreeMap<Key, Vec<&Operation>> = BTreeMap::new();
    for operation in operations {
        if let Some(key) = operation.keys().next() {
            parts.entry(leaders.of(key)).or_default().push(operation);
        }
    }
    let mut parts: Vec<_> = parts.into_values().collect();
    parts.iter_mut().for_each(|part| part.sort_by_key(|operation| (operation.called, operation.process)));
    parts
}

/// For each key one that stands for all that it is joined with.
#[derive(Default)]
struct Leaders(HashMap<Key, Key>);

impl Leaders {
    fn of(&mut self, key: Key) -> Key {
        let mut at = key;
        while let Some(next) = self.0.get(&at).copied().filter(|next| *next != at) {
            at = next;
        }
        self.0.insert(key, at);
        at
    }

    fn join(&mut self, one: Key, other: Key) {
        let (one, other) = (self.of(one), self.of(other));
        self.0.insert(one.max(other), one.min(other));
    }
}

#[cfg(test)]
mod tests {
    use super::{super::operation::Outcome, *};

    #[test]
    fn operations_with_keys_in_common_are_one_part_by_however_many_steps() {
        let operation = |keys: &[Key]| Operation {
            process: 0,
            name: String::new(),
            called: 0,
            returned: Some(1),
            clauses: Vec::new(),
            saw: keys.iter().map(|key| (*key, None)).collect(),
            outcome: Outcome::Done,
            epoch: None,
        };
        let all = [&[5][..], &[1, 2], &[8, 9], &[], &[3, 4], &[4, 2], &[9]].map(operation);
        let found: Vec<Vec<Vec<Key>>> =
            parts(&all).iter().map(|part| part.iter().map(|one| one.keys().collect()).collect()).collect();
        assert_eq!(
            found,
            [vec![vec![1, 2], vec![3, 4], vec![4, 2]], vec![vec![5]], vec![vec![8, 9], vec![9]]]
        );
    }
}
