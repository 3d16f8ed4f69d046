//! Several threads and several handles at once.

use std::thread;

use isotach_fields::ListOptions;

use crate::layouts::{Layout, bytes_of, everywhere, field, listed, named, request, request_like, with};

#[test]
fn threads_that_share_a_handle_lose_nothing() {
    for (layout, store) in everywhere(Layout::store) {
        thread::scope(|scope| {
            for thread in 0..4 {
                let store = &store;
                scope.spawn(move || {
                    for step in 0..50 {
                        let key = with(&field(&step.to_string(), "t"), &format!("number={thread}"));
                        store.archive(&key, format!("{thread} {step}").as_bytes()).unwrap();
                        if step % 7 == thread {
                            store.flush().unwrap();
                        }
                    }
                    store.flush().unwrap();
                });
            }
        });
        assert!(!store.is_dirty());
        let request = request_like(&field("0", "t"), "number=0/1/2/3,step=0/to/49/by/1");
        assert_eq!(bytes_of(&layout.store(), &request).len(), 200);
    }
}

#[test]
fn handles_that_make_the_same_dataset_at_once_share_it() {
    for layout in named(Layout::all()) {
        let stores: Vec<_> = (0..16).map(|_| layout.store()).collect();
        thread::scope(|scope| {
            for (at, store) in stores.iter().enumerate() {
                scope.spawn(move || {
                    store.archive(&with(&field("0", "t"), &format!("number={at}")), b"x").unwrap();
                    store.flush().unwrap();
                });
            }
        });
        let store = layout.store();
        assert_eq!(store.status(&request("")).unwrap().len(), 1);
        assert_eq!(listed(&store, "").len(), 16);
        for pool in [&store.spaces()[0].catalogue, &store.spaces()[0].store] {
            let left = layout.registry.open_pool(pool).unwrap().list_containers().unwrap();
            let others = left.iter().filter(|label| label.as_str() != "root");
            assert_eq!(others.count(), 1, "{left:?}");
        }
    }
}

#[test]
fn readers_beside_a_writer_see_whole_fields_and_never_an_older_one_again() {
    for layout in named([Layout::memory(), Layout::posix()]) {
        let (writer, reader) = (layout.store(), layout.store());
        let value = |round: u32| round.to_le_bytes().repeat(1000);
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=60 {
                    writer.archive(&field("0", "t"), &value(round)).unwrap();
                    writer.flush().unwrap();
                }
            });
            let mut last = 0;
            while last < 60 {
                let Some(bytes) = reader.retrieve_one(&field("0", "t")).unwrap() else { continue };
                let round = u32::from_le_bytes(*bytes.first_chunk().unwrap());
                assert_eq!(bytes, value(round));
                assert!(round >= last, "{round} after {last}");
                last = round;
            }
        });
        let all = reader.list(&request(""), ListOptions { duplicates: true }).unwrap();
        assert_eq!(all.count(), 60);
    }
}

#[test]
fn wiping_and_writing_at_once_leaves_whole_fields_or_none() {
    for (layout, [writer, wiper]) in everywhere(Layout::two_handles) {
        thread::scope(|scope| {
            let writing = scope.spawn(|| {
                for step in 0..60 {
                    writer.archive(&field(&step.to_string(), "t"), b"whole").unwrap();
                    // Being told of the wipe is right; so is not having noticed it.
                    match writer.flush() {
                        Ok(()) => {}
                        Err(error) => assert_eq!(error.code(), "wiped", "{error}"),
                    }
                }
            });
            while !writing.is_finished() {
                wiper.wipe(&request("class=od"), true).unwrap();
                // A dataset that goes while it is listed is no error.
                listed(&wiper, "");
                wiper.inspect(&request_like(&field("0", "t"), "step=0/to/59/by/1")).unwrap().for_each(
                    |found| {
                        found.unwrap();
                    },
                );
            }
        });
        let reader = layout.store();
        for listed in reader.list(&request(""), ListOptions::default()).unwrap() {
            assert_eq!(reader.read(listed.unwrap().location()).unwrap(), b"whole");
        }
        writer.archive(&field("99", "t"), b"after").unwrap();
        writer.flush().unwrap();
        assert_eq!(reader.retrieve_one(&field("99", "t")).unwrap().unwrap(), b"after");
    }
}
