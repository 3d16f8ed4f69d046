//! What every workload is run with: its processes, their barriers, what they measure, and the record of a run.
//!
//! What must stay true: the processes of a phase begin together, and a figure always has its machine and its raw events beside it.

pub(crate) mod events;
pub(crate) mod launcher;
pub(crate) mod load;
pub(crate) mod machine;
pub(crate) mod measure;
pub(crate) mod metrics;
pub(crate) mod protocol;
pub(crate) mod results;
pub(crate) mod study;
pub(crate) mod team;
