//! The workload: fields archived, replaced and deleted through two handles, transactions, snapshots, wipes and a purge.

use std::{collections::BTreeMap, sync::Arc};

use isotach_engine_posix::simulation::{Random, SimulatedDisk};
use isotach_fields::{Config, FieldStore, Result, VerifyOptions, VerifyReport, crc32c};
use isotach_mars::{Clock, Key, Request};
use isotach_object::Registry;

use crate::history::{Fields, History, Shown, States};

const SCHEMA: &str = "[ class, expver [ type [ step: Step, param ]]]";
/// Datasets, and the names of snapshots.
const DATASETS: u64 = 3;
const NAMES: u64 = 2;

/// Where catalogue and store are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    Together,
    Apart,
}

/// Opens or creates the store of the workload on a disk.
pub(crate) fn open(
    disk: &SimulatedDisk,
    places: Places,
    how: impl FnOnce(&Config, &Registry) -> Result<FieldStore>,
) -> Result<FieldStore> {
    // Checkpoints every few frames, so that runs are written and merged all the time.
    let uri = |name: &str| format!("posix:/{name}?checkpoint=1024&segment=256").parse().unwrap();
    let config = match places {
        Places::Together => Config::single(&uri("all")),
        Places::Apart => Config::split(&uri("catalogue"), &uri("store")),
    };
    let config = config.with_schema(SCHEMA).with_clock(Clock::fixed(2024, 1, 2).unwrap());
    let store = how(&config, &Registry::new().with(disk.engine()))?;
    store.index_messages_with(jump_index);
    Ok(store)
}

/// The jump index of a field. Every other one has one.
pub(crate) fn jump_index(bytes: &[u8]) -> Option<Vec<u8>> {
    bytes.len().is_multiple_of(2).then(|| crc32c(bytes).to_le_bytes().to_vec())
}

/// Another handle on the store of the workload.
pub(crate) fn opened(disk: &SimulatedDisk, places: Places) -> FieldStore {
    open(disk, places, FieldStore::open).unwrap()
}

/// Verifies everything with the bytes of each field. Nothing may be damaged.
pub(crate) fn verify_sound(store: &FieldStore, case: &str) -> VerifyReport {
    let how = VerifyOptions { data: true, threads: 1 };
    let report = store.verify(&"".parse().unwrap(), how, &|_| ()).unwrap();
    assert!(report.is_sound(), "{case}: {report:?}");
    report
}

/// The key of a dataset.
pub(crate) fn dataset(number: u64) -> String {
    format!("class=od,expver={number}")
}

/// A field of a dataset. There are few, so that most are replaced.
pub(crate) fn field(dataset: &str, number: u64) -> Key {
    let kind = ["an", "fc"][number as usize % 2];
    format!("{dataset},type={kind},step={},param=t", number / 2).parse().unwrap()
}

struct Work {
    history: History,
    random: Random,
    handles: [FieldStore; 2],
    /// The unflushed fields of each handle, by dataset.
    archived: [BTreeMap<String, Fields>; 2],
}

/// Runs the workload with two handles in turns.
pub(crate) fn record(seed: u64, places: Places, operations: usize) -> History {
    let disk = SimulatedDisk::new();
    open(&disk, places, FieldStore::create).unwrap();
    let handles = [(); 2].map(|()| opened(&disk, places));
    let made = disk.changes();
    let (datasets, snapshots) = (BTreeMap::new(), BTreeMap::new());
    let history = History { seed, places, made, disk, datasets, snapshots };
    let mut work = Work { history, random: Random(seed), handles, archived: Default::default() };
    for number in 0..operations {
        let at = work.random.below(2) as usize;
        match number == operations * 3 / 4 {
            true => work.purge(),
            false => work.operation(at),
        }
    }
    work.history
}

impl Work {
    fn operation(&mut self, at: usize) {
        let dataset = dataset(self.random.below(DATASETS));
        match self.random.below(40) {
            0..24 => self.archive(at, &dataset),
            24..28 => self.transaction(at, &dataset),
            28..31 => self.snapshot(at),
            31 => self.wipe(&dataset),
            32..35 => self.delete(at, &dataset),
            _ => self.flush(at),
        }
    }

    fn changes(&self) -> usize {
        self.history.disk.changes()
    }

    fn states(&mut self, dataset: &str) -> &mut States<Fields> {
        self.history.datasets.entry(dataset.to_owned()).or_default()
    }

    /// A field, new or not.
    fn next(&mut self, dataset: &str) -> (Key, Arc<[u8]>) {
        let key = field(dataset, self.random.below(12));
        let length = match self.random.below(30) {
            0 => 140_000,
            1..5 => 20_000,
            _ => 1 + self.random.below(1500) as usize,
        };
        (key, self.random.bytes(length).into())
    }

    fn archive(&mut self, at: usize, dataset: &str) {
        let (key, bytes) = self.next(dataset);
        self.handles[at].archive(&key, &bytes).unwrap();
        self.archived[at].entry(dataset.to_owned()).or_default().insert(key.to_string(), bytes);
    }

    fn flush(&mut self, at: usize) {
        let changes = self.changes();
        let archived = std::mem::take(&mut self.archived[at]);
        for (dataset, fields) in &archived {
            let mut after = self.states(dataset).newest();
            after.extend(fields.clone());
            self.states(dataset).begin(changes, after);
        }
        self.handles[at].flush().unwrap();
        let changes = self.changes();
        archived.keys().for_each(|dataset| self.states(dataset).flushed(changes));
    }

    /// Deletes a field, if it exists.
    fn delete(&mut self, at: usize, dataset: &str) {
        let key = field(dataset, self.random.below(12));
        let (changes, mut after) = (self.changes(), self.states(dataset).newest());
        let exists = after.remove(&key.to_string()).is_some();
        self.states(dataset).begin(changes, after);
        let deleted = self.handles[at].delete(&Request::from(&key), true).unwrap();
        assert_eq!(deleted.fields(), u64::from(exists));
        let changes = self.changes();
        self.states(dataset).flushed(changes);
    }

    /// Several fields in a transaction. Every third transaction is dropped.
    fn transaction(&mut self, at: usize, dataset: &str) {
        let transaction = self.handles[at].transaction();
        let mut after = self.states(dataset).newest();
        for _ in 0..1 + self.random.below(6) {
            let (key, bytes) = self.next(dataset);
            transaction.archive(&key, &bytes).unwrap();
            after.insert(key.to_string(), bytes);
        }
        if self.random.below(3) > 0 {
            let changes = self.changes();
            self.states(dataset).begin(changes, after);
            transaction.commit().unwrap();
            let changes = self.changes();
            self.states(dataset).flushed(changes);
        }
    }

    /// Creates the snapshot, or removes it if it exists.
    fn snapshot(&mut self, at: usize) {
        let name = format!("past-{}", self.random.below(NAMES));
        let all = self.history.datasets.iter();
        let shown: Shown = all.map(|(key, states)| (key.clone(), states.newest())).collect();
        let shown: Shown = shown.into_iter().filter(|(_, fields)| !fields.is_empty()).collect();
        let changes = self.changes();
        let states = self.history.snapshots.entry(name.clone()).or_default();
        if states.newest().is_some() {
            states.begin(changes, None);
            self.handles[at].remove_snapshot(&name).unwrap();
        } else if !shown.is_empty() {
            states.begin(changes, Some(shown));
            self.handles[at].snapshot(&"class=od".parse().unwrap(), &name).unwrap();
        }
        states.flushed(self.history.disk.changes());
    }

    /// Replaces the handles by new ones without open files.
    fn open_again(&mut self) {
        (0..2).for_each(|at| self.flush(at));
        self.handles = [(); 2].map(|()| opened(&self.history.disk, self.history.places));
    }

    fn wipe(&mut self, dataset: &str) {
        self.open_again();
        let changes = self.changes();
        self.states(dataset).begin(changes, Fields::new());
        self.handles[0].wipe(&dataset.parse().unwrap(), true).unwrap();
        let changes = self.changes();
        self.states(dataset).flushed(changes);
    }

    /// Frees the space of replaced fields, of which there are some.
    fn purge(&mut self) {
        for _ in 0..3 {
            let (dataset, bytes) = (dataset(0), Arc::from(vec![7; 20_000]));
            let key = field(&dataset, 0);
            self.handles[0].archive(&key, &bytes).unwrap();
            self.archived[0].entry(dataset).or_default().insert(key.to_string(), bytes);
            self.flush(0);
        }
        self.open_again();
        let purged = self.handles[0].purge(&"class=od".parse().unwrap(), true).unwrap();
        let frees = purged.found.iter().any(|dataset| dataset.freed > 0);
        let is_needed = !self.handles[0].snapshots().unwrap().is_empty();
        assert!(frees || is_needed, "{:?}", purged.found);
    }
}
