//! What other processes see: whole versions, and merged changes of one chunk.
//!
//! Each site here opens the pool by a spelling of its own, so that it has a file of its own as another process has.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use isotach_engine_daos::Daos;
use isotach_engine_kit::hooks::{Hooked, Hooks, hook_engine};
use isotach_engine_posix::Posix;
use isotach_engine_rados::Rados;
use isotach_hdf5::{Access, By, Charset, Creation, Data, Error, File, Object, Order, Run, Site, Target};
use isotach_needs::{Need, skip};
use isotach_object::{Engine, PoolUri, Registry};

use crate::common::{at, attribute, clusters, data, dataset, filter, group, hard, linked, read_all, whole};

/// A pool that each handle opens as another process would.
pub(crate) struct Shared {
    uri: PoolUri,
    folder: Option<tempfile::TempDir>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.folder.is_none() {
            let _ = registry(&self.uri).engine(self.uri.scheme()).unwrap().destroy_pool(&self.uri);
        }
    }
}

fn registry(uri: &PoolUri) -> Registry {
    let engine: Arc<dyn Engine> = match uri.scheme() {
        "rados" => Arc::new(Rados::new()),
        "daos" => Arc::new(Daos::default()),
        _ => Arc::new(Posix),
    };
    Registry::new().with(engine)
}

/// One in a posix pool, and one in each cluster that there is.
pub(crate) fn everywhere() -> Vec<Shared> {
    let in_clusters = clusters().into_iter().map(|(_, uri)| Shared { uri, folder: None });
    [Shared::new()].into_iter().chain(in_clusters).collect()
}

impl Shared {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let uri = format!("posix:{}/pool?sync=no", folder.path().display()).parse().unwrap();
        Self { uri, folder: Some(folder) }
    }

    /// Whether a version is seen as a whole.
    pub(crate) fn has_versions(&self) -> bool {
        let capabilities = registry(&self.uri).engine(self.uri.scheme()).unwrap().capabilities();
        capabilities.transactions && capabilities.snapshots
    }

    /// The site of a process, which spells the pool in its own way.
    pub(crate) fn site(&self, process: usize) -> Site {
        let uri = self.uri_of(process);
        Site::new(Some(uri.clone()), registry(&uri))
    }

    fn uri_of(&self, process: usize) -> PoolUri {
        let uri = match &self.folder {
            Some(folder) => {
                format!("posix:{}{}pool?sync=no", folder.path().display(), "/".repeat(process + 1))
            }
            None => format!("{}?depth={}", self.uri, 16 + process),
        };
        uri.parse().unwrap()
    }

    pub(crate) fn create(&self) -> Arc<File> {
        self.site(0).create("/x/a.h5", Creation::New, &group(), b"").unwrap()
    }

    pub(crate) fn open(&self, process: usize) -> Arc<File> {
        self.site(process).open("/x/a.h5", Access::ReadWrite).unwrap()
    }

    /// The file as a process has it whose containers have these hooks, in a posix pool.
    pub(crate) fn open_with(&self, process: usize, hooks: impl Hooks + Clone + 'static) -> Arc<File> {
        let engine = hook_engine(
            Arc::new(Posix),
            |_| Ok(()),
            move |container| Arc::new(Hooked::new(container, hooks.clone())),
        );
        let site = Site::new(Some(self.uri_of(process)), Registry::new().with(engine));
        site.open("/x/a.h5", Access::ReadWrite).unwrap()
    }
}

#[test]
fn a_reader_sees_whole_versions_while_a_writer_commits() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let file = shared.create();
        let set = dataset(&file, "set", data(&[20_000], &[1000], 8));
        let write = |value: u8| {
            // A part of each chunk, so that some are changed in place, and a link for each version.
            set.write(&whole(&set), &vec![value; 160_000]).unwrap();
            if value % 2 == 1 {
                set.write(&[Run { first: 500, count: 19_000 }], &vec![value; 152_000]).unwrap();
            }
            linked(&file, &format!("version {value:03}"), group());
            file.commit().unwrap();
        };
        write(0);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for process in 1..3 {
                let (shared, done) = (&shared, &done);
                scope.spawn(move || {
                    let file = shared.open(process);
                    let mut last = 0;
                    while !done.load(Ordering::Relaxed) {
                        file.refresh().unwrap();
                        let bytes = read_all(&at(&file, "set"));
                        let links = file.root().unwrap().link_count().unwrap();
                        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "a mixture of versions");
                        assert_eq!(links, u64::from(bytes[0]) + 2, "links and data are of one version");
                        assert!(bytes[0] >= last, "versions go forward");
                        last = bytes[0];
                    }
                });
            }
            (1..30).for_each(write);
            done.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn a_reader_keeps_its_version_until_it_refreshes() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let (writer, reader) = (shared.create(), shared.open(1));
        let set = dataset(&writer, "set", data(&[10], &[10], 1));
        set.write(&whole(&set), &[1; 10]).unwrap();
        writer.commit().unwrap();
        let root = reader.root().unwrap();
        assert_eq!(root.link("set").unwrap(), None);
        reader.refresh().unwrap();
        assert_eq!(read_all(&at(&reader, "set")), [1; 10]);
        set.set_extent(&[20]).unwrap();
        writer.root().unwrap().remove_link("set").unwrap();
        drop(set);
        writer.commit().unwrap();
        assert_eq!(read_all(&at(&reader, "set")), [1; 10]);
        reader.refresh().unwrap();
        assert_eq!(root.link("set").unwrap(), None);
    }
}

#[test]
fn opening_again_goes_to_the_newest_version_if_there_are_no_changes() {
    for shared in everywhere() {
        let (writer, reader) = (shared.create(), shared.open(1));
        assert_eq!(reader.root().unwrap().link("one").unwrap(), None);
        linked(&writer, "one", group());
        writer.commit().unwrap();
        let again = shared.open(1);
        assert!(Arc::ptr_eq(&reader, &again) && again.root().unwrap().link("one").unwrap().is_some());
    }
}

#[test]
fn the_second_to_create_a_link_gets_a_conflict_and_can_give_up() {
    for shared in everywhere() {
        let (one, other) = (shared.create(), shared.open(1));
        linked(&one, "same", group());
        linked(&other, "same", group());
        linked(&other, "mine", group());
        one.commit().unwrap();
        let error = other.commit().unwrap_err();
        assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
        assert!(error.to_string().contains("same"), "{error}");
        other.discard().unwrap();
        other.refresh().unwrap();
        let root = other.root().unwrap();
        assert_eq!((root.link("mine").unwrap(), root.link_count().unwrap()), (None, 1));
        linked(&other, "mine", group());
        other.commit().unwrap();
        one.refresh().unwrap();
        assert_eq!(one.root().unwrap().link_count().unwrap(), 2);
    }
}

#[test]
fn ranges_of_one_chunk_from_several_processes_are_merged() {
    let kinds = [
        ("none", data(&[8000], &[8000], 8)),
        ("fill", Data { fill: Some(vec![5; 8]), ..data(&[8000], &[8000], 8) }),
        ("filters", Data { filters: vec![filter(1, &[1])], ..data(&[8000], &[8000], 8) }),
        ("small", data(&[8000], &[100], 8)),
        ("edge", data(&[8000], &[9000], 8)),
    ];
    for shared in everywhere() {
        let file = shared.create();
        for (name, data) in &kinds {
            drop(dataset(&file, name, data.clone()));
        }
        file.commit().unwrap();
        // At first no process sees a chunk, and later all see the same one.
        for round in 0..3_u8 {
            thread::scope(|scope| {
                for process in 1..5_u8 {
                    let (shared, kinds) = (&shared, &kinds);
                    scope.spawn(move || {
                        let file = shared.open(process.into());
                        for (name, _) in kinds {
                            let runs: Vec<Run> = (0..20)
                                .map(|at| Run {
                                    first: (at * 4 + u64::from(process) - 1) * 100 + 3,
                                    count: 97,
                                })
                                .collect();
                            at(&file, name).write(&runs, &vec![process + 10 * round; 97 * 20 * 8]).unwrap();
                        }
                        file.commit().unwrap();
                    });
                }
            });
            file.refresh().unwrap();
            for (name, data) in &kinds {
                let expected: Vec<u8> = (0..8000_u64)
                    .flat_map(|element| {
                        let process = (element / 100 % 4) as u8 + 1;
                        let fill = data.fill.as_ref().map_or(0, |fill| fill[0]);
                        [if element % 100 < 3 { fill } else { process + 10 * round }; 8]
                    })
                    .collect();
                assert!(read_all(&at(&file, name)) == expected, "{name} in round {round}");
            }
        }
    }
}

#[test]
fn a_chunk_in_place_that_was_stored_again_keeps_what_others_changed() {
    let twice = everywhere().into_iter().map(|shared| (shared, false));
    for (shared, refreshes) in twice.chain(everywhere().into_iter().map(|shared| (shared, true))) {
        let file = shared.create();
        let set = dataset(&file, "set", data(&[1000], &[2000], 8));
        set.write(&whole(&set), &[1; 8000]).unwrap();
        file.commit().unwrap();
        set.write(&[Run { first: 0, count: 1 }], &[2; 8]).unwrap();
        file.commit().unwrap();
        let other = shared.open(1);
        // All that there is of the chunk: it is stored at once.
        set.write(&whole(&set), &[3; 8000]).unwrap();
        let longer = at(&other, "set");
        longer.set_extent(&[1500]).unwrap();
        longer.write(&[Run { first: 1000, count: 500 }], &[4; 4000]).unwrap();
        other.commit().unwrap();
        let expected = [[3; 8000].as_slice(), &[4; 4000]].concat();
        if refreshes {
            file.refresh().unwrap();
            assert!(read_all(&set) == expected);
        }
        file.commit().unwrap();
        assert!(read_all(&set) == expected);
        other.refresh().unwrap();
        assert!(read_all(&longer) == expected);
    }
}

#[test]
fn a_dataset_that_another_process_removes_does_not_stop_other_changes() {
    for shared in everywhere() {
        let (file, other) = (shared.create(), shared.open(1));
        let set = dataset(&file, "set", data(&[1000], &[1000], 8));
        set.write(&whole(&set), &[1; 8000]).unwrap();
        file.commit().unwrap();
        other.refresh().unwrap();
        let theirs = at(&other, "set");
        theirs.write(&[Run { first: 0, count: 1 }], &[2; 8]).unwrap();
        linked(&other, "new", group());
        file.root().unwrap().remove_link("set").unwrap();
        drop(set);
        file.commit().unwrap();
        let error = other.commit().unwrap_err().to_string();
        assert!(error.contains(&format!("removed object {}", theirs.number())), "{error}");
        other.commit().unwrap();
        assert!(other.root().unwrap().link("new").unwrap().is_some());
    }
}

#[test]
fn nothing_that_another_process_has_removed_comes_back() {
    type Act = fn(&Arc<File>, &Object);
    let acts: [(&str, Act); 5] = [
        ("an extent", |_, set| set.set_extent(&[2000]).unwrap()),
        ("an attribute", |_, set| set.put_attribute(attribute("units", b"m")).unwrap()),
        ("a link", |file, set| {
            file.root().unwrap().insert_link("again", hard(set), Charset::Ascii).unwrap();
        }),
        ("a link in the place of another", |file, set| {
            file.root().unwrap().remove_link("old").unwrap();
            file.root().unwrap().insert_link("old", hard(set), Charset::Ascii).unwrap();
        }),
        ("a move", |file, _| {
            let root = file.root().unwrap();
            root.move_link("set", &root, "moved").unwrap();
        }),
    ];
    for (what, act) in acts {
        for shared in everywhere() {
            let (file, other) = (shared.create(), shared.open(1));
            drop((dataset(&file, "set", data(&[1000], &[1000], 8)), linked(&file, "old", group())));
            file.commit().unwrap();
            other.refresh().unwrap();
            let theirs = at(&other, "set");
            act(&other, &theirs);
            linked(&other, "new", group());
            file.root().unwrap().remove_link("set").unwrap();
            file.commit().unwrap();
            let error = other.commit().unwrap_err().to_string();
            assert!(error.contains(&format!("removed object {}", theirs.number())), "{what}: {error}");
            other.commit().unwrap();
            file.refresh().unwrap();
            assert!(file.object(theirs.number()).is_err(), "{what}");
            let links = file.root().unwrap().links(By::Name, Order::Increasing).unwrap();
            let names: Vec<_> = links.into_iter().map(|(name, _)| name).collect();
            let expected = if what.contains("in the place") { &["new"][..] } else { &["new", "old"] };
            assert_eq!(names, expected, "{what}");
        }
    }
}

#[test]
fn whole_chunks_of_a_dataset_that_another_process_removes_are_not_committed() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let (file, other) = (shared.create(), shared.open(1));
        let set = dataset(&file, "set", data(&[1000], &[1000], 8));
        file.commit().unwrap();
        other.refresh().unwrap();
        let theirs = at(&other, "set");
        theirs.write(&whole(&theirs), &[2; 8000]).unwrap();
        file.root().unwrap().remove_link("set").unwrap();
        drop(set);
        file.commit().unwrap();
        let error = other.commit().unwrap_err().to_string();
        assert!(error.contains(&format!("removed object {}", theirs.number())), "{error}");
        other.commit().unwrap();
    }
}

#[test]
fn of_two_processes_that_create_one_file_one_succeeds() {
    for shared in everywhere() {
        for round in 0..5 {
            let name = format!("/x/{round}.h5");
            let created: usize = thread::scope(|scope| {
                let creators: Vec<_> = (0..4)
                    .map(|process| {
                        let (site, name) = (shared.site(process), &name);
                        scope.spawn(move || match site.create(name, Creation::New, &group(), b"") {
                            Ok(_) => 1,
                            Err(error) => {
                                assert!(error.to_string().contains("errno = 17"), "{error}");
                                0
                            }
                        })
                    })
                    .collect();
                creators.into_iter().map(|creator| creator.join().unwrap()).sum()
            });
            assert_eq!(created, 1);
        }
    }
}

#[test]
fn many_changes_are_one_version_too() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let (writer, reader) = (shared.create(), shared.open(1));
        let set = dataset(&writer, "set", data(&[20_000], &[1], 1));
        set.write(&whole(&set), &[3; 20_000]).unwrap();
        let root = writer.root().unwrap();
        for at in 0..5000 {
            root.insert_link(&format!("{at}"), Target::Soft("/".to_owned()), Charset::Ascii).unwrap();
        }
        root.insert_link("again", hard(&set), Charset::Ascii).unwrap();
        writer.commit().unwrap();
        assert_eq!(reader.root().unwrap().link_count().unwrap(), 0);
        reader.refresh().unwrap();
        assert_eq!(reader.root().unwrap().link_count().unwrap(), 5002);
        assert_eq!(read_all(&at(&reader, "again")), [3; 20_000]);
    }
}

#[test]
fn a_process_that_dies_leaves_the_last_commit() {
    for shared in everywhere() {
        let file = shared.create();
        let set = dataset(&file, "set", data(&[4000], &[1000], 8));
        set.write(&whole(&set), &[1; 32_000]).unwrap();
        file.commit().unwrap();
        set.write(&[Run { first: 0, count: 2500 }], &[2; 20_000]).unwrap();
        file.put_blob(&[3; 1 << 20]).unwrap();
        // It never runs to its end, so nothing is given up.
        std::mem::forget((set, file));
        let file = shared.open(1);
        assert_eq!(read_all(&at(&file, "set")), [1; 32_000]);
        at(&file, "set").write(&[Run { first: 0, count: 2500 }], &[4; 20_000]).unwrap();
        file.commit().unwrap();
        assert_eq!(read_all(&at(&file, "set"))[..20_000], [4; 20_000]);
    }
}

#[test]
fn the_same_is_tested_in_clusters() {
    let schemes: Vec<_> = clusters().into_iter().map(|(engine, _)| engine.scheme()).collect();
    if !schemes.contains(&"rados") {
        skip(Need::Ceph, "ISOTACH_RADOS_POOL names no pool of a Ceph cluster");
    }
    eprintln!("clusters: {schemes:?}");
}

#[test]
fn a_reader_goes_on_where_the_engine_forgets_its_version() {
    let forgets = |shared: &Shared| {
        !registry(&shared.uri).engine(shared.uri.scheme()).unwrap().capabilities().history
            && shared.has_versions()
    };
    for shared in everywhere().into_iter().filter(forgets) {
        let writer = shared.create();
        let set = dataset(&writer, "set", data(&[4000], &[1000], 8));
        let write = |byte| {
            set.write(&whole(&set), &[byte; 32_000]).unwrap();
            writer.commit().unwrap();
        };
        write(1);
        let reader = shared.open(1);
        assert_eq!(read_all(&at(&reader, "set")), [1; 32_000]);
        write(2);
        assert_eq!(read_all(&at(&reader, "set")), [1; 32_000]);
        thread::sleep(std::time::Duration::from_secs(9));
        write(3);
        assert_eq!(read_all(&at(&reader, "set")), [3; 32_000]);
    }
}
