//! The harness of all workloads: processes and their barriers, measurements, and the record of a run.
//!
//! What must stay true: the processes of a phase begin together, and each figure is recorded with its machine and its raw
//! events.

pub(crate) mod cold;
pub(crate) mod driver;
pub(crate) mod events;
pub(crate) mod folders;
pub(crate) mod groups;
pub(crate) mod launcher;
pub(crate) mod machine;
pub(crate) mod measurement;
pub(crate) mod metrics;
pub(crate) mod noise;
pub(crate) mod output;
pub(crate) mod parse;
pub(crate) mod spread;
pub(crate) mod study;
pub(crate) mod usage;
