//! Bugs and near misses of the posix engine: a small test each, named for what must hold.
//!
//! The conformance suite tests what every engine must do. These tests concern this engine's own files and processes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

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
    fs,
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use isotach_engine_posix::Posix;
use isotach_object::{
    Container, ContainerOptions, Engine, Finding, KeyValue, Label, Maintenance, ObjectClass, ObjectId,
    ObjectType, Pool, PoolUri, Purged, SetAside, Verified, Verify,
};

/// A pool with one container.
struct Store {
    folder: tempfile::TempDir,
    pool: Arc<dyn Pool>,
    label: Label,
}

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

    /// In memory where possible, so that checkpoints follow each other fast.
    fn in_memory(query: &str) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::in_folder(folder.unwrap(), query)
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

    /// The container's directory.
    fn path(&self) -> PathBuf {
        self.folder.path().join("pool/containers/c")
    }

    /// The files of the container with this prefix, in order.
    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap());
        let mut files: Vec<_> = entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path())
            .collect();
        files.sort();
        files
    }
}

fn object(otype: ObjectType) -> ObjectId {
    ObjectId::new(otype, ObjectClass::S1, 0, 1)
}

/// The key-value object of these tests.
fn entries(container: &dyn Container) -> KeyValue<'_> {
    KeyValue::new(container, object(ObjectType::KeyValue)).unwrap()
}

/// Keys that sort like their numbers.
fn key(number: u64) -> Vec<u8> {
    format!("key-{number:08}").into_bytes()
}

/// Puts keys in one frame each, so that checkpoints come in between.
fn put_frames(container: &dyn Container, numbers: std::ops::Range<u64>) {
    for number in numbers {
        entries(container).put(&key(number), &number.to_le_bytes()).unwrap();
        container.flush().unwrap();
    }
}

/// Checks that the container holds these keys with their numbers, and no others.
fn assert_holds(container: &dyn Container, numbers: std::ops::Range<u64>, what: &str) {
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
