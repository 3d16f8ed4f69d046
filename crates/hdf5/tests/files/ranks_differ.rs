//! Ranks that do different things: what each of them gets to know, and what stays.

use std::sync::{Arc, Barrier};

use isotach_hdf5::{Access, Attribute, Charset, Creation, Data, Error, File, Header, Ranks, Run, Space};

use crate::{
    common::{Place, at, data, dataset, filter, group, hard, linked, places, pool, read_all, whole},
    isolation::Shared,
    meeting::as_ranks,
};

fn create(place: &Place, ranks: Box<dyn Ranks>) -> Arc<File> {
    place.site.create_together(ranks, &place.name, Creation::Truncate, &group(), b"").unwrap()
}

/// The elements of a dataset of ranks that each have every third element.
fn own(rank: usize, count: u64) -> Vec<Run> {
    (0..count).filter(|at| *at as usize % 3 == rank).map(|first| Run { first, count: 1 }).collect()
}

#[test]
fn chunks_that_a_new_extent_makes_longer_keep_their_elements() {
    const ELEMENT: usize = 4096;
    for place in places() {
        for columns in [7, 8] {
            as_ranks(3, |rank, ranks| {
                let file = create(&place, ranks);
                let set = dataset(&file, "set", data(&[10, 6], &[4, 4], ELEMENT as u32));
                let runs = own(rank, 60);
                set.write(&runs, &vec![7; runs.len() * ELEMENT]).unwrap();
                file.exchange::<(), Error>(Ok(())).unwrap();
                set.set_extent(&[8, columns]).unwrap();
                file.commit().unwrap();
            });
            let there = read_all(&at(&place.open(), "set"));
            for (at, element) in there.chunks(ELEMENT).enumerate() {
                let expected = if at as u64 % columns < 6 { 7 } else { 0 };
                assert!(element.iter().all(|byte| *byte == expected), "element {at} of {columns} columns");
            }
        }
    }
}

#[test]
fn datasets_that_ranks_create_with_other_storage_are_refused() {
    let plain = || data(&[9000], &[1000], 8);
    let others = [
        Header::dataset(b"another".to_vec(), plain()),
        Header::dataset(b"type".to_vec(), data(&[9000], &[500], 8)),
        Header::dataset(b"type".to_vec(), data(&[9000], &[1000], 4)),
        Header::dataset(b"type".to_vec(), Data { fill: Some(vec![1; 8]), ..plain() }),
        Header::dataset(b"type".to_vec(), Data { filters: vec![filter(1, &[1])], ..plain() }),
        Header { tracks_attribute_order: true, ..Header::dataset(b"type".to_vec(), plain()) },
    ];
    for other in others {
        for is_written in [false, true] {
            let place = pool();
            as_ranks(3, |rank, ranks| {
                let file = create(&place, ranks);
                let same = Header::dataset(b"type".to_vec(), plain());
                let set = linked(&file, "set", if rank == 2 { other.clone() } else { same });
                if is_written {
                    let element = set.header().unwrap().data.as_ref().unwrap().element;
                    let runs = own(rank, 3000);
                    set.write(&runs, &vec![1; runs.len() * element as usize]).unwrap();
                    let told = file.exchange::<(), Error>(Ok(())).unwrap_err().to_string();
                    assert!(told.contains("rank 0") && told.contains("rank 2"), "{told}");
                }
                let told = file.commit().unwrap_err().to_string();
                assert!(told.contains("rank 2") && told.contains("its type"), "{told}");
            });
            assert!(place.open().root().unwrap().link("set").unwrap().is_none());
        }
    }
    let place = pool();
    as_ranks(3, |rank, ranks| {
        let file = create(&place, ranks);
        let (time, comment) = (Some(rank as i64), Some(format!("of rank {rank}")));
        let set = Header::dataset(b"type".to_vec(), plain());
        linked(
            &file,
            "set",
            Header { created: time, modified: time, comment, creation: vec![rank as u8], ..set },
        );
        file.commit().unwrap();
    });
    assert_eq!(at(&place.open(), "set").header().unwrap().comment.as_deref(), Some("of rank 0"));
}

#[test]
fn what_a_rank_gives_up_after_the_others_know_it_stays_for_them() {
    let place = pool();
    as_ranks(3, |rank, ranks| {
        let file = create(&place, ranks);
        let set = dataset(&file, "set", data(&[9000], &[1000], 8));
        let mine = Run { first: rank as u64 * 3000, count: 3000 };
        set.write(&[mine], &[rank as u8 + 1; 24_000]).unwrap();
        file.exchange::<(), Error>(Ok(())).unwrap();
        if rank == 2 {
            file.discard().unwrap();
        }
        file.agree::<(), Error>(Ok(())).unwrap();
        let there = read_all_of_first(&file, rank);
        assert!(there.is_none_or(|there| there[48_000..].iter().all(|byte| *byte == 3)));
        file.agree::<(), Error>(Ok(())).unwrap();
    });
}

fn read_all_of_first(file: &Arc<File>, rank: usize) -> Option<Vec<u8>> {
    (rank == 0).then(|| read_all(&at(file, "set")))
}

fn attribute() -> Attribute {
    let (name, datatype, creation, value) = ("note".to_owned(), b"type".to_vec(), Vec::new(), vec![7]);
    Attribute { name, charset: Charset::Ascii, order: 0, datatype, space: Space::Scalar, creation, value }
}

#[test]
fn a_dataset_that_another_process_removes_costs_the_ranks_only_itself() {
    let shared = Shared::new();
    let other = shared.create();
    let set = dataset(&other, "set", data(&[9000], &[1000], 8));
    set.write(&whole(&set), &[7; 72_000]).unwrap();
    drop(set);
    other.commit().unwrap();
    let (site, barrier) = (shared.site(1), Barrier::new(3));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            barrier.wait();
            other.root().unwrap().remove_link("set").unwrap();
            linked(&other, "new", group());
            other.commit().unwrap();
            barrier.wait();
        });
        as_ranks(2, |rank, ranks| {
            let file = site.open_together(ranks, "/x/a.h5", Access::ReadWrite).unwrap();
            let set = at(&file, "set");
            set.put_attribute(attribute()).unwrap();
            set.write(&[Run { first: rank as u64 * 100, count: 100 }], &[1; 800]).unwrap();
            linked(&file, "ours", group());
            barrier.wait();
            barrier.wait();
            let told = file.commit().unwrap_err().to_string();
            assert!(told.contains("has removed object"), "{told}");
            file.commit().unwrap();
        });
    });
    other.refresh().unwrap();
    assert!(other.root().unwrap().link("ours").unwrap().is_some());
}

#[test]
fn an_extent_that_one_rank_cannot_set_fails_on_all_and_no_rank_waits() {
    for dims in [10_000_u64, 5000, 9000] {
        let place = pool();
        as_ranks(2, |rank, ranks| {
            let file = create(&place, ranks);
            let set = dataset(&file, "set", data(&[9000], &[1000], 8));
            let told =
                set.set_extent(if rank == 1 { &[1, 1] } else { std::slice::from_ref(&dims) }).unwrap_err();
            assert_eq!(matches!(told, Error::OtherRank { rank: 1, .. }), rank == 0, "{told}");
            set.set_extent(&[10]).unwrap();
            file.commit().unwrap();
        });
        assert_eq!(whole(&at(&place.open(), "set"))[0].count, 10);
    }
}

#[test]
fn a_rank_that_fails_in_another_call_breaks_off_for_all() {
    let place = pool();
    as_ranks(2, |rank, ranks| {
        let file = create(&place, ranks);
        let failed = || Err(Error::invalid("a selection", "another one"));
        let told =
            if rank == 0 { file.agree::<(), Error>(failed()) } else { file.exchange::<(), Error>(failed()) };
        let told = told.unwrap_err().to_string();
        assert!(told.contains("same collective calls"), "{told}");
        assert!(file.commit().is_err());
    });
}

#[test]
fn an_object_without_links_goes_once_no_rank_has_it_open() {
    for place in places() {
        as_ranks(3, |rank, ranks| {
            let file = create(&place, ranks);
            let parent = linked(&file, "group", group());
            let set =
                file.create_object(Header::dataset(b"type".to_vec(), data(&[9000], &[1000], 8))).unwrap();
            parent.insert_link("set", hard(&set), Charset::Ascii).unwrap();
            let loose = file.create_object(Header::new(isotach_hdf5::Kind::Group)).unwrap().number();
            set.write(&[Run { first: rank as u64 * 3000, count: 3000 }], &[1; 24_000]).unwrap();
            file.root().unwrap().remove_link("group").unwrap();
            let (parent_number, number) = (parent.number(), set.number());
            drop(parent);
            // Some ranks have it open, and others do not.
            let mut set = Some(set);
            if rank != 1 {
                set = None;
            }
            file.commit().unwrap();
            assert!(file.object(loose).is_err() && file.object(parent_number).is_err());
            assert!(file.object(number).is_ok(), "rank 1 has it open");
            file.agree::<(), Error>(Ok(())).unwrap();
            if let Some(set) = set {
                assert!(read_all(&set).iter().all(|byte| *byte == 1));
            }
            file.agree::<(), Error>(Ok(())).unwrap();
            file.commit().unwrap();
            assert!(file.object(number).is_err(), "no rank has it open");
        });
        let file = place.open();
        assert_eq!(file.root().unwrap().link_count().unwrap(), 0);
    }
}

#[test]
fn a_file_that_ranks_have_changed_is_not_swept() {
    let place = pool();
    as_ranks(2, |_, ranks| {
        let file = create(&place, ranks);
        linked(&file, "new", group());
        let told = place.site.sweep(&place.name).unwrap_err().to_string();
        assert!(told.contains("which this process has changed"), "{told}");
        file.agree::<(), Error>(Ok(())).unwrap();
        file.commit().unwrap();
    });
    assert_eq!(place.site.sweep(&place.name).unwrap(), 0);
}
