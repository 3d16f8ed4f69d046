//! The handle budget: how many containers a handle keeps open, and what it closes when the process may open no more files.
//!
//! A handle learns the limit of open files by meeting it, and keeps half as many containers open from then on. That leaves
//! space for the files that an engine opens in between, of which this layer knows nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Result;

/// How many datasets a handle keeps open for reading, and containers of other datasets that locations name.
const READERS_MAX: usize = 256;
/// How many datasets a handle writes at once. Beyond it, those not used for longest are flushed and closed.
const WRITERS_MAX: usize = 64;

/// The number of retries of one call.
const ATTEMPTS: u32 = 32;

/// How many handles a field store keeps open.
#[derive(Debug)]
pub(crate) struct HandleBudget {
    readers_max: AtomicUsize,
    writers_max: AtomicUsize,
}

impl Default for HandleBudget {
    fn default() -> Self {
        Self { readers_max: AtomicUsize::new(READERS_MAX), writers_max: AtomicUsize::new(WRITERS_MAX) }
    }
}

impl HandleBudget {
    pub(crate) fn readers_max(&self) -> usize {
        self.readers_max.load(Ordering::Relaxed)
    }

    pub(crate) fn writers_max(&self) -> usize {
        self.writers_max.load(Ordering::Relaxed)
    }

    /// Halves the readers after the process could open no more files.
    pub(crate) fn halve_readers(&self, open: usize) {
        self.readers_max.fetch_min((open / 2).max(1), Ordering::Relaxed);
    }

    /// Halves the writers after the process could open no more files, and returns their new maximum.
    pub(crate) fn halve_writers(&self, open: usize) -> usize {
        let max = (open / 2).max(1);
        self.writers_max.fetch_min(max, Ordering::Relaxed).min(max)
    }
}

/// Runs `act`. Each time it fails because too many files are open, calls `close_some` and, if that closed any, tries again.
pub(crate) fn retry<T>(mut act: impl FnMut() -> Result<T>, close_some: impl Fn() -> bool) -> Result<T> {
    // Each round closes half of the open handles. Other threads may open more, but not for ever.
    for _ in 0..ATTEMPTS {
        match act() {
            Err(error) if error.is_too_many_open() && close_some() => {}
            outcome => return outcome,
        }
    }
    act()
}
