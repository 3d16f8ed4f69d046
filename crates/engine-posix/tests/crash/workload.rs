//! A workload, and what must be visible after each part of it.
//!
//! The visible history is a sequence of frames: what a handle gathered goes in together, and so does a transaction.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use isotach_engine_posix::simulation::{Random, SimulatedDisk};
use isotach_object::{
    Array, Cell, Container, Label, ObjectClass, ObjectId, ObjectType, Precondition, Snapshot, Transaction,
    Update,
};

use crate::place::{TestPool, index, snapshots, values};

/// Checkpoints every few frames, so that runs are written and merged all the time, and staged transactions of several segments.
pub(crate) const POOL: &str = "posix:/pool?checkpoint=1024&segment=256";
/// Few keys, so that most are replaced.
const KEYS: u64 = 12;

/// The contents of a container: values of keys, bytes of arrays, and the contents of its snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Contents {
    pub(crate) values: BTreeMap<Vec<u8>, Arc<[u8]>>,
    pub(crate) arrays: BTreeMap<ObjectId, Arc<[u8]>>,
    pub(crate) snapshots: BTreeMap<Label, Arc<Contents>>,
}

/// One update of the workload.
#[derive(Debug, Clone)]
enum Step {
    Put(Vec<u8>, Arc<[u8]>),
    Remove(Vec<u8>),
    Array(ObjectId, Arc<[u8]>),
    Destroy(ObjectId),
}

impl Step {
    fn update(&self) -> Update<'_> {
        match self {
            Self::Put(key, value) => Update::Put { cell: Cell::kv(index(), key), value },
            Self::Remove(key) => Update::Remove { cell: Cell::kv(index(), key) },
            Self::Array(id, data) => Update::Write { cell: Cell::array(*id), offset: 0, data },
            Self::Destroy(id) => Update::Destroy { object: *id },
        }
    }

    fn apply(&self, contents: &mut Contents) {
        match self.clone() {
            Self::Put(key, value) => drop(contents.values.insert(key, value)),
            Self::Remove(key) => drop(contents.values.remove(&key)),
            Self::Array(id, data) => drop(contents.arrays.insert(id, data)),
            Self::Destroy(id) => drop(contents.arrays.remove(&id)),
        }
    }
}

/// A point of the visible history.
struct Frame {
    /// The changes of the disk before it.
    changes: usize,
    after: Contents,
}

/// A recorded workload, and what must be visible of it.
pub(crate) struct History {
    pub(crate) seed: u64,
    pub(crate) disk: SimulatedDisk,
    /// The changes of the disk until the container existed.
    pub(crate) made: usize,
    frames: Vec<Frame>,
    /// Pairs of a number of changes and the number of frames that were flushed by then.
    flushed: Vec<(usize, usize)>,
}

impl History {
    /// Runs the workload with two handles in turns.
    pub(crate) fn record(seed: u64, operations: usize) -> Self {
        let mut work = Work::new(seed, POOL, 1);
        for number in 0..operations {
            let at = work.random.below(2) as usize;
            if number == operations * 3 / 4 {
                work.purge();
            }
            work.operation(at);
        }
        work.history
    }

    /// As [`record`](Self::record), with arrays of `1 / shrink` the length, and with a final flush.
    pub(crate) fn record_small(seed: u64, operations: usize) -> Self {
        let mut work = Work::new(seed, POOL, 20);
        for _ in 0..operations {
            let at = work.random.below(2) as usize;
            work.operation(at);
        }
        (0..2).for_each(|at| work.flush(at));
        work.history
    }

    /// As [`record_small`](Self::record_small), with a flush after each operation and no checkpoints.
    pub(crate) fn record_flushed(seed: u64, operations: usize) -> Self {
        let mut work = Work::new(seed, "posix:/pool", 20);
        for _ in 0..operations {
            let at = work.random.below(2) as usize;
            work.operation(at);
            work.flush(at);
        }
        work.history
    }

    /// What may be visible after a power failure that follows this many changes: the contents after each frame that may have survived, from
    /// the last flushed one on.
    pub(crate) fn visible(&self, changes: usize) -> impl Iterator<Item = Contents> {
        let flushed = self.flushed.iter().filter(|(at, _)| *at <= changes);
        let least = flushed.map(|(_, frames)| *frames).max().unwrap_or(0);
        let most = self.frames.iter().filter(|frame| frame.changes < changes).count();
        (least..=most.max(least)).map(|frames| match frames.checked_sub(1) {
            Some(last) => self.frames[last].after.clone(),
            None => Contents::default(),
        })
    }

    /// Everything that was ever visible, beginning with nothing.
    pub(crate) fn visible_ever(&self) -> impl Iterator<Item = &Contents> {
        static NOTHING: LazyLock<Contents> = LazyLock::new(Contents::default);
        std::iter::once(&*NOTHING).chain(self.frames.iter().map(|frame| &frame.after))
    }
}

struct Work {
    history: History,
    place: TestPool,
    random: Random,
    handles: [Arc<dyn Container>; 2],
    /// The factor by which arrays are shorter.
    shrink: usize,
    /// What each handle has gathered.
    gathered: [Vec<Step>; 2],
    /// The number of frames after the last one of each handle, which its flush makes durable.
    own: [usize; 2],
}

impl Work {
    fn new(seed: u64, uri: &str, shrink: usize) -> Self {
        let place = TestPool::new(uri);
        let (handles, disk) = ([place.open(), place.open()], place.disk.clone());
        let history = History { seed, made: disk.changes(), disk, frames: Vec::new(), flushed: Vec::new() };
        let gathered = [Vec::new(), Vec::new()];
        Self { history, place, random: Random(seed), handles, shrink, gathered, own: [0; 2] }
    }

    fn operation(&mut self, at: usize) {
        let key = format!("key-{}", self.random.below(KEYS)).into_bytes();
        match self.random.below(20) {
            0..8 => self.archive(at, key),
            8 => self.gather(at, vec![Step::Remove(key)]),
            9 => {
                let value = self.random.bytes(17_000).into();
                self.gather(at, vec![Step::Put(key, value)]);
            }
            10..13 => self.transaction(at),
            13 => self.snapshot(at),
            14 => self.staged(at),
            15 => {
                // A reader first publishes what it has gathered.
                self.publish(at);
                values(&*self.handles[at]).get(&key).unwrap();
            }
            _ => self.flush(at),
        }
    }

    fn archive(&mut self, at: usize, key: Vec<u8>) {
        let number = self.handles[at].allocate_ids(1).unwrap().start;
        let id = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, number);
        let length = match self.random.below(30) {
            0 => 140_000,
            1..5 => 20_000,
            _ => 1 + self.random.below(1500) as usize,
        };
        let data = self.random.bytes(length.div_ceil(self.shrink)).into();
        let value = number.to_le_bytes().as_slice().into();
        self.gather(at, vec![Step::Array(id, data), Step::Put(key, value)]);
    }

    fn gather(&mut self, at: usize, steps: Vec<Step>) {
        let updates: Vec<_> = steps.iter().map(Step::update).collect();
        self.handles[at].update(&updates).unwrap();
        self.gathered[at].extend(steps);
    }

    /// Moves what a handle has gathered to the log.
    fn publish(&mut self, at: usize) {
        let steps = std::mem::take(&mut self.gathered[at]);
        if !steps.is_empty() {
            self.decided(at, self.history.disk.changes(), &steps);
        }
    }

    /// The contents after the last frame.
    fn newest(&self) -> Contents {
        self.history.frames.last().map(|frame| frame.after.clone()).unwrap_or_default()
    }

    /// Adds a frame of a handle that began after this many changes.
    fn push(&mut self, at: usize, changes: usize, after: Contents) {
        self.history.frames.push(Frame { changes, after });
        self.own[at] = self.history.frames.len();
    }

    fn flush(&mut self, at: usize) {
        self.publish(at);
        self.handles[at].flush().unwrap();
        self.history.flushed.push((self.history.disk.changes(), self.own[at]));
    }

    /// Two values and an array, with a condition that may hold or not.
    fn transaction(&mut self, at: usize) {
        self.publish(at);
        let number = self.handles[at].allocate_ids(1).unwrap().start;
        let id = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, number);
        let value: Arc<[u8]> = number.to_le_bytes().as_slice().into();
        let length = 1 + self.random.below(3000) as usize;
        let steps = [
            Step::Put(b"pair-a".to_vec(), Arc::clone(&value)),
            Step::Array(id, self.random.bytes(length).into()),
            Step::Put(b"pair-b".to_vec(), value),
        ];
        let is_there = self.newest().values.contains_key(&b"pair-a"[..]);
        let cell = Cell::kv(index(), b"pair-a");
        let wants_there = self.random.below(3) > 0;
        let condition = if wants_there { Precondition::Present(cell) } else { Precondition::Absent(cell) };
        let updates = steps.iter().map(Step::update).collect();
        let transaction = Transaction { preconditions: vec![condition], updates };
        let changes = self.history.disk.changes();
        match self.handles[at].commit(&transaction) {
            Ok(_) if wants_there == is_there => self.decided(at, changes, &steps),
            Err(error) if error.code() == "conflict" && wants_there != is_there => {}
            outcome => panic!("a transaction that came to {outcome:?}"),
        }
    }

    /// A transaction that began after this many changes counts.
    fn decided(&mut self, at: usize, changes: usize, steps: &[Step]) {
        let mut after = self.newest();
        steps.iter().for_each(|step| step.apply(&mut after));
        self.push(at, changes, after);
    }

    /// A staged transaction with several segments. Every third is dropped.
    fn staged(&mut self, at: usize) {
        let numbers = self.handles[at].allocate_ids(8).unwrap();
        let mut steps = Vec::new();
        for number in numbers.start..numbers.start + 8 {
            let id = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, number);
            let length = 1 + self.random.below(4000) as usize / self.shrink;
            steps.push(Step::Array(id, self.random.bytes(length).into()));
            let key = format!("key-{}", self.random.below(KEYS)).into_bytes();
            steps.push(Step::Put(key, number.to_le_bytes().as_slice().into()));
        }
        let handle = Arc::clone(&self.handles[at]);
        let mut staging = handle.staged_transactions().unwrap().stage().unwrap();
        steps.iter().for_each(|step| staging.update(&[step.update()]).unwrap());
        if self.random.below(3) > 0 {
            self.publish(at);
            let changes = self.history.disk.changes();
            staging.commit(&[]).unwrap();
            self.decided(at, changes, &steps);
        }
    }

    /// Creates a snapshot, or destroys the one with that name.
    fn snapshot(&mut self, at: usize) {
        self.publish(at);
        let name: Label = format!("past-{}", self.random.below(2)).parse().unwrap();
        let changes = self.history.disk.changes();
        let mut after = self.newest();
        if after.snapshots.remove(&name).is_some() {
            snapshots(&*self.handles[at]).destroy(&name).unwrap();
        } else {
            snapshots(&*self.handles[at]).create(&name).unwrap();
            let past = Contents { snapshots: BTreeMap::new(), ..self.newest() };
            after.snapshots.insert(name, Arc::new(past));
        }
        self.push(at, changes, after);
    }

    /// Purges without writers, which also makes the log durable. Arrays that no key names are removed first.
    fn purge(&mut self) {
        let newest = self.newest();
        let is_named = |id: &ObjectId| newest.values.values().any(|value| **value == id.lo().to_le_bytes());
        let unnamed = newest.arrays.keys().filter(|id| !is_named(id));
        self.publish(0);
        self.gather(0, unnamed.map(|id| Step::Destroy(*id)).collect());
        (0..2).for_each(|at| self.flush(at));
        self.handles = [self.place.open(), self.place.open()];
        let purged = self.place.purge();
        assert!(purged.freed > 0 || purged.held > 0 || !newest.snapshots.is_empty(), "{purged:?}");
        self.history.flushed.push((self.history.disk.changes(), self.history.frames.len()));
    }
}

/// The contents of a container and of its snapshots.
pub(crate) fn contents(container: &dyn Container) -> isotach_object::Result<Contents> {
    let mut all = present(container)?;
    for Snapshot { name, .. } in snapshots(container).list()? {
        let past = present(&*snapshots(container).open(&name)?)?;
        all.snapshots.insert(name, Arc::new(past));
    }
    Ok(all)
}

fn present(container: &dyn Container) -> isotach_object::Result<Contents> {
    let mut contents = Contents::default();
    values(container).for_each(|key, value| {
        contents.values.insert(key.to_vec(), value.into());
        Ok::<(), isotach_object::Error>(())
    })?;
    let mut anchor = Some(isotach_object::Anchor::start());
    while let Some(from) = anchor {
        let (objects, next) = container.list_objects(&from, 100)?;
        for id in objects.into_iter().filter(|id| *id != index()) {
            let array = Array::new(container, id)?;
            let size = array.size()?.unwrap_or(0);
            contents.arrays.insert(id, array.read(0, size as usize)?.into());
        }
        anchor = next;
    }
    Ok(contents)
}
