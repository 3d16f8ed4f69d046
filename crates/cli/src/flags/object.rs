//! `isotach object`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::DestroyFlags;

/// The object model: objects of a container of the pool that --store names
#[derive(Debug, Args)]
pub(crate) struct ObjectFlags {
    #[command(subcommand)]
    pub(crate) action: ObjectAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with objects.
#[derive(Debug, Subcommand)]
pub(crate) enum ObjectAction {
    /// Take a new object id, and print it
    Create {
        /// The container
        container: String,
        /// What the object is
        #[arg(long = "type", value_name = "TYPE", default_value = "key-value")]
        kind: ObjectKind,
        /// Its object class: S1, SX, RP_2G1 ...
        #[arg(long, default_value = "S1")]
        class: String,
    },
    /// List the objects that hold something
    List {
        /// The container
        container: String,
        /// Show it as it was when this snapshot of the container was made
        #[arg(long, value_name = "SNAPSHOT")]
        at: Option<String>,
    },
    /// Show an object: entries of a key-value object, size of an array, keys of a general one
    Show {
        #[command(flatten)]
        object: ObjectName,
        /// Show it as it was when this snapshot of the container was made
        #[arg(long, value_name = "SNAPSHOT")]
        at: Option<String>,
    },
    /// Write a value or the bytes of an array to a file
    Get {
        #[command(flatten)]
        object: ObjectName,
        /// The key; for a general object distribution key and attribute key; for an array none
        keys: Vec<String>,
        /// Where it goes; - is standard output
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: PathBuf,
        /// Show it as it was when this snapshot of the container was made
        #[arg(long, value_name = "SNAPSHOT")]
        at: Option<String>,
    },
    /// Put a value, or the bytes of an array, from a file
    Put {
        #[command(flatten)]
        object: ObjectName,
        /// The key; for a general object distribution key and attribute key; for an array none
        keys: Vec<String>,
        /// Where it comes from; - is standard input
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        input: PathBuf,
    },
    /// Remove an object and everything in it
    Destroy {
        #[command(flatten)]
        object: ObjectName,
        #[command(flatten)]
        destroy: DestroyFlags,
    },
}

/// An object of a container.
#[derive(Debug, Args)]
pub(crate) struct ObjectName {
    /// The container
    pub(crate) container: String,
    /// The object id: 32 hexadecimal digits
    pub(crate) id: String,
}

/// Types of objects.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ObjectKind {
    /// A map from keys to values
    KeyValue,
    /// An array of bytes
    Array,
    /// Values under a distribution key and an attribute key
    General,
}
