//! `isotach delete`: removes single fields.

use clap::Args;
use isotach_fields::{DeleteReport, DeletedFields};
use isotach_mars::Match;
use serde_json::json;

use crate::{
    context::{self, StoreFlags},
    failure::Outcome,
    output::{Bytes, Table, count, key_object, outln, print_json},
    requests::RequestFlags,
};

/// Remove single fields
///
/// Prints what would be removed; --doit removes it. The request names every key that the schema asks for, as for read, so that
/// a key left out by mistake removes nothing. `isotach purge` frees the space. Adopted files stay.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: isotach delete class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6/12,param=t --doit"
)]
pub(crate) struct DeleteFlags {
    #[command(flatten)]
    requests: RequestFlags,
    /// Remove them
    #[arg(long)]
    doit: bool,
    /// Print one JSON object for each dataset
    #[arg(long)]
    json: bool,
}

/// Deletes request by request.
pub(crate) fn run(target: &StoreFlags, flags: &DeleteFlags) -> Outcome {
    let requests = flags.requests.parse()?;
    let store = if flags.doit { context::open(target)? } else { context::open_read_only(target)? };
    if flags.doit && requests.are_many() {
        // With an invalid request among several, nothing is removed.
        requests.for_each(&store, Match::Exact, |request| Ok(store.delete(request, false).map(drop)?))?;
    }
    let mut reports = Vec::new();
    let deleted = requests.for_each(&store, Match::Exact, |request| {
        reports.push(store.delete(request, flags.doit)?);
        Ok(())
    });
    // Printed after the last request: a closed standard output does not stop the deletion.
    deleted.and(reports.iter().try_for_each(|report| print(report, flags.json)))
}

fn print(report: &DeleteReport, as_json: bool) -> Outcome {
    if as_json {
        return report.datasets.iter().try_for_each(|dataset| print_json(&object(dataset, report.done)));
    }
    if report.datasets.is_empty() {
        return outln!("nothing to delete: no field of the request exists");
    }
    let mut table = Table::new(["dataset", "fields", "bytes"]).right(&[1, 2]);
    for DeletedFields { key, fields, bytes } in &report.datasets {
        table.row([key.to_string(), fields.to_string(), Bytes(*bytes).to_string()]);
    }
    table.print()?;
    let fields = count(report.fields(), "field");
    match report.done {
        true => outln!("deleted {fields}; `isotach purge` frees their space"),
        false => outln!("would delete {fields}; nothing was removed: add --doit to remove them"),
    }
}

fn object(dataset: &DeletedFields, done: bool) -> serde_json::Value {
    json!({
        "key": key_object(&dataset.key),
        "fields": dataset.fields,
        "bytes": dataset.bytes,
        "done": done,
    })
}
