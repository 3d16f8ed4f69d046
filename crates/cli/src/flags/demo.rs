//! `isotach demo`, and the worker processes that it starts.

use std::path::PathBuf;

use clap::Args;

use super::size::parse_size;

/// Archive a small ensemble forecast with several writers, while readers follow it step by step
///
/// Writers and readers are processes. Each writer archives its members and flushes after each step; each reader waits for
/// a step to be complete, reads all of it and checks every field. Then one field is drawn as a map. Without --store the
/// store is the folder demo-store, made anew and removed at the end; one that holds anything but an earlier demo's store
/// is left alone, and the demo refuses to run. With --store the demo runs in that store, which is
/// made if it is not there and stays; only the demo's own dataset (class=rd,expver=demo) is replaced in it.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach demo --members 8 --writers 4 --keep")]
pub(crate) struct DemoFlags {
    /// Ensemble members
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) members: u32,
    /// Forecast steps, six hours apart
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) steps: u32,
    /// Pressure levels
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=13))]
    pub(crate) levels: u32,
    /// Parameters: t, u, v, z, q, r
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=6))]
    pub(crate) params: u32,
    /// Size of a field
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_size)]
    pub(crate) size: u64,
    /// Writer processes, at most one for each member
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) writers: u32,
    /// Reader processes
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=256))]
    pub(crate) readers: u32,
    /// Where the map goes
    #[arg(long, value_name = "FILE", default_value = "demo.png")]
    pub(crate) map: PathBuf,
    /// Leave the store, to try other commands on it
    #[arg(long)]
    pub(crate) keep: bool,
    /// Print one JSON object for each step, and one for all
    #[arg(long)]
    pub(crate) json: bool,
}

/// One writer or reader of the demo; takes its task from standard input
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct DemoWorkerFlags {}
