//! A process that dies at any step of a transaction leaves whole versions, and others go on.

use std::{
    env,
    process::{self, Command},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_engine_kit::hooks::{Hooked, Hooks, hook_engine};
use isotach_engine_posix::Posix;
use isotach_hdf5::{Access, File, Run, Site, TransactionStatus};
use isotach_object::{Container, Epoch, ObjectId, Registry, Result, Transaction, Update};

use crate::common::{at, beside, data, dataset, group, linked, read_all, whole};

const CHILD: &str = "ISOTACH_H5_TRANSACTION_CHILD";
const STEPS: &str = "ISOTACH_H5_TRANSACTION_STEPS";

/// Dies before a change of the store, the one that comes after so many others.
#[derive(Debug)]
struct Dying(Arc<AtomicU64>);

impl Dying {
    fn step(&self) {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 0 {
            // As a signal that cannot be caught: nothing is done any more.
            process::abort();
        }
    }
}

impl Hooks for Dying {
    fn update(&self, inner: &dyn Container, updates: &[Update<'_>]) -> Result<()> {
        self.step();
        inner.update(updates)
    }

    fn write_new(&self, inner: &dyn Container, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.step();
        inner.write_new(object, data)
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.step();
        inner.commit(transaction)
    }
}

/// Writes two versions, of which the first has two participants. Does nothing in a usual run.
#[test]
fn child_process() {
    let (Ok(name), Ok(steps)) = (env::var(CHILD), env::var(STEPS)) else { return };
    let left = Arc::new(AtomicU64::new(steps.parse().unwrap()));
    let engine = hook_engine(
        Arc::new(Posix),
        |_| Ok(()),
        move |container| Arc::new(Hooked::new(container, Dying(left.clone()))),
    );
    let site = Site::new(None, Registry::new().with(engine)).with_options("sync=no");
    let file = site.open(&name, Access::ReadWrite).unwrap();
    for participants in [2, 1] {
        let not_started =
            |number: &u64| file.transaction_status(*number).unwrap() == TransactionStatus::NotStarted;
        let number = (1..).find(not_started).unwrap();
        for participant in 0..participants {
            file.start_transaction(number, participant, participants).unwrap();
            let set = at(&file, "set");
            let (from, count) = (4000 / participants * participant, 4000 / participants);
            set.write(
                &[Run { first: from.into(), count: count.into() }],
                &vec![number as u8; count as usize * 8],
            )
            .unwrap();
            if participant == 0 {
                linked(&file, &format!("version {number}"), group());
            }
            file.finish_transaction().unwrap();
        }
    }
}

/// The version of a file, which must be whole.
fn version(file: &Arc<File>) -> u64 {
    let version = file.transaction_version().unwrap();
    let bytes = read_all(&at(file, "set"));
    assert!(bytes.iter().all(|byte| *byte == version as u8), "a mixture at version {version}");
    let links = file.root().unwrap().link_count().unwrap();
    let count = (1..=version)
        .filter(|number| file.transaction_status(*number).unwrap() == TransactionStatus::Committed);
    assert_eq!(links, 1 + count.count() as u64);
    version
}

#[test]
fn a_process_that_dies_at_any_step_of_a_transaction_leaves_whole_versions() {
    let place = beside();
    let file = place.create();
    let set = dataset(&file, "set", data(&[4000], &[1000], 8));
    set.write(&whole(&set), &[0; 32_000]).unwrap();
    file.commit().unwrap();
    drop((set, file));
    let (mut steps, mut died) = (0, true);
    while died {
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", "transaction_crashes::child_process"]);
        let done = child.env(CHILD, &place.name).env(STEPS, steps.to_string()).output().unwrap();
        died = !done.status.success();
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!told.contains("panicked"), "{told}");
        let file = place.open();
        // Who looks next commits what is due.
        let before = file.newest_transaction_version().unwrap();
        file.refresh().unwrap();
        assert_eq!(version(&file), before);
        // What was started stays open until somebody aborts it.
        for number in before + 1..=before + 9 {
            if matches!(file.transaction_status(number).unwrap(), TransactionStatus::Open { .. }) {
                file.abort_transaction(number).unwrap();
            }
        }
        file.refresh().unwrap();
        version(&file);
        drop(file);
        place.site.sweep(&place.name).unwrap();
        version(&place.open());
        steps += 1;
    }
    assert!(steps > 15, "{steps} steps");
}
