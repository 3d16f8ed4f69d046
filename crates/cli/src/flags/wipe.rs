//! `isotach wipe`.

use clap::Args;

use super::{LeastFlag, Requests};

/// Remove datasets, or whole collocations of them
///
/// Says what would be removed; --doit removes it. A key left out of the request matches every value. Files that were
/// adopted stay where they are.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach wipe class=rd,expver=x001,date=20240101 --doit")]
pub(crate) struct WipeFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    /// Remove it
    #[arg(long)]
    pub(crate) doit: bool,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}
