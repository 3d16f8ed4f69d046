//! `isotach inspect`.

use clap::Args;

use super::{AtFlag, Requests};

/// Show where the fields of an exact request are, in the request's order, and which are missing
///
/// The request names every key that the schema asks for, as for read.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: isotach inspect class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6,param=t"
)]
pub(crate) struct InspectFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Fail if a field is missing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object a line: key, location, offset, length, checksum
    #[arg(long)]
    pub(crate) json: bool,
}
