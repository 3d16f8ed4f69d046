//! A transaction for each step: followers see all of a step or nothing of it.

use std::{
    collections::HashMap,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use crate::{
    ONE,
    field::Step,
    launcher::{Child, Said},
    number,
    roles::{self, digest, open, say, stop_flag, versions, wait},
};

/// Versions from here on are never committed.
const GIVEN_UP: u64 = 1 << 20;

#[test]
fn followers_see_all_fields_of_a_transaction_or_none() {
    let folder = tempfile::tempdir().unwrap();
    // Short segments, so that transactions have some.
    let uri = format!("posix:{}/store?checkpoint=65536&segment=1024", folder.path().display());
    roles::create(&uri);
    let end = Instant::now() + Duration::from_secs(number("ISOTACH_MULTIPROCESS_SECONDS", 60) / 6);

    let start = |role: &str| Child::start(&format!("{role} {uri}"));
    let mut writers: Vec<Child> = (0..3).map(|writer| start(&format!("stepper {writer}"))).collect();
    let mut followers: Vec<Child> = (0..3).map(|number| start(&format!("follower {number} 3"))).collect();
    let mut checked = 0u64;
    while Instant::now() < end {
        let writer = checked % 3;
        let Some(step) = writers[writer as usize].last_flushed() else { continue };
        start(&format!("check {writer} {step} {ONE}")).expect(&Said::Done);
        checked += 1;
    }
    let stop = |children: &mut Vec<Child>| -> u64 {
        children.iter_mut().for_each(|child| child.send("stop"));
        children.iter_mut().map(Child::count).sum()
    };
    let (commits, reads) = (stop(&mut writers), stop(&mut followers));
    let digests: Vec<String> = followers.iter_mut().chain(&mut writers).map(Child::digest).collect();
    let fresh = start("digest").digest();
    assert!(digests.iter().all(|digest| *digest == fresh), "{fresh} in a fresh process, {digests:?}");
    println!("{commits} transactions, {reads} steps read, {checked} late readers, {fresh}");
    assert!(commits > 3 && reads > 0 && checked > 0);
}

/// Archives each step in a transaction. One in four is dropped and archived again in the next.
pub(crate) fn archive(uri: &str, writer: u64) {
    let store = open(uri);
    let stop = stop_flag();
    let mut count = 0;
    while !stop.load(Ordering::Relaxed) {
        let step = Step::nth(writer, count, ONE);
        let given_up = Step { version: step.version + GIVEN_UP, ..step };
        for step in [(count % 4 == 0).then_some(given_up), Some(step)].into_iter().flatten() {
            let transaction = store.transaction();
            for param in 0..Step::FIELDS {
                transaction.archive(&step.key(param), &step.bytes(param)).unwrap();
            }
            if step.version < GIVEN_UP {
                transaction.commit().unwrap();
            }
        }
        say(&Said::Flushed(count));
        count += 1;
    }
    say(&Said::Count(count));
    wait();
    digest(&store);
}

/// Follows the steps of all writers: each is seen in one version, and no version is seen after a later one.
pub(crate) fn follow(uri: &str, follower: u64, writers: u64) {
    let store = open(uri);
    let stop = stop_flag();
    let (mut seen, mut noise) = (0, follower + 1);
    let mut newest = HashMap::new();
    while !stop.load(Ordering::Relaxed) {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (writer, step) = ((noise >> 33) % writers, (noise >> 45) % Step::STEPS);
        let step = Step { writer, dataset: 0, step, version: 0 };
        let found = versions(&store, &step);
        let Some(version) = found.first() else { continue };
        assert_eq!(found, vec![*version; Step::FIELDS as usize], "{step:?}");
        assert!(*version < GIVEN_UP, "{step:?} was given up");
        let before = newest.insert((step.writer, step.step), *version);
        assert!(before <= Some(*version), "{step:?} goes back");
        seen += 1;
    }
    say(&Said::Count(seen));
    wait();
    digest(&store);
}
