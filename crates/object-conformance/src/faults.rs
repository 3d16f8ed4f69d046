//! Faults: damaged storage, a process that dies, and full storage.

use super::{
    bytes::noise,
    trial::{OwnContainer, Trial, array, array_id, kv},
};
use isotach_object::{Container, Error, Result};

/// Stores, damages, and reads through a new engine: wrong bytes are never an answer.
fn damage_is_noticed(
    trial: &Trial<'_>,
    needle: &[u8],
    store: impl Fn(&OwnContainer),
    read: impl Fn(&dyn Container) -> Result<Vec<u8>>,
) {
    let Some(faults) = trial.faults(|set| set.corruption) else { return };
    trial.kv(9).put(b"neighbour", b"fine").unwrap();
    store(trial);
    trial.flush();
    assert!(faults.corrupt_stored(&trial.uri, needle), "the stored bytes are found");
    let read = trial.try_reopened().and_then(|container| read(&*container));
    match read {
        Err(Error::Corrupt { .. }) => {}
        Err(error) => panic!("expected corrupt, but got {error}"),
        Ok(bytes) => panic!("expected corrupt, but got {} bytes as if all were well", bytes.len()),
    }
}

fn value_of(container: &dyn Container) -> Result<Vec<u8>> {
    let cell = isotach_object::Cell::kv(super::trial::kv_id(1), b"k");
    container.get_many(&[cell]).map(|values| values.into_iter().flatten().flatten().collect())
}

pub fn a_flipped_bit_in_a_small_value_is_corrupt(trial: &Trial<'_>) {
    let value = noise(1, 100);
    damage_is_noticed(trial, &value, |place| place.kv(1).put(b"k", &value).unwrap(), value_of);
}

pub fn a_flipped_bit_in_a_large_value_is_corrupt(trial: &Trial<'_>) {
    let value = noise(2, 1 << 20);
    let needle = &value[500_000..500_100];
    damage_is_noticed(trial, needle, |place| place.kv(1).put(b"k", &value).unwrap(), value_of);
}

pub fn a_flipped_bit_in_an_array_is_corrupt(trial: &Trial<'_>) {
    let data = noise(3, 1 << 20);
    let read = |container: &dyn Container| {
        // A range that holds the damage, but not the whole extent.
        isotach_object::Array::new(container, array_id(1))?.read(400_000, 200_000)
    };
    damage_is_noticed(trial, &data[500_000..500_100], |place| place.array(1).write(0, &data).unwrap(), read);
}

pub fn a_flipped_bit_in_shared_bytes_is_corrupt(trial: &Trial<'_>) {
    if trial.place_with_lent_reads().is_none() {
        return;
    }
    let data = noise(4, 1 << 20);
    let read = |container: &dyn Container| {
        Ok(isotach_object::Array::new(container, array_id(1))?.lend(400_000, 200_000)?.to_vec())
    };
    damage_is_noticed(trial, &data[500_000..500_100], |place| place.array(1).write(0, &data).unwrap(), read);
}

pub fn damage_to_one_array_leaves_the_others_readable(trial: &Trial<'_>) {
    let Some(faults) = trial.faults(|set| set.corruption) else { return };
    let (one, two) = (noise(5, 300_000), noise(6, 300_000));
    trial.array(1).write(0, &one).unwrap();
    trial.array(2).write(0, &two).unwrap();
    trial.flush();
    assert!(faults.corrupt_stored(&trial.uri, &one[100_000..100_100]));
    let container = trial.reopened();
    let damaged = array(&container, 1).read(0, usize::MAX);
    assert!(matches!(damaged, Err(Error::Corrupt { .. })), "{:?}", damaged.map(|bytes| bytes.len()));
    assert!(array(&container, 2).read(0, usize::MAX).unwrap() == two);
}

pub fn after_a_crash_a_prefix_with_all_flushed_updates_remains(trial: &Trial<'_>) {
    const FLUSHED: u64 = 20;
    let Some(faults) = trial.faults(|set| set.crash) else { return };
    let dying = trial.another();
    for step in 0..40_u64 {
        if step == FLUSHED {
            dying.flush().unwrap();
        }
        kv(&dying, 1).put(&key(step), &noise(step, 50)).unwrap();
        array(&dying, step).write(0, &noise(step, 9000)).unwrap();
    }
    faults.crash(dying);
    let container = trial.reopened();
    let there = |step: &u64| kv(&container, 1).get(&key(*step)).unwrap() == Some(noise(*step, 50));
    let prefix = (0..40).take_while(there).count() as u64;
    assert!(prefix >= FLUSHED, "only {prefix} are left");
    for step in 0..40 {
        assert_eq!(there(&step), step < prefix, "step {step} where {prefix} came through");
        let bytes = array(&container, step).read(0, usize::MAX).unwrap();
        assert!(bytes == noise(step, 9000) || (bytes.is_empty() && step + 1 >= prefix), "array {step}");
    }
    kv(&container, 1).put(b"after", b"x").unwrap();
    container.flush().unwrap();
    assert!(kv(&trial.reopened(), 1).get(b"after").unwrap().is_some());
}

fn key(step: u64) -> Vec<u8> {
    format!("{step:08}").into_bytes()
}

pub fn a_full_storage_is_no_space_and_loses_nothing(trial: &Trial<'_>) {
    let Some(faults) = trial.faults(|set| set.out_of_space) else { return };
    let (before, during) = (noise(7, 200_000), noise(8, 4 << 20));
    trial.array(1).write(0, &before).unwrap();
    trial.kv(1).put(b"before", b"x").unwrap();
    trial.flush();
    faults.fill_up(&trial.uri);
    let writer = trial.another();
    let result = array(&writer, 2).write(0, &during).and_then(|()| writer.flush());
    assert!(matches!(result, Err(Error::NoSpace { .. })), "{result:?}");
    drop(writer);
    assert!(trial.array(1).read(0, usize::MAX).unwrap() == before, "what is visible stays visible");
    faults.make_room(&trial.uri);
    let container = trial.reopened();
    assert!(array(&container, 1).read(0, usize::MAX).unwrap() == before);
    assert_eq!(kv(&container, 1).get(b"before").unwrap().unwrap(), b"x");
    let left = array(&container, 2).read(0, usize::MAX).unwrap();
    assert!(left.is_empty() || left == during, "the failed write is whole or absent");
    array(&container, 3).write(0, &during).unwrap();
    container.flush().unwrap();
    assert!(array(&trial.reopened(), 3).read(0, usize::MAX).unwrap() == during);
}
