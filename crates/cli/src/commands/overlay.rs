//! `isotach overlay`: a dataset under another key; and how messages get that key when they are read.

use clap::Args;
use isotach_mars::Key;

use crate::{
    context::{self, PlaceFlags},
    failure::{Failure, Outcome},
    output::outln,
    requests::name_list,
};

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

/// Lays an overlay, or removes one.
pub(crate) fn run(place: &PlaceFlags, flags: &OverlayFlags) -> Outcome {
    let key = |text: &str, name| text.parse::<Key>().map_err(|error| Failure::from(error).about(name));
    let (below, shown) = (key(&flags.below, "BELOW")?, key(&flags.shown, "SHOWN")?);
    let store = context::open(place)?;
    if flags.remove {
        store.remove_overlay(&below, &shown)?;
        return outln!("{shown} no longer shows {below}");
    }
    store.overlay(&below, &shown, &flags.variable(), flags.force)?;
    outln!("{shown} shows {below}")
}
