//! `isotach adopt`.

use std::path::PathBuf;

use clap::Args;

use super::IntakeFlags;

/// Index the messages of files where they are, without copying them
///
/// The files must stay where and as they are; each read checks their bytes. Wiping adopted fields leaves the files alone.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach adopt /archive/2024/*.grib")]
pub(crate) struct AdoptFlags {
    /// Files to index
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) intake: IntakeFlags,
}
