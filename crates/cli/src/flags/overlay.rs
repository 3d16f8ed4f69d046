//! `isotach overlay`.

use clap::Args;

use super::least::name_list;

/// Show a dataset under another key, without a copy
///
/// What is in the dataset BELOW, now and later, is also found under the key SHOWN; messages are given that key when they are
/// read, through ecCodes. What is archived under SHOWN itself comes first. A wipe of SHOWN ends the overlay and leaves
/// BELOW as it is.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  isotach overlay class=od,expver=1,stream=oper,date=20240101,time=0,domain=g \\
                  class=rd,expver=x001,stream=oper,date=20240101,time=0,domain=g")]
pub(crate) struct OverlayFlags {
    /// The dataset that is there: each key of it
    #[arg(value_name = "BELOW")]
    pub(crate) below: String,
    /// The key under which it is shown, of the same names
    #[arg(value_name = "SHOWN")]
    pub(crate) shown: String,
    /// The keys whose values may differ
    #[arg(long, value_name = "KEY,...", default_value = "class,expver")]
    variable_keys: String,
    /// Show it in a dataset that is there already as well, below its own fields
    #[arg(long)]
    pub(crate) force: bool,
    /// End the overlay
    #[arg(long, conflicts_with = "force")]
    pub(crate) remove: bool,
}

impl OverlayFlags {
    /// The keys whose values may differ.
    pub(crate) fn variable(&self) -> Vec<&str> {
        name_list(&self.variable_keys)
    }
}
