//! Keys that have a value of their own: get, put, put if absent, compare and put, remove.

use super::{
    super::{
        cells::{Entry, SINGLES, bytes, single, singles_beside},
        operation::{Clause, Key, Value},
    },
    Player,
};
use isotach_object::{Precondition, Transaction, Update};

/// Puts that are held back at most.
const HELD: usize = 2;

impl Player {
    pub(super) fn single(&mut self) {
        let key = single(self.generation(), self.random.below(SINGLES));
        match self.random.below(100) {
            0..30 => drop(self.get(&[key])),
            30..40 => self.put(key),
            40..50 => self.put_and_hold(key),
            50..62 => self.put_if("put if absent", key, None),
            62..78 => self.compare(key),
            78..84 if self.container.capabilities().transactions => self.put_if_unchanged(key),
            78..84 => self.compare(key),
            84..90 => self.remove(key),
            90..96 => self.get_beside(key),
            _ => self.epoch_now(),
        }
    }

    /// All single keys of a generation at once, if one call answers from one state.
    fn get_beside(&mut self, key: Key) {
        match self.container.capabilities().transactions {
            true => drop(self.get(&singles_beside(key))),
            false => drop(self.get(&[key])),
        }
    }

    fn put(&mut self, key: Key) {
        self.put_and_hold(key);
        self.flush();
    }

    fn put_and_hold(&mut self, key: Key) {
        let value = self.value();
        let call = self.recorder.call("put", &[Clause::Sets(key, Some(value))]);
        let entry = Entry::of(key);
        self.container.update(&[Update::Put { cell: entry.cell(), value: &bytes(value) }]).unwrap();
        self.held.push(call);
        if self.held.len() > HELD {
            self.flush();
        }
    }

    fn remove(&mut self, key: Key) {
        let call = self.recorder.call("remove", &[Clause::Sets(key, None)]);
        self.container.update(&[Update::Remove { cell: Entry::of(key).cell() }]).unwrap();
        self.held.push(call);
        self.flush();
    }

    /// Puts if the value that it has just read is unchanged.
    fn compare(&mut self, key: Key) {
        let seen = self.get(&[key])[0];
        self.put_if("compare and put", key, seen);
    }

    fn put_if(&mut self, name: &str, key: Key, expected: Value) {
        let (entry, held) = (Entry::of(key), expected.map(bytes));
        let condition = match &held {
            Some(held) => Precondition::Equals(entry.cell(), held),
            None => Precondition::Absent(entry.cell()),
        };
        self.put_on(name, key, Clause::Requires(key, expected), condition);
    }

    fn put_on(&mut self, name: &str, key: Key, required: Clause, condition: Precondition<'_>) {
        let (value, entry) = (self.value(), Entry::of(key));
        let (clauses, value) = ([required, Clause::Sets(key, Some(value))], bytes(value));
        let update = Update::Put { cell: entry.cell(), value: &value };
        self.decide(name, &clauses, |container| {
            container.commit(&Transaction::new().require(condition).update(update))
        });
    }

    /// As [`Self::compare`], by the epoch. Also a change that leaves what was there refuses it.
    fn put_if_unchanged(&mut self, key: Key) {
        let since = self.container.epoch().unwrap();
        let (seen, entry) = (self.get(&[key])[0], Entry::of(key));
        let condition = Precondition::Unchanged(entry.cell(), since);
        self.put_on("put if unchanged", key, Clause::Unchanged(key, seen), condition);
    }
}
