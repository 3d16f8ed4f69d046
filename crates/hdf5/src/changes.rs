//! [`Changes`]: the entries that a session has changed.

use std::collections::{BTreeMap, btree_map};

use isotach_object::ObjectId;

/// A changed entry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    /// `None` for a removed one.
    pub(crate) value: Option<Vec<u8>>,
    /// Whether the base has no such entry, and no other process may have put one before the commit.
    pub(crate) is_new: bool,
}

/// Changed entries, sorted by object and key. What must stay true: every object here has an entry.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<ObjectId, BTreeMap<Vec<u8>, Change>>);

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn get(&self, object: ObjectId, key: &[u8]) -> Option<&Change> {
        self.0.get(&object)?.get(key)
    }

    pub(crate) fn get_mut(&mut self, object: ObjectId, key: &[u8]) -> Option<&mut Change> {
        self.0.get_mut(&object)?.get_mut(key)
    }

    pub(crate) fn contains(&self, object: ObjectId, key: &[u8]) -> bool {
        self.get(object, key).is_some()
    }

    /// Changes the value of an entry.
    pub(crate) fn put(&mut self, object: ObjectId, key: Vec<u8>, value: Vec<u8>) {
        let entries = self.0.entry(object).or_default();
        entries.entry(key).or_insert(Change { value: None, is_new: false }).value = Some(value);
    }

    pub(crate) fn insert(&mut self, object: ObjectId, key: Vec<u8>, change: Change) {
        self.0.entry(object).or_default().insert(key, change);
    }

    pub(crate) fn remove(&mut self, object: ObjectId, key: &[u8]) {
        if let btree_map::Entry::Occupied(mut entries) = self.0.entry(object) {
            entries.get_mut().remove(key);
            if entries.get().is_empty() {
                entries.remove();
            }
        }
    }

    /// Forgets every entry of an object.
    pub(crate) fn forget(&mut self, object: ObjectId) {
        self.0.remove(&object);
    }

    /// Every object that has a changed entry.
    pub(crate) fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.0.keys().copied()
    }

    /// The changed entries of an object.
    pub(crate) fn of(&self, object: ObjectId) -> impl Iterator<Item = (&Vec<u8>, &Change)> {
        self.0.get(&object).into_iter().flatten()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ObjectId, &Vec<u8>, &Change)> {
        self.0.iter().flat_map(|(object, entries)| entries.iter().map(|(key, change)| (*object, key, change)))
    }
}
