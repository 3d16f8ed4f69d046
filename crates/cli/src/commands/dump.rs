//! `isotach dump`: the structure of datasets.

use clap::Args;
use isotach_fields::{CollocationDump, DatasetDump};
use isotach_mars::Match;
use isotach_object::ObjectId;
use serde_json::{Value, json};

use crate::{
    context::{self, AtFlag, StoreFlags},
    failure::Outcome,
    missing,
    output::{key_object, print_bytes, print_json, utc},
    requests::{OptionalRequestFlags, report_unusable},
};

/// Show the structure of datasets: collocations, indexes, axes and their objects
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach dump class=od,date=-1")]
pub(crate) struct DumpFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    #[command(flatten)]
    at: AtFlag,
    /// Print one JSON object for each dataset
    #[arg(long)]
    json: bool,
}

/// Prints dataset by dataset.
pub(crate) fn run(target: &StoreFlags, flags: &DumpFlags) -> Outcome {
    let requests = flags.requests.parse()?;
    let store = context::open_at(target, &flags.at)?;
    requests.for_each(&store, Match::Partial, |request| {
        let answer = store.dump(request)?;
        answer.found.iter().try_for_each(|dump| match flags.json {
            true => print_json(&object(dump)),
            false => print_bytes(dump.to_string().as_bytes()),
        })?;
        missing::note_unlisted(&store, request);
        report_unusable(answer.unusable)
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
    let axis = |(name, object, values): &(String, ObjectId, Vec<String>)| json!({"name": name, "object": object.to_string(), "values": values});
    json!({
        "key": key_object(&dump.key),
        "index": dump.index.to_string(),
        "history": dump.history.to_string(),
        "jump": dump.jump.to_string(),
        "axes": dump.axes.iter().map(axis).collect::<Vec<_>>(),
    })
}
