//! Engines without transactions: a commit that dies at any update leaves a file that opens and whose links lead to complete objects.

use std::{sync::Arc, thread};

use isotach_hdf5::{
    Access, Attribute, Charset, Creation, Data, Error, File, Header, Kind, Order, Run, Site, Space,
};
use isotach_object::{Registry, memory::Memory};

use crate::{
    common::{at, data, dataset, filter, group, hard, linked, linked_in, number, read_all, whole},
    plain::Plain,
};

/// A pool that several processes have open.
struct Shared(Memory, u64);

impl Shared {
    fn new() -> Self {
        Self(Memory::new(), number())
    }

    fn site(&self, process: usize) -> (Site, Plain) {
        let engine = Plain::new(&self.0);
        let uri = format!("plain:pool-{}{}", self.1, "/".repeat(process));
        (Site::new(Some(uri.parse().unwrap()), Registry::new().with(Arc::new(engine.clone()))), engine)
    }

    fn open(&self, process: usize) -> (Arc<File>, Plain) {
        let (site, engine) = self.site(process);
        (site.open("/x/a.h5", Access::ReadWrite).unwrap(), engine)
    }
}

fn attribute(name: &str, value: Vec<u8>) -> Attribute {
    Attribute {
        name: name.to_owned(),
        charset: Charset::Ascii,
        order: 0,
        datatype: b"type".to_vec(),
        space: Space::Scalar,
        creation: Vec::new(),
        value,
    }
}

const OLD: u8 = 1;
const NEW: u8 = 2;
const LENGTH: u64 = 6000;
const CUT: u64 = 4000;

fn layouts() -> [(&'static str, Data); 4] {
    [
        ("plain", data(&[LENGTH], &[1000], 8)),
        ("packed", Data { filters: vec![filter(2, &[8]), filter(1, &[1])], ..data(&[LENGTH], &[1000], 8) }),
        ("small", data(&[LENGTH], &[100], 8)),
        ("edge", data(&[LENGTH], &[3500], 8)),
    ]
}

/// A file with datasets, a group in a group, large attributes and blobs.
fn fill(file: &Arc<File>, byte: u8, suffix: &str) {
    for (name, data) in layouts() {
        let set = dataset(file, &format!("{name}{suffix}"), data);
        set.write(&whole(&set), &vec![byte; LENGTH as usize * 8]).unwrap();
        set.put_attribute(attribute("large", vec![byte; 50_000])).unwrap();
    }
    let outer = linked(file, &format!("outer{suffix}"), group());
    let inner = linked_in(&outer, "inner", group());
    let blob = file.put_blob(&[byte; 300_000]).unwrap();
    inner.put_attribute(attribute("blob", blob.0.to_vec())).unwrap();
    let blob = file.put_blob(&[byte; 100]).unwrap();
    outer.put_attribute(attribute("blob", blob.0.to_vec())).unwrap();
}

/// Checks that everything that links lead to can be read, and that each chunk is old or new. Returns how many links the root has.
fn check(file: &Arc<File>) -> usize {
    fn below(object: &isotach_hdf5::Object) -> usize {
        let header = object.header().unwrap();
        for (name, _) in object.attributes(isotach_hdf5::By::Name, Order::Native).unwrap() {
            let value = object.attribute(&name).unwrap().unwrap().value;
            if name == "blob" {
                let bytes = object.file().blob(&isotach_hdf5::BlobId(value.try_into().unwrap())).unwrap();
                assert!(!bytes.is_empty() && bytes.iter().all(|byte| *byte == bytes[0]));
            } else {
                assert!(value.len() == 50_000 && value.iter().all(|byte| *byte == value[0]));
            }
        }
        if let Some(data) = &header.data {
            let (bytes, chunk) = (read_all(object), data.chunk[0] as usize * 8);
            // The first element and the last one of a chunk are never changed alone, but what is cut off is fill values first.
            for chunk in bytes[..CUT as usize * 8].chunks(chunk) {
                let (first, middle) = (chunk[0], chunk[chunk.len() / 2]);
                assert!([OLD, NEW].contains(&first) && [OLD, NEW].contains(&middle), "{first} {middle}");
                assert_eq!(first, chunk[chunk.len() - 1]);
            }
        }
        if header.kind != Kind::Group {
            return 0;
        }
        let links = object.links(isotach_hdf5::By::Name, Order::Native).unwrap();
        for (name, _) in &links {
            below(&at_in(object, name));
        }
        links.len()
    }
    below(&file.root().unwrap())
}

fn at_in(group: &isotach_hdf5::Object, name: &str) -> isotach_hdf5::Object {
    match group.file().resolve(group, name, isotach_hdf5::Last::Follow).unwrap() {
        isotach_hdf5::Resolved::Object(object) => object,
        other => panic!("{name} leads to {other:?}"),
    }
}

/// Lets a process die after every update of a commit in turn, and looks at what is left.
fn die_everywhere(prepare: impl Fn(&Shared), change: impl Fn(&Shared, usize) -> (Arc<File>, Plain)) {
    let (mut at, mut process) = (0, 1);
    loop {
        let shared = Shared::new();
        prepare(&shared);
        let (file, engine) = change(&shared, process);
        engine.live_for(at);
        let outcome = file.commit();
        assert!(outcome.is_ok() || engine.lived(at) >= at, "{outcome:?}");
        // It is dead: it gives nothing up.
        engine.live_for(0);
        drop(file);
        let (file, _) = shared.open(process + 1);
        check(&file);
        linked(&file, "later", group());
        file.commit().unwrap();
        check(&file);
        if outcome.is_ok() {
            assert!(at > 10, "{at}");
            return;
        }
        (at, process) = (at + 1, process + 2);
    }
}

fn create(shared: &Shared) {
    let file = shared.site(0).0.create("/x/a.h5", Creation::New, &group(), b"properties").unwrap();
    fill(&file, OLD, "");
    file.commit().unwrap();
}

#[test]
fn a_process_that_dies_in_a_commit_of_new_objects_leaves_complete_ones() {
    die_everywhere(create, |shared, process| {
        let (file, engine) = shared.open(process);
        fill(&file, NEW, " more");
        let outer = at(&file, "outer");
        linked_in(&outer, "more", group());
        file.root().unwrap().move_link("small", &outer, "moved").unwrap();
        (file, engine)
    });
}

#[test]
fn a_process_that_dies_in_a_commit_of_changes_leaves_whole_chunks() {
    die_everywhere(create, |shared, process| {
        let (file, engine) = shared.open(process);
        for (name, _) in layouts() {
            let set = at(&file, name);
            set.write(&[Run { first: 400, count: 200 }], &[NEW; 1600]).unwrap();
            set.write(&[Run { first: 1000, count: 1000 }], &[NEW; 8000]).unwrap();
            set.put_attribute(attribute("large", vec![NEW; 50_000])).unwrap();
            set.set_extent(&[CUT]).unwrap();
        }
        (file, engine)
    });
}

#[test]
fn a_process_that_dies_in_a_commit_of_removals_leaves_what_it_has_not_removed() {
    die_everywhere(create, |shared, process| {
        let (file, engine) = shared.open(process);
        for name in ["plain", "outer", "edge"] {
            file.root().unwrap().remove_link(name).unwrap();
        }
        (file, engine)
    });
}

#[test]
fn a_process_that_dies_in_the_commit_of_a_truncated_file_leaves_one_that_opens() {
    die_everywhere(create, |shared, process| {
        let (site, engine) = shared.site(process);
        let file = site.create("/x/a.h5", Creation::Truncate, &group(), b"others").unwrap();
        fill(&file, NEW, "");
        (file, engine)
    });
    let shared = Shared::new();
    create(&shared);
    let file = shared.site(1).0.create("/x/a.h5", Creation::Truncate, &group(), b"others").unwrap();
    linked(&file, "only", Header { comment: Some("new".to_owned()), ..group() });
    file.commit().unwrap();
    drop(file);
    let (file, _) = shared.open(2);
    assert_eq!((check(&file), file.properties().unwrap()), (1, b"others".to_vec()));
    assert_eq!(file.stored_size().unwrap(), 0);
}

#[test]
fn of_two_that_create_a_link_one_succeeds_and_the_other_does_nothing() {
    let shared = Shared::new();
    create(&shared);
    let ((one, _), (other, _)) = (shared.open(1), shared.open(2));
    linked(&one, "same", group());
    linked(&other, "same", group());
    linked(&other, "mine", group());
    at(&other, "plain").write(&[Run { first: 0, count: LENGTH }], &[NEW; LENGTH as usize * 8]).unwrap();
    one.commit().unwrap();
    let error = other.commit().unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }) && error.to_string().contains("same"), "{error}");
    one.refresh().unwrap();
    assert_eq!(one.root().unwrap().link("mine").unwrap(), None);
    assert_eq!(read_all(&at(&one, "plain"))[0], OLD);
    other.discard().unwrap();
    linked(&other, "mine", group());
    other.commit().unwrap();
    check(&other);
}

#[test]
fn of_many_that_create_one_link_at_a_time_each_link_has_one_creator() {
    let shared = Shared::new();
    create(&shared);
    let created: usize = thread::scope(|scope| {
        let creators: Vec<_> = (1..5)
            .map(|process| {
                let shared = &shared;
                scope.spawn(move || {
                    let (file, _) = shared.open(process);
                    let one = |at: usize| {
                        let object = file.create_object(group()).unwrap();
                        let linked =
                            file.root().unwrap().insert_link(&format!("{at}"), hard(&object), Charset::Ascii);
                        linked.and_then(|()| file.commit()).map_err(|_| file.discard().unwrap()).is_ok()
                    };
                    (0..50).filter(|at| one(*at)).count()
                })
            })
            .collect();
        creators.into_iter().map(|creator| creator.join().unwrap()).sum()
    });
    assert_eq!(created, 50);
    check(&shared.open(9).0);
}

#[test]
fn parts_of_one_chunk_from_several_processes_are_all_kept_in_whole_chunks() {
    let shared = Shared::new();
    create(&shared);
    thread::scope(|scope| {
        for process in 1..5_u64 {
            let shared = &shared;
            scope.spawn(move || {
                let (file, _) = shared.open(process as usize);
                for round in 0..20 {
                    for (name, _) in layouts() {
                        let first = 1 + 100 * (process - 1) + 3 * round;
                        at(&file, name).write(&[Run { first, count: 2 }], &[NEW; 16]).unwrap();
                    }
                    file.commit().unwrap();
                }
            });
        }
        let shared = &shared;
        scope.spawn(move || {
            let (file, _) = shared.open(9);
            for _ in 0..50 {
                // Without a refresh: what it knows of the file may be of the past.
                for (name, _) in layouts() {
                    let bytes = read_all(&at(&file, name));
                    assert!(bytes.chunks(16).all(|two| [OLD, NEW].contains(&two[0])));
                }
            }
        });
    });
    let (file, _) = shared.open(10);
    for (name, _) in layouts() {
        let bytes = read_all(&at(&file, name));
        let is_new = |element: u64| {
            element < 400 && element % 100 >= 1 && element % 100 <= 59 && !(element % 100).is_multiple_of(3)
        };
        for element in 0..LENGTH {
            let expected = if is_new(element) { NEW } else { OLD };
            assert_eq!(bytes[element as usize * 8], expected, "{name} {element}");
        }
    }
}

#[test]
fn after_a_last_flush_that_failed_every_commit_fails_until_the_changes_are_given_up() {
    let shared = Shared::new();
    create(&shared);
    let (file, engine) = shared.open(1);
    engine.fail_flush(1000);
    linked(&file, "one", group());
    file.commit().unwrap();
    let flushes = 1000 - engine.fail_flush(0);
    linked(&file, "other", group());
    engine.fail_flush(flushes);
    let error = file.commit().unwrap_err().to_string();
    assert!(error.contains("flush"), "{error}");
    assert!(file.has_changes() && file.commit().is_err());
    file.discard().unwrap();
    assert!(!file.has_changes());
    file.commit().unwrap();
}
