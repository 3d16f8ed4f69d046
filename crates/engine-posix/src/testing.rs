//! A pool with one container, for unit tests.

use std::path::PathBuf;

use isotach_object::{ContainerOptions, Engine, Label, Pool, PoolUri};

use crate::{Posix, handle::PosixContainer, io::disk, options, pool::PosixPool};

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    pub(crate) pool: PosixPool,
    pub(crate) label: Label,
}

impl Fixture {
    /// `query` follows the path in the pool's URI.
    pub(crate) fn new(query: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let uri: PoolUri = format!("posix:{}/pool{query}", folder.path().display()).parse().unwrap();
        Posix.create_pool(&uri).unwrap();
        let (root, options) = options::parse(&uri).unwrap();
        let pool = PosixPool::open(&disk::system(), &uri, root, options).unwrap();
        let label: Label = "c".parse().unwrap();
        pool.create_container(&label, &ContainerOptions::default()).unwrap();
        Self { folder, pool, label }
    }

    /// The container's directory.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("pool/containers/c")
    }

    /// A handle on the container.
    pub(crate) fn handle(&self) -> PosixContainer {
        PosixContainer::new(self.label.clone(), self.pool.open_storage(&self.path()).unwrap()).unwrap()
    }
}
