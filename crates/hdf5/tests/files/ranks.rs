//! Ranks of a parallel program, as threads: they make one version together, or none.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use isotach_engine_kit::random::Seeded;
use isotach_hdf5::{Access, Attribute, By, Charset, Creation, Data, Error, File, Order, Ranks, Run, Space};

use crate::{
    common::{Place, at, beside, data, dataset, filter, group, linked, places, pool, read_all},
    isolation::Shared,
    meeting::{as_ranks, job},
};

fn create(place: &Place, ranks: Box<dyn Ranks>) -> Result<Arc<File>, Error> {
    place.site.create_together(ranks, &place.name, Creation::Truncate, &group(), b"properties")
}

fn open(place: &Place, ranks: Box<dyn Ranks>) -> Arc<File> {
    place.site.open_together(ranks, &place.name, Access::ReadWrite).unwrap()
}

/// Datasets of all kinds: large and small chunks, with filters, and one chunk for all.
fn kinds() -> Vec<(&'static str, Data)> {
    let packed = Data { filters: vec![filter(2, &[8]), filter(1, &[1])], ..data(&[9000], &[1000], 8) };
    vec![
        ("large", data(&[9000], &[1000], 8)),
        ("small", data(&[9000], &[100], 8)),
        ("one", data(&[9000], &[9000], 8)),
        ("packed", packed),
    ]
}

fn exchanged(file: &File) {
    file.exchange::<(), Error>(Ok(())).unwrap();
}

/// Writes every `size`th run of 7 elements, with bytes that tell their place.
fn write_in_turn(file: &Arc<File>, name: &str, rank: usize, size: usize, add: u8) {
    let runs: Vec<Run> = (0..9000 / 7 + 1)
        .filter(|run| run % size == rank)
        .map(|run| Run { first: run as u64 * 7, count: 7.min(9000 - run as u64 * 7) })
        .filter(|run| run.count > 0)
        .collect();
    let bytes: Vec<u8> = runs.iter().flat_map(|run| expected(run, add)).collect();
    at(file, name).write(&runs, &bytes).unwrap();
}

fn expected(run: &Run, add: u8) -> Vec<u8> {
    (run.first..run.first + run.count).flat_map(|at| (at + u64::from(add)).to_le_bytes()).collect()
}

fn all(add: u8) -> Vec<u8> {
    expected(&Run { first: 0, count: 9000 }, add)
}

#[test]
fn chunks_that_all_ranks_write_in_part_hold_all_parts() {
    for place in places() {
        as_ranks(4, |rank, ranks| {
            let file = create(&place, ranks).unwrap();
            kinds().into_iter().for_each(|(name, data)| drop(dataset(&file, name, data)));
            for add in 0..3 {
                for (name, _) in kinds() {
                    write_in_turn(&file, name, rank, 4, add);
                }
                exchanged(&file);
                for (name, _) in kinds() {
                    assert!(read_all(&at(&file, name)) == all(add), "{name} before the commit, {add}");
                }
                if add > 0 {
                    file.commit().unwrap();
                }
                for (name, _) in kinds() {
                    assert!(read_all(&at(&file, name)) == all(add), "{name} after the commit, {add}");
                }
            }
        });
        let file = place.open();
        for (name, _) in kinds() {
            assert!(read_all(&at(&file, name)) == all(2), "{name} for a process alone");
        }
    }
}

#[test]
fn ranks_that_write_at_random_match_a_model() {
    for seed in 0..6 {
        let place = if seed % 2 == 0 { pool() } else { beside() };
        let size = 2 + seed as usize % 3;
        as_ranks(size, |rank, ranks| {
            // All ranks draw the same numbers, and write what is theirs.
            let (mut random, mut model) = (Seeded(seed), [vec![0_u8; 72_000], vec![0; 72_000]]);
            let file = create(&place, ranks).unwrap();
            let sets = [kinds().swap_remove(0), kinds().swap_remove(3)];
            let sets: Vec<_> = sets.into_iter().map(|(name, data)| dataset(&file, name, data)).collect();
            for step in 0..30 {
                for (set, model) in sets.iter().zip(&mut model) {
                    for writer in 0..size {
                        let first = random.below(9000);
                        let count = random.below(1500).min(9000 - first);
                        let byte = random.below(255) as u8;
                        // Of elements that two ranks write between two exchanges any may count, so each has its own share.
                        let runs: Vec<Run> = (first..first + count)
                            .filter(|element| *element as usize / 11 % size == writer)
                            .map(|first| Run { first, count: 1 })
                            .collect();
                        for run in &runs {
                            model[run.first as usize * 8..][..8].fill(byte);
                        }
                        if writer == rank {
                            set.write(&runs, &vec![byte; runs.len() * 8]).unwrap();
                        }
                    }
                }
                match random.below(4) {
                    _ if step == 29 => drop(file.commit()),
                    0 => drop(file.commit()),
                    1 => exchanged(&file),
                    _ => continue,
                }
                for (set, model) in sets.iter().zip(&model) {
                    assert!(read_all(set) == *model, "seed {seed}, step {step}");
                }
            }
            assert!(!file.has_changes(), "all is committed");
        });
    }
}

#[test]
fn a_failure_of_one_rank_fails_on_all_and_loses_nothing() {
    let place = pool();
    as_ranks(3, |rank, ranks| {
        let file = create(&place, ranks).unwrap();
        drop(dataset(&file, "large", kinds().swap_remove(0).1));
        write_in_turn(&file, "large", rank, 3, 1);
        let outcome = if rank == 1 { Err(Error::invalid("a selection", "another one")) } else { Ok(()) };
        let told = file.exchange(outcome).unwrap_err();
        match (rank, &told) {
            (1, Error::InvalidInput { .. }) => {}
            (0 | 2, Error::OtherRank { rank: 1, what }) => assert!(what.contains("a selection"), "{what}"),
            other => panic!("{other:?}"),
        }
        assert!(file.agree::<_, Error>(Ok(7)).unwrap() == 7);
        exchanged(&file);
        assert!(read_all(&at(&file, "large")) == all(1), "what was written is there");
        file.commit().unwrap();
    });
    assert!(read_all(&at(&place.open(), "large")) == all(1));
}

#[test]
fn nothing_is_committed_after_a_write_of_one_rank_that_failed_in_part() {
    let place = pool();
    drop(place.create());
    as_ranks(2, |rank, ranks| {
        let file = open(&place, ranks);
        linked(&file, "new", group());
        if rank == 1 {
            file.note_failure("the disk is full".to_owned());
        }
        let error = file.commit().unwrap_err().to_string();
        assert!(error.contains("the disk is full"), "{error}");
        assert_eq!(error.contains("rank 1"), rank == 0, "{error}");
    });
    assert!(place.open().root().unwrap().link("new").unwrap().is_none());
}

#[test]
fn an_extent_that_all_ranks_cut_clears_what_each_has_written() {
    for place in places() {
        as_ranks(3, |rank, ranks| {
            let file = create(&place, ranks).unwrap();
            for (name, data) in kinds() {
                let set = dataset(&file, name, data);
                write_in_turn(&file, name, rank, 3, 1);
                set.set_extent(&[4321]).unwrap();
                set.set_extent(&[9000]).unwrap();
                let mut expected = all(1);
                expected[4321 * 8..].fill(0);
                assert!(read_all(&set) == expected, "{name} on rank {rank}");
                let error = set.set_extent(&[1, 1]).unwrap_err();
                assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
            }
            file.commit().unwrap();
        });
        let file = place.open();
        for (name, _) in kinds() {
            let there = read_all(&at(&file, name));
            assert!(
                there[..4321 * 8] == all(1)[..4321 * 8] && there[4321 * 8..].iter().all(|byte| *byte == 0)
            );
        }
    }
}

#[test]
fn objects_have_the_same_numbers_on_all_ranks() {
    let place = pool();
    let numbers = as_ranks(3, |rank, ranks| {
        let file = create(&place, ranks).unwrap();
        let mut numbers = Vec::new();
        for at in 0..2100 {
            numbers.push(linked(&file, &format!("{at}"), group()).number());
            if at % 500 == 0 {
                // Arrays of chunks have numbers of their own.
                let set = dataset(&file, &format!("set {at}"), data(&[5000], &[1000], 8));
                set.write(&[Run { first: 0, count: 1000 * (rank as u64 + 1) }], &vec![1; 8000 * (rank + 1)])
                    .unwrap();
            }
        }
        file.commit().unwrap();
        numbers
    });
    assert!(numbers.iter().all(|others| *others == numbers[0]));
    let file = place.open();
    assert_eq!(file.root().unwrap().links(By::Name, Order::Increasing).unwrap().len(), 2105);
    assert_eq!(read_all(&at(&file, "set 2000"))[..24_000], vec![1; 24_000]);
}

#[test]
fn ranks_that_have_changed_different_things_commit_nothing() {
    type Change = fn(&Arc<File>, usize);
    let changes: [(Change, &str); 4] = [
        (|file, rank| drop(linked(file, ["same", "same", "other"][rank], group())), "\"other\""),
        (
            |file, rank| {
                if rank != 2 {
                    linked(file, "missing", group());
                }
            },
            "\"missing\"",
        ),
        (|file, rank| at(file, "there").set_extent(&[9000 + [1, 1, 2][rank]]).unwrap(), "its extent"),
        (
            |file, rank| {
                let name = ["note", "note", "remark"][rank].to_owned();
                let (datatype, creation, value) = (b"type".to_vec(), Vec::new(), vec![7]);
                let (charset, order, space) = (Charset::Ascii, 0, Space::Scalar);
                let attribute = Attribute { name, charset, order, datatype, space, creation, value };
                at(file, "there").put_attribute(attribute).unwrap();
            },
            "\"note\"",
        ),
    ];
    for (change, named) in changes {
        let place = pool();
        let file = place.create();
        drop(dataset(&file, "there", data(&[9000], &[1000], 8)));
        file.commit().unwrap();
        drop(file);
        as_ranks(3, |rank, ranks| {
            let file = open(&place, ranks);
            linked(&file, "first", group());
            change(&file, rank);
            let error = file.commit().unwrap_err().to_string();
            assert!(error.contains("rank 2") && error.contains(named), "{error}");
        });
        let file = place.open();
        assert_eq!(file.root().unwrap().link_count().unwrap(), 1);
        assert_eq!(at(&file, "there").attribute_count().unwrap(), 0);
        assert_eq!(read_all(&at(&file, "there")).len(), 72_000);
    }
}

#[test]
fn ranks_that_make_different_calls_get_an_error_and_do_not_wait() {
    let place = pool();
    as_ranks(2, |rank, ranks| {
        let file = create(&place, ranks).unwrap();
        let error = if rank == 0 { file.agree::<(), Error>(Ok(())) } else { file.commit().map(drop) };
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&format!("rank {}", 1 - rank)), "{error}");
        assert!(file.commit().is_err(), "every further call fails at once");
        assert!(file.exchange::<(), Error>(Ok(())).is_err());
    });
    let names = ["a.h5", "b.h5"];
    as_ranks(2, |rank, ranks| {
        let error = place.site.open_together(ranks, names[rank], Access::ReadWrite).unwrap_err().to_string();
        assert!(error.contains("a.h5") && error.contains("rank 1 is to open b.h5"), "{error}");
    });
}

#[test]
fn an_opening_that_fails_on_the_first_rank_fails_on_all() {
    let place = beside();
    let told =
        as_ranks(3, |_, ranks| place.site.open_together(ranks, &place.name, Access::ReadOnly).unwrap_err());
    assert!(matches!(told[0], Error::NotFound { .. }), "{:?}", told[0]);
    for error in &told[1..] {
        assert!(matches!(error, Error::OtherRank { rank: 0, .. }) && error.to_string().contains("errno = 2"));
    }
    drop(place.create());
    let new = |_, ranks| {
        place.site.create_together(ranks, &place.name, Creation::New, &group(), b"").unwrap_err().to_string()
    };
    assert!(as_ranks(3, new).iter().all(|error| error.contains("errno = 17")));
    as_ranks(2, |_, ranks| place.site.delete_together(ranks, &place.name).unwrap());
    assert!(!place.site.exists(&place.name).unwrap());
}

#[test]
fn a_file_is_open_together_or_alone_but_not_both() {
    let place = pool();
    let alone = place.create();
    let told = as_ranks(2, |_, ranks| {
        place.site.open_together(ranks, &place.name, Access::ReadWrite).unwrap_err().to_string()
    });
    assert!(told.iter().all(|error| error.contains("has open alone")), "{told:?}");
    drop(alone);
    as_ranks(2, |_, ranks| {
        let file = open(&place, ranks);
        exchanged(&file);
        let error = place.site.open(&place.name, Access::ReadOnly).unwrap_err().to_string();
        assert!(error.contains("together with other ranks"), "{error}");
        exchanged(&file);
    });
    drop(place.open());
}

/// Creates, commits, changes everything and commits again. Returns how many commits have returned.
fn two_versions(place: &Place, rank: usize, ranks: Box<dyn Ranks>) -> u8 {
    let Ok(file) = create(place, ranks) else { return 0 };
    let mut done = 0;
    for version in 1..3 {
        let change = || -> Result<(), Error> {
            for (name, data) in kinds() {
                if version == 1 {
                    let set = file.create_object(isotach_hdf5::Header::dataset(b"type".to_vec(), data))?;
                    file.root()?.insert_link(name, crate::common::hard(&set), Charset::Ascii)?;
                }
                write_in_turn(&file, name, rank, 3, version);
                file.exchange::<(), Error>(Ok(()))?;
            }
            file.commit().map(drop)
        };
        if change().is_err() {
            break;
        }
        done = version;
    }
    done
}

#[test]
fn a_job_that_is_killed_at_any_message_leaves_a_whole_version() {
    let (mut seen, mut lives) = ([0; 3], 0);
    loop {
        let place = pool();
        let done = job(3, lives, |rank, ranks| two_versions(&place, rank, ranks));
        let (most, least) = (done.iter().max().unwrap(), done.iter().min().unwrap());
        let version = match place.site.open(&place.name, Access::ReadOnly) {
            Ok(file) if file.root().unwrap().link("large").unwrap().is_some() => {
                let version = read_all(&at(&file, "large"))[0];
                for (name, _) in kinds() {
                    assert!(read_all(&at(&file, name)) == all(version), "{name} after {lives} messages");
                }
                version
            }
            Ok(_) | Err(Error::NotFound { .. }) => 0,
            Err(error) => panic!("after {lives} messages: {error}"),
        };
        // The first rank may have committed what the others were not told of.
        assert!(
            version >= *most && version <= least + 1,
            "version {version}, {done:?} after {lives} messages"
        );
        seen[version as usize] += 1;
        if *least == 2 {
            break;
        }
        lives += 1;
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn a_commit_of_ranks_goes_over_that_of_another_process() {
    let shared = Shared::new();
    let other = shared.create();
    drop(dataset(&other, "one", data(&[9000], &[9000], 8)));
    other.commit().unwrap();
    let site = shared.site(1);
    let barrier = Barrier::new(3);
    thread::scope(|scope| {
        scope.spawn(|| {
            barrier.wait();
            at(&other, "one").write(&[Run { first: 0, count: 7 }], &[9; 56]).unwrap();
            other.commit().unwrap();
            barrier.wait();
        });
        as_ranks(2, |rank, ranks| {
            let file = site.open_together(ranks, "/x/a.h5", Access::ReadWrite).unwrap();
            let run = Run { first: 10 + 20 * rank as u64, count: 5 };
            at(&file, "one").write(&[run], &[rank as u8 + 1; 40]).unwrap();
            barrier.wait();
            barrier.wait();
            file.commit().unwrap();
            let there = read_all(&at(&file, "one"));
            assert_eq!((there[0], there[80], there[240]), (9, 1, 2), "on rank {rank}");
        });
    });
}

#[test]
fn a_truncated_file_in_a_pool_is_new_for_all_ranks() {
    let place = pool();
    let file = place.create();
    drop(dataset(&file, "old", data(&[9000], &[1000], 8)));
    file.commit().unwrap();
    drop(file);
    as_ranks(3, |rank, ranks| {
        let file = create(&place, ranks).unwrap();
        assert!(file.root().unwrap().link("old").unwrap().is_none(), "on rank {rank}");
        drop(dataset(&file, "one", kinds().swap_remove(2).1));
        write_in_turn(&file, "one", rank, 3, 1);
        file.commit().unwrap();
        assert!(read_all(&at(&file, "one")) == all(1));
    });
    let file = place.open();
    assert!(file.root().unwrap().link("old").unwrap().is_none());
    assert!(read_all(&at(&file, "one")) == all(1));
}
