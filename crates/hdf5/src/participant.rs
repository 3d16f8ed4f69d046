//! Which transaction of a file a process takes part in.

/// A participant of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Participant {
    pub(crate) number: u64,
    pub(crate) participant: u32,
    pub(crate) participants: u32,
}

/// The transactions of this process.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) started: Option<Participant>,
    /// The last one that was finished.
    pub(crate) finished: u64,
}
