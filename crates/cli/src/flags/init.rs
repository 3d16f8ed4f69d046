//! `isotach init`.

use std::path::PathBuf;

use clap::Args;

use super::ListFlag;

/// Make a store: its pools, and the schema it keeps
///
/// A store that is there already is left as it is.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach --store posix:/data/fields init")]
pub(crate) struct InitFlags {
    /// A schema in FDB's language; without it the standard schema, which fits ordinary MARS-labelled GRIB
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Also make the folders above the store
    #[arg(short, long)]
    pub(crate) parents: bool,
    #[command(flatten)]
    pub(crate) list: ListFlag,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
