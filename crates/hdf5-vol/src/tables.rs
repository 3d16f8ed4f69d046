//! One table of functions for each libhdf5 of the process.

use std::{
    ptr,
    sync::{Mutex, OnceLock, PoisonError},
};

use crate::{abi::ConnectorClass, library::Library};

/// How many libraries one process may hold.
pub(crate) const SLOTS: usize = 9;

static TABLES: [OnceLock<Library>; SLOTS] = [const { OnceLock::new() }; SLOTS];
static CLASSES: [OnceLock<&ConnectorClass>; SLOTS] = [const { OnceLock::new() }; SLOTS];
/// What tells the libraries apart, by slot.
static ORDER: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// The library of a slot.
pub(crate) fn library(slot: usize) -> Option<&'static Library> {
    TABLES.get(slot).and_then(OnceLock::get)
}

/// The slot of a library: a free one when it comes for the first time.
pub(crate) fn enter(library: Library) -> Result<usize, String> {
    let mut order = ORDER.lock().unwrap_or_else(PoisonError::into_inner);
    let slot = order.iter().position(|key| *key == library.key()).unwrap_or(order.len());
    let table = TABLES.get(slot).ok_or("more than 9 HDF5 libraries in one process")?;
    if slot == order.len() {
        order.push(library.key());
    }
    table.get_or_init(|| library);
    Ok(slot)
}

/// The library with a key.
pub(crate) fn with_key(key: usize) -> Option<&'static Library> {
    TABLES.iter().filter_map(OnceLock::get).find(|library| library.key() == key)
}

/// Notes the class of the connector for the library of a slot.
pub(crate) fn set_class(slot: usize, class: &'static ConnectorClass) {
    if let Some(place) = CLASSES.get(slot) {
        place.get_or_init(|| class);
    }
}

/// The class of the connector for a library.
pub(crate) fn class_of(wanted: &'static Library) -> Option<*const ConnectorClass> {
    let slot = (0..SLOTS).find(|slot| library(*slot).is_some_and(|known| ptr::eq(known, wanted)))?;
    CLASSES[slot].get().map(|class| ptr::from_ref(*class))
}
