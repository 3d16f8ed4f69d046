//! What the suite needs to know of an engine's surroundings: where pools may be made, and how to do harm.

use std::sync::Arc;

use isotach_object::{Container, Engine, PoolUri};

/// The surroundings of one test. Made anew for each case, and again in each process that a case starts.
pub trait Fixture: Send + Sync {
    /// A new engine value, as a program makes one when it starts. Where nothing outlives the value (an
    /// engine that is not [`isotach_object::Capabilities::persistent`]), one that sees the same pools.
    fn engine(&self) -> Arc<dyn Engine>;

    /// A URI where no pool exists yet. What is made there is cleaned up when the fixture is dropped.
    fn fresh_pool(&self) -> PoolUri;

    /// The hooks that do harm to what the engine stored, if there are any.
    fn faults(&self) -> Option<&dyn Faults>;
}

/// Which hooks of [`Faults`] work. The cases of the others are skipped, and say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultSet {
    /// [`Faults::corrupt_stored`] works.
    pub corruption: bool,
    /// [`Faults::crash`] works.
    pub crash: bool,
    /// [`Faults::fill_up`] and [`Faults::make_room`] work.
    pub out_of_space: bool,
}

/// Does harm to what an engine stored. A hook that [`Faults::set`] does not name is never called.
pub trait Faults: Send + Sync {
    /// The hooks that work.
    fn set(&self) -> FaultSet;

    /// Flips one bit inside the stored copy of these bytes, wherever it lies in the pool, behind the
    /// engine's back; in all copies if there are several. False when the bytes were not found.
    fn corrupt_stored(&self, uri: &PoolUri, needle: &[u8]) -> bool;

    /// Ends a handle as the death of its process would: nothing that it still holds back is written, no
    /// destructor runs. What the operating system has taken stays.
    fn crash(&self, container: Arc<dyn Container>);

    /// Leaves less than 1 MiB of room for the pool's data.
    fn fill_up(&self, uri: &PoolUri);

    /// Takes back [`Faults::fill_up`].
    fn make_room(&self, uri: &PoolUri);
}
