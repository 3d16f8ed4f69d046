//! Opens the store after a power failure and compares it with the history.

use std::sync::Arc;

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_fields::{FieldStore, Inspected, ListOptions};

use crate::{
    history::{Fields, History, Shown},
    workload::{dataset, field, jump_index, open, opened, verify_sound},
};

/// Prints the case, if the thread panics while this value lives.
struct Case<'h>(&'h History, usize, Loss);

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(History { seed, places, .. }, changes, loss) = self;
            eprintln!("ISOTACH_SEED={seed}, {places:?}: power failed after {changes} changes, {loss:?}");
        }
    }
}

/// Lets power fail after `changes` changes, and checks the store and further writes to it.
pub(crate) fn check(history: &History, changes: usize, loss: Loss) {
    let _case = Case(history, changes, loss);
    let disk = history.disk.after_crash(changes, loss);
    let store = match open(&disk, history.places, FieldStore::open) {
        Ok(store) => store,
        // The store was not complete, so it can be created.
        Err(_) if changes < history.made => open(&disk, history.places, FieldStore::create).unwrap(),
        Err(error) => panic!("{error}"),
    };
    let found = shown(&store);
    for (key, states) in &history.datasets {
        let found = found.get(key).cloned().unwrap_or_default();
        let possible: Vec<Fields> = states.possible(changes).collect();
        assert!(possible.contains(&found), "{key}: {}", differences(&found, &possible));
    }
    check_snapshots(history, changes, &store);
    verify_sound(&store, "a power failure is no damage");
    let (mut disk, mut expected) = (disk, found);
    for (round, next) in [Loss::All, loss].into_iter().enumerate() {
        disk = write_on(history, &disk, &mut expected, round as u8, next);
    }
}

/// All fields of a store, by dataset.
fn shown(store: &FieldStore) -> Shown {
    let mut shown = Shown::new();
    for listed in store.list(&"".parse().unwrap(), ListOptions::default()).unwrap() {
        let listed = listed.unwrap();
        let bytes: Arc<[u8]> = store.read(listed.location()).unwrap()[..].into();
        assert_eq!(store.retrieve_one(&listed.key()).unwrap().as_deref(), Some(&*bytes));
        let field = Inspected { key: listed.key(), location: listed.location().clone() };
        let index = store.jump_indexes(&[field]).unwrap().remove(0).unwrap();
        assert!(index.is_none() || index == jump_index(&bytes), "the jump index of {}", listed.key());
        shown.entry(listed.dataset().to_string()).or_default().insert(listed.key().to_string(), bytes);
    }
    shown
}

fn differences(found: &Fields, possible: &[Fields]) -> String {
    let names = |state: &Fields| {
        let keys: std::collections::BTreeSet<_> = found.keys().chain(state.keys()).collect();
        let differing = keys.into_iter().filter(|key| found.get(*key) != state.get(*key));
        differing.cloned().collect::<Vec<_>>().join("; ")
    };
    let all: Vec<String> = possible.iter().map(names).collect();
    format!("no prefix of the history ({} possible); different are: {}", all.len(), all.join(" OR "))
}

fn check_snapshots(history: &History, changes: usize, store: &FieldStore) {
    let there = store.snapshots().unwrap();
    for (name, states) in &history.snapshots {
        let possible: Vec<Option<Shown>> = states.possible(changes).collect();
        let found = there.iter().find(|snapshot| *snapshot.name.as_str() == **name);
        match found {
            None => assert!(possible.contains(&None), "snapshot {name} is lost"),
            Some(found) if found.is_complete => {
                let past = shown(&store.at(name).unwrap());
                assert!(possible.contains(&Some(past)), "snapshot {name} shows something else");
            }
            Some(_) => {
                assert!(possible.len() > 1, "snapshot {name} is incomplete");
                store.remove_snapshot(name).unwrap();
            }
        }
    }
}

/// Flushes fields of an existing dataset and of a new one, and lets power fail.
fn write_on(
    history: &History,
    disk: &SimulatedDisk,
    expected: &mut Shown,
    round: u8,
    loss: Loss,
) -> SimulatedDisk {
    let store = opened(disk, history.places);
    for number in [0, 9] {
        let dataset = dataset(number);
        let (key, bytes) = (field(&dataset, 99), Arc::from([round + 1; 700]));
        store.archive(&key, &bytes).unwrap();
        expected.entry(dataset).or_default().insert(key.to_string(), bytes);
    }
    store.flush().unwrap();
    let disk = disk.after_crash(disk.changes(), loss);
    let again = shown(&opened(&disk, history.places));
    assert!(again == *expected, "changed after writing on and another power failure, {loss:?}");
    disk
}
