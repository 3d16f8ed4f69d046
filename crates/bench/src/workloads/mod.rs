//! The workloads: what the processes of a benchmark do.
//!
//! What must stay true: the head of a workload says whose pattern it is, or that it is ours.

pub(crate) mod alignment;
pub(crate) mod client;
pub(crate) mod ensemble;
pub(crate) mod entries;
pub(crate) mod field_io;
pub(crate) mod forecast;
pub(crate) mod hammer;
pub(crate) mod ior;
pub(crate) mod kernels;
pub(crate) mod load;
pub(crate) mod method;
pub(crate) mod operational;
pub(crate) mod overhead;
pub(crate) mod plain;
pub(crate) mod suite;
pub(crate) mod transfer;
