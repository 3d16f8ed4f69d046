//! The result of a purge.

/// The result of a purge, in bytes of storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// The size of the container before.
    pub before: u64,
    /// The bytes that were freed, or, of a purge that was not carried out, an estimate of those that it would free.
    pub freed: u64,
    /// Bytes in files that writers still use. They can be purged when the writers have finished.
    pub held: u64,
    /// Whether the history stays because the storage cannot free its space.
    pub history_stays: bool,
}
