//! A pool in memory: a map from label to container.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use super::{CAPABILITIES, SCHEME, container::MemoryContainer, lock, state::State};
use crate::{
    Capabilities, Container, ContainerOptions, Error, Label, NewRights, Pool, PoolFacets, PoolUri, PoolUsage,
    Result,
};

/// A pool. Containers that were destroyed live on in the handles that are open on them, unseen by others.
#[derive(Debug)]
pub(super) struct MemoryPool {
    uri: PoolUri,
    containers: Mutex<BTreeMap<Label, Arc<Mutex<State>>>>,
}

impl MemoryPool {
    pub(super) fn new(uri: PoolUri) -> Self {
        Self { uri, containers: Mutex::default() }
    }

    fn find(&self, label: &Label) -> Result<Arc<Mutex<State>>> {
        lock(&self.containers).get(label).cloned().ok_or_else(|| self.not_found(label))
    }

    fn not_found(&self, label: &Label) -> Error {
        Error::not_found(format!("container {label} in pool {}", self.uri))
    }
}

impl Pool for MemoryPool {
    fn uri(&self) -> &PoolUri {
        &self.uri
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> PoolFacets<'_> {
        PoolFacets::none(SCHEME)
    }

    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()> {
        if options.rights != NewRights::default() {
            let what = "rights: what is in memory is of one process, and so of one user".to_owned();
            return Err(Error::Unsupported { engine: SCHEME, what });
        }
        let mut containers = lock(&self.containers);
        if containers.contains_key(label) {
            return Err(Error::AlreadyExists { what: format!("container {label} in pool {}", self.uri) });
        }
        let state = Arc::default();
        MemoryContainer::new(label.clone(), Arc::clone(&state)).update(options.updates)?;
        containers.insert(label.clone(), state);
        Ok(())
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok(Arc::new(MemoryContainer::new(label.clone(), self.find(label)?)))
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        let removed = lock(&self.containers).remove(label);
        removed.map(drop).ok_or_else(|| self.not_found(label))
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        Ok(lock(&self.containers).keys().cloned().collect())
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        Ok(lock(&*self.find(label)?).stored_bytes())
    }

    /// Memory has no bound of its own here, so the total is the largest number there is.
    fn usage(&self) -> Result<PoolUsage> {
        let used = lock(&self.containers).values().map(|state| lock(state).stored_bytes()).sum();
        Ok(PoolUsage { total: u64::MAX, free: u64::MAX - used, used })
    }
}
