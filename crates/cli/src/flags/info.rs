//! `isotach info` and `isotach where`.

use clap::Args;

use super::OneRequest;

/// Show the program: version, configuration, engines, ecCodes
#[derive(Debug, Args)]
pub(crate) struct InfoFlags {
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show the spaces of the store and their pools; with a request, the containers of its datasets
#[derive(Debug, Args)]
#[command(after_help = "Examples: isotach where
          isotach where class=od,date=-1")]
pub(crate) struct WhereFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    /// Print one JSON object for each space or dataset
    #[arg(long)]
    pub(crate) json: bool,
}
