//! The state that a log amounts to: the table of its tail, the runs below it, and how both are replayed, merged and written.
//!
//! What must stay true: the state follows from the log alone; every process that replays it comes to the same one.

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
