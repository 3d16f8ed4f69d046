//! `isotach container`.

use clap::{Args, Subcommand};

use super::DestroyFlags;

/// The object model: containers of the pool that --store names
#[derive(Debug, Args)]
pub(crate) struct ContainerFlags {
    #[command(subcommand)]
    pub(crate) action: ContainerAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with containers.
#[derive(Debug, Subcommand)]
pub(crate) enum ContainerAction {
    /// Make an empty container
    Create {
        /// Its name: letters, digits and . _ : -
        label: String,
    },
    /// List the containers and what they take
    List,
    /// Show epoch, objects and size
    Show {
        /// Its name
        label: String,
    },
    /// Remove a container and everything in it
    Destroy {
        /// Its name
        label: String,
        #[command(flatten)]
        destroy: DestroyFlags,
    },
}
