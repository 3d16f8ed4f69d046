//! Purges beside processes that replace every field again and again, and others that read all the time.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use isotach_fields::{FieldStore, ListOptions};

use crate::{ONE, field::Step, launcher::Child, roles};

/// How often every field is replaced.
const ROUNDS: u64 = 10;
const FIRST: u64 = Step::LARGE;
const WRITERS: u64 = 3;

/// The disk usage as `du` prints it.
fn du(path: &Path) -> u64 {
    let metadata = fs::symlink_metadata(path).unwrap();
    match metadata.is_dir() {
        true => fs::read_dir(path).unwrap().map(|entry| du(&entry.unwrap().path())).sum(),
        false => metadata.blocks() * 512,
    }
}

fn purge(store: &FieldStore) -> u64 {
    let answer = store.purge(&"".parse().unwrap(), true).unwrap();
    assert!(answer.unusable.is_empty(), "{:?}", answer.unusable);
    answer.found.iter().map(|dataset| dataset.freed).sum()
}

#[test]
fn purges_under_load_free_replaced_fields_and_no_reader_notices() {
    let (folder, uri) = roles::new_store("checkpoint=65536");
    let end = FIRST + WRITERS;
    let mut writers = Child::start_all(FIRST..end, |writer| format!("writer {writer} 0 {ONE} {uri}"));
    let mut readers = Child::start_all(0..2, |reader| format!("large-reader {reader} {end} {ONE} {uri}"));
    let store = roles::open(&uri);
    for round in 1..=ROUNDS {
        writers.iter_mut().for_each(|writer| writer.wait_flushed(round * Step::STEPS));
        purge(&store);
        readers.iter_mut().for_each(Child::assert_lives);
    }
    let (flushes, reads) = (Child::stop(&mut writers), Child::stop(&mut readers));
    Child::same_digest(readers.iter_mut().chain(&mut writers), &uri);
    // The writers have exited, so nothing is held.
    let data = folder.path().join("store/containers");
    let before = du(&data);
    let freed = purge(&store);
    let listed = store.list(&"".parse().unwrap(), ListOptions { duplicates: true }).unwrap();
    let lengths: Vec<u64> = listed.map(|field| field.unwrap().location().length).collect();
    assert_eq!(lengths.len() as u64, WRITERS * Step::STEPS * Step::FIELDS, "nothing replaced is left");
    let (after, live) = (du(&data), lengths.iter().sum::<u64>());
    println!(
        "{flushes} flushes, {reads} reads: {live} bytes live, {before} before the last purge, {after} after, {freed} freed"
    );
    assert!(after <= live + live / 10, "{after} bytes for {live}");
    for writer in FIRST..end {
        let last = |step| Step { writer, dataset: 0, step, version: ROUNDS - 1 };
        (0..Step::STEPS).for_each(|step| roles::check(&store, last(step)));
    }
}
