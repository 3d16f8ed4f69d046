//! The program as its users and drivers see it: what it prints, its record of a run, and what it leaves.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;
mod field_io;
mod hammer;
mod ior;
mod kernels;
mod killed;
mod limits;
mod operational;
mod peers;
mod plain;
mod plan;
mod processes;
