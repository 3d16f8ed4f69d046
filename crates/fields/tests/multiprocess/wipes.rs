//! Processes that wipe a collocation and purge. They are killed again and again beside writers of another collocation of the dataset.

use std::{thread, time::Duration};

use isotach_fields::{Error, VerifyOptions};
use isotach_mars::Key;

use crate::{
    ONE,
    field::Step,
    kills::Random,
    launcher::{Child, Said},
    number, roles,
};

const WRITERS: u64 = 3;
const WIPERS: u64 = 3;
/// The number of the writers that wipers are.
const FIRST: u64 = 20;

/// A field of the collocation that is wiped.
fn doomed(step: Step, param: u64) -> Key {
    step.key(param).to_string().replace("type=pf", "type=cf").parse().unwrap()
}

/// Archives fields and wipes their collocation, until it is killed. Every now and then it purges.
pub(crate) fn wipe(uri: &str, wiper: u64) {
    let store = roles::open(uri);
    for count in 0.. {
        let step = Step::nth(FIRST + wiper, count, ONE);
        for param in 0..Step::FIELDS {
            store.archive(&doomed(step, param), &step.bytes(param)).unwrap();
        }
        match store.flush() {
            // Another wiper was there.
            Ok(()) | Err(Error::Wiped { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        store.wipe(&"class=od,type=cf".parse().unwrap(), true).unwrap();
        if count % 4 == 3 {
            let answer = store.purge(&"class=od".parse().unwrap(), true).unwrap();
            // Another may be at it.
            assert!(answer.unusable.iter().all(|error| error.code() == "conflict"), "{answer:?}");
        }
        roles::say(&Said::Flushed(count));
    }
}

#[test]
fn writers_lose_nothing_when_wipers_beside_them_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("posix:{}/store?checkpoint=16384", folder.path().display());
    roles::create(&uri);
    let mut random = Random::of_now();
    let start_wiper = |wiper: u64| Child::start(&format!("wiper {wiper} {uri}"));
    let mut writers: Vec<Child> =
        (0..WRITERS).map(|writer| Child::start(&format!("writer {writer} 0 {ONE} {uri}"))).collect();
    let mut wipers: Vec<Child> = (0..WIPERS).map(start_wiper).collect();
    let (mut killed, mut wiped) = (0, 0);
    for _ in 0..number("ISOTACH_KILLS", 20) {
        // Any moment, from that at which a process begins to be.
        thread::sleep(Duration::from_micros(random.below(200_000)));
        let at = random.below(WIPERS) as usize;
        wiped += wipers.remove(at).kill().map_or(0, |last| last + 1);
        wipers.insert(at, start_wiper(at as u64));
        killed += 1;
        writers.iter_mut().chain(&mut wipers).for_each(Child::assert_lives);
    }
    for wiper in wipers {
        wiped += wiper.kill().map_or(0, |last| last + 1);
    }
    let store = roles::open(&uri);
    let mut flushes = 0;
    for (number, writer) in writers.iter_mut().enumerate() {
        writer.send("stop");
        let count = writer.count();
        (0..count).rev().take(Step::STEPS as usize).for_each(|count| {
            roles::check(&store, Step::nth(number as u64, count, ONE));
        });
        flushes += count;
        writer.digest();
    }
    let verify = || store.verify(&"".parse().unwrap(), VerifyOptions::default(), &|_| ()).unwrap();
    let report = verify().repair(true).unwrap();
    assert!(report.repaired.is_empty(), "{report:?}");
    let unended = report.ended_wipes.first().map_or(0, |ended| ended.wipes);
    let report = verify();
    assert!(report.is_sound() && report.parts.iter().all(|part| part.unended_wipes() == 0), "{report:?}");
    println!("{killed} wipers killed, {unended} wipes to end, {wiped} done; {flushes} flushes beside them");
    assert!(flushes >= WRITERS && wiped > 0);
}
