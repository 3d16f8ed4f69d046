//! `isotach axes`: the values of each key.

use clap::Args;
use isotach_fields::Axis;
use isotach_mars::Match;
use serde_json::{Map, Value};

use crate::{
    context::{self, AtFlag, StoreFlags},
    failure::Outcome,
    missing,
    output::{Table, print_json},
    requests::{MinimumKeysFlag, OptionalRequestFlags, report_unusable},
};

/// Show the values of each key among the fields of a request
///
/// Not every combination of the values need exist.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach axes class=od,date=-1")]
pub(crate) struct AxesFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    #[command(flatten)]
    minimum: MinimumKeysFlag,
    #[command(flatten)]
    at: AtFlag,
    /// Print one JSON object: a list of values for each key
    #[arg(long)]
    json: bool,
}

/// Prints a row for each key.
pub(crate) fn run(target: &StoreFlags, flags: &AxesFlags) -> Outcome {
    let requests = flags.requests.parse()?.with_minimum(&flags.minimum)?;
    let store = context::open_at(target, &flags.at)?;
    let mut is_empty = true;
    requests.for_each(&store, Match::Partial, |request| {
        let answer = store.axes(request)?;
        is_empty &= answer.found.is_empty();
        if flags.json {
            let values = |axis: Axis| (axis.name, Value::from(axis.values));
            print_json(&answer.found.into_iter().map(values).collect::<Map<_, _>>())?;
        } else {
            let mut table = Table::new(["key", "values"]);
            answer.found.into_iter().for_each(|axis| table.row([axis.name, axis.values.join("/")]));
            table.print()?;
        }
        report_unusable(answer.unusable)
    })?;
    if is_empty { missing::note(&store, &requests) } else { Ok(()) }
}
