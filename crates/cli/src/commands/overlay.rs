//! `isotach overlay`: shows a dataset under another key.

use clap::Args;
use isotach_mars::Key;

use crate::{
    context::{self, StoreFlags},
    failure::{Failure, Outcome},
    output::outln,
    requests::name_list,
};

/// Show a dataset under another key, without a copy
///
/// The fields of the dataset BELOW, present and future, are also found under the key SHOWN; their messages get that key
/// through ecCodes when they are read. Fields archived under SHOWN itself come first. A wipe of SHOWN ends the overlay and
/// leaves BELOW as it is.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  isotach overlay class=od,expver=1,stream=oper,date=20240101,time=0,domain=g \\
                  class=rd,expver=x001,stream=oper,date=20240101,time=0,domain=g")]
pub(crate) struct OverlayFlags {
    /// The existing dataset: its complete key
    #[arg(value_name = "BELOW")]
    below: String,
    /// The key under which it is shown, with the same names
    #[arg(value_name = "SHOWN")]
    shown: String,
    /// The keys whose values may differ
    #[arg(long, value_name = "KEY,...", default_value = "class,expver")]
    variable_keys: String,
    /// Allow SHOWN to be an existing dataset, whose own fields come first
    #[arg(long)]
    force: bool,
    /// End the overlay
    #[arg(long, conflicts_with = "force")]
    remove: bool,
}

/// Creates or removes an overlay.
pub(crate) fn run(target: &StoreFlags, flags: &OverlayFlags) -> Outcome {
    let key = |text: &str, name| text.parse::<Key>().map_err(|error| Failure::from(error).about(name));
    let (below, shown) = (key(&flags.below, "BELOW")?, key(&flags.shown, "SHOWN")?);
    let store = context::open(target)?;
    if flags.remove {
        store.remove_overlay(&below, &shown)?;
        return outln!("{shown} no longer shows {below}");
    }
    store.overlay(&below, &shown, &name_list(&flags.variable_keys), flags.force)?;
    outln!("{shown} shows {below}")
}
