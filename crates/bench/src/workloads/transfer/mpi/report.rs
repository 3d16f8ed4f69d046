//! What ranks and driver say to each other, and how long they wait.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::harness::events::ProcessLog;

/// The line that the driver writes to rank 0 at the start. The input ends with the driver.
pub(super) const DRIVER: &str = "driver";
/// How long a launcher may take to start all ranks: some wait for a free node.
pub(super) const START_MAX: Duration = Duration::from_secs(120);
/// How long ranks may take to hand over what they have recorded, or to end MPI.
pub(super) const END_MAX: Duration = Duration::from_secs(60);

/// What ranks say to the driver, a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromRanks {
    /// All ranks have started: where each is, and its number there.
    Begun(Vec<Home>),
    /// What all ranks have recorded.
    Done(Report),
    /// A rank has failed: its number and host, the reason, and whether another launcher or library is the remedy.
    Failed { rank: Option<u32>, host: String, how: String, is_usage: bool },
}

/// A rank as its host knows it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Home {
    pub(super) host: String,
    pub(super) pid: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    /// The version of the MPI library.
    pub(super) library: String,
    /// The host of each rank.
    pub(super) hosts: Vec<String>,
    /// The largest possible difference between the clocks of two hosts; none on one host.
    pub(super) clock_uncertainty_s: Option<f64>,
    /// The logs of each rank, in the order of the phases.
    pub(super) logs: Vec<Vec<PhaseLog>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PhaseLog {
    pub(super) phase: String,
    /// When the rank left the barrier before the phase.
    pub(super) released: i64,
    pub(super) log: ProcessLog,
}
