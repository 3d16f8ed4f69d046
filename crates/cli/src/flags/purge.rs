//! `isotach purge`.

use clap::Args;

use super::{LeastFlag, OneRequest};

/// Give back the room of fields that were replaced, and of everything that was removed
///
/// Says how much each dataset would give back; --doit does it. Others may read and write meanwhile. Without a request: all
/// datasets. A request names keys of the dataset level only, because a dataset is purged as a whole. What a snapshot
/// needs stays, and so does what a writer is at.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach purge class=od,date=20240101 --doit")]
pub(crate) struct PurgeFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    /// Give it back
    #[arg(long)]
    pub(crate) doit: bool,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}
