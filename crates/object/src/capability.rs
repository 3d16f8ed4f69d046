//! What an engine can do beyond the model's core, as data.

/// The guarantees an engine adds to the core of the model. What it lacks it refuses with
/// [`crate::Error::Unsupported`]; the conformance suite checks both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// A [`crate::Transaction`] may touch several cells and counts entirely or not at all, and may have a read set
    /// ([`crate::Precondition::Unchanged`]).
    pub transactions: bool,
    /// It is known when cells were last changed, so that [`crate::Precondition::Unchanged`] fails for each that was. Without it, what
    /// a cell holds is compared with what it held at the epoch: one that was changed and holds the same again passes.
    pub history: bool,
    /// What is staged can be kept under a name, whoever dies, until any process commits it ([`crate::Staging::park`]).
    pub parking: bool,
    /// Holes are told from zeros that were written ([`crate::Container::list_extents`]). Without it, all up to the end counts as written.
    pub holes: bool,
    /// Past states can be named and stay readable ([`crate::Container::create_snapshot`]).
    pub snapshots: bool,
    /// Object classes with replicas or parity are honoured.
    pub redundancy: bool,
    /// Lists come in ascending order of the key's bytes.
    pub ordered_listing: bool,
    /// Others see the updates of a handle in its order. Without it, what is not flushed may be seen in any order, but entries of
    /// key-value and general objects never before the bytes of arrays that were given before them, nor before the entries of an
    /// object that was named before theirs.
    pub ordered_updates: bool,
    /// How many reads a caller should have under way at once ([`crate::Container::begin_read`]); 0 where a read cannot be begun
    /// without waiting for its end.
    pub reads_ahead: usize,
    /// Array bytes can be lent without a copy ([`crate::Container::share`]).
    pub shared_reads: bool,
    /// Several processes may use one pool at once.
    pub multi_process: bool,
    /// A container has an owner, a group and an access control list ([`crate::Pool::rights`]), and they are enforced.
    pub permissions: bool,
    /// What was flushed outlives the process.
    pub persistent: bool,
}
