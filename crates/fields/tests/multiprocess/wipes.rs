//! Processes that wipe a collocation and purge. They are killed again and again beside writers of another collocation of the dataset,
//! and one that repairs.

use std::{sync::Arc, thread, time::Duration};

use isotach_engine_kit::hooks::{Hooked, Hooks, hook_engine};
use isotach_engine_posix::Posix;
use isotach_fields::{Config, Error, FieldStore, Repair, Repaired, VerifyOptions, VerifyReport};
use isotach_mars::Key;
use isotach_object::{Container, Epoch, Registry, Result, Transaction};

use crate::{
    ONE,
    field::Step,
    launcher::{Child, Said},
    number, roles, seeded,
};

const WRITERS: u64 = 3;
const WIPERS: u64 = 3;
/// The number of the writers that wipers are.
const FIRST: u64 = 20;

/// A field of the collocation that is wiped.
fn doomed(step: Step, param: u64) -> Key {
    step.key(param).to_string().replace("type=pf", "type=cf").parse().unwrap()
}

fn wipe_doomed(store: &FieldStore) -> isotach_fields::Result<()> {
    store.wipe(&"class=od,type=cf".parse().unwrap(), true).map(drop)
}

/// Says when a dataset's collocation is about to be removed, and waits to be killed.
#[derive(Debug)]
struct Stuck;

impl Hooks for Stuck {
    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        if inner.label().as_str() == "root" {
            return inner.commit(transaction);
        }
        roles::say(&Said::Flushed(0));
        loop {
            thread::park();
        }
    }
}

/// Begins a wipe, and is stuck in it when it is counted.
pub(crate) fn be_stuck(uri: &str) {
    let store = roles::open(uri);
    store.archive(&doomed(Step::nth(FIRST, 0, ONE), 0), b"doomed").unwrap();
    store.flush().unwrap();
    let wrap = |inner: Arc<dyn Container>| -> Arc<dyn Container> { Arc::new(Hooked::new(inner, Stuck)) };
    let engine = hook_engine(Arc::new(Posix), |_| Ok(()), wrap);
    let registry = Registry::new().with(engine);
    let stuck = FieldStore::open(&Config::single(&uri.parse().unwrap()), &registry).unwrap();
    wipe_doomed(&stuck).unwrap();
}

/// Repairs, and returns how many wipes that ended. Beside living wipers it may find axes without values: a flush whose
/// collocation is wiped puts them again after its fields. Whichever of the two is second leaves them.
fn end_wipes(store: &FieldStore, is_beside: bool) -> u64 {
    let report = verify(store).repair(true).unwrap();
    let has_changed = |repaired: &Repaired| {
        repaired.repair == Repair::Left
            && repaired.why.as_deref().is_some_and(|why| why.contains("it has changed"))
    };
    let is_expected =
        |repaired: &Repaired| is_beside && (repaired.repair == Repair::PutBack || has_changed(repaired));
    assert!(report.repaired.iter().all(is_expected), "{report:?}");
    report.ended_wipes.iter().map(|ended| u64::from(ended.wipes)).sum()
}

fn verify(store: &FieldStore) -> VerifyReport {
    store.verify(&"".parse().unwrap(), VerifyOptions::default(), &|_| ()).unwrap()
}

fn unended(report: &VerifyReport) -> u64 {
    report.parts.iter().map(|part| u64::from(part.unended_wipes)).sum()
}

/// Repairs again and again, and says how many wipes that ended.
pub(crate) fn repair(uri: &str) {
    roles::until_stopped(uri, 0, |store, ended| *ended += end_wipes(store, true));
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
        if let Err(error) = wipe_doomed(&store) {
            // A repair has ended it while it was running.
            assert!(error.code() == "conflict" && error.to_string().contains("wipe again"), "{error}");
        }
        if count % 4 == 3 {
            let answer = store.purge(&"class=od".parse().unwrap(), true).unwrap();
            // Another may be at it.
            assert!(answer.unusable.iter().all(|error| error.code() == "conflict"), "{answer:?}");
        }
        roles::say(&Said::Flushed(count));
    }
}

#[test]
fn writers_lose_nothing_beside_killed_wipers_and_repairs() {
    let (_folder, uri) = roles::new_store("checkpoint=16384");
    let mut random = seeded();
    let start_wiper = |wiper: u64| Child::start(&format!("wiper {wiper} {uri}"));
    let mut writers = Child::start_all(0..WRITERS, |writer| format!("writer {writer} 0 {ONE} {uri}"));
    let mut stuck = Child::start(&format!("stuck-wiper {uri}"));
    stuck.wait_flushed(0);
    stuck.kill();
    let store = roles::open(&uri);
    assert_eq!(unended(&verify(&store)), 1, "the killed wipe");
    let mut repairer = Child::start(&format!("repairer {uri}"));
    let mut wipers: Vec<Child> = (0..WIPERS).map(start_wiper).collect();
    let (mut killed, mut wiped) = (0, 0);
    for _ in 0..number("ISOTACH_KILLS", 20) {
        // Any moment, from that at which a process begins to be.
        thread::sleep(Duration::from_micros(random.below(200_000)));
        let at = random.below(WIPERS) as usize;
        wiped += wipers.remove(at).kill().map_or(0, |last| last + 1);
        wipers.insert(at, start_wiper(at as u64));
        killed += 1;
        writers.iter_mut().chain(&mut wipers).chain([&mut repairer]).for_each(Child::assert_lives);
    }
    for wiper in wipers {
        wiped += wiper.kill().map_or(0, |last| last + 1);
    }
    repairer.send("stop");
    let by_repairer = repairer.count();
    let mut flushes = 0;
    for (number, writer) in writers.iter_mut().enumerate() {
        writer.send("stop");
        let count = writer.count();
        (0..count).rev().take(Step::STEPS as usize).for_each(|count| {
            roles::check(&store, Step::nth(number as u64, count, ONE));
        });
        flushes += count;
    }
    Child::same_digest(writers.iter_mut(), &uri);
    let by_last = end_wipes(&store, false);
    let report = verify(&store);
    assert!(report.is_sound() && unended(&report) == 0, "{report:?}");
    println!(
        "{killed} wipers killed, {by_repairer} wipes ended beside the others and {by_last} at the end, {wiped} done; \
         {flushes} flushes beside them"
    );
    assert!(by_repairer + by_last > 0 && flushes >= WRITERS && wiped > 0);
}
