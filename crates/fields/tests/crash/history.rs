//! The history of a store on a simulated disk, and the states that may be visible after a power failure.

use std::{collections::BTreeMap, sync::Arc};

use isotach_engine_posix::simulation::SimulatedDisk;

use crate::workload::Places;

/// The bytes of fields by their keys.
pub(crate) type Fields = BTreeMap<String, Arc<[u8]>>;
/// What a snapshot shows of each dataset; datasets without fields are left out.
pub(crate) type Shown = BTreeMap<String, Fields>;

/// The states of one object, in order.
pub(crate) struct States<T> {
    /// Each with the number of changes of the disk before it began.
    begun: Vec<(usize, T)>,
    /// The number of durable states after a number of changes.
    durable: Vec<(usize, usize)>,
}

impl<T> Default for States<T> {
    fn default() -> Self {
        Self { begun: Vec::new(), durable: Vec::new() }
    }
}

impl<T: Clone + Default> States<T> {
    pub(crate) fn newest(&self) -> T {
        self.begun.last().map(|(_, state)| state.clone()).unwrap_or_default()
    }

    /// Adds a state that began after so many changes.
    pub(crate) fn begin(&mut self, changes: usize, state: T) {
        self.begun.push((changes, state));
    }

    /// Marks all states so far as durable after so many changes.
    pub(crate) fn flushed(&mut self, changes: usize) {
        self.durable.push((changes, self.begun.len()));
    }

    /// The states that may be visible if power fails after so many changes.
    pub(crate) fn possible(&self, changes: usize) -> impl Iterator<Item = T> {
        let durable = self.durable.iter().filter(|(at, _)| *at <= changes);
        let least = durable.map(|(_, states)| *states).max().unwrap_or(0);
        let most = self.begun.iter().filter(|(begun, _)| *begun < changes).count();
        (least..=most.max(least)).map(|states| match states.checked_sub(1) {
            Some(last) => self.begun[last].1.clone(),
            None => T::default(),
        })
    }
}

/// A workload that was run.
pub(crate) struct History {
    pub(crate) seed: u64,
    pub(crate) places: Places,
    pub(crate) disk: SimulatedDisk,
    /// The number of changes that created the store.
    pub(crate) made: usize,
    pub(crate) datasets: BTreeMap<String, States<Fields>>,
    /// By name; `None` where there is no snapshot.
    pub(crate) snapshots: BTreeMap<String, States<Option<Shown>>>,
}
