//! `isotach container`.

use clap::{Args, Subcommand};

use super::{DestroyFlags, ListFlag, OwnerFlags};

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
        /// What programs written for DAOS keep in it: POSIX, PYTHON, HDF5 and so on
        #[arg(long = "type", value_name = "TYPE")]
        layout: Option<String>,
        /// Properties as such programs see them: NAME:VALUE, several with a comma or semicolon between, as in rd_fac:0,cksum:crc32
        #[arg(long, value_name = "PROPERTIES")]
        properties: Option<String>,
        #[command(flatten)]
        list: ListFlag,
        #[command(flatten)]
        owner: OwnerFlags,
    },
    /// Show owner, group and access control list
    GetAcl {
        /// Its name
        label: String,
    },
    /// Put another access control list in the place of the one that is there
    SetAcl {
        /// Its name
        label: String,
        #[command(flatten)]
        list: ListFlag,
    },
    /// Give a container to another user or group
    SetOwner {
        /// Its name
        label: String,
        #[command(flatten)]
        owner: OwnerFlags,
    },
    /// Show properties that the storage has for a container beyond what is shown of all (DAOS: what `daos container get-prop` shows)
    GetProp {
        /// Its name
        label: String,
    },
    /// Change properties, as far as the storage lets them be changed
    SetProp {
        /// Its name
        label: String,
        /// NAME=VALUE, as in status=healthy
        #[arg(required = true, value_name = "NAME=VALUE")]
        properties: Vec<String>,
    },
    /// Name the present state, so that it stays readable: `isotach object get --at NAME`
    CreateSnap {
        /// The container
        label: String,
        /// The snapshot's name: letters, digits and . _ : -
        name: String,
    },
    /// List the snapshots and their epochs
    ListSnaps {
        /// The container
        label: String,
    },
    /// Remove a snapshot, and what only it kept
    DestroySnap {
        /// The container
        label: String,
        /// The snapshot's name
        name: String,
        #[command(flatten)]
        destroy: DestroyFlags,
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
