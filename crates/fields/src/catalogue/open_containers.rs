//! The containers that locations name and a handle keeps open.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use isotach_object::Container;

use crate::{catalogue::location::ContainerUri, sync::lock};

/// Containers that locations name, opened once.
#[derive(Debug, Default)]
pub(crate) struct OpenContainers(Mutex<HashMap<Arc<ContainerUri>, Arc<dyn Container>>>);

impl OpenContainers {
    pub(crate) fn get(&self, uri: &ContainerUri) -> Option<Arc<dyn Container>> {
        lock(&self.0).get(uri).cloned()
    }

    /// Keeps a handle, up to `max` of them. A label is never used again, so a handle is never out of date.
    pub(crate) fn keep(&self, uri: &Arc<ContainerUri>, container: &Arc<dyn Container>, max: usize) {
        let mut open = lock(&self.0);
        if open.len() >= max {
            open.clear();
        }
        open.insert(Arc::clone(uri), Arc::clone(container));
    }

    /// Closes all unused handles, and returns their number.
    pub(crate) fn close(&self) -> usize {
        std::mem::take(&mut *lock(&self.0)).len()
    }

    /// Drops the handle on a container.
    pub(crate) fn forget(&self, uri: &ContainerUri) {
        lock(&self.0).remove(uri);
    }
}
