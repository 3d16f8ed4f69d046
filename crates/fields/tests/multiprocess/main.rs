//! Concurrent writer and reader processes: undisturbed for some time, killed, stopped, with clocks that jump, on disks
//! that are full or read-only, with more datasets than they may open files, with a transaction for each step, and with
//! their history recorded.
//!
//! What must hold: every field that is read is whole and right; a reader that starts after a flush finds every flushed
//! field; processes that create a dataset at the same time create one; and at the end all of them list the same fields.
//! Processes report their flushes to the test through a pipe, never through the store.
//!
//! If `ISOTACH_RADOS_POOL` names a pool of a Ceph cluster, some tests also run there.
//!
//! `ISOTACH_MULTIPROCESS_SECONDS` sets the time, `ISOTACH_MULTIPROCESS_PROCESSES` the number of writers and of readers;
//! `ISOTACH_KILLS` and `ISOTACH_STOPS` how often processes are killed and stopped; `ISOTACH_HISTORY_SECONDS` the time
//! for histories.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod ceph;
mod clocks;
mod disks;
mod field;
mod history;
mod kills;
mod launcher;
mod limits;
mod purges;
mod roles;
mod steps;
mod stops;
mod wipes;

use std::{
    env,
    time::{Duration, Instant},
};

use field::Step;
use isotach_engine_kit::random::Seeded;
use launcher::{Child, Said};

/// The environment variable that makes this program run a role instead of tests.
const ROLE: &str = "ISOTACH_MULTIPROCESS_ROLE";
/// The span of a writer that stays in one dataset.
const ONE: u64 = u64::MAX;
/// The time of undisturbed processes.
const SECONDS: u64 = 20;

fn number(name: &str, default: u64) -> u64 {
    isotach_needs::number(name).unwrap_or(default)
}

/// Random numbers, and their seed printed, so that a failure can be repeated.
fn seeded() -> Seeded {
    let seed = isotach_needs::seed();
    println!("ISOTACH_SEED={seed}");
    Seeded(seed)
}

/// Not a test: the entry point of the processes that the tests start.
#[test]
fn child_process() {
    if let Ok(role) = env::var(ROLE) {
        roles::play(&role);
    }
}

#[test]
fn concurrent_writers_and_readers_see_whole_fields_and_the_same_history() {
    let folder = tempfile::tempdir().unwrap();
    // Small intervals, so that checkpoints are made and merged all the while.
    let uri = format!("posix:{}/store?checkpoint=262144", folder.path().display());
    let size = number("ISOTACH_MULTIPROCESS_PROCESSES", 16);
    run_processes(&uri, number("ISOTACH_MULTIPROCESS_SECONDS", SECONDS), size);
}

/// Runs so many writers, and as many readers, in a new store for some seconds.
fn run_processes(place: &str, seconds: u64, size: u64) {
    roles::create(place);
    let end = Instant::now() + Duration::from_secs(seconds);

    let mut writers = Child::start_all(0..size, |writer| format!("writer {writer} 0 {ONE} {place}"));
    let mut readers = Child::start_all(0..size, |reader| format!("reader {reader} {size} {ONE} {place}"));
    let mut checked = 0u64;
    while Instant::now() < end {
        // A reader that starts now must find everything that a writer has flushed by now.
        let writer = checked % size;
        let Some(step) = writers[writer as usize].last_flushed() else { continue };
        Child::start(&format!("check {writer} {step} {ONE} {place}")).expect(&Said::Done);
        checked += 1;
    }
    let (flushes, reads) = (Child::stop(&mut writers), Child::stop(&mut readers));
    let fresh = Child::same_digest(readers.iter_mut().chain(&mut writers), place);
    assert_eq!(roles::containers(place), 2, "the root and the dataset");
    let fields = Step::FIELDS;
    println!("{flushes} flushes of {fields} fields, {reads} fields read, {checked} late readers, {fresh}");
    assert!(flushes >= size && reads > 0 && checked > 0);
}
