//! Work that must not be quadratic, and batches larger than a frame.
//!
//! Work is the processor time of this thread, the minimum of some tries, and is only compared with itself: four times as much of everything
//! may cost ten times as much. Quadratic work would cost sixteen times as much.

use std::{cmp::min, time::Duration};

use isotach_needs::{Need, number, skip};
use isotach_object::{Anchor, Array, Cell, Container, ObjectType, Update};
use rustix::time::{ClockId, clock_gettime};

use crate::{Store, entries, key, object};

const TRIES: usize = 4;
const FACTOR_MAX: u32 = 10;

/// Processor time of this thread.
fn worked() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// The minimum cost of some work, of so many tries.
fn least(tries: usize, work: impl Fn()) -> Duration {
    let one = || {
        let before = worked();
        work();
        worked() - before
    };
    (0..tries).map(|_| one()).fold(Duration::MAX, min)
}

/// The minimum cost of `look` on a new handle.
fn cost(store: &Store, look: impl Fn(&dyn Container)) -> Duration {
    (0..TRIES).map(|_| store.open()).map(|container| least(1, || look(&*container))).fold(Duration::MAX, min)
}

fn assert_no_square(few: Duration, many: Duration) {
    assert!(many < few * FACTOR_MAX, "{few:?}, and {many:?} for four times as much");
}

#[test]
fn an_array_of_many_parts_is_replayed_in_proportion() {
    let made = |parts: u64| {
        // Without checkpoints, so that everything is replayed from the log.
        let store = Store::new("?checkpoint=1099511627776");
        let container = store.open();
        let cell = Cell::array(object(ObjectType::Array));
        // From the end, each before all others.
        let write = |part: u64| Update::Write { cell, offset: 3 * part, data: b"x" };
        container.update(&(0..parts).rev().map(write).collect::<Vec<_>>()).unwrap();
        container.flush().unwrap();
        let size = move |container: &dyn Container| {
            assert_eq!(container.size_many(&[cell]).unwrap(), [Some(3 * parts - 2)]);
        };
        cost(&store, size)
    };
    assert_no_square(made(5_000), made(20_000));
}

#[test]
fn reading_a_range_costs_what_lies_in_it() {
    const READS: u64 = 50;
    // From the log, and from runs.
    for query in ["?checkpoint=1099511627776", "?checkpoint=4096"] {
        let made = |parts: u64| {
            let store = Store::new(query);
            let container = store.open();
            let cell = Cell::array(object(ObjectType::Array));
            let write = |part: u64| Update::Write { cell, offset: 3 * part, data: b"x" };
            container.update(&(0..parts).map(write).collect::<Vec<_>>()).unwrap();
            container.flush().unwrap();
            let read = |at: u64| {
                let mut buffer = [7; 7];
                let array = Array::new(&*container, cell.object).unwrap();
                array.read_into(at, &mut buffer).unwrap();
                assert_eq!(buffer, *b"x\0\0x\0\0x", "at {at} of {parts} parts");
            };
            read(0);
            least(4 * TRIES, || (0..READS).for_each(|number| read(number * 7919 % (parts - 2) * 3)))
        };
        let (few, many) = (made(1_000), made(32_000));
        assert!(many < few * FACTOR_MAX, "{query}: {few:?}, and {many:?} for 32 times the parts");
    }
}

#[test]
fn removing_and_listing_distribution_keys_costs_in_proportion() {
    let made = |count: u64| {
        let store = Store::new("?checkpoint=1099511627776");
        let container = store.open();
        let object = object(ObjectType::General);
        let keys: Vec<_> = (0..=count).map(key).collect();
        for dkey in &keys {
            let cell = Cell::general(object, dkey, b"a");
            container.update(&[Update::Put { cell, value: b"v" }]).unwrap();
        }
        for dkey in &keys[..count as usize] {
            container.update(&[Update::RemoveDkey { object, dkey }]).unwrap();
        }
        container.flush().unwrap();
        cost(&store, |container| {
            let page = container.list_dkeys(object, &Anchor::start(), 10).unwrap();
            assert_eq!(page.keys().collect::<Vec<_>>(), [&*keys[count as usize]]);
            assert_eq!(container.list_objects(&Anchor::start(), 10).unwrap().0, [object]);
        })
    };
    assert_no_square(made(2_000), made(8_000));
}

#[test]
fn a_batch_larger_than_the_largest_frame_is_accepted() {
    const PUTS: u64 = 70_000;
    if number("ISOTACH_SEQUENCES").is_none_or(|sequences| sequences < 10_000) {
        return skip(Need::ManySequences, "ISOTACH_SEQUENCES is below 10000");
    }
    let store = Store::new("?checkpoint=67108864&sync=no");
    let container = store.open();
    let (keys, value): (Vec<_>, _) = ((0..PUTS).map(key).collect(), vec![7; 16 * 1024]);
    let kv = object(ObjectType::KeyValue);
    let put = |key| Update::Put { cell: Cell::kv(kv, key), value: &value };
    container.update(&keys.iter().map(|key| put(key)).collect::<Vec<_>>()).unwrap();
    container.flush().unwrap();
    let reader = store.open();
    let cells: Vec<_> = keys.iter().map(|key| Cell::kv(kv, key)).collect();
    assert!(reader.size_many(&cells).unwrap().iter().all(|size| *size == Some(value.len() as u64)));
    assert_eq!(entries(&*reader).get(&keys[keys.len() - 1]).unwrap(), Some(value));
}
