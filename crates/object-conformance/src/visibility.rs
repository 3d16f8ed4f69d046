//! Visibility: a handle sees its own updates at once, and those of others when flushed and in order.

use super::{
    process::{Participant, Task},
    trial::{Trial, array, kv, wait_for},
};

/// Steps of the writer whose order is checked.
const STEPS: u64 = 2000;

pub fn a_handle_sees_its_own_updates_at_once(trial: &Trial<'_>) {
    for step in 0..100_u8 {
        trial.kv(1).put(b"k", &[step]).unwrap();
        assert_eq!(trial.kv(1).get(b"k").unwrap().unwrap(), [step]);
        trial.array(1).write(u64::from(step), &[step]).unwrap();
        assert_eq!(trial.array(1).read(u64::from(step), 9).unwrap(), [step]);
    }
    assert_eq!(trial.kv(1).list(&isotach_object::Anchor::start(), 9, true).unwrap().len(), 1);
}

pub fn a_flush_shows_everything_to_handles_new_and_old(trial: &Trial<'_>) {
    let old = trial.another();
    for step in 0..10_u8 {
        trial.kv(1).put(&[step], &[step]).unwrap();
        trial.array(1).write(u64::from(step), &[step]).unwrap();
        trial.flush();
        let (new, scratch) = (trial.another(), trial.reopened());
        for handle in [&old, &new, &scratch] {
            assert_eq!(kv(handle, 1).get(&[step]).unwrap().unwrap(), [step]);
            assert_eq!(array(handle, 1).read(u64::from(step), 9).unwrap(), [step]);
            let listed = kv(handle, 1).list(&isotach_object::Anchor::start(), 99, true).unwrap();
            assert_eq!(listed.len(), usize::from(step) + 1);
        }
    }
    trial.kv(1).remove(&[3]).unwrap();
    trial.flush();
    assert_eq!(kv(&old, 1).get(&[3]).unwrap(), None);
}

pub fn a_flush_is_seen_by_handles_that_have_read_before(trial: &Trial<'_>) {
    let reader = trial.another();
    let look = || {
        let value = kv(&reader, 1).get(b"k").unwrap().unwrap_or_default();
        let size = kv(&reader, 1).size(b"k").unwrap().unwrap_or_default();
        let listed = kv(&reader, 1).list(&isotach_object::Anchor::start(), 9, true).unwrap();
        let listed = listed.get(0).map(|(_, value)| value.to_vec()).unwrap_or_default();
        (value, size, listed, array(&reader, 1).read(0, 99).unwrap())
    };
    assert_eq!(look(), (vec![], 0, vec![], vec![]));
    for step in 1..5_u8 {
        let value = vec![step; step.into()];
        trial.kv(1).put(b"k", &value).unwrap();
        trial.array(1).write(0, &value).unwrap();
        trial.flush();
        assert_eq!(look(), (value.clone(), step.into(), value.clone(), value));
    }
}

pub fn the_epoch_of_a_reader_includes_flushed_updates(trial: &Trial<'_>) {
    let reader = trial.another();
    trial.kv(1).put(b"k", b"x").unwrap();
    trial.flush();
    let flushed = trial.container.epoch().unwrap();
    assert!(reader.epoch().unwrap() >= flushed);
}

pub fn a_flush_shows_everything_to_other_processes(trial: &Trial<'_>) {
    trial.kv(1).put(&[1], b"parent").unwrap();
    trial.flush();
    let reports = trial.together(&[Task::new("put_and_flush", &[2]), Task::new("get_numbers", &[1])]);
    assert_eq!(reports, [vec![2], vec![6]], "the size of what the parent flushed");
    assert_eq!(trial.kv(1).get(&[2]).unwrap().unwrap(), b"child");
    assert_eq!(kv(&trial.reopened(), 1).get(&[2]).unwrap().unwrap(), b"child");
}

pub fn flushed_updates_outlive_their_process(trial: &Trial<'_>) {
    assert_eq!(trial.together(&[Task::dying("put_and_flush", &[5])]), [[5]]);
    assert_eq!(trial.kv(1).get(&[5]).unwrap().unwrap(), b"child");
    // Its unflushed update is whole or absent, and the container still works.
    let left = trial.kv(1).get(b"left unflushed").unwrap();
    assert!(left.is_none_or(|value| value == b"perhaps"));
    trial.kv(1).put(&[6], b"after").unwrap();
    trial.flush();
    assert_eq!(kv(&trial.reopened(), 1).get(&[6]).unwrap().unwrap(), b"after");
}

pub(super) fn put_and_flush(me: &Participant) -> Vec<u64> {
    let key = [me.args[0] as u8];
    kv(&me.container, 1).put(&key, b"child").unwrap();
    me.container.flush().unwrap();
    kv(&me.container, 1).put(b"left unflushed", b"perhaps").unwrap();
    vec![me.args[0]]
}

pub(super) fn get_numbers(me: &Participant) -> Vec<u64> {
    let key = [me.args[0] as u8];
    vec![kv(&me.container, 1).size(&key).unwrap().unwrap()]
}

pub fn others_see_the_updates_of_a_handle_in_its_order(trial: &Trial<'_>) {
    if !trial.is_for(trial.capabilities().ordered_updates, "the engine does not order updates") {
        return;
    }
    assert_eq!(trial.race(&["put_in_order", "read_in_order"])[1], [STEPS]);
}

/// Writes the same number to two cells, one after the other, and flushes now and then.
pub(super) fn put_in_order(me: &Participant) -> Vec<u64> {
    for step in 1..=STEPS {
        kv(&me.container, 1).put(b"first", &step.to_le_bytes()).unwrap();
        array(&me.container, 1).write(0, &step.to_le_bytes()).unwrap();
        kv(&me.container, 2).put(b"second", &step.to_le_bytes()).unwrap();
        if step % 50 == 0 {
            me.container.flush().unwrap();
        }
    }
    Vec::new()
}

/// Reads them in the opposite order: what was written before is never older than what was written after.
pub(super) fn read_in_order(me: &Participant) -> Vec<u64> {
    let number = |bytes: Option<Vec<u8>>| bytes.map_or(0, |bytes| super::bytes::number(&bytes));
    let last = wait_for("the last step", || {
        let second = number(kv(&me.container, 2).get(b"second").unwrap());
        let middle = array(&me.container, 1).read(0, 8).unwrap();
        let middle = number((!middle.is_empty()).then_some(middle));
        let first = number(kv(&me.container, 1).get(b"first").unwrap());
        assert!(second <= middle && middle <= first, "{second} is seen, then {middle}, then {first}");
        (second == STEPS).then_some(second)
    });
    vec![last]
}
