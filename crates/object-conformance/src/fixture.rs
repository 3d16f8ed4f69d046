//! What the suite needs to know of an engine's surroundings: where to create pools, and how to inject faults.

use std::sync::Arc;

use isotach_object::{Container, Engine, PoolUri};

/// The surroundings of one test. Each case creates its own, and so does each process that a case starts.
pub trait Fixture: Send + Sync {
    /// A new engine value, as a program creates one when it starts. Where nothing outlives the value (an
    /// engine that is not [`isotach_object::Capabilities::persistent`]), one that sees the same pools.
    fn engine(&self) -> Arc<dyn Engine>;

    /// A URI where no pool exists yet. The pool is removed when the fixture is dropped.
    fn fresh_pool(&self) -> PoolUri;

    /// The hooks that inject faults, if any exist.
    fn faults(&self) -> Option<&dyn Faults> {
        None
    }
}

/// The hooks of [`Faults`] that work. The cases of the others are skipped by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultSet {
    /// [`Faults::corrupt_stored`] works.
    pub corruption: bool,
    /// [`Faults::crash`] works.
    pub crash: bool,
    /// [`Faults::fill_up`] and [`Faults::make_room`] work.
    pub out_of_space: bool,
}

/// Injects faults into the storage of an engine. A hook that [`Faults::set`] does not name is never called.
pub trait Faults: Send + Sync {
    /// The hooks that work.
    fn set(&self) -> FaultSet;

    /// Flips one bit in every stored copy of these bytes in the pool, behind the engine. Returns false when the bytes were not
    /// found.
    fn corrupt_stored(&self, uri: &PoolUri, needle: &[u8]) -> bool;

    /// Ends a handle as the death of its process would: no held back update is written, and no destructor runs. Writes that the
    /// operating system has accepted stay.
    fn crash(&self, container: Arc<dyn Container>) {
        std::mem::forget(container);
    }

    /// Leaves less than 1 MiB of space for the pool's data.
    fn fill_up(&self, uri: &PoolUri);

    /// Undoes [`Faults::fill_up`].
    fn make_room(&self, uri: &PoolUri);
}
