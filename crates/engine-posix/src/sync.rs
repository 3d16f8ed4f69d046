//! What threads of one process share: the locks and atomics of the standard library, or, behind the feature `schedules`, those
//! of a scheduler that tries orders in which threads could run.
//!
//! What must stay true: whatever threads share of the engine is from here, or is changed between two uses of what is. The
//! verification of a container is not, since its threads share only what they count.

#[cfg(not(feature = "schedules"))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize},
};

#[cfg(feature = "schedules")]
pub(crate) use shuttle::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize},
};
