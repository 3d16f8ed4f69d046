//! From what a user says of a store to the open store: the engines, the origin of the configuration, the clock, and ecCodes for
//! overlays. Shared by the program and the languages, so that a store opens in the same way everywhere.
//!
//! What must stay true: exactly one origin names the store. What the caller names comes before the environment, and the
//! environment before files in well-known places.

mod environment;
mod origin;
mod pool_uri;

use std::{
    mem, process,
    sync::{Arc, Mutex, PoisonError},
};

use isotach_engine_daos::Daos;
use isotach_engine_posix::{Posix, PosixOnlooker};
use isotach_engine_rados::Rados;
use isotach_fields::{Config, FieldStore};
use isotach_grib::{Eccodes, JumpInfo};
use isotach_object::{Engine, PoolUri, Registry, memory::Memory};

pub use environment::{clock, from_environment, from_variables, in_known_places, no_store, text_variable};
pub use origin::Origin;
pub use pool_uri::{is_same_pool, pool_uri};

/// All engines: the same ones at each call in a process, so that stores in memory are found again, and handles on a cluster share a
/// connection. A forked child has engines of its own, since those of its parent need threads that the child does not have.
pub fn registry() -> Registry {
    static ENGINES: Mutex<Option<(u32, Registry)>> = Mutex::new(None);
    let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some((_, engines)) = engines.as_ref().filter(|(owner, _)| *owner == process) {
        return engines.clone();
    }
    let new = registry_with(Arc::new(Posix));
    // Dropping the parent's could wait for its threads.
    mem::forget(engines.replace((process, new.clone())));
    new
}

/// All engines, for a caller that must write nothing.
pub fn read_only_registry() -> Registry {
    registry_with(Arc::new(PosixOnlooker))
}

fn registry_with(posix: Arc<dyn Engine>) -> Registry {
    Registry::new()
        .with(posix)
        .with(Arc::new(Rados::new()))
        .with(Arc::new(Daos::new()))
        .with(Arc::new(Memory::new()))
}

/// The pools of a configuration.
pub fn pools(config: &Config) -> impl Iterator<Item = &PoolUri> {
    config.spaces.iter().flat_map(|space| [&space.catalogue, &space.store])
}

/// Whether a pool exists within this process only.
pub fn is_in_memory(config: &Config) -> bool {
    pools(config).any(|uri| uri.scheme() == "memory")
}

/// The longest CCSDS stream, in bytes, whose jump index is made when a message is archived. That of a longer one is made when
/// it is first used: making it would take about as long as archiving the message.
const CCSDS_MAX: usize = 4 << 10;

/// Teaches a store what it needs to know of GRIB: to set the key of an overlay in the messages below it, and to make jump indexes of
/// messages that are archived.
pub fn with_grib(store: FieldStore) -> FieldStore {
    store.relabel_with(|message, keys| Ok(Eccodes::load()?.relabel_message(message, keys.slots())?));
    store.index_messages_with(|message| Some(JumpInfo::of_short(message, CCSDS_MAX).ok()??.to_bytes()));
    store
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_in_memory_is_opened_again_in_the_same_process() {
        let config = Config::single(&"memory:again".parse().unwrap());
        drop(FieldStore::create(&config, &registry()).unwrap());
        assert!(FieldStore::open(&config, &registry()).is_ok());
    }
}
