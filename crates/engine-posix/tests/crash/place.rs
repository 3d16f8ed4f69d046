//! A container on a simulated disk.

use std::sync::Arc;

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_object::{
    Container, ContainerOptions, KeyValue, Label, ObjectClass, ObjectId, ObjectType, Pool, PoolUri, Purged,
    Result, Snapshots, Verified, Verify,
};

/// The key-value object of these tests.
pub(crate) fn index() -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1)
}

pub(crate) fn values(container: &dyn Container) -> KeyValue<'_> {
    KeyValue::new(container, index()).unwrap()
}

pub(crate) fn label() -> Label {
    "c".parse().unwrap()
}

/// The snapshots of a container.
pub(crate) fn snapshots(container: &dyn Container) -> &dyn Snapshots {
    container.snapshots().unwrap()
}

/// A pool on a disk, with one container.
pub(crate) struct TestPool {
    pub(crate) disk: SimulatedDisk,
    pub(crate) pool: Arc<dyn Pool>,
    uri: PoolUri,
}

impl TestPool {
    /// On a new disk.
    pub(crate) fn new(uri: &str) -> Self {
        let disk = SimulatedDisk::new();
        disk.engine().create_pool(&uri.parse().unwrap()).unwrap();
        let place = Self::on(disk, uri);
        place.pool.create_container(&label(), &ContainerOptions::default()).unwrap();
        place
    }

    /// On a disk that has the pool already.
    pub(crate) fn on(disk: SimulatedDisk, uri: &str) -> Self {
        let uri = uri.parse().unwrap();
        Self { pool: disk.engine().open_pool(&uri).unwrap(), disk, uri }
    }

    /// After a power failure that follows this many changes.
    pub(crate) fn after_crash(&self, changes: usize, loss: Loss) -> Self {
        Self::on(self.disk.after_crash(changes, loss), &self.uri.to_string())
    }

    pub(crate) fn open(&self) -> Arc<dyn Container> {
        self.pool.open_container(&label()).unwrap()
    }

    /// Puts values under these keys by a handle of its own, which flushes once.
    pub(crate) fn put(&self, keys: impl IntoIterator<Item = u64>, value: impl Fn(u64) -> Vec<u8>) {
        let container = self.open();
        for key in keys {
            values(&*container).put(&key.to_le_bytes(), &value(key)).unwrap();
        }
        container.flush().unwrap();
    }

    pub(crate) fn try_purge(&self, carry_out: bool) -> Result<Purged> {
        self.pool.maintenance()?.purge(&label(), carry_out)
    }

    pub(crate) fn purge(&self) -> Purged {
        self.try_purge(true).unwrap()
    }

    pub(crate) fn verify(&self) -> Verified {
        let how = Verify { data: true, threads: 1 };
        self.pool.maintenance().unwrap().verify(&label(), how, &|_, _| ()).unwrap()
    }

    /// The lengths of the files whose paths contain this.
    pub(crate) fn lengths(&self, part: &str) -> Vec<u64> {
        let files = self.disk.files().into_iter();
        files.filter(|(path, _)| path.to_string_lossy().contains(part)).map(|(_, length)| length).collect()
    }
}
