//! Locks and atomics that the threads of one process share: those of the standard library, or, behind the feature `schedules`, those of a
//! scheduler that tries orders of threads.
//!
//! What must stay true: everything in the engine that threads share is from here, or changes between two uses of what is. The verification
//! of a container is an exception: its threads share only counters.

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
