//! Room for more, where a process may have no more files open: what is open only to be quick is closed.
//!
//! A handle learns the limit by meeting it, and keeps half as much open from then on. So what an engine opens in
//! between, of which this layer knows nothing, finds room.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Result, store::Inner};

/// How many datasets a handle keeps open for reading, and containers of other datasets that locations name.
const READERS_MAX: usize = 256;
/// How many datasets a handle writes at once. Beyond it, those not used for longest are flushed and closed.
const WRITERS_MAX: usize = 64;

/// How often room is made for one call.
const ATTEMPTS: u32 = 32;

/// How much a handle keeps open.
#[derive(Debug)]
pub(crate) struct Room {
    readers_max: AtomicUsize,
    writers_max: AtomicUsize,
}

impl Default for Room {
    fn default() -> Self {
        Self { readers_max: AtomicUsize::new(READERS_MAX), writers_max: AtomicUsize::new(WRITERS_MAX) }
    }
}

impl Room {
    pub(crate) fn readers_max(&self) -> usize {
        self.readers_max.load(Ordering::Relaxed)
    }

    pub(crate) fn writers_max(&self) -> usize {
        self.writers_max.load(Ordering::Relaxed)
    }

    /// Of so many writers there was no room for another.
    pub(crate) fn halve_writers(&self, open: usize) -> usize {
        let max = (open / 2).max(1);
        self.writers_max.fetch_min(max, Ordering::Relaxed).min(max)
    }
}

impl Inner {
    /// Does what opens files. Where the process may open no more, closes half of what is open for reading and whatever
    /// holds nothing to flush, and tries again, as long as there is something to close. What it opens before it fails
    /// must not be kept by this handle, for that would be closed and opened again.
    pub(crate) fn with_room<T>(&self, mut act: impl FnMut() -> Result<T>) -> Result<T> {
        // Each time half of what is open goes; others may open more meanwhile, but not for ever.
        for _ in 0..ATTEMPTS {
            match act() {
                Err(error) if error.is_too_many_open() && self.close_some() => {}
                outcome => return outcome,
            }
        }
        act()
    }

    fn close_some(&self) -> bool {
        let open = self.readers.count();
        self.room.readers_max.fetch_min((open / 2).max(1), Ordering::Relaxed);
        self.readers.close_oldest(open / 2);
        self.containers.close() + self.writers.close_clean() + open > 0
    }
}
