//! The state of the library in a process: open handles, events, the log, and error numbers.
//!
//! What must stay true: a handle names one value until it is closed, and nothing afterwards.

pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod globals;
pub(crate) mod handles;
pub(crate) mod log;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what no panic can leave half changed.
pub(crate) fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
