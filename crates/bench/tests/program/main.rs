//! Tests of the program: its output, the record of a run, and what it leaves behind.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod alignment;
mod common;
mod field_io;
mod hammer;
mod ior;
mod kernels;
mod killed;
mod limits;
mod method;
mod operational;
mod peers;
mod plain;
mod plan;
mod processes;
mod transfer;
