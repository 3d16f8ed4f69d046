//! Pairs over MPI, whose library is loaded when a rank starts and never linked.
//!
//! An MPI launcher (`mpirun`, `srun`) starts the ranks, because only it can make them one world: `launch` is the driver's side.
//! A rank is this program again, `bench transfer-rank`. Rank 0 collects what all have recorded and writes it to its standard
//! output as one line; launchers may mix the lines of several ranks.
//!
//! What must stay true: a rank whose partner is silent for the timeout ends itself, and with it the launcher ends all others.

mod api;
mod launch;
mod rank;
mod report;
mod watch;

pub(crate) use launch::{Launch, MpiArgs, Ranks, probe};
pub(crate) use rank::{RankArgs, run as run_rank};
