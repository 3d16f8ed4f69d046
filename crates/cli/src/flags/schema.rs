//! `isotach schema`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Show and check schemas
#[derive(Debug, Args)]
pub(crate) struct SchemaFlags {
    #[command(subcommand)]
    pub(crate) action: SchemaAction,
}

/// What to do with a schema.
#[derive(Debug, Subcommand)]
pub(crate) enum SchemaAction {
    /// Print the schema of the store
    Show(SchemaShow),
    /// Check a schema, and how it splits a key
    Check(SchemaCheck),
}

/// Which schema to print.
#[derive(Debug, Args)]
pub(crate) struct SchemaShow {
    /// The standard schema, which `init` takes if it is given none; needs no store
    #[arg(long)]
    pub(crate) standard: bool,
    /// Print one JSON object: text, and rules with the keys of their dataset, collocation and element
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which schema to check.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: isotach schema check schema.txt --key class=od,date=20240101,step=6,param=t"
)]
pub(crate) struct SchemaCheck {
    /// A schema in FDB's language; without it the store's
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Show how the schema splits this key
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
