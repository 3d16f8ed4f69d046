//! From a URI's scheme to its engine.

use std::{collections::BTreeMap, sync::Arc};

use crate::{Engine, Error, Pool, PoolUri, Result};

/// The engines a program has, filled by plain calls at start-up.
///
/// ```
/// use std::sync::Arc;
/// use isotach_object::{Registry, memory::Memory};
/// let registry = Registry::new().with(Arc::new(Memory::new()));
/// assert!(registry.engine("memory").is_ok());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    engines: BTreeMap<&'static str, Arc<dyn Engine>>,
}

impl Registry {
    /// No engines.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an engine under its scheme; a later one with the same scheme replaces it.
    #[must_use]
    pub fn with(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engines.insert(engine.scheme(), engine);
        self
    }

    /// The engine of a scheme.
    ///
    /// # Errors
    /// `InvalidInput` names the schemes there are.
    pub fn engine(&self, scheme: &str) -> Result<&Arc<dyn Engine>> {
        let schemes = || self.engines.keys().copied().collect::<Vec<_>>().join(", ");
        self.engines
            .get(scheme)
            .ok_or_else(|| Error::invalid(format!("engine {scheme:?}"), format!("one of: {}", schemes())))
    }

    /// Opens the pool that a URI names.
    ///
    /// # Errors
    /// As [`Registry::engine`] and [`Engine::open_pool`].
    pub fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        self.engine(uri.scheme())?.open_pool(uri)
    }
}
