//! The batch of a writer: the catalogue puts that wait for a flush, in the order in which they take effect.
//!
//! What must stay true: a collocation's entry and the axis values precede the index entry that needs them, and the
//! history entry follows it. So a reader that finds a field in the index can rely on the axes, and a wipe that reads
//! the history never removes an array that the index still names. A jump index comes last, so a kill leaves none of a field
//! that is not there.

use std::collections::{HashMap, HashSet};

use isotach_object::ObjectId;

use crate::{
    archive::puts::{Load, Puts},
    catalogue::{
        collocation::CollocationObjects,
        history::history_key,
        jump::{encode_jump, jump_key},
        layout::{COLLOCATION, DATASET, kv_key, split_names},
    },
};

/// The parts of a collocation that a writer has put: its entry and axis values.
#[derive(Debug)]
struct Declared {
    objects: CollocationObjects,
    values: Vec<HashSet<Box<str>>>,
}

/// A field's entry in the catalogue, before it is put.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldEntry<'a> {
    /// The collocation's text; see [`crate::catalogue::layout::push_collocation_text`].
    pub(crate) collocation: &'a str,
    /// The element's values, joined.
    pub(crate) element: &'a str,
    /// The id of its array. A field without an array has an id for its history entry only.
    pub(crate) id: ObjectId,
    /// The location's record.
    pub(crate) record: &'a [u8],
    /// Its jump index.
    pub(crate) jump: Option<&'a [u8]>,
}

/// The objects that hold the entries of a field.
struct Entries {
    index: ObjectId,
    history: ObjectId,
    jump: ObjectId,
}

impl Entries {
    fn of(objects: &CollocationObjects) -> Self {
        Self { index: objects.index, history: objects.history, jump: objects.jump }
    }
}

/// Fields of one dataset that were archived and not flushed yet.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    load: Load,
    declared: HashMap<Box<str>, Declared>,
}

impl Batch {
    pub(crate) fn is_empty(&self) -> bool {
        self.load.is_empty()
    }

    /// Adds a field: the missing declarations of its collocation and axes, then its entries.
    pub(crate) fn add(&mut self, field: &FieldEntry<'_>) {
        let Entries { index, history, jump } = self.declare(field.collocation, field.element);
        let puts = &mut self.load.puts;
        puts.begin_field(if field.jump.is_some() { 3 } else { 2 });
        puts.push(index, kv_key(field.element).as_bytes(), field.record);
        puts.push_with(history, &history_key(field.id), |value| {
            value.extend_from_slice(&u32::try_from(field.record.len()).unwrap_or(u32::MAX).to_le_bytes());
            value.extend_from_slice(field.record);
            value.extend_from_slice(field.element.as_bytes());
        });
        if let Some(found) = field.jump {
            let key = jump_key(field.record);
            puts.push_with(jump, &key, |value| encode_jump(&key, found, value));
        }
    }

    /// Puts the collocation's entry and axis values, if this writer has not put them yet.
    fn declare(&mut self, collocation: &str, element: &str) -> Entries {
        if !self.declared.contains_key(collocation) {
            let declared = first_declaration(&mut self.load.puts, collocation);
            self.declared.insert(collocation.into(), declared);
        }
        // Inserted above if it was absent.
        let Some(declared) = self.declared.get_mut(collocation) else {
            return Entries::of(&CollocationObjects::new(collocation, std::iter::empty()));
        };
        for ((value, seen), axis) in element.split(':').zip(&mut declared.values).zip(&declared.objects.axes)
        {
            if !seen.contains(value) {
                seen.insert(value.into());
                self.load.puts.push(*axis, kv_key(value).as_bytes(), &[]);
            }
        }
        Entries::of(&declared.objects)
    }

    /// Takes the load out of the batch. Declarations remain declared.
    pub(crate) fn take(&mut self) -> Load {
        std::mem::take(&mut self.load)
    }

    /// Takes the load out of the batch and forgets all declarations: the next load declares everything it needs.
    pub(crate) fn take_whole(&mut self) -> Load {
        self.declared.clear();
        self.take()
    }

    /// Puts back a load that was not flushed, before what was added since.
    pub(crate) fn put_back(&mut self, mut earlier: Load) {
        earlier.puts.append(&self.load.puts);
        earlier.wiped += self.load.wiped;
        self.load = earlier;
    }

    /// Forgets all declarations, and returns the puts that declare again everything that `sent` and the fields added
    /// since need. Used when another process may have wiped collocations.
    pub(crate) fn declare_again(&mut self, sent: &Puts) -> Puts {
        let before = std::mem::take(&mut self.declared);
        let index: HashMap<ObjectId, &str> =
            before.iter().map(|(text, declared)| (declared.objects.index, &**text)).collect();
        let mut again = Self::default();
        for (object, key, _) in sent.iter().chain(self.load.puts.iter()) {
            if let (Some(text), Ok(element)) = (index.get(&object), std::str::from_utf8(key)) {
                again.declare(text, element);
            }
        }
        self.declared = again.declared;
        again.load.puts
    }
}

fn first_declaration(puts: &mut Puts, collocation: &str) -> Declared {
    let names = collocation.rsplit_once(' ').map_or("", |(_, names)| names);
    let objects = CollocationObjects::new(collocation, split_names(names));
    let mut key = vec![COLLOCATION];
    key.extend_from_slice(collocation.as_bytes());
    puts.push_with(DATASET, &key, |value| {
        value.extend_from_slice(&objects.index.hi().to_le_bytes());
        value.extend_from_slice(&objects.index.lo().to_le_bytes());
    });
    Declared { values: vec![HashSet::new(); objects.axes.len()], objects }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{history::parse_history, layout::array_of};

    fn add(batch: &mut Batch, element: &str, id: u64) {
        batch.add(&FieldEntry {
            collocation: "fc type step,param",
            element,
            id: array_of(0, id),
            record: b"where",
            jump: None,
        });
    }

    #[test]
    fn declarations_come_once_and_before_the_entries_that_need_them() {
        let mut batch = Batch::default();
        add(&mut batch, "0:130", 1);
        add(&mut batch, "0:131", 2);
        let objects = CollocationObjects::new("fc type step,param", ["step", "param"].into_iter());
        let order: Vec<ObjectId> = batch.load.puts.iter().map(|(object, ..)| object).collect();
        let (step, param) = (objects.axes[0], objects.axes[1]);
        let (index, history) = (objects.index, objects.history);
        assert_eq!(order, [DATASET, step, param, index, history, param, index, history]);
    }

    #[test]
    fn a_jump_index_follows_the_other_entries_of_its_field() {
        let mut batch = Batch::default();
        let (collocation, element, record) = ("fc type step", "0", &b"where"[..]);
        let id = array_of(0, 1);
        batch.add(&FieldEntry { collocation, element, id, record, jump: Some(b"points") });
        let objects = CollocationObjects::new(collocation, ["step"].into_iter());
        let puts: Vec<_> = batch.load.puts.iter().collect();
        let order: Vec<ObjectId> = puts.iter().map(|(object, ..)| *object).collect();
        assert_eq!(order, [DATASET, objects.axes[0], objects.index, objects.history, objects.jump]);
        let (_, key, value) = puts[4];
        assert_eq!((key, &value[4..]), (record, &b"points"[..]));
    }

    #[test]
    fn what_comes_back_after_a_failed_flush_counts_before_what_came_since() {
        let mut batch = Batch::default();
        add(&mut batch, "0:130", 1);
        let load = batch.take();
        add(&mut batch, "0:130", 2);
        batch.put_back(Load { sent: 1, ..load });
        let load = batch.take();
        let history: Vec<_> =
            load.puts.iter().filter_map(|(_, key, value)| parse_history(key, value)).collect();
        assert_eq!((load.fields(), load.sent), (2, 1));
        assert_eq!(history.iter().map(|(id, ..)| id.lo()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((history[0].1, history[0].2), (&b"where"[..], "0:130"));
    }

    #[test]
    fn after_a_wipe_only_what_was_just_sent_is_declared_again() {
        let mut batch = Batch::default();
        add(&mut batch, "0:130", 1);
        batch.take();
        add(&mut batch, "6:130", 2);
        let sent = batch.take();
        let again = batch.declare_again(&sent.puts);
        let keys: Vec<&[u8]> = again.iter().map(|(_, key, _)| key).collect();
        assert_eq!(keys, [b":fc type step,param".as_slice(), b"6", b"130"]);
        add(&mut batch, "0:130", 3);
        assert_eq!(
            batch.take().puts.iter().next().unwrap().1,
            b"0",
            "the value that was forgotten is put again"
        );
    }
}
