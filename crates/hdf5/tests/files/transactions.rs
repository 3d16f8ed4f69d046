//! Numbered transactions: several processes write one version together, and versions come in order.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use isotach_hdf5::{Access, Attribute, Charset, Data, Error, File, Object, Run, Space, TransactionStatus};
use isotach_object::Error as ObjectError;

use crate::{
    common::{at, data, dataset, filter, group, linked, places, plain, read_all, whole},
    isolation::{Shared, everywhere},
    sweep::store_without_commit,
};

const LONG: Duration = Duration::from_secs(60);

fn shared() -> impl Iterator<Item = Shared> {
    everywhere().into_iter().filter(Shared::has_versions)
}

/// A file with datasets `plain` and `packed` of 4000 elements in chunks of 1000, all 1.
fn two_datasets(shared: &Shared) -> Arc<File> {
    let file = shared.create();
    for (name, filters) in [("plain", vec![]), ("packed", vec![filter(1, &[1])])] {
        let set = dataset(&file, name, Data { filters, ..data(&[4000], &[1000], 8) });
        set.write(&whole(&set), &[1; 32_000]).unwrap();
    }
    file.commit().unwrap();
    file
}

fn write(set: &Object, first: u64, count: u64, byte: u8) {
    set.write(&[Run { first, count }], &vec![byte; count as usize * 8]).unwrap();
}

fn value(shared: &Shared, name: &str, element: usize) -> u8 {
    let file = shared.site(9).open("/x/a.h5", Access::ReadOnly).unwrap();
    read_all(&at(&file, name))[element * 8]
}

fn open(participants: u32, finished: &[u32]) -> TransactionStatus {
    TransactionStatus::Open { participants, finished: finished.to_vec() }
}

fn refused(outcome: isotach_hdf5::Result<()>, text: &str) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }) && error.to_string().contains(text), "{error}");
}

#[test]
fn transactions_are_committed_in_order_whichever_finishes_first() {
    for shared in shared() {
        drop(two_datasets(&shared));
        let (one, two) = (shared.open(1), shared.open(2));
        let reader = shared.site(3).open("/x/a.h5", Access::ReadOnly).unwrap();
        one.start_transaction(1, 0, 1).unwrap();
        two.start_transaction(2, 0, 1).unwrap();
        write(&at(&one, "plain"), 0, 4000, 11);
        write(&at(&two, "plain"), 0, 4000, 12);
        linked(&two, "of two", group());
        two.finish_transaction().unwrap();
        assert_eq!(two.transaction_status(2).unwrap(), open(1, &[0]));
        assert_eq!(two.wait_for_transaction(2, Duration::ZERO).unwrap(), open(1, &[0]));
        assert_eq!((value(&shared, "plain", 0), two.newest_transaction_version().unwrap()), (1, 0));
        assert!(two.root().unwrap().link("of two").unwrap().is_none(), "not even the process itself sees it");
        refused(two.start_transaction(3, 0, 1), "while 2 is not settled");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| two.wait_for_transaction(2, LONG).unwrap());
            one.finish_transaction().unwrap();
            assert_eq!(waiting.join().unwrap(), TransactionStatus::Committed);
        });
        assert_eq!(value(&shared, "plain", 3999), 12);
        assert_eq!((reader.transaction_version().unwrap(), read_all(&at(&reader, "plain"))[0]), (0, 1));
        reader.refresh().unwrap();
        assert_eq!((reader.transaction_version().unwrap(), read_all(&at(&reader, "plain"))[0]), (2, 12));
        assert_eq!(reader.transaction_status(1).unwrap(), TransactionStatus::Committed);
        assert_eq!(reader.transaction_status(3).unwrap(), TransactionStatus::NotStarted);
        two.refresh().unwrap();
        two.start_transaction(3, 0, 1).unwrap();
        write(&at(&two, "plain"), 0, 1, 13);
        two.finish_transaction().unwrap();
        assert_eq!((value(&shared, "plain", 0), value(&shared, "plain", 1)), (13, 12));
    }
}

#[test]
fn participants_and_later_numbers_write_parts_of_one_chunk() {
    for shared in shared() {
        let file = two_datasets(&shared);
        dataset(&file, "fresh", Data { fill: Some(vec![7; 8]), ..data(&[4000], &[1000], 8) });
        file.commit().unwrap();
        let processes = [1, 2, 3].map(|process| shared.open(process));
        // Two participants of number 1, and number 2, which finishes before them.
        for (process, (number, participant, count)) in processes.iter().zip([(1, 0, 2), (1, 1, 2), (2, 0, 1)])
        {
            process.start_transaction(number, participant, count).unwrap();
        }
        for (process, (file, byte)) in processes.iter().zip([21, 22, 23]).enumerate() {
            for name in ["plain", "packed", "fresh"] {
                write(&at(file, name), 300 * process as u64, 300, byte);
            }
        }
        for process in [2, 0, 1] {
            assert_eq!(value(&shared, "plain", 0), 1, "of number 1 all is seen, or nothing");
            processes[process].finish_transaction().unwrap();
        }
        assert_eq!(file.newest_transaction_version().unwrap(), 2);
        for (name, rest) in [("plain", 1), ("packed", 1), ("fresh", 7)] {
            let found = [0, 299, 300, 599, 600, 899, 900].map(|element| value(&shared, name, element));
            assert_eq!(found, [21, 21, 22, 22, 23, 23, rest], "{name}");
        }
    }
}

#[test]
fn participants_create_objects_of_their_own() {
    for shared in shared() {
        drop(two_datasets(&shared));
        let processes = [1, 2].map(|process| shared.open(process));
        for (participant, file) in processes.iter().enumerate() {
            file.start_transaction(1, participant as u32, 2).unwrap();
            let set = dataset(file, &format!("of {participant}"), data(&[4000], &[1000], 8));
            write(&set, 0, 2500, participant as u8 + 30);
            let value = vec![participant as u8; 50_000];
            set.put_attribute(Attribute {
                name: "large".to_owned(),
                charset: Charset::Ascii,
                order: 0,
                datatype: b"type".to_vec(),
                space: Space::Scalar,
                creation: Vec::new(),
                value,
            })
            .unwrap();
        }
        let blob = processes[0].put_blob(&[5; 400_000]).unwrap();
        processes.iter().for_each(|file| file.finish_transaction().unwrap());
        for participant in [0, 1] {
            let set = at(&processes[1], &format!("of {participant}"));
            assert_eq!(
                read_all(&set)[2499 * 8..2500 * 8 + 1],
                [[participant + 30; 8].as_slice(), &[0]].concat()
            );
            assert_eq!(set.attribute("large").unwrap().unwrap().value, [participant; 50_000]);
        }
        processes[0].refresh().unwrap();
        assert_eq!(processes[0].blob(&blob).unwrap(), [5; 400_000]);
        assert_eq!(shared.site(5).sweep("/x/a.h5").unwrap(), 0, "nothing is left of the parts");
    }
}

#[test]
fn an_aborted_transaction_is_skipped_and_its_changes_are_given_up() {
    for shared in shared() {
        drop(two_datasets(&shared));
        let (one, two, three) = (shared.open(1), shared.open(2), shared.open(3));
        one.start_transaction(1, 0, 1).unwrap();
        let set = dataset(&one, "gone", data(&[10], &[10], 8));
        write(&at(&one, "plain"), 0, 4000, 11);
        one.abort_transaction(1).unwrap();
        assert_eq!((read_all(&at(&one, "plain"))[0], one.started_transaction()), (1, None));
        assert!(set.header().is_err() && !one.has_changes());
        // A finished one, and one that its process has not ended, by another process.
        two.start_transaction(3, 0, 2).unwrap();
        write(&at(&two, "plain"), 0, 4000, 13);
        two.finish_transaction().unwrap();
        three.start_transaction(2, 0, 1).unwrap();
        write(&at(&three, "plain"), 0, 4000, 12);
        one.abort_transaction(3).unwrap();
        one.abort_transaction(2).unwrap();
        one.abort_transaction(2).unwrap();
        refused(three.finish_transaction(), "aborted");
        three.abort_transaction(2).unwrap();
        assert_eq!(read_all(&at(&three, "plain"))[0], 1);
        let aborted = TransactionStatus::Aborted { reason: "by a program".to_owned() };
        assert_eq!(
            [1, 2, 3].map(|number| two.transaction_status(number).unwrap()),
            [(); 3].map(|()| aborted.clone())
        );
        refused(two.start_transaction(3, 0, 2), "aborted");
        two.start_transaction(4, 0, 1).unwrap();
        write(&at(&two, "plain"), 0, 4000, 14);
        two.finish_transaction().unwrap();
        assert_eq!((value(&shared, "plain", 0), two.newest_transaction_version().unwrap()), (14, 4));
        refused(one.abort_transaction(4), "committed");
        shared.site(5).sweep("/x/a.h5").unwrap();
        assert_eq!(value(&shared, "packed", 0), 1);
    }
}

#[test]
fn a_transaction_that_the_one_below_has_left_no_place_for_is_aborted() {
    for shared in shared() {
        drop(two_datasets(&shared));
        let (one, two, three) = (shared.open(1), shared.open(2), shared.open(3));
        for (number, file) in [(1, &one), (2, &two), (3, &three)] {
            file.start_transaction(number, 0, 1).unwrap();
        }
        linked(&one, "same", group());
        one.root().unwrap().remove_link("packed").unwrap();
        linked(&two, "same", group());
        linked(&two, "other", group());
        write(&at(&three, "packed"), 0, 4000, 13);
        three.finish_transaction().unwrap();
        two.finish_transaction().unwrap();
        one.finish_transaction().unwrap();
        let reason = |number| match one.wait_for_transaction(number, LONG).unwrap() {
            TransactionStatus::Aborted { reason } => reason,
            other => panic!("{number} is {other:?}"),
        };
        assert!(reason(2).contains("\"same\" in group 1 was created before"), "{}", reason(2));
        assert!(reason(3).contains("was removed before"), "{}", reason(3));
        one.refresh().unwrap();
        assert!(
            one.root().unwrap().link("other").unwrap().is_none(),
            "of an aborted transaction nothing counts"
        );
        assert_eq!(one.newest_transaction_version().unwrap(), 1);
    }
}

#[test]
fn wrong_use_of_transactions_is_refused_and_changes_nothing() {
    for place in places().into_iter().filter(|place| place.name.ends_with("a.h5")) {
        let file = place.create();
        if !place.container().capabilities().transactions {
            continue;
        }
        file.commit().unwrap();
        refused(file.finish_transaction(), "one that was started");
        for (number, participant, participants) in [(0, 0, 1), (1, 1, 1), (1, 0, 0)] {
            let outcome = file.start_transaction(number, participant, participants);
            assert!(matches!(outcome, Err(Error::InvalidInput { .. })), "{outcome:?}");
        }
        linked(&file, "before", group());
        refused(file.start_transaction(1, 0, 1), "flush");
        file.commit().unwrap();
        file.start_transaction(1, 0, 2).unwrap();
        refused(file.start_transaction(2, 0, 1), "the end of transaction 1");
        linked(&file, "in one", group());
        refused(file.commit().map(drop), "while transaction 1 is started");
        assert!(file.create_snapshot("s").is_err());
        assert!(file.has_changes());
        file.finish_transaction().unwrap();
        refused(file.finish_transaction(), "one that was started");
        refused(file.start_transaction(1, 0, 2), "participant 0 has finished");
        refused(file.start_transaction(1, 1, 3), "the 2 that it was started with");
        file.start_transaction(1, 1, 2).unwrap();
        file.finish_transaction().unwrap();
        assert!(file.root().unwrap().link("in one").unwrap().is_some());
        refused(file.start_transaction(1, 0, 1), "a number from 2 on");
        refused(file.abort_transaction(0), "from 1 on");
        drop(file);
        let reader = place.site.open(&place.name, Access::ReadOnly).unwrap();
        for outcome in [reader.start_transaction(2, 0, 1), reader.abort_transaction(2)] {
            assert!(matches!(outcome, Err(Error::ReadOnly { .. })), "{outcome:?}");
        }
        assert_eq!(reader.transaction_version().unwrap(), 1);
    }
}

#[test]
fn a_participant_that_died_is_started_again() {
    for shared in shared() {
        drop(two_datasets(&shared));
        let dead = shared.open(1);
        dead.start_transaction(1, 0, 1).unwrap();
        write(&at(&dead, "plain"), 0, 4000, 50);
        std::mem::forget(dead);
        let again = shared.open(2);
        again.start_transaction(1, 0, 1).unwrap();
        write(&at(&again, "plain"), 0, 4000, 51);
        again.finish_transaction().unwrap();
        assert_eq!(value(&shared, "plain", 0), 51);
    }
}

#[test]
fn what_is_committed_outside_of_transactions_has_no_number_and_waits_for_none() {
    for shared in shared() {
        let file = two_datasets(&shared);
        let other = shared.open(1);
        other.start_transaction(1, 0, 1).unwrap();
        write(&at(&other, "plain"), 0, 500, 61);
        write(&at(&file, "plain"), 500, 500, 60);
        file.commit().unwrap();
        assert_eq!((value(&shared, "plain", 500), file.newest_transaction_version().unwrap()), (60, 0));
        other.finish_transaction().unwrap();
        assert_eq!([0, 500].map(|element| value(&shared, "plain", element)), [61, 60]);
    }
}

#[test]
fn a_sweep_takes_nothing_of_a_transaction_that_waits() {
    for shared in shared() {
        drop(two_datasets(&shared));
        let (one, two, dead) = (shared.open(1), shared.open(2), shared.open(3));
        one.start_transaction(1, 0, 1).unwrap();
        two.start_transaction(2, 0, 1).unwrap();
        write(&at(&two, "packed"), 0, 4000, 72);
        write(&at(&two, "plain"), 500, 1000, 72);
        two.put_blob(&[2; 400_000]).unwrap();
        two.finish_transaction().unwrap();
        // Data that is left, with a number above all of these.
        dead.put_blob(&[3; 400_000]).unwrap();
        store_without_commit(&dead, &shared.open(5));
        std::mem::forget(dead);
        assert_eq!(shared.site(4).sweep("/x/a.h5").unwrap(), 1);
        write(&at(&one, "plain"), 0, 1000, 71);
        let swept = one.finish_transaction();
        assert!(swept.is_ok(), "its numbers are above the fence: {swept:?}");
        assert_eq!([0, 499, 500, 1499, 1500].map(|at| value(&shared, "plain", at)), [71, 71, 72, 72, 1]);
        assert_eq!(value(&shared, "packed", 3999), 72);
    }
}

/// Writes one participant's part of a number, again if a sweep has taken what was not committed.
fn write_part(file: &Arc<File>, number: u8, participant: u32) {
    loop {
        file.start_transaction(number.into(), participant, 3).unwrap();
        let of = |name| [Run { first: 1333 * u64::from(participant), count: 1333 }].map(|run| (name, run));
        for (name, run) in [of("plain"), of("packed")].concat() {
            // What was swept cannot be changed.
            let _ = at(file, name).write(&[run], &[number; 1333 * 8]);
        }
        match file.finish_transaction() {
            Err(Error::Swept { .. } | Error::Corrupt { .. }) => file.leave_transaction().unwrap(),
            outcome => return outcome.unwrap(),
        }
    }
}

#[test]
fn sweeps_and_readers_beside_transactions_see_whole_versions() {
    for shared in shared() {
        drop(two_datasets(&shared));
        let (shared, done) = (&shared, &AtomicBool::new(false));
        thread::scope(|scope| {
            let writers: Vec<_> = (0..3_u32)
                .map(|participant| {
                    scope.spawn(move || {
                        let file = shared.open(participant as usize + 1);
                        for number in 1..=20_u8 {
                            write_part(&file, number, participant);
                            let status = file.wait_for_transaction(number.into(), LONG).unwrap();
                            assert_eq!(status, TransactionStatus::Committed);
                        }
                    })
                })
                .collect();
            scope.spawn(move || {
                let reader = shared.site(8).open("/x/a.h5", Access::ReadOnly).unwrap();
                while !done.load(Ordering::Relaxed) {
                    reader.refresh().unwrap();
                    let version = reader.transaction_version().unwrap() as u8;
                    for name in ["plain", "packed"] {
                        let bytes = read_all(&at(&reader, name));
                        let is_whole = bytes[..3999 * 8].iter().all(|byte| *byte == version.max(1));
                        assert!(is_whole, "{name} at {version}");
                    }
                    shared.site(7).sweep("/x/a.h5").unwrap();
                }
            });
            let ended: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            done.store(true, Ordering::Relaxed);
            ended.into_iter().for_each(|writer| writer.unwrap());
        });
        assert_eq!(value(shared, "plain", 3998), 20);
        shared.site(7).sweep("/x/a.h5").unwrap();
        assert_eq!(shared.site(7).sweep("/x/a.h5").unwrap(), 0);
    }
}

#[test]
fn a_file_is_opened_at_the_number_of_a_version() {
    for shared in shared() {
        let file = two_datasets(&shared);
        for number in 1..=4_u8 {
            file.start_transaction(number.into(), 0, 1).unwrap();
            write(&at(&file, "plain"), 0, 4000, number);
            file.finish_transaction().unwrap();
            if number == 2 {
                file.create_snapshot("second").unwrap();
            }
        }
        let at_version = |number| shared.site(0).at_version(number).open("/x/a.h5", Access::ReadOnly);
        for number in [2, 4] {
            let past = at_version(number).unwrap();
            assert_eq!(
                (past.transaction_version().unwrap(), read_all(&at(&past, "plain"))[0]),
                (number, number as u8)
            );
        }
        for number in [3, 5] {
            let error = at_version(number).unwrap_err();
            assert!(matches!(error, Error::NotFound { .. }), "{error}");
            assert!(error.to_string().contains(&format!("version {number} of file")), "{error}");
        }
        let newest = at_version(4).unwrap();
        file.start_transaction(5, 0, 1).unwrap();
        write(&at(&file, "plain"), 0, 4000, 5);
        file.finish_transaction().unwrap();
        assert_eq!(read_all(&at(&newest, "plain"))[0], 4, "it stays while it is open");
        let error = shared.site(0).at_version(5).open("/x/a.h5", Access::ReadWrite).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    }
}

#[test]
fn an_engine_without_transactions_refuses_numbered_ones() {
    let place = plain();
    let file = place.create();
    for outcome in [file.start_transaction(1, 0, 1), file.abort_transaction(1)] {
        assert!(matches!(outcome, Err(Error::Object(ObjectError::Unsupported { .. }))), "{outcome:?}");
    }
    assert_eq!(file.transaction_status(1).unwrap(), TransactionStatus::NotStarted);
}
