//! `isotach list`.

use clap::Args;

use super::{AtFlag, OneRequest};

/// List fields
///
/// Prints a line for each field, its keys by the three levels of the schema.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach list class=od,date=-1,step=0/to/24/by/6 --json")]
pub(crate) struct ListFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Also show fields that were replaced
    #[arg(long)]
    pub(crate) duplicates: bool,
    /// Also show where each field is, its length and its checksum
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) long: bool,
    /// Print one JSON object a line: key, location, offset, length, checksum
    #[arg(long)]
    pub(crate) json: bool,
}
