//! Keys that change together: transactions of entries and arrays, whole or staged, and everything by which one may look at
//! several keys of one state.

use super::{
    super::{
        cells::{self, Entry, Group, LONGEST, bytes, value_of},
        operation::{Clause, Key, Value},
    },
    Player, entries,
};
use isotach_object::{
    Anchor, ArrayRead, Cell, Container, Epoch, Error, Label, Precondition, Result, Transaction, Update,
};

/// What reading a snapshot is called.
const SNAPSHOT: &str = "snapshot";

/// What a group is to hold, one value under all its keys or nothing, and what must hold before.
struct GroupChange {
    group: Group,
    value: Value,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    required: Vec<Clause>,
    /// The bytes of the value that an entry must have.
    held: Vec<u8>,
    /// The epoch since which keys must be unchanged.
    since: Epoch,
}

impl GroupChange {
    fn new(group: Group, value: Value) -> Self {
        let (entries, bytes) = (group.entries().map(Entry::of).collect(), value.map_or(Vec::new(), bytes));
        let (required, held, since) = (Vec::new(), Vec::new(), Epoch::default());
        Self { group, value, entries, bytes, required, held, since }
    }

    /// The same, if an entry is as it was seen.
    fn requiring(self, key: Key, seen: Value) -> Self {
        Self { required: vec![Clause::Requires(key, seen)], held: seen.map_or(Vec::new(), bytes), ..self }
    }

    fn clauses(&self) -> Vec<Clause> {
        let sets = self.group.keys().map(|key| Clause::Sets(key, self.value));
        self.required.iter().copied().chain(sets).collect()
    }

    fn updates(&self) -> Vec<Update<'_>> {
        let arrays = self.group.arrays().map(cells::array);
        let Some(_) = self.value else {
            let entries = self.entries.iter().map(|entry| Update::Remove { cell: entry.cell() });
            return entries.chain(arrays.map(|object| Update::Destroy { object })).collect();
        };
        let (value, size) = (&*self.bytes, self.bytes.len() as u64);
        let entries = self.entries.iter().map(|entry| Update::Put { cell: entry.cell(), value });
        let arrays = arrays.map(Cell::array).flat_map(|cell| {
            [Update::Write { cell, offset: 0, data: value }, Update::SetSize { cell, size }]
        });
        entries.chain(arrays).collect()
    }

    fn preconditions(&self) -> Vec<Precondition<'_>> {
        let cell = |key: Key| match self.entries.get((key - self.group.keys().start) as usize) {
            Some(entry) => entry.cell(),
            None => Cell::array(cells::array(key)),
        };
        let preconditions = self.required.iter().filter_map(|part| match *part {
            Clause::Requires(key, Some(_)) => Some(Precondition::Equals(cell(key), &self.held)),
            Clause::Requires(key, None) => Some(Precondition::Absent(cell(key))),
            Clause::Unchanged(key, _) => Some(Precondition::Unchanged(cell(key), self.since)),
            Clause::Sets(..) => None,
        });
        preconditions.collect()
    }

    fn commit(&self, container: &dyn Container) -> Result<Epoch> {
        let (preconditions, updates) = (self.preconditions(), self.updates());
        container.commit(&Transaction { preconditions, updates })
    }
}

impl Player {
    pub(super) fn group(&mut self) {
        let group = Group::new(self.generation(), self.random.below(cells::GROUPS));
        match self.random.below(100) {
            0..12 => {
                let value = self.value();
                self.commit("commit", group, Some(value));
            }
            12..20 => self.stage(group),
            20..26 => self.stage_and_drop(group),
            26..36 => self.commit_if(group),
            36..43 => self.commit_if_unchanged(group),
            43..49 => self.commit("remove all", group, None),
            49..65 => drop(self.get(&group.entries().collect::<Vec<_>>())),
            65..75 => self.read(group),
            75..84 => self.list(group),
            84..93 => self.look_back(group),
            93..96 => self.snapshot(group),
            _ => self.epoch_now(),
        }
    }

    fn commit(&mut self, name: &str, group: Group, value: Value) {
        let change = GroupChange::new(group, value);
        self.decide(name, &change.clauses(), |container| change.commit(container));
    }

    /// Half of the staged transactions require something.
    fn stage(&mut self, group: Group) {
        let mut change = GroupChange::new(group, Some(self.value()));
        if self.random.below(2) == 0 {
            let (which, seen) = self.get_one_of(group);
            change = change.requiring(which, seen);
        }
        self.decide("stage and commit", &change.clauses(), |container| {
            let mut staging = container.staged_transactions().unwrap().stage()?;
            change.updates().iter().try_for_each(|update| staging.update(&[*update]))?;
            staging.commit(&change.preconditions())
        });
    }

    /// Any entry of a group, and its value.
    fn get_one_of(&mut self, group: Group) -> (Key, Value) {
        let which = group.entries().start + self.random.below(group.entries().count() as u64);
        (which, self.get(&[which])[0])
    }

    /// Its value is in no record: whoever sees it sees what nobody wrote.
    fn stage_and_drop(&mut self, group: Group) {
        let change = GroupChange::new(group, Some(self.value()));
        let mut staging = self.container.staged_transactions().unwrap().stage().unwrap();
        change.updates().iter().for_each(|update| staging.update(&[*update]).unwrap());
    }

    /// Commits if one entry is as it was just seen.
    fn commit_if(&mut self, group: Group) {
        let (which, seen) = self.get_one_of(group);
        let change = GroupChange::new(group, Some(self.value())).requiring(which, seen);
        self.decide("commit if", &change.clauses(), |container| change.commit(container));
    }

    /// Commits if nothing in the group has changed since it was read.
    fn commit_if_unchanged(&mut self, group: Group) {
        let mut since = Epoch::default();
        let look = |container: &dyn Container| {
            since = container.epoch()?;
            container.snapshots().unwrap().open_at(since)
        };
        let Some(seen) = self.look_at(group, "look at epoch", look) else { return };
        let required = seen.into_iter().map(|(key, value)| Clause::Unchanged(key, value)).collect();
        let change = GroupChange { required, since, ..GroupChange::new(group, Some(self.value())) };
        self.decide("commit if unchanged", &change.clauses(), |container| change.commit(container));
    }

    /// Reads the arrays by one call.
    fn read(&mut self, group: Group) {
        let call = self.recorder.call("read", &[]);
        let saw = arrays(&*self.container, group).unwrap();
        self.recorder.done(call, &saw, None);
    }

    fn list(&mut self, group: Group) {
        let call = self.recorder.call("list", &[]);
        let page = self.container.list_entries(group.listed(), &Anchor::start(), 100, true).unwrap();
        let mut saw: Vec<(Key, Value)> = group.entries().skip(1).map(|key| (key, None)).collect();
        for (name, value) in page.iter() {
            let key = group.key_of(name).expect("an entry of the group");
            saw.iter_mut().filter(|(other, _)| *other == key).for_each(|(_, seen)| *seen = value_of(value));
        }
        if page.next().is_some() {
            // What comes on the next page is of another state.
            saw.clear();
        }
        self.recorder.done(call, &saw, None);
    }

    /// Everything in the group, at the present epoch.
    fn look_back(&mut self, group: Group) {
        self.look_at(group, "look at now", |container| {
            container.snapshots().unwrap().open_at(container.epoch()?)
        });
    }

    /// Everything in the group, at a new snapshot.
    fn snapshot(&mut self, group: Group) {
        self.count += 1;
        let name: Label = format!("s{}-{}", self.task.process, self.count).parse().unwrap();
        self.look_at(group, SNAPSHOT, |container| {
            container.snapshots().unwrap().create(&name)?;
            container.snapshots().unwrap().open(&name)
        });
        match self.container.snapshots().unwrap().destroy(&name) {
            Ok(()) | Err(Error::NotFound { .. } | Error::Io { .. } | Error::Unsupported { .. }) => {}
            Err(error) => panic!("remove a snapshot: {error}"),
        }
    }

    /// What is seen by a handle on the past; nothing when the engine has not kept that.
    fn look_at(
        &mut self,
        group: Group,
        name: &str,
        open: impl FnOnce(&dyn Container) -> Result<std::sync::Arc<dyn Container>>,
    ) -> Option<Vec<(Key, Value)>> {
        self.container.facets().snapshots?;
        let call = self.recorder.call(name, &[]);
        let keys: Vec<Key> = group.entries().collect();
        let look = |container: &dyn Container| {
            let past = open(container)?;
            let entries = entries(&*past, &keys)?;
            let saw = keys.iter().copied().zip(entries);
            Ok(saw.chain(arrays(&*past, group)?).collect::<Vec<_>>())
        };
        match look(&*self.container) {
            Ok(saw) => {
                self.recorder.done(call, &saw, None);
                Some(saw)
            }
            // A purge has removed it.
            Err(Error::NotFound { .. }) if name != SNAPSHOT => {
                self.recorder.done(call, &[], None);
                None
            }
            // It is not known whether there is a snapshot: a purge came too close.
            Err(Error::Io { .. }) => None,
            Err(error) => panic!("{name}: {error}"),
        }
    }
}

/// The values of the arrays of a group, by one call.
fn arrays(container: &dyn Container, group: Group) -> Result<Vec<(Key, Value)>> {
    let mut buffers: Vec<Vec<u8>> = group.arrays().map(|_| vec![0; LONGEST]).collect();
    let objects = group.arrays().map(cells::array);
    let mut reads: Vec<ArrayRead<'_>> = objects
        .zip(&mut buffers)
        .map(|(object, buffer)| ArrayRead { cell: Cell::array(object), offset: 0, buffer, filled: 0 })
        .collect();
    container.read_many(&mut reads)?;
    let value = |read: &ArrayRead<'_>| match read.filled {
        0 => None,
        filled => value_of(&read.buffer[..filled]),
    };
    Ok(group.arrays().zip(reads.iter().map(value)).collect())
}
