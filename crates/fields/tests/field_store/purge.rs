//! Purging datasets: what is removed, what stays, and what a dry run reports.

use std::{
    collections::VecDeque,
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, Mutex},
};

use isotach_engine_kit::hooks::{PoolCall, hook_engine};
use isotach_engine_posix::Posix;
use isotach_fields::{Action, Config, FieldStore, ListOptions, PurgedDataset};
use isotach_object::{Registry, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, dies, full},
    layouts::{
        Layout, SCHEMA, archive, everywhere, field, listed, named, request, verify, where_snapshots_are, with,
    },
};

const STEPS: [&str; 3] = ["0", "6", "12"];
const ROUNDS: u8 = 4;
const LENGTH: usize = 300_000;
/// The tolerance of reported sizes, for entries of the history and blocks of files.
const LEEWAY: u64 = 200_000;

/// Every step, replaced several times by a writer that has gone.
fn replaced(layout: &Layout) -> FieldStore {
    let writer = layout.store();
    for round in 0..ROUNDS {
        let bytes = vec![round; LENGTH];
        archive(&writer, &STEPS.map(|step| (field(step, "t"), bytes.as_slice())));
    }
    drop(writer);
    layout.store()
}

fn purge(store: &FieldStore, doit: bool) -> PurgedDataset {
    let mut answer = store.purge(&request(""), doit).unwrap();
    assert!(answer.unusable.is_empty(), "{:?}", answer.unusable);
    assert_eq!(answer.found.len(), 1);
    answer.found.remove(0)
}

/// The number of fields, including replaced ones.
fn all_of(store: &FieldStore) -> usize {
    store.list(&request(""), ListOptions { duplicates: true }).unwrap().count()
}

/// The size of the containers of the only dataset.
fn size(layout: &Layout, store: &FieldStore) -> u64 {
    let status = store.status(&request("")).unwrap().remove(0);
    let mut containers = vec![status.catalogue.clone()];
    if status.store != status.catalogue {
        containers.push(status.store);
    }
    let size = |pool: &_, label| layout.registry.open_pool(pool).unwrap().container_size(label).unwrap();
    containers.iter().map(|container| size(&container.pool, &container.label)).sum()
}

/// The disk usage as `du` prints it.
fn du(path: &Path) -> u64 {
    let metadata = fs::symlink_metadata(path).unwrap();
    match metadata.is_dir() {
        true => fs::read_dir(path).unwrap().map(|entry| du(&entry.unwrap().path())).sum(),
        false => metadata.blocks() * 512,
    }
}

#[test]
fn a_dry_run_says_what_the_purge_then_frees_and_storage_agrees() {
    for layout in named(Layout::all()) {
        let (store, name) = (replaced(&layout), layout.name);
        let (size_before, du_before) = (size(&layout, &store), du(layout.folder.path()));
        let dry = purge(&store, false);
        let gone = u64::from(ROUNDS - 1) * STEPS.len() as u64;
        assert_eq!((dry.replaced_fields, dry.replaced_bytes), (gone, gone * LENGTH as u64), "{name}");
        assert_eq!((all_of(&store), dry.held), (STEPS.len() * usize::from(ROUNDS), 0), "{name}");
        assert!(dry.freed.abs_diff(dry.replaced_bytes) <= LEEWAY, "{name}: {dry:?}");
        let done = purge(&store, true);
        assert_eq!((done.replaced_fields, done.replaced_bytes), (gone, gone * LENGTH as u64), "{name}");
        assert!(done.freed.abs_diff(dry.freed) <= LEEWAY, "{name}: {dry:?} {done:?}");
        assert!(done.before.abs_diff(size_before) <= LEEWAY, "{name}: {done:?}, {size_before} before");
        let freed = size_before - size(&layout, &store);
        assert!(freed.abs_diff(done.freed) <= LEEWAY, "{name}: {freed} of {done:?}");
        if ["posix", "posix apart"].contains(&name) {
            let freed = du_before - du(layout.folder.path());
            assert!(freed.abs_diff(done.freed) <= LEEWAY, "{name}: {freed} of {done:?}");
        }
        println!("{name}: {dry:?}, then {done:?}");
        assert_eq!(all_of(&store), STEPS.len(), "{name}");
        for step in STEPS {
            let bytes = store.retrieve_one(&field(step, "t")).unwrap().unwrap();
            assert!(bytes == [ROUNDS - 1; LENGTH], "{name}");
        }
        assert!(verify(&store, false).is_sound());
        let again = purge(&store, true);
        assert!(again.replaced_fields == 0 && again.freed <= LEEWAY, "{name}: {again:?}");
    }
}

#[test]
fn adopted_files_stay_and_so_does_an_array_that_another_key_has() {
    for (layout, store) in everywhere(Layout::store) {
        let file = layout.folder.path().join("adopted");
        fs::write(&file, b"onetwo").unwrap();
        for offset in [0, 3] {
            store.adopt(&field("18", "t"), &file, offset, 3, None).unwrap();
            store.flush().unwrap();
        }
        archive(&store, &[(field("0", "t"), b"shared")]);
        let shared = store.locate(&field("0", "t")).unwrap().unwrap().location;
        store.index(&field("24", "t"), &shared).unwrap();
        archive(&store, &[(field("0", "t"), b"new")]);
        for doit in [false, true] {
            let purged = purge(&store, doit);
            assert_eq!((purged.replaced_fields, purged.replaced_bytes), (2, 0));
        }
        assert_eq!(all_of(&store), 3);
        for (step, bytes) in [("0", &b"new"[..]), ("18", b"two"), ("24", b"shared")] {
            assert_eq!(store.retrieve_one(&field(step, "t")).unwrap().unwrap(), bytes);
        }
        assert_eq!(fs::read(&file).unwrap(), b"onetwo");
    }
}

#[test]
fn what_a_snapshot_shows_stays_until_it_is_removed() {
    for (layout, store) in where_snapshots_are(replaced) {
        store.snapshot(&request(""), "before").unwrap();
        let old = vec![ROUNDS - 1; LENGTH];
        archive(&layout.store(), &STEPS.map(|step| (field(step, "t"), &b"new"[..])));
        purge(&store, true);
        assert_eq!(all_of(&store), STEPS.len());
        for step in STEPS {
            let past = layout.store().at("before").unwrap();
            assert!(past.retrieve_one(&field(step, "t")).unwrap().unwrap() == old);
            assert_eq!(store.retrieve_one(&field(step, "t")).unwrap().unwrap(), b"new");
        }
        let with_it = size(&layout, &store);
        store.remove_snapshot("before").unwrap();
        let (without_it, purged) = (size(&layout, &store), purge(&store, true));
        assert_eq!(purged.replaced_fields, 0);
        // Memory does not count what only snapshots show.
        if ["posix", "posix apart"].contains(&layout.name) {
            let freed = with_it - without_it.min(size(&layout, &store));
            assert!(freed >= (STEPS.len() * LENGTH) as u64 - LEEWAY, "{freed}, {purged:?}");
        }
    }
}

#[test]
fn locked_datasets_are_reported_and_the_others_are_purged() {
    let layout = Layout::memory();
    let store = replaced(&layout);
    let other = with(&field("0", "t"), "class=rd");
    for bytes in [b"old", b"new"] {
        archive(&store, &[(other.clone(), bytes)]);
    }
    store.control(&request("class=od"), true, &[Action::List]).unwrap();
    let answer = store.purge(&request(""), true).unwrap();
    assert_eq!((answer.found.len(), answer.found[0].replaced_fields), (1, 1));
    assert_eq!((answer.unusable.len(), answer.unusable[0].code()), (1, "locked"));
    assert!(answer.unusable[0].to_string().contains("class=od"), "{}", answer.unusable[0]);
    store.control(&request("class=od"), false, &[Action::List]).unwrap();
    store.control(&request("class=rd"), true, &[Action::Wipe]).unwrap();
    assert_eq!(store.purge(&request(""), true).unwrap_err().code(), "locked");
    assert_eq!(all_of(&store), STEPS.len() * usize::from(ROUNDS) + 1, "nothing was purged");
}

#[test]
fn a_dataset_under_another_purge_is_reported_and_the_others_are_purged() {
    let layout = Layout::posix();
    let store = replaced(&layout);
    let label = store.status(&request("")).unwrap().remove(0).catalogue.label;
    archive(&store, &[(with(&field("0", "t"), "class=rd"), b"new")]);
    let superblock = layout.folder.path().join(format!("all/containers/{label}/superblock"));
    let other_purge = fs::File::open(superblock).unwrap();
    other_purge.lock().unwrap();
    let answer = store.purge(&request(""), true).unwrap();
    let told = |dataset: &PurgedDataset| (dataset.key.get("class") == Some("rd"), dataset.replaced_fields);
    let removed = (STEPS.len() * usize::from(ROUNDS - 1)) as u64;
    assert_eq!(answer.found.iter().map(told).collect::<Vec<_>>(), [(true, 0), (false, removed)]);
    assert_eq!((answer.unusable.len(), answer.unusable[0].code()), (1, "conflict"));
    assert!(answer.unusable[0].to_string().contains("dataset class=od"), "{}", answer.unusable[0]);
    drop(other_purge);
    assert_eq!(store.purge(&request(""), true).unwrap().found.len(), 2);
}

#[test]
fn only_whole_datasets_are_purged() {
    let store = replaced(&Layout::memory());
    for below in ["class=od,step=6", "type=fc"] {
        assert!(store.purge(&request(below), true).unwrap_err().is_usage(), "{below}");
    }
    assert!(store.purge(&request("class=rd"), true).unwrap().found.is_empty());
}

/// A store in memory whose fields were replaced: a scripted handle and another one.
fn scripted(catalogue: &str, bytes: &str) -> (ScriptedStore, FieldStore) {
    let memory = Memory::new();
    let [purger, other] = [(); 2].map(|()| ScriptedStore::split(&memory, catalogue, bytes));
    for bytes in [b"old", b"new"] {
        archive(&other, &STEPS.map(|step| (field(step, "t"), &bytes[..])));
    }
    (purger, other.store)
}

#[test]
fn a_purge_killed_before_any_call_leaves_a_sound_store_for_the_next_purge() {
    for (bytes, call) in [
        ("memory:all", Moment::Update),
        ("memory:all", Moment::Flush),
        ("memory:store", Moment::Update),
        ("memory:store", Moment::Flush),
    ] {
        let mut killed = 0;
        loop {
            let (purger, other) = scripted("memory:all", bytes);
            purger.script.before_nth(killed, call, "od", || panic!("the purger dies"));
            let is_killed = dies(|| purge(&purger, true));
            let report = verify(&other, true);
            assert!(report.is_sound(), "{bytes} {call:?} {killed}: {:?}", report.parts);
            assert_eq!(listed(&other, "").len(), STEPS.len());
            for step in STEPS {
                assert_eq!(other.retrieve_one(&field(step, "t")).unwrap().unwrap(), b"new");
            }
            if !is_killed {
                break;
            }
            killed += 1;
            archive(&other, &[(field("0", "t"), b"newer")]);
            purge(&other, true);
            assert_eq!(all_of(&other), STEPS.len(), "{bytes} {call:?} {killed}");
        }
        println!("{bytes}: killed before each of {killed} calls ({call:?})");
        assert!(killed > 0, "{bytes} {call:?}");
    }
}

#[test]
fn a_purge_that_fails_still_reports_what_it_removed() {
    // Once more when the other dataset has given its room back.
    let outcomes = Mutex::new(VecDeque::from([full(), None, full()]));
    let before = move |call: PoolCall<'_>| match call {
        PoolCall::Purge(_) => outcomes.lock().unwrap().pop_front().flatten().map_or(Ok(()), Err),
        _ => Ok(()),
    };
    let registry = Registry::new().with(hook_engine(Arc::new(Posix), before, |container| container));
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("posix:{}/purge", folder.path().display());
    let config = Config::single(&uri.parse().unwrap()).with_schema(SCHEMA);
    let store = FieldStore::create(&config, &registry).unwrap();
    for class in ["class=od", "class=rd"] {
        for round in [1, 2, 3] {
            archive(&store, &[(with(&field("0", "t"), class), [round; 100].as_slice())]);
        }
    }
    let answer = store.purge(&request(""), true).unwrap();
    let codes: Vec<_> = answer.unusable.iter().map(isotach_fields::Error::code).collect();
    let told: Vec<_> = answer
        .found
        .iter()
        .map(|dataset| (dataset.key.get("class").unwrap(), dataset.replaced_fields))
        .collect();
    assert_eq!(told, [("rd", 2), ("od", 2)]);
    assert_eq!(codes, ["no-space"]);
}
