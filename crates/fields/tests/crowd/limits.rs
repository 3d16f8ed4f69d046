//! More datasets than a process may have files open.

use std::sync::Arc;

use isotach_engine_posix::Posix;
use isotach_fields::{FieldStore, ListOptions};
use isotach_mars::Key;
use isotach_object::{Error, Registry};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::{
    cast::{Child, Said},
    roles::{self, say},
};

const DATASETS: u64 = 1000;
const FILES_MAX: u64 = 256;

fn key(dataset: u64, step: u64) -> Key {
    let text = "class=od,stream=oper,date=20240101,time=0000,type=fc,levtype=sfc,param=167";
    format!("{text},expver={dataset:04},step={step}").parse().unwrap()
}

fn all(datasets: u64) -> String {
    let expvers: Vec<String> = (0..datasets).map(|dataset| format!("{dataset:04}")).collect();
    let text = "class=od,stream=oper,date=20240101,time=0000,type=fc,levtype=sfc,param=167";
    format!("{text},expver={},step=0", expvers.join("/"))
}

/// Has so many datasets and containers open, with a low limit, as only a careless program would.
pub(crate) fn open_many(uri: &str) {
    let limit = Rlimit { current: Some(FILES_MAX), maximum: Some(FILES_MAX) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let store = roles::open(uri);
    for step in 0..2 {
        for dataset in 0..DATASETS {
            store.archive(&key(dataset, step), format!("{dataset} {step}").as_bytes()).unwrap();
        }
    }
    store.flush().unwrap();
    read_all(&store);
    read_all(&roles::open(uri));
    refuse_handles(uri);
    say(&Said::Done);
}

/// Reads them all with one handle, by a request and one by one.
fn read_all(store: &FieldStore) {
    let fields = store.retrieve(&all(DATASETS).parse().unwrap()).unwrap();
    let fields: Vec<_> = fields.map(|field| field.unwrap().bytes.to_vec()).collect();
    let expected: Vec<_> = (0..DATASETS).map(|dataset| format!("{dataset} 0").into_bytes()).collect();
    assert_eq!(fields, expected);
    for dataset in 0..DATASETS {
        let found = store.retrieve_one(&key(dataset, 1)).unwrap();
        assert_eq!(found, Some(format!("{dataset} 1").into_bytes()));
    }
    let listed = store.list(&"".parse().unwrap(), ListOptions::default()).unwrap();
    let listed: Vec<_> = listed.map(|field| field.unwrap().key().to_string()).collect();
    assert_eq!(listed.len() as u64, 2 * DATASETS);
}

/// Who keeps every container open is told what the matter is, and can go on with those that are open.
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

#[test]
fn a_handle_uses_a_thousand_datasets_where_a_process_may_open_256_files() {
    let folder = tempfile::tempdir().unwrap();
    let uri = format!("posix:{}/store?sync=no", folder.path().display());
    roles::create(&uri);
    Child::start(&format!("limited {uri}")).expect(&Said::Done);
}
