//! `isotach purge`: says what would be given back, and does it when told to.

use clap::Args;
use isotach_fields::{Error, PurgedDataset};
use isotach_mars::Match;
use serde_json::json;

use crate::{
    context::{self, PlaceFlags},
    failure::{Failure, NO_SPACE, Outcome},
    output::{Bytes, Table, count, key_object, outln, print_json},
    progress::Steps,
    requests::{self, LeastFlag, OneRequest},
};

/// Give back the room of fields that were replaced, and of everything that was removed
///
/// Says how much each dataset would give back; --doit does it. Others may read and write meanwhile. Without a request: all
/// datasets. A request names keys of the dataset level only, because a dataset is purged as a whole. What a snapshot
/// needs stays, and so does what a writer is at.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach purge class=od,date=20240101 --doit")]
pub(crate) struct PurgeFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    /// Give it back
    #[arg(long)]
    pub(crate) doit: bool,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}

/// Purges request by request.
pub(crate) fn run(place: &PlaceFlags, flags: &PurgeFlags) -> Outcome {
    let requests = requests::given_or_all(&flags.requests)?.with_least(&flags.least)?;
    let store = if flags.doit { context::open(place)? } else { context::open_to_look(place)? };
    requests.for_each(&store, Match::Partial, |request| {
        let steps = Steps::new();
        let answer = store.purge_telling(request, flags.doit, &|done, total| steps.reach(done, total));
        steps.finish();
        let answer = answer.map_err(failed)?;
        if flags.json {
            answer.found.iter().try_for_each(|dataset| print_json(&object(dataset, flags.doit)))?;
        } else {
            print(&answer.found, flags.doit)?;
        }
        requests::tell_unusable(answer.unusable)
    })
}

fn failed(error: Error) -> Failure {
    match error.code() == NO_SPACE {
        true => Failure::failed(format!("{error}; `isotach wipe --doit` makes room without taking any")),
        false => error.into(),
    }
}

fn print(purged: &[PurgedDataset], done: bool) -> Outcome {
    let freed = if done { "freed" } else { "would free" };
    let mut table = Table::new(["dataset", "replaced", "on disk", freed, "in use"]).right(&[1, 2, 3, 4]);
    for dataset in purged {
        table.row([
            dataset.key.to_string(),
            dataset.replaced_fields.to_string(),
            Bytes(dataset.before).to_string(),
            Bytes(dataset.freed).to_string(),
            Bytes(dataset.held).to_string(),
        ]);
    }
    table.print()?;
    let (fields, bytes) =
        (sum(purged, |dataset| dataset.replaced_fields), sum(purged, |dataset| dataset.freed));
    let fields = count(fields, "replaced field");
    if purged.iter().any(|dataset| dataset.history_stays) {
        outln!("this file system cannot punch holes: the logs of the containers keep their size")?;
    }
    match done {
        true => outln!("removed {fields}, freed {}", Bytes(bytes)),
        false => outln!(
            "would remove {fields} and free {}; nothing was removed: add --doit to do it",
            Bytes(bytes)
        ),
    }
}

fn sum(purged: &[PurgedDataset], of: impl Fn(&PurgedDataset) -> u64) -> u64 {
    purged.iter().map(of).sum()
}

fn object(dataset: &PurgedDataset, done: bool) -> serde_json::Value {
    json!({
        "key": key_object(&dataset.key),
        "replaced_fields": dataset.replaced_fields,
        "replaced_bytes": dataset.replaced_bytes,
        "container_bytes": dataset.before,
        "freed_bytes": dataset.freed,
        "held_bytes": dataset.held,
        "history_stays": dataset.history_stays,
        "done": done,
    })
}
