//! The engine: pools made, opened and destroyed. A pool is a folder with a file that says so.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_object::{Capabilities, Engine, Error, Pool, PoolUri, Result};

use crate::{
    file::{self, failed},
    pool::DirectoryPool,
};

/// The scheme of the engine's URIs.
pub(crate) const SCHEME: &str = "directory";
/// Marks a folder as a pool.
const MARK: &str = "pool";

/// What was flushed outlives the process; objects are listed by their names and entries come from sorted maps.
pub(crate) const CAPABILITIES: Capabilities = Capabilities {
    transactions: false,
    history: false,
    prepared_transactions: false,
    holes: false,
    snapshots: false,
    redundancy: false,
    ordered_listing: true,
    ordered_updates: true,
    pending_reads: false,
    lent_reads: false,
    multi_process: false,
    permissions: false,
    persistent: true,
};

/// An engine over folders: `directory:/path`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Directory;

fn root(uri: &PoolUri) -> Result<PathBuf> {
    if uri.scheme() != SCHEME || uri.path().is_empty() {
        return Err(Error::invalid(format!("store {uri}"), "a URI such as directory:/path"));
    }
    uri.check_options(&[])?;
    Ok(PathBuf::from(uri.path()))
}

fn check_is_pool(root: &Path, uri: &PoolUri) -> Result<()> {
    match (root.join(MARK).is_file(), root.exists()) {
        (true, _) => Ok(()),
        (false, true) => Err(Error::invalid(format!("pool {uri}"), "a folder made by this engine")),
        (false, false) => Err(Error::not_found(format!("pool {uri}"))),
    }
}

impl Engine for Directory {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        let root = root(uri)?;
        fs::create_dir(&root).map_err(failed("create", &root))?;
        DirectoryPool::make_folders(&root)?;
        file::write(&root.join(MARK), SCHEME.as_bytes())?;
        file::sync(&root)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let root = root(uri)?;
        check_is_pool(&root, uri)?;
        Ok(Arc::new(DirectoryPool::new(uri.clone(), root)))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        let root = root(uri)?;
        check_is_pool(&root, uri)?;
        fs::remove_dir_all(&root).map_err(failed("remove", &root))
    }
}
