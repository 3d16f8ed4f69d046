//! Workloads, timing and peers.
