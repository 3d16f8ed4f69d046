//! `isotach adopt`.

use std::path::PathBuf;

use clap::Args;

/// Index the messages of files where they are, without copying them
///
/// The files must stay where and as they are; each read checks their bytes. Wiping adopted fields leaves the files alone.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach adopt /archive/2024/*.grib")]
pub(crate) struct AdoptFlags {
    /// Files to index
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Keys laid over those that the messages carry, as class=rd,expver=x001; as for write
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Go on after a message that is broken, cannot be decoded or does not fit the schema
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
