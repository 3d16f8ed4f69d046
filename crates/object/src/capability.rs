//! What an engine can do beyond the model's core, as data.

/// The guarantees an engine adds to the core of the model, known before a pool is opened. Some are properties of the core's
/// answers; others say which [facets](crate::facets) its pools and containers have. The conformance suite checks both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// A [`crate::Transaction`] may touch several cells and counts entirely or not at all, and may have a read set
    /// ([`crate::Precondition::Unchanged`]).
    pub transactions: bool,
    /// The engine knows when each cell was last changed, so [`crate::Precondition::Unchanged`] fails for every changed cell. Without
    /// it, the contents are compared with those at the epoch: a cell that was changed and holds the same again passes.
    pub history: bool,
    /// A staged transaction can be kept under a name until any process commits it ([`crate::PreparedTransactions`]).
    pub prepared_transactions: bool,
    /// Holes are distinguished from written zeros ([`crate::Extents`]). Without it, everything up to the end counts as written.
    pub holes: bool,
    /// Past states can be named and stay readable ([`crate::Snapshots`]).
    pub snapshots: bool,
    /// Object classes with replicas or parity are honoured.
    pub redundancy: bool,
    /// Lists come in ascending order of the key's bytes.
    pub ordered_listing: bool,
    /// Other handles see the updates of a handle in its order. Without it, they may see unflushed updates in any order, with two
    /// exceptions: entries of key-value and general objects never appear before the bytes of arrays that were given before them,
    /// nor before the entries of an object that was named before theirs.
    pub ordered_updates: bool,
    /// Reads can be under way while the caller does something else ([`crate::PendingReads`]).
    pub pending_reads: bool,
    /// Array bytes can be lent without a copy ([`crate::LentReads`]).
    pub lent_reads: bool,
    /// Several processes may use one pool at once.
    pub multi_process: bool,
    /// A container has an owner, a group and an access control list ([`crate::AccessControl`]), and they are enforced.
    pub permissions: bool,
    /// Flushed updates outlive the process.
    pub persistent: bool,
}

impl Capabilities {
    /// Those of an engine with the core only.
    pub const NONE: Self = Self {
        transactions: false,
        history: false,
        prepared_transactions: false,
        holes: false,
        snapshots: false,
        redundancy: false,
        ordered_listing: false,
        ordered_updates: false,
        pending_reads: false,
        lent_reads: false,
        multi_process: false,
        permissions: false,
        persistent: false,
    };
}
