//! A pool in memory: a map from label to container.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use super::{CAPABILITIES, SCHEME, container::MemoryContainer, lock, state::State};
use crate::{
    Acl, Capabilities, Container, Error, Finding, Label, NewRights, Pool, PoolUri, PoolUsage, Property,
    Purged, Result, Rights, RightsChange, SetAside, Update, Verified, Verify, VerifyProgress,
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

fn no_rights() -> Error {
    let what = "rights: what is in memory is of one process, and so of one user".to_owned();
    Error::Unsupported { engine: SCHEME, what }
}

impl Pool for MemoryPool {
    fn uri(&self) -> &PoolUri {
        &self.uri
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn create_container(&self, label: &Label) -> Result<()> {
        self.create_container_with(label, &NewRights::default(), &[])
    }

    /// All that is in memory is of one process, and so of one user.
    fn create_container_with(&self, label: &Label, rights: &NewRights, updates: &[Update<'_>]) -> Result<()> {
        if *rights != NewRights::default() {
            return Err(no_rights());
        }
        let mut containers = lock(&self.containers);
        if containers.contains_key(label) {
            return Err(Error::AlreadyExists { what: format!("container {label} in pool {}", self.uri) });
        }
        let state = Arc::default();
        MemoryContainer::new(label.clone(), Arc::clone(&state)).update(updates)?;
        containers.insert(label.clone(), state);
        Ok(())
    }

    fn rights(&self, label: &Label) -> Result<Rights> {
        self.find(label)?;
        Err(no_rights())
    }

    fn set_rights(&self, label: &Label, _: &RightsChange) -> Result<Rights> {
        self.rights(label)
    }

    fn admit(&self, _: &Acl) -> Result<()> {
        Err(no_rights())
    }

    fn properties(&self, label: &Label) -> Result<Vec<Property>> {
        self.find(label).map(|_| Vec::new())
    }

    fn set_properties(&self, label: &Label, _: &[Property]) -> Result<()> {
        self.find(label)?;
        Err(Error::Unsupported {
            engine: SCHEME,
            what: "properties of containers beyond the model".to_owned(),
        })
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

    /// Nothing in memory is stored with a checksum, so there is nothing to find.
    fn verify_container(&self, label: &Label, _: Verify, _: VerifyProgress<'_>) -> Result<Verified> {
        self.find(label).map(|_| Verified::default())
    }

    fn set_aside(&self, label: &Label, _: &[Finding], _: &str) -> Result<SetAside> {
        self.find(label)?;
        Err(Error::Unsupported {
            engine: "memory",
            what: "setting aside: it would be gone with the process".to_owned(),
        })
    }

    /// Memory holds nothing that was replaced.
    fn purge_container(&self, label: &Label, _: bool) -> Result<Purged> {
        Ok(Purged { before: self.container_size(label)?, ..Purged::default() })
    }

    /// Memory has no bound of its own here, so the total is the largest number there is.
    fn usage(&self) -> Result<PoolUsage> {
        let used = lock(&self.containers).values().map(|state| lock(state).stored_bytes()).sum();
        Ok(PoolUsage { total: u64::MAX, free: u64::MAX - used, used })
    }
}
