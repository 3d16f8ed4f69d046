//! `isotach list`.

use clap::Args;

use super::{AtFlag, LeastFlag, OneRequest};

/// List fields
///
/// Prints a line for each field, its keys by the three levels of the schema.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "Example: isotach list class=od,date=-1,step=0/to/24/by/6 --json")]
pub(crate) struct ListFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Also show fields that were replaced
    #[arg(long)]
    pub(crate) duplicates: bool,
    /// Also show where each field is, its length and its checksum
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) long: bool,
    /// Also show the length of each field, in bytes
    #[arg(long, conflicts_with_all = ["json", "long"])]
    pub(crate) length: bool,
    /// Show datasets (1), collocations (2) or fields (3)
    #[arg(long, value_name = "LEVELS", default_value = "3", value_parser = clap::value_parser!(u8).range(1..=3))]
    #[arg(conflicts_with_all = ["json", "long", "length", "duplicates"])]
    pub(crate) depth: u8,
    /// Print what scripts read: the lines alone, as FDB prints them, without a mark on fields that were replaced
    #[arg(long, conflicts_with_all = ["json", "long"])]
    pub(crate) porcelain: bool,
    /// Print one JSON object a line: key, location, offset, length, checksum
    #[arg(long)]
    pub(crate) json: bool,
}
