//! `isotach pool`.

use clap::{Args, Subcommand};

use super::DestroyFlags;

/// The object model: pools
#[derive(Debug, Args)]
pub(crate) struct PoolFlags {
    #[command(subcommand)]
    pub(crate) action: PoolAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with the pool that --store names.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum PoolAction {
    /// Make an empty pool; for a field store use `isotach init`
    Create,
    /// List the pools of the configuration
    List,
    /// Show engine, capabilities and room
    Show,
    /// Remove the pool and everything in it
    Destroy {
        #[command(flatten)]
        destroy: DestroyFlags,
    },
}
