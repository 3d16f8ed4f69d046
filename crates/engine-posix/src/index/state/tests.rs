//! Replaying beside a purge.

use isotach_object::{Cell, Label, Maintenance, ObjectClass, ObjectId, ObjectType, Pool, Update};

use super::*;
use crate::testing::Fixture;

/// Grows the log of a container by at least this many bytes, with one writer per frame.
fn grow(pool: &dyn Pool, label: &Label, bytes: usize) {
    let value = vec![7; record::INLINE_MAX];
    let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
    for number in 0..bytes.div_ceil(value.len()) as u32 {
        let container = pool.open_container(label).unwrap();
        let key = number.to_le_bytes();
        container.update(&[Update::Put { cell: Cell::kv(object, &key), value: &value }]).unwrap();
        container.flush().unwrap();
    }
}

#[test]
fn a_reader_that_was_stopped_before_a_read_notices_a_purge() {
    let fixture = Fixture::new("");
    let (pool, label) = (&fixture.pool, &fixture.label);
    let storage = pool.open_storage(&fixture.path()).unwrap();

    let mut early = [(); 4].map(|()| State::at_runs(Vec::new(), log::HEADER as u64, 1));
    grow(pool, label, 100_000);
    early.iter_mut().for_each(|state| state.replay(&storage).unwrap());
    // Before the end of the hole, and after it.
    let lengths = [200_000, 400_000].map(|more| {
        grow(pool, label, more);
        storage.log.length().unwrap()
    });
    let past = lengths.map(|length| storage.at(storage.log.epoch_at(length)).unwrap());
    grow(pool, label, manifest::LOG_KEPT as usize - 250_000);
    assert!(pool.purge(label, true).unwrap().freed > 0);
    let hole_end = PurgeManifest::current(&storage).unwrap().unwrap().hole_end;
    assert!(lengths[0] < hole_end && hole_end < lengths[1], "{hole_end} among {lengths:?}");

    let [mut one, mut other, mut third, mut fourth] = early;
    for (what, replayed) in [
        ("up to a place in the hole", one.go_on(&storage, lengths[0], |_| false)),
        ("over the hole", other.go_on(&storage, lengths[1], |_| false)),
        ("the past up to a place in the hole", third.replay(&past[0])),
        ("the past over the hole", fourth.replay(&past[1])),
    ] {
        assert!(matches!(replayed, Err(Error::Corrupt { .. })), "{what}: {replayed:?}");
    }
}
