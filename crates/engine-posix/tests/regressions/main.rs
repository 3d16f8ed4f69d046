//! Bugs and near misses of the posix engine: a small test each, named for what must hold.
//!
//! The conformance suite tests what every engine must do. These tests concern this engine's own files and processes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod batches;
mod checkpoints;
mod contention;
mod cut;
mod destroyed;
mod permission;
mod pools;
mod prepared;
mod purge;
mod runs;
mod snapshots;
mod staged;
mod verify;
mod work;

use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, SystemTime},
};

use isotach_engine_posix::Posix;
use isotach_object::{
    Cell, Container, ContainerOptions, Engine, Finding, KeyValue, Label, Maintenance, ObjectClass, ObjectId,
    ObjectType, Pool, PoolUri, Purged, SetAside, Verified, Verify,
};

/// A pool with one container.
struct Store {
    folder: tempfile::TempDir,
    pool: Arc<dyn Pool>,
    label: Label,
}

/// Where a long extent begins that is the first of its data file (FORMAT.md section 6).
const BEGIN: u64 = 128;
/// Verifies everything; or all but the bytes of arrays and records.
const ALL: Verify = Verify { data: true, threads: 2 };
const QUICK: Verify = Verify { data: false, threads: 1 };

impl Store {
    fn maintenance(&self) -> &dyn Maintenance {
        self.pool.maintenance().unwrap()
    }

    fn verify(&self, how: Verify) -> Verified {
        self.maintenance().verify(&self.label, how, &|_, _| ()).unwrap()
    }

    fn quarantine(&self, findings: &[Finding]) -> SetAside {
        self.maintenance().quarantine(&self.label, findings, "note").unwrap()
    }

    fn purge(&self) -> Purged {
        self.maintenance().purge(&self.label, true).unwrap()
    }

    /// Opens the container by way of another pool handle, with other options.
    fn open_with(&self, query: &str) -> Arc<dyn Container> {
        let uri = format!("posix:{}/pool{query}", self.folder.path().display()).parse().unwrap();
        Posix.open_pool(&uri).unwrap().open_container(&self.label).unwrap()
    }

    fn log(&self) -> PathBuf {
        self.path().join("log.0000000000000001")
    }

    fn data_files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path().join("data")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// `query` follows the path in the pool's URI.
    fn new(query: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), query)
    }

    /// With the keys up to `count`, in one frame each.
    fn holding(query: &str, count: u64) -> Self {
        let store = Self::new(query);
        store.put_frames(0..count);
        store
    }

    /// In memory where possible, so that checkpoints follow each other fast.
    fn in_memory(query: &str) -> Self {
        let folder = tempfile::tempdir_in(isotach_needs::folder_off_disk()).unwrap();
        Self::in_folder(folder, query)
    }

    fn in_folder(folder: tempfile::TempDir, query: &str) -> Self {
        let uri: PoolUri = format!("posix:{}/pool{query}", folder.path().display()).parse().unwrap();
        Posix.create_pool(&uri).unwrap();
        let (pool, label) = (Posix.open_pool(&uri).unwrap(), "c".parse().unwrap());
        let store = Self { folder, pool, label };
        store.pool.create_container(&store.label, &ContainerOptions::default()).unwrap();
        store
    }

    fn open(&self) -> Arc<dyn Container> {
        self.pool.open_container(&self.label).unwrap()
    }

    /// Puts frames with a handle of its own.
    fn put_frames(&self, numbers: Range<u64>) {
        put_frames(&*self.open(), numbers);
    }

    /// The value of a key, as a new handle reads it.
    fn get(&self, number: u64) -> Option<Vec<u8>> {
        entries(&*self.open()).get(&key(number)).unwrap()
    }

    /// As [`assert_holds`], with a new handle.
    fn assert_holds(&self, numbers: Range<u64>, what: &str) {
        assert_holds(&*self.open(), numbers, what);
    }

    /// Replaces the container by an empty one.
    fn replace(&self) {
        self.pool.destroy_container(&self.label).unwrap();
        self.pool.create_container(&self.label, &ContainerOptions::default()).unwrap();
    }

    /// The spans of the container's runs.
    fn spans(&self) -> Vec<Range<u64>> {
        let number = |digits: &str| u64::from_str_radix(digits, 16).unwrap();
        let span = |run: &PathBuf| {
            let name = run.file_name().unwrap().to_str().unwrap();
            number(&name[4..20])..number(&name[21..])
        };
        self.files("run.").iter().map(span).collect()
    }

    /// The container's directory.
    fn path(&self) -> PathBuf {
        self.folder.path().join("pool/containers/c")
    }

    /// The files of the container with this prefix, in order.
    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let all = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        let has_prefix = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(prefix);
        let mut files: Vec<_> = all.filter(has_prefix).collect();
        files.sort();
        files
    }
}

/// Every file below a folder, with its bytes and modification time.
fn tree(path: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::metadata(&path).unwrap();
        match metadata.is_dir() {
            true => files.extend(tree(&path)),
            false => {
                drop(files.insert(path.clone(), (fs::read(path).unwrap(), metadata.modified().unwrap())));
            }
        }
    }
    files
}

/// Changes the bytes of a file.
fn change(path: &Path, how: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    how(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn object(otype: ObjectType) -> ObjectId {
    ObjectId::new(otype, ObjectClass::S1, 0, 1)
}

fn array(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, number)
}

/// A cell of the key-value object of these tests.
fn entry(key: &[u8]) -> Cell<'_> {
    Cell::kv(object(ObjectType::KeyValue), key)
}

/// The key-value object of these tests.
fn entries(container: &dyn Container) -> KeyValue<'_> {
    KeyValue::new(container, object(ObjectType::KeyValue)).unwrap()
}

/// Keys that sort like their numbers.
fn key(number: u64) -> Vec<u8> {
    format!("key-{number:08}").into_bytes()
}

/// Puts a value and flushes it.
fn put(container: &dyn Container, number: u64, value: &[u8]) {
    entries(container).put(&key(number), value).unwrap();
    container.flush().unwrap();
}

/// Puts keys in one frame each, so that checkpoints come in between.
fn put_frames(container: &dyn Container, numbers: Range<u64>) {
    numbers.for_each(|number| put(container, number, &number.to_le_bytes()));
}

/// Checks that the container holds these keys with their numbers, and no others.
fn assert_holds(container: &dyn Container, numbers: Range<u64>, what: &str) {
    let mut expected = numbers.clone();
    let each = |found: &[u8], value: &[u8]| {
        let number = expected.next().unwrap();
        assert_eq!((found, value), (&*key(number), &number.to_le_bytes()[..]), "{what}");
        Ok::<(), isotach_object::Error>(())
    };
    entries(container).for_each(each).unwrap();
    assert_eq!(expected.next(), None, "{what}");
    for number in numbers {
        let found = entries(container).get(&key(number)).unwrap();
        assert_eq!(found, Some(number.to_le_bytes().to_vec()), "{what}");
    }
}

/// Runs `body`, and fails instead of waiting for ever if it does not end.
fn ending(what: &str, body: impl FnOnce() + Send + 'static) {
    const LONGEST: Duration = Duration::from_secs(60);
    let (done, ended) = mpsc::channel();
    let running = thread::spawn(move || {
        body();
        let _ = done.send(());
    });
    if let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(LONGEST) {
        panic!("{what}: not done after {LONGEST:?}");
    }
    running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}
