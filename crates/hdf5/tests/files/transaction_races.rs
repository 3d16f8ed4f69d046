//! Numbered transactions of two processes that meet at one step, and failures in the middle of a step.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use isotach_engine_kit::hooks::Hooks;
use isotach_hdf5::{Access, Creation, Error, File, Run, TransactionStatus};
use isotach_object::{Container, Epoch, Error as ObjectError, Result, Transaction};

use crate::{
    common::{at, data, dataset, group, hard, linked, read_all, whole},
    isolation::Shared,
};

const LONG: Duration = Duration::from_secs(60);

type Act = Box<dyn FnOnce() + Send>;

/// What another process does before the next commit of this one.
#[derive(Clone, Default)]
struct Meanwhile(Arc<Mutex<Option<Act>>>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Meanwhile")
    }
}

impl Meanwhile {
    fn set(&self, act: impl FnOnce() + Send + 'static) {
        *self.0.lock().unwrap() = Some(Box::new(act));
    }

    fn has_run(&self) -> bool {
        self.0.lock().unwrap().is_none()
    }
}

impl Hooks for Meanwhile {
    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        let act = self.0.lock().unwrap().take();
        if let Some(act) = act {
            act();
        }
        inner.commit(transaction)
    }
}

/// A file with a dataset `set` of 4000 elements in chunks of 1000, all 1.
fn with_dataset(shared: &Shared) -> Arc<File> {
    let file = shared.create();
    let set = dataset(&file, "set", data(&[4000], &[1000], 8));
    set.write(&whole(&set), &[1; 32_000]).unwrap();
    file.commit().unwrap();
    file
}

fn write(file: &Arc<File>, first: u64, count: u64, byte: u8) {
    at(file, "set").write(&[Run { first, count }], &vec![byte; count as usize * 8]).unwrap();
}

fn invalid(outcome: isotach_hdf5::Result<()>, text: &str) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }) && error.to_string().contains(text), "{error}");
}

#[test]
fn a_number_that_is_aborted_during_its_start_is_not_started() {
    let (shared, meanwhile) = (Shared::new(), Meanwhile::default());
    let other = with_dataset(&shared);
    let file = shared.open_with(1, meanwhile.clone());
    // Number 2 is not due, so that the counter stays as it was.
    meanwhile.set(move || other.abort_transaction(2).unwrap());
    invalid(file.start_transaction(2, 0, 1), "aborted");
    assert!(meanwhile.has_run());
    assert_eq!(file.started_transaction(), None);
}

#[test]
fn a_number_is_not_skipped_in_a_file_that_is_created_anew_meanwhile() {
    let (shared, meanwhile) = (Shared::new(), Meanwhile::default());
    drop(with_dataset(&shared));
    let file = shared.open_with(1, meanwhile.clone());
    let site = shared.site(2);
    let truncate = move || {
        let new = site.create("/x/a.h5", Creation::Truncate, &group(), b"").unwrap();
        new.commit().unwrap();
    };
    // The first commit is that of the abort, and the second one skips the number.
    let second = meanwhile.clone();
    meanwhile.set(move || second.set(truncate));
    file.abort_transaction(1).unwrap();
    assert!(meanwhile.has_run());
    let new = shared.open(3);
    assert_eq!(new.transaction_status(1).unwrap(), TransactionStatus::NotStarted);
    new.start_transaction(1, 0, 1).unwrap();
    new.finish_transaction().unwrap();
    assert_eq!(new.newest_transaction_version().unwrap(), 1);
}

#[test]
fn a_process_that_was_taken_for_dead_gives_up_its_part_and_nothing_else() {
    let shared = Shared::new();
    drop(with_dataset(&shared));
    let (late, quick, last) = (shared.open(1), shared.open(2), shared.open(3));
    for file in [&late, &quick] {
        file.start_transaction(1, 0, 2).unwrap();
    }
    write(&late, 0, 4000, 8);
    linked(&late, "of the late one", group());
    write(&quick, 0, 4000, 9);
    quick.finish_transaction().unwrap();
    invalid(late.finish_transaction(), "another process has finished as participant 0");
    assert_eq!((late.started_transaction(), late.has_changes()), (None, false));
    let open = TransactionStatus::Open { participants: 2, finished: vec![0] };
    assert_eq!(late.transaction_status(1).unwrap(), open, "it is not aborted");
    last.start_transaction(1, 1, 2).unwrap();
    last.finish_transaction().unwrap();
    let reader = shared.open(4);
    assert_eq!(read_all(&at(&reader, "set")), [9; 32_000]);
    assert!(reader.root().unwrap().link("of the late one").unwrap().is_none());
    // Also when the number is committed already.
    late.start_transaction(2, 0, 1).unwrap();
    quick.start_transaction(2, 0, 1).unwrap();
    quick.finish_transaction().unwrap();
    invalid(late.finish_transaction(), "which is committed");
    late.start_transaction(3, 0, 1).unwrap();
    late.finish_transaction().unwrap();
}

#[test]
fn a_transaction_of_a_file_that_was_created_anew_cannot_be_finished() {
    let shared = Shared::new();
    drop(with_dataset(&shared));
    let (one, two) = (shared.open(1), shared.open(2));
    one.start_transaction(1, 0, 1).unwrap();
    write(&one, 0, 10, 5);
    two.start_transaction(2, 0, 1).unwrap();
    two.finish_transaction().unwrap();
    shared.site(3).create("/x/a.h5", Creation::Truncate, &group(), b"").unwrap().commit().unwrap();
    invalid(one.finish_transaction(), "since the file was created anew");
    assert_eq!(one.started_transaction(), None);
    // What was finished in the old file holds nothing up.
    for file in [&one, &two] {
        file.refresh().unwrap();
    }
    two.start_transaction(1, 0, 1).unwrap();
    two.finish_transaction().unwrap();
    assert_eq!(one.transaction_status(1).unwrap(), TransactionStatus::Committed);
}

#[test]
fn a_process_whose_finished_transaction_is_aborted_starts_the_next_one() {
    let shared = Shared::new();
    let other = with_dataset(&shared);
    let file = shared.open(1);
    file.start_transaction(2, 0, 1).unwrap();
    write(&file, 0, 4000, 2);
    file.finish_transaction().unwrap();
    other.abort_transaction(2).unwrap();
    // Number 1 is open, so that 2 is not settled.
    file.start_transaction(3, 0, 1).unwrap();
    write(&file, 0, 10, 3);
    file.finish_transaction().unwrap();
    other.abort_transaction(1).unwrap();
    assert_eq!(other.wait_for_transaction(3, LONG).unwrap(), TransactionStatus::Committed);
    other.refresh().unwrap();
    assert_eq!(read_all(&at(&other, "set"))[..10 * 8 + 1], [[3; 80].as_slice(), &[1]].concat());
}

#[test]
fn what_one_participant_changes_and_another_removes_aborts_the_number() {
    // Whichever comes first, and whether elements, an attribute or a link to the object are written.
    let cases: [fn(&Arc<File>); 3] = [
        |file| write(file, 0, 4000, 7),
        |file| write(file, 0, 1, 7),
        |file| {
            let set = at(file, "set");
            file.root().unwrap().insert_link("second", hard(&set), isotach_hdf5::Charset::Ascii).unwrap();
        },
    ];
    for (case, change) in cases.into_iter().enumerate() {
        for changing in [0, 1] {
            let shared = Shared::new();
            drop(with_dataset(&shared));
            let files = [shared.open(1), shared.open(2)];
            for (participant, file) in files.iter().enumerate() {
                file.start_transaction(1, participant as u32, 2).unwrap();
                if participant == changing {
                    change(file);
                } else {
                    file.root().unwrap().remove_link("set").unwrap();
                }
                file.finish_transaction().unwrap();
            }
            match files[0].transaction_status(1).unwrap() {
                TransactionStatus::Aborted { reason } => assert!(reason.contains("removed"), "{reason}"),
                other => panic!("case {case}, changed by {changing}: {other:?}"),
            }
            let reader = shared.open(3);
            assert_eq!(read_all(&at(&reader, "set")), [1; 32_000]);
            drop(reader);
            drop(files);
            shared.site(4).sweep("/x/a.h5").unwrap();
            assert_eq!(read_all(&at(&shared.open(3), "set")), [1; 32_000]);
        }
    }
}

/// Fails the flush that comes after the next commit.
#[derive(Debug, Clone, Default)]
struct Unflushed(Arc<AtomicBool>, Arc<AtomicBool>);

impl Hooks for Unflushed {
    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.1.store(self.0.swap(false, Ordering::Relaxed), Ordering::Relaxed);
        inner.commit(transaction)
    }

    fn flush(&self, inner: &dyn Container) -> Result<()> {
        if self.1.swap(false, Ordering::Relaxed) {
            return Err(ObjectError::Io { what: "flush".to_owned(), source: "the disk is gone".into() });
        }
        inner.flush()
    }
}

#[test]
fn a_finish_that_may_be_lost_fails_and_can_only_be_aborted() {
    let (shared, fails) = (Shared::new(), Unflushed::default());
    drop(with_dataset(&shared));
    let file = shared.open_with(1, fails.clone());
    file.start_transaction(1, 0, 2).unwrap();
    write(&file, 0, 4000, 6);
    fails.0.store(true, Ordering::Relaxed);
    let error = file.finish_transaction().unwrap_err();
    assert!(error.to_string().contains("the disk is gone"), "{error}");
    assert_eq!(file.started_transaction(), Some(1));
    let again = file.finish_transaction().unwrap_err();
    assert!(matches!(again, Error::Object(ObjectError::Poisoned { .. })), "{again}");
    file.abort_transaction(1).unwrap();
    file.start_transaction(2, 0, 1).unwrap();
    write(&file, 0, 10, 7);
    file.finish_transaction().unwrap();
    let reader = shared.site(2).open("/x/a.h5", Access::ReadOnly).unwrap();
    assert_eq!(read_all(&at(&reader, "set"))[..10 * 8 + 1], [[7; 80].as_slice(), &[1]].concat());
}
