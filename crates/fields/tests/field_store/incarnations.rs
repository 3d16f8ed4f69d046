//! Each incarnation of a dataset has its own containers: makers, wipers and sweepers that are stopped at any moment
//! touch no other.

use std::sync::Arc;

use isotach_fields::{Config, ContainerUri, FieldStore};
use isotach_object::{
    Anchor, Container, ContainerOptions, KeyValue, ObjectClass, ObjectId, ObjectType, Registry,
    memory::Memory,
};

use crate::{
    faulty::{Moment, Script, ScriptedStore, full},
    layouts::{Layout, SCHEMA, archive, field, listed, named, request, with},
};

/// The root's object of datasets, and the description in a dataset's container.
const FIRST: ObjectId = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);

/// The pools below the field layer.
struct Below {
    registry: Registry,
    config: Config,
}

impl Below {
    fn of(layout: &Layout) -> Self {
        Self { registry: layout.registry.clone(), config: layout.config.clone() }
    }

    fn store(&self) -> FieldStore {
        FieldStore::create(&self.config, &self.registry).unwrap()
    }

    fn is_one_pool(&self) -> bool {
        self.config.spaces[0].catalogue == self.config.spaces[0].store
    }

    /// All containers except the root: those of the catalogue's pool, then those of a separate store pool.
    fn containers(&self) -> Vec<String> {
        let space = &self.config.spaces[0];
        let pools = [&space.catalogue, &space.store];
        let mut labels = Vec::new();
        for uri in &pools[..if self.is_one_pool() { 1 } else { 2 }] {
            let pool = self.registry.open_pool(uri).unwrap();
            labels.extend(pool.list_containers().unwrap().iter().map(ToString::to_string));
        }
        labels.retain(|label| label != "root");
        labels
    }

    /// The number of containers of a dataset.
    fn each(&self) -> usize {
        if self.is_one_pool() { 1 } else { 2 }
    }

    fn open(&self, label: &str) -> Arc<dyn Container> {
        let pool = self.registry.open_pool(&self.config.spaces[0].catalogue).unwrap();
        pool.open_container(&label.parse().unwrap()).unwrap()
    }

    /// Changes the creation time of a dataset's container to 1970.
    fn make_old(&self, label: &str) {
        let container = self.open(label);
        let description = KeyValue::new(&*container, FIRST).unwrap();
        let mut record = description.get(b"record").unwrap().unwrap();
        record[16..24].fill(0);
        description.put(b"record", &record).unwrap();
        container.flush().unwrap();
    }

    /// Removes the only dataset from the root, as if it had not been listed yet.
    fn unlist(&self) -> (Vec<u8>, Vec<u8>) {
        let root = self.open("root");
        let datasets = KeyValue::new(&*root, FIRST).unwrap();
        let page = datasets.list(&Anchor::start(), 10, true).unwrap();
        let (text, record) = page.iter().next().unwrap();
        datasets.remove(text).unwrap();
        root.flush().unwrap();
        (text.to_vec(), record.to_vec())
    }

    fn list_again(&self, (text, record): &(Vec<u8>, Vec<u8>)) {
        let root = self.open("root");
        KeyValue::new(&*root, FIRST).unwrap().put(text, record).unwrap();
        root.flush().unwrap();
    }
}

/// Stores on an engine that can be interrupted: one pool, and catalogue and store apart.
fn interrupted() -> Vec<(Arc<Below>, Script)> {
    let places = [("memory:a", "memory:a"), ("memory:a", "memory:b")];
    let below = |(catalogue, store)| {
        let ScriptedStore { registry, config, script, .. } =
            ScriptedStore::split(&Memory::new(), catalogue, store);
        (Arc::new(Below { registry, config }), script)
    };
    places.into_iter().map(below).collect()
}

fn sweep(store: &FieldStore) {
    assert!(store.wipe(&request("class=ei"), true).unwrap().datasets.is_empty());
}

/// The label of the first dataset.
fn label_of(store: &FieldStore) -> String {
    let ContainerUri { label, .. } = store.status(&request("")).unwrap().remove(0).catalogue;
    label.to_string()
}

#[test]
fn a_dataset_that_is_made_again_has_another_label() {
    for layout in named(Layout::all()) {
        let (below, store) = (Below::of(&layout), layout.store());
        archive(&store, &[(field("0", "t"), b"first")]);
        let first = label_of(&store);
        assert!(first.starts_with("od:0001:oper:20240101:0000:-"), "{first}");
        store.wipe(&request("class=od"), true).unwrap();
        assert!(below.containers().is_empty());
        archive(&store, &[(field("0", "t"), b"second")]);
        assert_ne!(label_of(&store), first);
    }
}

#[test]
fn stores_that_share_a_pool_for_their_bytes_keep_their_datasets_apart() {
    let layout = Layout::memory();
    let stores = ["memory:one", "memory:two"].map(|catalogue| {
        let config = Config::split(&catalogue.parse().unwrap(), &"memory:shared".parse().unwrap());
        FieldStore::create(&config.with_schema(SCHEMA), &layout.registry).unwrap()
    });
    for (store, bytes) in stores.iter().zip([b"one", b"two"]) {
        archive(store, &[(field("0", "t"), bytes)]);
    }
    stores[0].wipe(&request("class=od"), true).unwrap();
    assert!(listed(&stores[0], "").is_empty());
    assert_eq!(stores[1].retrieve_one(&field("0", "t")).unwrap().unwrap(), b"two");
}

#[test]
fn a_late_wiper_spares_the_dataset_that_was_created_after_it() {
    for (below, script) in interrupted() {
        let (wiper, other) = (below.store(), below.store());
        archive(&wiper, &[(field("0", "t"), b"old")]);
        let store = other.clone();
        script.before(Moment::Destroy, "", move || {
            sweep(&store);
            archive(&store, &[(field("0", "t"), b"new")]);
        });
        wiper.wipe(&request("class=od"), true).unwrap();
        assert_eq!(other.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"new");
        assert_eq!(below.store().retrieve_one(&field("0", "t")).unwrap().unwrap(), b"new");
        assert_eq!(below.containers().len(), below.each());
    }
}

#[test]
fn a_maker_that_was_overtaken_takes_the_winners_dataset_and_leaves_nothing() {
    for (below, script) in interrupted() {
        let (maker, winner) = (below.store(), below.store());
        let store = winner.clone();
        script.before(Moment::Commit, "", move || archive(&store, &[(field("0", "t"), b"winner")]));
        archive(&maker, &[(field("6", "t"), b"maker")]);
        assert_eq!((listed(&winner, "").len(), below.containers().len()), (2, below.each()));
    }
}

#[test]
fn a_maker_whose_containers_were_swept_creates_the_dataset_again() {
    for (below, script) in interrupted() {
        let (maker, sweeper) = (below.store(), below.store());
        let of_maker = Arc::clone(&below);
        script.before(Moment::Commit, "", move || {
            of_maker.make_old(&of_maker.containers()[0]);
            sweep(&sweeper);
            assert!(of_maker.containers().is_empty());
        });
        archive(&maker, &[(field("0", "t"), b"late")]);
        assert_eq!(below.store().retrieve_one(&field("0", "t")).unwrap().unwrap(), b"late");
        assert_eq!((maker.status(&request("")).unwrap().len(), below.containers().len()), (1, below.each()));
        assert_eq!(listed(&maker, "").len(), 1);
    }
}

#[test]
fn a_sweeper_spares_a_dataset_that_is_listed_meanwhile() {
    for (below, script) in interrupted() {
        let (maker, sweeper) = (below.store(), below.store());
        // The dataset is made with the first field; nothing is in it before the flush.
        maker.archive(&field("0", "t"), b"slow").unwrap();
        below.make_old(&label_of(&maker));
        let entry = below.unlist();
        let of_maker = Arc::clone(&below);
        script.before(Moment::Flush, "", move || of_maker.list_again(&entry));
        sweep(&sweeper);
        // It carries the mark now, which is harmless.
        sweep(&sweeper);
        maker.flush().unwrap();
        archive(&sweeper, &[(field("6", "t"), b"six")]);
        assert_eq!((listed(&below.store(), "").len(), below.containers().len()), (2, below.each()));
    }
}

#[test]
fn a_wipe_removes_what_a_killed_maker_left_an_hour_before() {
    for layout in named(Layout::all()) {
        let (below, store) = (Below::of(&layout), layout.store());
        store.archive(&field("0", "t"), b"never flushed").unwrap();
        let label = label_of(&store);
        below.unlist();
        sweep(&layout.store());
        assert_eq!(below.containers().len(), below.each(), "it may still be being made: {}", layout.name);
        below.make_old(&label);
        sweep(&layout.store());
        assert!(below.containers().is_empty());
    }
}

#[test]
fn a_container_that_a_sweep_cannot_remove_is_removed_by_a_later_one() {
    for (below, script) in interrupted() {
        let (store, other) = (below.store(), below.store());
        for what in ["cannot be marked", "goes with another sweep"] {
            store.archive(&field("0", "t"), b"never flushed").unwrap();
            below.make_old(&label_of(&store));
            below.unlist();
            if what == "cannot be marked" {
                script.outcomes(Moment::Update, [full()]);
                sweep(&store);
                assert_eq!(below.containers().len(), below.each(), "{what}");
                sweep(&store);
            } else {
                let other = other.clone();
                script.before(Moment::Update, "", move || sweep(&other));
                sweep(&store);
            }
            assert!(below.containers().is_empty(), "{what}");
            assert_eq!(store.flush().unwrap_err().code(), "wiped", "{what}");
        }
    }
}

#[test]
fn a_sweep_leaves_containers_with_fields_copies_and_other_containers() {
    for layout in named(Layout::all()) {
        let (below, store) = (Below::of(&layout), layout.store());
        archive(&store, &[(field("0", "t"), b"of a root that forgot it")]);
        let label = label_of(&store);
        below.make_old(&label);
        below.unlist();
        // The description of a copy names the original.
        let pool = layout.registry.open_pool(&layout.config.spaces[0].catalogue).unwrap();
        pool.create_container(&"copy".parse().unwrap(), &ContainerOptions::default()).unwrap();
        let (from, copy) = (below.open(&label), below.open("copy"));
        let (from, to) = (KeyValue::new(&*from, FIRST).unwrap(), KeyValue::new(&*copy, FIRST).unwrap());
        for name in ["key", "record"] {
            to.put(name.as_bytes(), &from.get(name.as_bytes()).unwrap().unwrap()).unwrap();
        }
        to.put(b"wiped", b"").unwrap();
        copy.flush().unwrap();
        pool.create_container(&"another-0123456789abcdef".parse().unwrap(), &ContainerOptions::default())
            .unwrap();
        let before = below.containers();
        sweep(&layout.store());
        assert_eq!(below.containers(), before);
    }
}

#[test]
fn a_dataset_that_cannot_be_made_leaves_no_containers() {
    for (below, script) in interrupted() {
        let store = below.store();
        script.outcomes(Moment::Flush, [full()]);
        assert_eq!(store.archive(&field("0", "t"), b"never").unwrap_err().code(), "no-space");
        assert!(below.containers().is_empty());
        archive(&store, &[(field("0", "t"), b"now")]);
        assert_eq!((listed(&store, "").len(), below.containers().len()), (1, below.each()));
    }
}

#[test]
fn a_full_disk_does_not_keep_a_dataset_from_being_wiped() {
    for (below, script) in interrupted() {
        for fails in ["the mark", "the flush of the mark", "the removal of the root's entry"] {
            let store = below.store();
            archive(&store, &[(field("0", "t"), b"much")]);
            archive(&store, &[(with(&field("0", "t"), "class=rd"), b"stays")]);
            let of_od = label_of(&store);
            match fails {
                "the mark" => script.outcomes(Moment::Update, [full()]),
                "the flush of the mark" => script.outcomes(Moment::Flush, [full()]),
                _ => {
                    script.outcomes(Moment::Commit, [full()]);
                    script.before(Moment::Commit, "", || {});
                }
            }
            let looks = Arc::clone(&below);
            script.before(Moment::Commit, "", move || {
                assert!(!looks.containers().contains(&of_od), "{fails}: room is made before the entry goes");
            });
            store.wipe(&request("class=od"), true).unwrap();
            assert_eq!(listed(&below.store(), "").len(), 1, "{fails}");
            assert_eq!(below.containers().len(), below.each(), "{fails}");
        }
    }
}
