//! `isotach purge`: frees the space of replaced and removed data.

use clap::Args;
use isotach_fields::{Error, PurgedDataset};
use isotach_mars::Match;
use serde_json::json;

use crate::{
    context::{self, StoreFlags},
    failure::{Failure, NO_SPACE, Outcome},
    missing,
    output::{Bytes, Table, count, key_object, outln, print_json},
    progress::Steps,
    requests::{MinimumKeysFlag, OptionalRequestFlags, report_unusable},
};

/// Free the space of fields that were replaced, and of everything that was removed
///
/// Prints how much space each dataset would free; --doit frees it. Other programs may read and write at the same time.
/// Without a request: all datasets. A request names keys of the dataset level only, because a dataset is purged as a whole.
/// Data of snapshots stays, and so do files that writers have open.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach purge class=od,date=20240101 --doit")]
pub(crate) struct PurgeFlags {
    #[command(flatten)]
    requests: OptionalRequestFlags,
    #[command(flatten)]
    minimum: MinimumKeysFlag,
    /// Free it
    #[arg(long)]
    doit: bool,
    /// Print one JSON object for each dataset
    #[arg(long)]
    json: bool,
}

/// Purges request by request.
pub(crate) fn run(target: &StoreFlags, flags: &PurgeFlags) -> Outcome {
    let requests = flags.requests.parse()?.with_minimum(&flags.minimum)?;
    let store = if flags.doit { context::open(target)? } else { context::open_read_only(target)? };
    requests.for_each(&store, Match::Partial, |request| {
        let steps = Steps::new();
        let answer = store.purge_with_progress(request, flags.doit, &|done, total| steps.set(done, total));
        steps.finish();
        let answer = answer.map_err(failed)?;
        if flags.json {
            answer.found.iter().try_for_each(|dataset| print_json(&object(dataset, flags.doit)))?;
        } else {
            print(&answer.found, flags.doit)?;
        }
        missing::note_no_dataset(&store, request, answer.found.is_empty() && answer.unusable.is_empty());
        report_unusable(answer.unusable)
    })
}

fn failed(error: Error) -> Failure {
    match error.code() == NO_SPACE {
        true => Failure::failed(format!("{error}; `isotach wipe --doit` frees space and needs none")),
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
    let fields = count(purged.iter().map(|dataset| dataset.replaced_fields).sum(), "replaced field");
    let bytes = Bytes(purged.iter().map(|dataset| dataset.freed).sum());
    if purged.iter().any(|dataset| dataset.history_stays) {
        outln!("this file system cannot punch holes: the logs of the containers keep their size")?;
    }
    match done {
        true => outln!("removed {fields}, freed {bytes}"),
        false => outln!("would remove {fields} and free {bytes}; nothing was removed: add --doit to do it"),
    }
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
