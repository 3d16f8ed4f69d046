//! `isotach stats` and `isotach dump`.

use clap::Args;

use super::{AtFlag, LeastFlag, OneRequest};

/// Count fields and bytes, for each dataset
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach stats class=od,date=-1")]
pub(crate) struct StatsFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show the structure of datasets: collocations, indexes, axes and their objects
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach dump class=od,date=-1")]
pub(crate) struct DumpFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}
