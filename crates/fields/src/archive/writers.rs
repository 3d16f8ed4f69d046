//! The writers of a handle, one for each dataset: opened for a dataset's first field, evicted when others need handles.
//!
//! What must stay true: a writer that holds fields stays in the list that `flush` visits until it has flushed or
//! reported them. A loss during an eviction, or beside another failure, is kept for the next `flush`. So `archive`
//! fails only for its own field, and each loss is reported.
//!
//! A handle keeps few writers open, whatever fails. A writer that cannot be flushed stays, up to a limit beyond which
//! no further dataset is accepted. The memory of a writer's entries is bounded only by how much is archived between two
//! flushes.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{Error, Result, archive::writer::DatasetWriter, sync::lock};

/// The most datasets that a handle writes while evictions fail. Each keeps files open.
const WRITERS_HELD_MAX: usize = 128;

/// The datasets that a handle is writing.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    /// Sorted, so that the same calls have the same effects on a device.
    open: RwLock<BTreeMap<Box<str>, Arc<DatasetWriter>>>,
    /// Held while a writer is opened, so that no dataset has two.
    pub(super) opening: Mutex<()>,
    uses: AtomicU64,
    /// Losses that no `flush` has reported yet. Each flush reports one.
    losses: Mutex<VecDeque<Error>>,
}

impl Writers {
    pub(super) fn get(&self, text: &str) -> Option<Arc<DatasetWriter>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let writer = open.get(text)?;
        self.touch(writer);
        Some(Arc::clone(writer))
    }

    pub(crate) fn all(&self) -> Vec<Arc<DatasetWriter>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(super) fn insert(&self, text: &str, writer: &Arc<DatasetWriter>) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(text.into(), Arc::clone(writer));
    }

    /// Closes a writer, so that the next field of its dataset opens another. A writer that holds fields is not closed,
    /// because they must be flushed or reported first. False if it holds fields or is being flushed: other flushes must
    /// find it and wait for it.
    pub(super) fn close(&self, writer: &Arc<DatasetWriter>) -> bool {
        let flush = writer.flushing.try_lock();
        let is_flushing = matches!(flush, Err(TryLockError::WouldBlock));
        let mut state = lock(&writer.state);
        if !state.is_closed && (is_flushing || !state.batch.is_empty()) {
            return false;
        }
        state.is_closed = true;
        drop(state);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let text = &*writer.dataset.entry.text;
        if open.get(text).is_some_and(|there| Arc::ptr_eq(there, writer)) {
            open.remove(text);
        }
        true
    }

    /// Closes the writers of wiped datasets: their open files take space on the disk.
    pub(super) fn close_wiped(&self) {
        let is_wiped = |writer: &Arc<DatasetWriter>| matches!(writer.same_incarnation(), Ok(None));
        for writer in self.all().into_iter().filter(is_wiped) {
            self.close(&writer);
        }
    }

    /// Closes writers that hold no fields, and returns their number.
    pub(crate) fn close_clean(&self) -> usize {
        self.all().iter().filter(|writer| self.close(writer)).count()
    }

    /// Evicts writers until fewer than `max` are left. Fails if no further writer may be opened.
    pub(super) fn evict(&self, max: usize, evictions: usize) -> Result<()> {
        for _ in 0..evictions {
            let all = self.all();
            let oldest = all.iter().min_by_key(|writer| writer.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.filter(|_| all.len() >= max) else { return Ok(()) };
            match oldest.flush() {
                Ok(()) => {}
                Err(error @ (Error::Lost { .. } | Error::Wiped { .. })) => {
                    self.losses().push_back(error);
                }
                Err(error) if all.len() >= WRITERS_HELD_MAX => return Err(error),
                // The writer keeps its fields.
                Err(_) => {}
            }
            // Evict another one next time.
            if !self.close(oldest) {
                self.touch(oldest);
            }
        }
        Ok(())
    }

    /// Losses that no `flush` has reported yet.
    pub(crate) fn losses(&self) -> MutexGuard<'_, VecDeque<Error>> {
        lock(&self.losses)
    }

    fn touch(&self, writer: &DatasetWriter) {
        writer.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }
}
