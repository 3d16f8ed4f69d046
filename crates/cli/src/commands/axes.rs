//! `isotach axes`: the values that fields have.

use clap::Args;
use isotach_fields::Axis;
use isotach_mars::Match;
use serde_json::{Map, Value};

use crate::{
    context::{self, AtFlag, PlaceFlags},
    failure::Outcome,
    missing,
    output::{Table, print_json},
    requests::{self, LeastFlag, OneRequest},
};

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

/// A row for each key.
pub(crate) fn run(place: &PlaceFlags, flags: &AxesFlags) -> Outcome {
    let requests = requests::given_or_all(&flags.requests)?.with_least(&flags.least)?;
    let store = context::open_at(place, &flags.at)?;
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
        requests::tell_unusable(answer.unusable)
    })?;
    if is_empty { missing::note(&store, &requests) } else { Ok(()) }
}
