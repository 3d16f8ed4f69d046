//! `isotach axes`.

use clap::Args;

use super::{AtFlag, LeastFlag, OneRequest};

/// Show which values the fields of a request have, for each key
///
/// Not every combination of the values need be there.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach axes class=od,date=-1")]
pub(crate) struct AxesFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Print one JSON object: a list of values for each key
    #[arg(long)]
    pub(crate) json: bool,
}
