//! The state of a container: the table of the log's tail, the runs below it, and how both are replayed, merged and written.
//!
//! What must stay true: the state depends on the log alone, so every process that replays it comes to the same one.

pub(crate) mod chain;
pub(crate) mod checkpoint;
pub(crate) mod entry;
pub(crate) mod merge;
pub(crate) mod ops;
pub(crate) mod raw;
pub(crate) mod run;
pub(crate) mod state;
pub(crate) mod system;
pub(crate) mod table;
