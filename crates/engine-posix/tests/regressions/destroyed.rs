//! A handle outlives its container, and another container gets the label.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use isotach_object::{Anchor, Array, Container, Error, ObjectType, Precondition, Transaction, Update};

use crate::{Store, entries, entry, key, object, put, put_frames, tree};

/// Longer than what is gathered before a write.
const BULK: usize = 300_000;
/// Too long for the log.
const LONG: usize = 20_000;
const COUNT: u64 = 40;

fn array(container: &dyn Container) -> Array<'_> {
    Array::new(container, object(ObjectType::Array)).unwrap()
}

fn fill(container: &dyn Container, byte: u8, count: u64) {
    (0..count).for_each(|number| put(container, number, &[byte]));
    entries(container).put(b"long", &[byte; LONG]).unwrap();
    array(container).write(0, &[byte; BULK]).unwrap();
    container.flush().unwrap();
}

fn contents(store: &Store) -> BTreeMap<PathBuf, Vec<u8>> {
    tree(&store.path()).into_iter().map(|(path, (bytes, _))| (path, bytes)).collect()
}

fn is_not_found<T>(outcome: &Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::NotFound { .. }))
}

/// Handles on a destroyed container (one that has read, one that has written, an idle one), beside a new container with its label. What the
/// old handles have not replayed makes checkpoints due.
fn handles(store: &Store) -> Vec<(&'static str, Arc<dyn Container>)> {
    let (read, wrote, idle) = (store.open(), store.open(), store.open());
    put_frames(&*wrote, 0..3);
    assert!(entries(&*read).get(&key(0)).unwrap().is_some());
    fill(&*wrote, b'o', COUNT);
    store.replace();
    fill(&*store.open(), b'n', 3 * COUNT);
    vec![("read", read), ("wrote", wrote), ("idle", idle)]
}

#[test]
fn a_handle_on_a_destroyed_container_reads_nothing_of_its_successor() {
    let store = Store::new("?checkpoint=256");
    for (which, old) in handles(&store) {
        let is_old = |found: Result<Vec<u8>, Error>| match found {
            Ok(bytes) => bytes.iter().all(|byte| *byte == b'o'),
            Err(error) => matches!(error, Error::NotFound { .. }),
        };
        for number in 0..3 * COUNT {
            let found = entries(&*old).get(&key(number)).map(Option::unwrap_or_default);
            assert!(is_old(found), "{which}: {number}");
        }
        assert!(is_old(entries(&*old).get(b"long").map(Option::unwrap_or_default)), "{which}");
        assert!(is_old(array(&*old).read(0, BULK)), "{which}");
        assert!(is_old(array(&*old).lend(0, BULK as u64).map(|bytes| bytes.to_vec())), "{which}");
        match entries(&*old).list(&Anchor::start(), 1000, false) {
            Ok(page) => assert_eq!(page.len() as u64, COUNT + 1, "{which}"),
            Err(error) => assert_eq!(error.code(), "not-found", "{which}"),
        }
    }
}

#[test]
fn a_handle_on_a_destroyed_container_writes_nothing_to_its_successor() {
    let store = Store::new("?checkpoint=256");
    for (which, old) in handles(&store) {
        let before = contents(&store);
        // Reading replays, and replaying makes checkpoints.
        let _ = entries(&*old).get(&key(1));
        let cell = entry(b"mine");
        let put = Transaction::new().update(Update::Put { cell, value: b"x" });
        assert!(is_not_found(&old.commit(&put)), "{which}");
        assert!(is_not_found(&old.commit(&put.clone().require(Precondition::Absent(cell)))), "{which}");
        assert!(is_not_found(&old.allocate_ids(1)), "{which}");
        let _ = entries(&*old).put(b"mine", b"x");
        let _ = entries(&*old).put(b"long", &[b'x'; LONG]);
        let _ = array(&*old).write(0, &[b'x'; BULK]);
        let _ = entries(&*old).get(b"mine");
        assert!(is_not_found(&old.flush()), "{which}");
        let after = contents(&store);
        assert!(before == after, "{which}: {:?} and {:?}", before.keys(), after.keys());
    }
    assert_eq!(store.get(0), Some(b"n".to_vec()));
}
