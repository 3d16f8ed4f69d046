//! Purging a container: what would be given back, or was.

/// What a purge gives back, in bytes of storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    /// What the container took before.
    pub before: u64,
    /// What it takes less afterwards; of a purge that was not carried out, what it would, as far as that can be told
    /// beforehand.
    pub freed: u64,
    /// What is in files that writers are still at; it can be purged when they have finished.
    pub held: u64,
    /// Whether the storage cannot give back the room of the container's history, which therefore stays.
    pub history_stays: bool,
}
