//! A transaction for each step: followers see all of a step or nothing of it.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use isotach_engine_kit::random::Seeded;

use crate::{
    ONE, SECONDS,
    field::Step,
    launcher::{Child, Said},
    number,
    roles::{self, say, until_stopped, versions},
};

/// Versions from here on are never committed.
const GIVEN_UP: u64 = 1 << 20;

#[test]
fn followers_see_all_fields_of_a_transaction_or_none() {
    // Short segments, so that transactions have some.
    let (_folder, uri) = roles::new_store("checkpoint=65536&segment=1024");
    let end = Instant::now() + Duration::from_secs(number("ISOTACH_MULTIPROCESS_SECONDS", SECONDS) / 6);

    let mut writers = Child::start_all(0..3, |writer| format!("stepper {writer} {uri}"));
    let mut followers = Child::start_all(0..3, |number| format!("follower {number} 3 {uri}"));
    let mut checked = 0u64;
    while Instant::now() < end {
        let writer = checked % 3;
        let Some(step) = writers[writer as usize].last_flushed() else { continue };
        Child::start(&format!("check {writer} {step} {ONE} {uri}")).expect(&Said::Done);
        checked += 1;
    }
    let (commits, reads) = (Child::stop(&mut writers), Child::stop(&mut followers));
    let fresh = Child::same_digest(followers.iter_mut().chain(&mut writers), &uri);
    println!("{commits} transactions, {reads} steps read, {checked} late readers, {fresh}");
    assert!(commits > 3 && reads > 0 && checked > 0);
}

/// Archives each step in a transaction. One in four is dropped and archived again in the next.
pub(crate) fn archive(uri: &str, writer: u64) {
    until_stopped(uri, 0, |store, count| {
        let step = Step::nth(writer, *count, ONE);
        let given_up = Step { version: step.version + GIVEN_UP, ..step };
        for step in [(*count % 4 == 0).then_some(given_up), Some(step)].into_iter().flatten() {
            let transaction = store.transaction();
            for param in 0..Step::FIELDS {
                transaction.archive(&step.key(param), &step.bytes(param)).unwrap();
            }
            if step.version < GIVEN_UP {
                transaction.commit().unwrap();
            }
        }
        say(&Said::Flushed(*count));
        *count += 1;
    });
}

/// Follows the steps of all writers: each is seen in one version, and no version is seen after a later one.
pub(crate) fn follow(uri: &str, follower: u64, writers: u64) {
    let mut random = Seeded(follower + 1);
    let mut newest = HashMap::new();
    until_stopped(uri, 0, |store, seen| {
        let (writer, step) = (random.below(writers), random.below(Step::STEPS));
        let step = Step { writer, dataset: 0, step, version: 0 };
        let found = versions(store, &step);
        let Some(version) = found.first() else { return };
        assert_eq!(found, vec![*version; Step::FIELDS as usize], "{step:?}");
        assert!(*version < GIVEN_UP, "{step:?} was given up");
        let before = newest.insert((step.writer, step.step), *version);
        assert!(before <= Some(*version), "{step:?} goes back");
        *seen += 1;
    });
}
