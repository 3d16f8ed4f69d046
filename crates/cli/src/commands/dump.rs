//! `isotach dump`: the structure of datasets.

use std::io::Write;

use clap::Args;
use isotach_fields::{CollocationDump, DatasetDump};
use isotach_mars::Match;
use serde_json::{Value, json};

use crate::{
    context::{self, AtFlag, PlaceFlags},
    failure::Outcome,
    output::{key_object, print_json, standard_output, utc},
    requests::{self, OneRequest},
};

/// Show the structure of datasets: collocations, indexes, axes and their objects
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach dump class=od,date=-1")]
pub(crate) struct DumpFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}

/// Dataset by dataset.
pub(crate) fn run(place: &PlaceFlags, flags: &DumpFlags) -> Outcome {
    let requests = requests::given_or_all(&flags.requests)?;
    let store = context::open_at(place, &flags.at)?;
    requests.for_each(&store, Match::Partial, |request| {
        let answer = store.dump(request)?;
        if flags.json {
            answer.found.iter().try_for_each(|dump| print_json(&object(dump)))?;
        } else {
            let mut out = standard_output();
            answer.found.iter().try_for_each(|dump| write!(out, "{dump}"))?;
            out.flush()?;
        }
        requests::tell_unusable(answer.unusable)
    })
}

fn object(dump: &DatasetDump) -> Value {
    let status = &dump.status;
    json!({
        "key": key_object(&status.key),
        "created": utc(status.created_us),
        "rule": status.rule,
        "schema": dump.schema,
        "catalogue": status.catalogue.to_string(),
        "store": status.store.to_string(),
        "overlays": status.below.iter().map(key_object).collect::<Vec<_>>(),
        "collocations": dump.collocations.iter().map(collocation).collect::<Vec<_>>(),
    })
}

fn collocation(dump: &CollocationDump) -> Value {
    let axis = |(name, object, values): &(String, isotach_object::ObjectId, Vec<String>)| json!({"name": name, "object": object.to_string(), "values": values});
    json!({
        "key": key_object(&dump.key),
        "index": dump.index.to_string(),
        "history": dump.history.to_string(),
        "axes": dump.axes.iter().map(axis).collect::<Vec<_>>(),
    })
}
