//! `isotach snapshot`, and the flag by which other commands look into one.

use clap::{Args, Subcommand};

/// A snapshot to look into.
#[derive(Debug, Args)]
pub(crate) struct AtFlag {
    /// Show the store as it was when this snapshot was made
    #[arg(long, value_name = "NAME")]
    pub(crate) at: Option<String>,
}

/// Name the present state of datasets, so that it stays readable
///
/// Whatever is archived, replaced or wiped later, the commands that read show it with --at NAME.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach snapshot create before-rerun class=od,date=20240101")]
pub(crate) struct SnapshotFlags {
    #[command(subcommand)]
    pub(crate) action: SnapshotAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with snapshots.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotAction {
    /// Make a snapshot of whole datasets
    Create {
        /// Its name: letters, digits and . _ : -
        name: String,
        /// Which datasets: names with values, as in class=od,date=20240101. A name left out matches everything
        request: Option<String>,
    },
    /// List the snapshots and their datasets
    List,
    /// Remove a snapshot, and what only it kept
    Remove {
        /// Its name
        name: String,
    },
}
