//! More datasets, and more snapshots, than a process may open files.

use std::{
    fs::{self, File},
    path::PathBuf,
    sync::Arc,
};

use isotach_engine_posix::Posix;
use isotach_fields::{FieldStore, ListOptions, VerifyOptions};
use isotach_mars::{Key, Request};
use isotach_object::{Error, Registry};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{
    launcher::{Child, Said},
    roles::{self, say},
};

const DATASETS: u64 = 1000;
const FILES_MAX: u64 = 256;
/// Limits that handles meet at different calls.
const LIMITS: std::ops::Range<u64> = 64..80;

const COMMON: &str = "class=od,stream=oper,date=20240101,time=0000,type=fc,levtype=sfc,param=167";

fn key(dataset: u64, step: u64) -> Key {
    format!("{COMMON},expver={dataset:04},step={step}").parse().unwrap()
}

fn all(datasets: u64) -> String {
    let expvers: Vec<String> = (0..datasets).map(|dataset| format!("{dataset:04}")).collect();
    format!("{COMMON},expver={},step=0", expvers.join("/"))
}

/// Opens so many datasets and containers under a low limit, as only a careless program would.
pub(crate) fn open_many(uri: &str) {
    limit_files(FILES_MAX);
    write_and_read(uri, DATASETS);
    refuse_handles(uri);
    say(&Said::Done);
}

/// Meets the limit at various calls.
pub(crate) fn meet_limits(folder: &str) {
    for files in LIMITS {
        limit_files(files);
        let uri = format!("posix:{folder}/{files}?sync=no");
        roles::create(&uri);
        write_and_read(&uri, files);
        look_after(&uri, files);
    }
    say(&Said::Done);
}

fn limit_files(files: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum }).unwrap();
}

fn write_and_read(uri: &str, datasets: u64) {
    let store = roles::open(uri);
    for step in 0..2 {
        for dataset in 0..datasets {
            store.archive(&key(dataset, step), format!("{dataset} {step}").as_bytes()).unwrap();
        }
    }
    store.flush().unwrap();
    read_all(&store, datasets);
    read_all(&roles::open(uri), datasets);
}

/// Reads all datasets with one handle, by a request and one by one.
fn read_all(store: &FieldStore, datasets: u64) {
    let fields = store.retrieve(&all(datasets).parse().unwrap()).unwrap();
    let fields: Vec<_> = fields.map(|field| field.unwrap().bytes.to_vec()).collect();
    let expected: Vec<_> = (0..datasets).map(|dataset| format!("{dataset} 0").into_bytes()).collect();
    assert_eq!(fields, expected);
    for dataset in 0..datasets {
        let found = store.retrieve_one(&key(dataset, 1)).unwrap();
        assert_eq!(found.unwrap(), format!("{dataset} 1").into_bytes());
    }
    let listed = store.list(&"".parse().unwrap(), ListOptions::default()).unwrap();
    let listed: Vec<_> = listed.map(|field| field.unwrap().key().to_string()).collect();
    assert_eq!(listed.len() as u64, 2 * datasets);
}

/// The other operations on all datasets, each with a new handle.
fn look_after(uri: &str, datasets: u64) {
    let all: Request = "".parse().unwrap();
    assert!(roles::open(uri).axes(&all).unwrap().unusable.is_empty());
    assert_eq!(roles::open(uri).dump(&all).unwrap().found.len() as u64, datasets);
    assert_eq!(roles::open(uri).stats(&all).unwrap().found.len() as u64, datasets);
    let verified = roles::open(uri).verify(&all, VerifyOptions::default(), &|_| ()).unwrap();
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(roles::open(uri).purge(&all, true).unwrap().found.len() as u64, datasets);
    for named in ["class=od,levtype=sfc", "class=od"] {
        let wiped = roles::open(uri).wipe(&named.parse().unwrap(), true).unwrap();
        assert_eq!(wiped.datasets.len() as u64, datasets, "{named}");
    }
    assert!(roles::open(uri).stats(&all).unwrap().found.is_empty());
}

/// Has more snapshots of a dataset than files may be open: first all in the log, then as many runs.
pub(crate) fn have_snapshots(folder: &str) {
    const SNAPSHOTS: u64 = 150;
    let uri = format!("posix:{folder}/store?sync=no");
    let all: Request = "".parse().unwrap();
    roles::create(&uri);
    let store = roles::open(&uri);
    store.archive(&key(0, 0), b"first").unwrap();
    store.flush().unwrap();
    (0..SNAPSHOTS).for_each(|at| drop(store.snapshot(&all, &format!("s{at}")).unwrap()));
    drop(store);
    limit_files(LIMITS.start);
    roles::open(&uri).purge(&all, false).unwrap();
    let uri = format!("{uri}&checkpoint=256");
    let store = roles::open(&uri);
    store.archive(&key(0, 0), b"last").unwrap();
    store.flush().unwrap();
    drop(store);
    assert!(most_runs(&format!("{folder}/store/containers")) > SNAPSHOTS as usize);
    let check = || {
        let verified = roles::open(&uri).verify(&all, VerifyOptions::default(), &|_| ()).unwrap();
        assert!(verified.is_sound(), "{verified:?}");
    };
    check();
    let count = |store: &FieldStore| {
        let listed = store.list(&all, ListOptions::default()).unwrap();
        listed.collect::<Result<Vec<_>, _>>().unwrap().len()
    };
    let read = |store: &FieldStore| store.retrieve_one(&key(0, 0)).unwrap();
    let store = roles::open(&uri);
    assert_eq!((count(&store), read(&store).as_deref()), (1, Some(&b"last"[..])));
    roles::open(&uri).purge(&all, true).unwrap();
    assert_eq!(roles::open(&uri).wipe(&"class=od".parse().unwrap(), true).unwrap().datasets.len(), 1);
    let past = roles::open(&uri).at("s0").unwrap();
    assert_eq!((count(&past), read(&past).as_deref()), (1, Some(&b"first"[..])));
    (0..SNAPSHOTS).for_each(|at| roles::open(&uri).remove_snapshot(&format!("s{at}")).unwrap());
    assert!(roles::open(&uri).snapshots().unwrap().is_empty());
    check();
    say(&Said::Done);
}

/// The runs of the container with most of them.
fn most_runs(containers: &str) -> usize {
    let names = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_run = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("run.");
    names(containers.into()).map(|container| names(container).filter(is_run).count()).max().unwrap()
}

/// The number of files that may still be opened when a call starts, by a handle that has read before and has not met
/// the limit.
const LEFT: [usize; 9] = [0, 1, 2, 3, 4, 5, 6, 8, ENOUGH];
/// Enough for any call.
const ENOUGH: usize = 12;

/// Makes calls with few files left. Each may fail because of that, but must not give a wrong answer.
pub(crate) fn have_few_left(folder: &str) {
    limit_files(FILES_MAX);
    for left in LEFT {
        for (at, (call, make)) in CALLS.into_iter().enumerate() {
            let uri = format!("posix:{folder}/{left}-{at}?sync=no");
            roles::create(&uri);
            let store = roles::open(&uri);
            (0..4).for_each(|dataset| store.archive(&key(dataset, 0), &FIELD).unwrap());
            store.flush().unwrap();
            // Small, so that it is in the log, and large, so that it has a file.
            store.archive(&key(0, 1), &FIELD[..10]).unwrap();
            let taken = take_all_but(left);
            let told = make(&store);
            drop(taken);
            if let Err(error) = told {
                assert_eq!(error.code(), "too-many-open", "{call} with {left} left: {error}");
                assert!(left < ENOUGH, "{call} with {left} left: {error}");
            }
            check_after(call, &roles::open(&uri), left);
            store.flush().unwrap();
        }
    }
    say(&Said::Done);
}

const FIELD: [u8; 9000] = [7; 9000];

/// Opens files until so many more may be.
fn take_all_but(left: usize) -> Vec<File> {
    let mut taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    taken.truncate(taken.len().saturating_sub(left));
    taken
}

/// A call, by its name.
type Call = (&'static str, fn(&FieldStore) -> Result<(), isotach_fields::Error>);

const CALLS: [Call; 10] = [
    ("archive", |store| store.archive(&key(9, 0), &FIELD)),
    ("flush", FieldStore::flush),
    ("retrieve", |store| {
        for field in store.retrieve(&all(4).parse().unwrap())? {
            assert_eq!(*field?.bytes, FIELD);
        }
        Ok(())
    }),
    ("retrieve one", |store| {
        assert_eq!(store.retrieve_one(&key(1, 0))?.as_deref(), Some(&FIELD[..]));
        Ok(())
    }),
    ("list", |store| {
        let listed = store.list(&everything(), ListOptions::default())?.collect::<Result<Vec<_>, _>>()?;
        assert_eq!(listed.len(), 4);
        Ok(())
    }),
    ("verify", |store| {
        let options = VerifyOptions { data: true, ..VerifyOptions::default() };
        let report = store.verify(&everything(), options, &|_| ())?;
        assert!(report.is_sound(), "{report:?}");
        Ok(())
    }),
    ("purge", |store| store.purge(&everything(), true).map(drop)),
    ("wipe", |store| store.wipe(&"class=od,expver=0001/0002".parse().unwrap(), true).map(drop)),
    ("wipe collocations", |store| {
        store.wipe(&"expver=0001/0002,levtype=sfc".parse().unwrap(), true).map(drop)
    }),
    ("snapshot", |store| store.snapshot(&everything(), "past").map(drop)),
];

fn everything() -> Request {
    "class=od".parse().unwrap()
}

/// Whatever a call returned, each dataset is whole, or removed by a wipe.
fn check_after(call: &str, store: &FieldStore, left: usize) {
    let report = store.verify(&"".parse().unwrap(), VerifyOptions::default(), &|_| ()).unwrap();
    assert!(report.is_sound(), "{call} with {left} left: {report:?}");
    for dataset in 0..4 {
        let found = store.retrieve_one(&key(dataset, 0)).unwrap();
        let may_be_gone = call.starts_with("wipe") && [1, 2].contains(&dataset);
        let is_right = found.as_deref().map_or(may_be_gone, |found| *found == FIELD);
        assert!(is_right, "{call} with {left} left: dataset {dataset}");
    }
}

/// A caller that keeps every container open gets an error that says so, and can continue with the open ones.
fn refuse_handles(uri: &str) {
    let pool = Registry::new().with(Arc::new(Posix)).open_pool(&uri.parse().unwrap()).unwrap();
    let mut open = Vec::new();
    let refused = loop {
        match pool.open_container(&"root".parse().unwrap()) {
            Ok(container) => open.push(container),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::TooManyOpen { .. }), "{refused:?}");
    assert!(refused.to_string().contains("ulimit -n"), "{refused}");
    assert!(open.len() as u64 > FILES_MAX / 8, "only {} were opened", open.len());
    open[0].epoch().unwrap();
    open.truncate(1);
    pool.open_container(&"root".parse().unwrap()).unwrap();
}

/// Runs a role in a folder of its own.
fn run_in_folder(role: &str) {
    let folder = tempfile::tempdir().unwrap();
    Child::start(&format!("{role} {}", folder.path().display())).expect(&Said::Done);
}

#[test]
fn a_handle_uses_a_thousand_datasets_where_a_process_may_open_256_files() {
    let (_folder, uri) = roles::new_store("sync=no");
    Child::start(&format!("limited {uri}")).expect(&Said::Done);
}

#[test]
fn a_handle_goes_on_after_any_call_meets_the_limit_of_open_files() {
    run_in_folder("limits");
}

#[test]
fn a_call_with_few_file_descriptors_left_gives_no_wrong_answer() {
    run_in_folder("few-left");
}

#[test]
fn a_dataset_has_more_snapshots_than_a_process_may_open_files() {
    run_in_folder("snapshots");
}
