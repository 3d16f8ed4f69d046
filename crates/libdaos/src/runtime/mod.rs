//! What the library keeps for the program that uses it: open handles, events, the log, and the numbers of failures.
//!
//! What must stay true: a number that was handed out names one thing until it is closed, and nothing afterwards.

pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod globals;
pub(crate) mod handles;
pub(crate) mod log;
