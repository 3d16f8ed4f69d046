//! Tests of what happens when another changes something between what a call reads and its commit.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
};

use isotach_object::{Anchor, Cell, Epoch, Error, ObjectClass, ObjectId, ObjectType, Update};

use crate::{
    abi::{constants::*, errors::*},
    containers::{Container, own},
    objects::{
        Object,
        array_keys::{metadata, metadata_key},
        arrays::Array,
        general, kv,
        record_sizes::has_sizes,
        requests::AkeyRequest,
    },
    runtime::{
        error::{Der, Result},
        handles,
    },
    testing::{Call, Script, container, now, object_of},
    transactions::{Kind, Transaction, epochs, scope::Scope, snapshots},
};

fn records(akey: &[u8], first: u64, count: u64, size: u64) -> AkeyRequest<'_> {
    AkeyRequest { akey, ranges: Some(vec![(first, count)]), size, flags: 0, capacity: Some(1000) }
}

/// Writes records of so many bytes, or punches them where these are none.
fn write(object: &Object, first: u64, size: u64, bytes: &[u8]) -> Result<()> {
    let count = (bytes.len() as u64).checked_div(size).unwrap_or(1);
    let parts = [(records(b"a", first, count, size), bytes.to_vec())];
    general::update(object, &now(&object.container), 0, b"d", &parts)
}

/// The size of records, and the bytes of those that there are.
fn read(object: &Object) -> (u64, Vec<u8>) {
    let found = general::fetch(object, &now(&object.container), 0, b"d", &[records(b"a", 0, 10, 0)]).unwrap();
    (found[0].size, found[0].pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect())
}

fn punch_akey(object: &Object) -> Result<()> {
    general::punch_akeys(object, &now(&object.container), 0, b"d", &[b"a"])
}

#[test]
fn of_two_first_writers_of_records_of_different_sizes_one_succeeds() {
    for (own, others) in [(4, 8), (4, 1), (1, 4)] {
        let (container, hooked, other) = container();
        let [object, of_other] = [&container, &other].map(|of| object_of(of, ObjectType::General));
        hooked.before(Call::Commit, move || write(&of_other, 0, others, b"01234567").unwrap());
        assert_eq!(write(&object, 0, own, b"abcdefgh"), Err(Der(DER_REC_SIZE)), "{own} after {others}");
        assert_eq!(read(&object), (others, b"01234567".to_vec()));
    }
}

#[test]
fn records_are_written_and_punched_by_the_size_that_they_have_then() {
    for size in [0, 4] {
        let (container, hooked, other) = container();
        let [object, of_other] = [&container, &other].map(|of| object_of(of, ObjectType::General));
        write(&object, 0, 4, b"aaaabbbb").unwrap();
        hooked.before(Call::Commit, move || {
            punch_akey(&of_other).unwrap();
            write(&of_other, 0, 2, b"112233").unwrap();
        });
        match size {
            // The second record is punched, and not what would be that if they had four bytes.
            0 => {
                assert_eq!(write(&object, 1, 0, b""), Ok(()));
                assert_eq!(read(&object), (2, b"1133".to_vec()));
            }
            _ => {
                assert_eq!(write(&object, 1, 4, b"cccc"), Err(Der(DER_REC_SIZE)));
                assert_eq!(read(&object), (2, b"112233".to_vec()));
            }
        }
    }
}

#[test]
fn sizes_of_records_go_with_the_records() {
    let (container, _, _) = container();
    let object = object_of(&container, ObjectType::General);
    let scope = now(&container);
    let objects = || container.inner.list_objects(&Anchor::start(), 10).unwrap().0;
    let removals: [&dyn Fn() -> Result<()>; 3] =
        [&|| punch_akey(&object), &|| general::punch_dkey(&object, &scope, 0, b"d"), &|| {
            general::punch(&object, &scope, 0)
        }];
    for remove in removals {
        write(&object, 0, 4, b"aaaabbbb").unwrap();
        assert!(objects().iter().any(|id| has_sizes(*id)), "{:?}", objects());
        remove().unwrap();
        assert_eq!(objects(), []);
        write(&object, 0, 8, b"aaaabbbb").unwrap();
        assert_eq!(read(&object), (8, b"aaaabbbb".to_vec()));
        remove().unwrap();
    }
}

fn array_of(container: &Arc<Container>) -> Array {
    let id = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, 2);
    Array { container: Arc::clone(container), id, mode: DAOS_OO_RW, cell_size: 1, chunk_size: 4 }
}

/// Makes an array again, with so many cells of one byte to a chunk, and two chunks of one letter.
fn make_anew(object: &Object, chunk_size: u64, letter: u8) {
    let scope = now(&object.container);
    general::punch(object, &scope, 0).unwrap();
    let (key, value) = (metadata_key(object.id), metadata((1, chunk_size)));
    scope.update(&[Update::Put { cell: Cell::kv(own().unwrap(), &key), value: &value }]).unwrap();
    let array = Array { id: object.id, ..array_of(&object.container) };
    let bytes = vec![letter; 2 * chunk_size as usize];
    array.write(&scope, &[(0, 2 * chunk_size)], &[&bytes]).unwrap();
}

/// The first letters of a chunk.
fn letters(object: &Object, chunk: u64) -> String {
    let part = AkeyRequest { capacity: Some(8), ..records(b"0", 0, 8, 0) };
    let dkey = (chunk + 1).to_le_bytes();
    let found = general::fetch(object, &now(&object.container), 0, &dkey, &[part]).unwrap();
    found[0].pieces.iter().flat_map(|(_, bytes)| bytes).map(|byte| char::from(*byte)).collect()
}

/// A call that changes an object.
type ObjectCall<'c> = &'c dyn Fn(&Object) -> Result<()>;

#[test]
fn a_chunk_is_where_it_is_at_the_moment_when_it_is_changed_or_read() {
    const DKEY: [u8; 8] = 2_u64.to_le_bytes();
    let update = |object: &Object, flags| {
        let part = AkeyRequest { ranges: Some(vec![(0, 2), (4, 2)]), ..records(b"0", 0, 0, 1) };
        general::update(object, &now(&object.container), flags, &DKEY, &[(part, b"abcd".to_vec())])
    };
    let punch = |object: &Object, flags| general::punch_dkey(object, &now(&object.container), flags, &DKEY);
    let calls: [(ObjectCall<'_>, &str); 4] = [
        (&|object| update(object, 0), "abxxcdxx"),
        (&|object| update(object, DAOS_COND_DKEY_UPDATE), "abxxcdxx"),
        (&|object| punch(object, 0), ""),
        (&|object| punch(object, DAOS_COND_PUNCH), ""),
    ];
    for (call, expected) in calls {
        let (container, hooked, other) = container();
        let [object, of_other] = [&container, &other].map(|of| object_of(of, ObjectType::Array));
        make_anew(&of_other, 16, b'o');
        hooked.before(Call::Commit, move || make_anew(&of_other, 32, b'x'));
        call(&object).unwrap();
        assert_eq!((letters(&object, 0), letters(&object, 1)), ("xxxxxxxx".to_owned(), expected.to_owned()));
    }
    let (container, hooked, other) = container();
    let (object, of_other) = (object_of(&container, ObjectType::Array), object_of(&other, ObjectType::Array));
    make_anew(&of_other, 16, b'o');
    hooked.before(Call::List, move || {
        make_anew(&of_other, 32, b'x');
        update(&of_other, 0).unwrap();
    });
    assert_eq!(letters(&object, 1), "abxxcdxx");
}

#[test]
fn a_write_beside_set_size_is_not_lost_and_the_size_is_right() {
    // Where the other writes, and what is there afterwards.
    for (size, at, expected) in
        [(10, 9, "ab-------x"), (10, 12, "ab-------0"), (4, 3, "ab-x"), (4, 6, "ab-0"), (1, 1, "a")]
    {
        let (container, hooked, other) = container();
        let (array, of_other) = (array_of(&container), array_of(&other));
        array.write(&now(&container), &[(0, 2)], &[b"ab"]).unwrap();
        hooked.before(Call::Commit, move || {
            of_other.write(&now(&of_other.container), &[(at, 1)], &[b"x"]).unwrap();
        });
        array.set_size(&now(&container), size).unwrap();
        assert_eq!(array.size(&now(&container)), Ok(size), "{size} beside {at}");
        let mut found = vec![b'-'; size as usize];
        array.read(&now(&container), &[(0, size)], vec![&mut found]).unwrap();
        let found: String =
            found.iter().map(|byte| if *byte == 0 { '0' } else { char::from(*byte) }).collect();
        let expected = expected.replace('-', "0");
        assert_eq!(found, expected, "{size} beside {at}");
    }
}

#[test]
fn calls_outside_of_transactions_never_ask_for_a_restart() {
    let (container, hooked, _) = container();
    let map = object_of(&container, ObjectType::KeyValue);
    let (object, array) = (object_of(&container, ObjectType::General), array_of(&container));
    let conflicts = || hooked.refuse_commits(5, || Error::Conflict { what: "somebody".to_owned() });
    conflicts();
    assert_eq!(kv::put(&map, &now(&container), DAOS_COND_KEY_INSERT, b"key", b"value"), Ok(()));
    conflicts();
    assert_eq!(write(&object, 0, 4, b"aaaa"), Ok(()));
    conflicts();
    assert_eq!(array.set_size(&now(&container), 7), Ok(()));
    // With cells punched at its end, and large, it is read at one moment, of which the state was purged meanwhile.
    let mut bytes = vec![b'x'; 2 << 20];
    array.write(&now(&container), &[(0, 2 << 20)], &[&bytes]).unwrap();
    array.punch(&now(&container), &[((2 << 20) - 1, 1)]).unwrap();
    hooked.lose_states(3);
    let filled = array.read(&now(&container), &[(0, 2 << 20)], vec![&mut bytes]);
    assert_eq!(filled.map(|filled| (filled.read, filled.short)), Ok(((2 << 20) - 1, 1)));
}

#[test]
fn what_counts_is_flushed_also_where_it_was_committed() {
    let (container, hooked, _) = container();
    let map = object_of(&container, ObjectType::KeyValue);
    kv::put(&map, &now(&container), DAOS_COND_KEY_INSERT, b"key", b"value").unwrap();
    assert!(hooked.is_flushed(), "under a condition");
    write(&object_of(&container, ObjectType::General), 0, 4, b"aaaa").unwrap();
    assert!(hooked.is_flushed(), "several cells");
    let transaction = Arc::new(Transaction::new(Arc::clone(&container), Kind::ReadAndWrite));
    kv::put(&map, &Scope::within(&container, &transaction), 0, b"key", b"other").unwrap();
    transaction.commit().unwrap();
    assert!(hooked.is_flushed(), "a transaction");
}

#[test]
fn a_single_value_and_records_do_not_mix_under_one_attribute_key() {
    let (container, _, _) = container();
    let object = object_of(&container, ObjectType::General);
    let value =
        || (AkeyRequest { akey: b"a", ranges: None, size: 5, flags: 0, capacity: None }, b"value".to_vec());
    let update = |parts: &[_]| general::update(&object, &now(&container), 0, b"d", parts);
    let of_both = [value(), (records(b"a", 0, 1, 4), b"aaaa".to_vec())];
    assert_eq!(update(&of_both), Err(Der(DER_NO_PERM)), "in one update");
    assert_eq!(update(&[value()]), Ok(()));
    assert_eq!(write(&object, 0, 4, b"aaaa"), Err(Der(DER_NO_PERM)));
    assert_eq!(update(&[value()]), Ok(()));
    punch_akey(&object).unwrap();
    assert_eq!(write(&object, 0, 4, b"aaaa"), Ok(()));
    assert_eq!(update(&[value()]), Err(Der(DER_NO_PERM)));
}

#[test]
fn a_transaction_whose_moment_was_purged_while_it_reads_begins_anew() {
    let (container, hooked, other) = container();
    let map = object_of(&container, ObjectType::KeyValue);
    let put = |value| kv::put(&object_of(&other, ObjectType::KeyValue), &now(&other), 0, b"key", value);
    put(b"old").unwrap();
    let cell = Cell::kv(map.id, b"key");
    for (kind, name) in [(Kind::Read, "first"), (Kind::ReadAndWrite, "second")] {
        // The engine in memory keeps no other state.
        other.inner.snapshots().unwrap().create(&name.parse().unwrap()).unwrap();
        let transaction = Arc::new(Transaction::new(Arc::clone(&container), kind));
        let scope = Scope::within(&container, &transaction);
        let before = scope.get(cell).unwrap();
        put(b"new").unwrap();
        assert_eq!(scope.get(cell), Ok(before), "of its moment");
        hooked.lose_states(1);
        assert_eq!(scope.get(cell), Err(Der(DER_TX_RESTART)));
        transaction.restart().unwrap();
        assert_eq!(scope.get(cell), Ok(Some(b"new".to_vec())));
    }
}

fn denied() -> Error {
    Error::PermissionDenied { what: "append".to_owned(), source: None }
}

fn full() -> Error {
    Error::NoSpace { what: "append".to_owned() }
}

fn broken() -> Error {
    Error::Io { what: "sync".to_owned(), source: "gone".into() }
}

fn too_many() -> Error {
    Error::TooManyOpen { what: "open log".to_owned(), source: std::io::Error::other("too many") }
}

/// A transaction with one update in a container, and the calls on the container.
fn pending() -> (Arc<Transaction>, Arc<Script>, Arc<Container>) {
    let (container, hooked, other) = container();
    let transaction = Arc::new(Transaction::new(Arc::clone(&container), Kind::ReadAndWrite));
    let map = object_of(&container, ObjectType::KeyValue);
    kv::put(&map, &Scope::within(&container, &transaction), 0, b"key", b"value").unwrap();
    (transaction, hooked, other)
}

/// What another sees of the update of [`pending`].
fn seen(other: &Arc<Container>) -> Option<Vec<u8>> {
    kv::get(&object_of(other, ObjectType::KeyValue), &now(other), 0, b"key").unwrap()
}

#[test]
fn a_transaction_of_uncertain_outcome_says_so_and_ends() {
    let failures: [fn() -> Error; 3] = [
        broken,
        || Error::corrupt("a frame", "log"),
        || Error::not_found("the container").after_decision("learn the verdict"),
    ];
    for failure in failures {
        let (transaction, hooked, other) = pending();
        hooked.fail_next(Call::Commit, failure());
        assert_eq!(transaction.commit(), Err(Der(DER_TX_UNCERTAIN)), "{}", failure());
        assert_eq!(seen(&other), Some(b"value".to_vec()), "it counts");
        assert_eq!(transaction.commit(), Err(Der(DER_TX_UNCERTAIN)), "it is not tried again");
        assert_eq!(transaction.abort(), Err(Der(DER_TX_UNCERTAIN)), "it is not known to be aborted");
        assert_eq!(transaction.restart(), Err(Der(DER_NO_PERM)));
        assert_eq!(transaction.update(&[]), Err(Der(DER_NO_PERM)));
    }
}

#[test]
fn a_refused_commit_is_aborted() {
    let refusals: [(fn() -> Error, i32); 7] = [
        (full, DER_NOSPACE),
        (denied, DER_NO_PERM),
        (|| Error::invalid("a key", "a shorter one"), DER_INVAL),
        (|| Error::Unsupported { engine: "test", what: "it".to_owned() }, DER_NOTSUPPORTED),
        (|| Error::not_found("the container"), DER_NONEXIST),
        (|| Error::Poisoned { what: "c".to_owned() }, DER_IO),
        (too_many, DER_IO),
    ];
    for (refusal, number) in refusals {
        let (transaction, hooked, other) = pending();
        hooked.refuse_commits(usize::MAX, refusal);
        assert_eq!(transaction.commit(), Err(Der(number)));
        assert_eq!(seen(&other), None);
        assert_eq!(transaction.abort(), Err(Der(DER_ALREADY)));
    }
    let (container, hooked, _) = container();
    hooked.refuse_commits(usize::MAX, || Error::Poisoned { what: "c".to_owned() });
    let object = object_of(&container, ObjectType::General);
    assert_eq!(write(&object, 0, 4, b"aaaa"), Err(Der(DER_IO)), "in no transaction");
}

#[test]
fn a_commit_whose_flush_fails_is_uncertain_whatever_the_failure_is() {
    for (failure, size) in [full, broken, denied].into_iter().zip([5, 5, 9 << 20]) {
        let (container, hooked, other) = container();
        let map = object_of(&container, ObjectType::KeyValue);
        let transaction = Arc::new(Transaction::new(Arc::clone(&container), Kind::ReadAndWrite));
        let scope = Scope::within(&container, &transaction);
        // More than 8 MiB are committed in pieces.
        let value = vec![b'v'; size];
        kv::put(&map, &scope, 0, b"key", &value).unwrap();
        hooked.fail_next(Call::Flush, failure());
        assert_eq!(transaction.commit(), Err(Der(DER_TX_UNCERTAIN)));
        assert_eq!(seen(&other), Some(value), "it counts");
    }
}

#[test]
fn a_large_transaction_that_fails_before_its_commit_is_aborted() {
    for failure in [broken, too_many] {
        let (container, hooked, other) = container();
        let map = object_of(&container, ObjectType::KeyValue);
        let transaction = Arc::new(Transaction::new(Arc::clone(&container), Kind::ReadAndWrite));
        kv::put(&map, &Scope::within(&container, &transaction), 0, b"key", &vec![b'v'; 9 << 20]).unwrap();
        hooked.fail_next(Call::Stage, failure());
        assert_eq!(transaction.commit(), Err(Der(DER_IO)));
        assert_eq!(seen(&other), None);
        assert_eq!(transaction.abort(), Err(Der(DER_ALREADY)));
    }
}

#[test]
fn a_call_whose_flush_fails_is_not_reported_as_undone() {
    for flags in [0, DAOS_COND_KEY_INSERT] {
        let (container, hooked, other) = container();
        let map = object_of(&container, ObjectType::KeyValue);
        hooked.fail_next(Call::Flush, full());
        assert_eq!(kv::put(&map, &now(&container), flags, b"key", b"value"), Err(Der(DER_IO)));
        assert_eq!(seen(&other), Some(b"value".to_vec()), "it counts");
    }
}

#[test]
fn a_range_of_snapshots_of_which_some_are_destroyed_is_reported_as_uncertain() {
    let (container, hooked, _) = container();
    let handle = container.add();
    for _ in 0..2 {
        snapshots::create(handle, None).unwrap();
    }
    let script = Arc::clone(&hooked);
    hooked.before(Call::Flush, move || script.fail_next(Call::DestroySnapshot, full()));
    assert_eq!(snapshots::destroy(handle, 0, DAOS_EPOCH_MAX), Err(Der(DER_TX_UNCERTAIN)));
    assert_eq!(snapshots::list(&container).unwrap().len(), 1);
    hooked.fail_next(Call::DestroySnapshot, full());
    assert_eq!(snapshots::destroy(handle, 0, DAOS_EPOCH_MAX), Err(Der(DER_NOSPACE)));
    handles::remove(handle).unwrap();
}

#[test]
fn a_snapshot_whose_flush_fails_is_reported_as_uncertain() {
    for failure in [full, broken, denied] {
        let (container, hooked, _) = container();
        let handle = container.add();
        hooked.fail_next(Call::Flush, failure());
        assert_eq!(snapshots::create(handle, None), Err(Der(DER_TX_UNCERTAIN)));
        assert_eq!(snapshots::list(&container).unwrap().len(), 1, "there is one");
        hooked.fail_next(Call::Flush, failure());
        let destroyed = snapshots::destroy(handle, 0, DAOS_EPOCH_MAX);
        assert_eq!(destroyed, Err(Der(DER_TX_UNCERTAIN)));
        assert_eq!(snapshots::list(&container), Ok(Vec::new()), "there is none any more");
        handles::remove(handle).unwrap();
    }
}

/// A thread that writes under a key, and the epochs and states that it observes in between.
fn observe(container: &Arc<Container>, key: &'static [u8]) -> JoinHandle<Vec<(u64, Epoch)>> {
    let container = Arc::clone(container);
    thread::spawn(move || {
        let map = object_of(&container, ObjectType::KeyValue);
        let each = |_| {
            kv::put(&map, &now(&container), 0, key, b"value").unwrap();
            epochs::moment(&container).map(|moment| (moment.epoch, moment.state)).unwrap()
        };
        (0..2000).map(each).collect()
    })
}

#[test]
fn a_snapshot_that_is_in_order_is_so_with_moments_of_other_threads() {
    let (container, _, _) = container();
    let threads = [b"one", b"two"].map(|key| observe(&container, key));
    let snapshots = container.inner.snapshots().unwrap();
    let (mut observed, mut in_order) = (Vec::new(), 0);
    while in_order < 50 || !threads.iter().all(|thread| thread.is_finished()) {
        let mut state = None;
        let make = |epoch: u64| {
            let name = format!("s{epoch}").parse()?;
            let made = snapshots.create(&name)?;
            // Each holds a copy of the container, and there may be any number of rounds.
            snapshots.destroy(&name)?;
            Ok(*state.insert(made))
        };
        let (epoch, is_in_order) = epochs::snapshot(&container, 0, make).unwrap();
        in_order += usize::from(is_in_order);
        observed.extend(state.filter(|_| is_in_order).map(|state| (epoch, state)));
    }
    observed.extend(threads.into_iter().flat_map(|thread| thread.join().unwrap()));
    observed.sort_unstable();
    assert!(observed.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1));
}

#[test]
fn of_two_epochs_of_a_container_the_later_never_stands_for_an_earlier_state() {
    let (container, _, _) = container();
    let threads = [b"one", b"two", b"six"].map(|key| observe(&container, key));
    let mut observed: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    observed.sort_unstable();
    assert!(observed.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1));
}
