//! Benchmarks: workloads on fields and objects, each beside the limit measured with the same bytes.
//!
//! [`BenchArgs`] is the `bench` command and [`run`] runs it. `docs/benchmarks.md` describes the workloads and what each is
//! unfair to. [`PlanArgs`] is the `plan` command and [`plan`] runs it: it predicts, and `docs/scaling.md` describes how.
//!
//! What must stay true:
//! - Writers and readers are processes, not threads: the program starts itself again (`bench node`, `bench process`).
//! - A figure and its limit move the same bytes with as many processes and syncs in the same folder, one right after the
//!   other.
//! - Every field that is read is checked, so a fast wrong answer is a failure and not a figure.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod command;
mod error;
mod harness;
mod peers;
mod planner;
mod report;
mod workloads;

pub use command::{BenchArgs, run};
pub use error::{Error, Result};
pub use harness::launcher::COMMAND;
pub use planner::{PlanArgs, plan};
pub use report::{ReportArgs, report};
