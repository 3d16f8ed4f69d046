//! `isotach wipe`: removes datasets and collocations.

use clap::Args;
use isotach_fields::{WipeReport, WipedDataset};
use isotach_mars::Match;
use serde_json::json;

use crate::{
    context::{self, StoreFlags},
    failure::Outcome,
    output::{Bytes, Table, count, key_object, outln, print_json},
    requests::{MinimumKeysFlag, RequestFlags},
};

/// Remove datasets, or whole collocations of them
///
/// Prints what would be removed; --doit removes it. A key left out of the request matches every value. Adopted files stay.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach wipe class=rd,expver=x001,date=20240101 --doit")]
pub(crate) struct WipeFlags {
    #[command(flatten)]
    requests: RequestFlags,
    #[command(flatten)]
    minimum: MinimumKeysFlag,
    /// Remove it
    #[arg(long)]
    doit: bool,
    /// Print one JSON object for each dataset
    #[arg(long)]
    json: bool,
}

/// Wipes request by request.
pub(crate) fn run(target: &StoreFlags, flags: &WipeFlags) -> Outcome {
    let requests = flags.requests.parse()?.with_minimum(&flags.minimum)?;
    let store = context::open(target)?;
    if flags.doit && requests.are_many() {
        // With an invalid request among several, nothing is removed.
        requests.for_each(&store, Match::Partial, |request| Ok(store.wipe(request, false).map(|_| ())?))?;
    }
    let mut reports = Vec::new();
    let wiped = requests.for_each(&store, Match::Partial, |request| {
        reports.push(store.wipe(request, flags.doit)?);
        Ok(())
    });
    // Printed after the last request: a closed standard output does not stop the wipe.
    wiped.and(reports.iter().try_for_each(|report| print(report, flags.json)))
}

fn print(report: &WipeReport, as_json: bool) -> Outcome {
    if as_json {
        return report.datasets.iter().try_for_each(|dataset| print_json(&object(dataset, report.done)));
    }
    if report.datasets.is_empty() {
        return outln!("nothing to wipe: the request matches no dataset");
    }
    let mut table = Table::new(["dataset", "removed", "fields", "bytes"]).right(&[2, 3]);
    for dataset in &report.datasets {
        let counts = dataset.counts;
        let collocations =
            || dataset.collocations.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        table.row([
            dataset.key.to_string(),
            if dataset.is_whole { "all".to_owned() } else { collocations() },
            (counts.fields + counts.replaced_fields).to_string(),
            Bytes(counts.bytes + counts.replaced_bytes).to_string(),
        ]);
    }
    table.print()?;
    let counts = report.counts();
    let mut fields = count(counts.fields + counts.replaced_fields, "field");
    for why in report.datasets.iter().filter_map(|dataset| dataset.uncounted.as_deref()) {
        outln!("not all fields can be counted: {why}")?;
        if !fields.starts_with("at least") {
            fields = format!("at least {fields}");
        }
    }
    for dataset in report.datasets.iter().filter(|dataset| !dataset.kept_by.is_empty()) {
        let names = dataset.kept_by.join(", ");
        outln!("dataset {} stays readable, and keeps its space, in: snapshot {names}", dataset.key)?;
    }
    match report.done {
        true => outln!("wiped {fields}"),
        false => outln!("would wipe {fields}; nothing was removed: add --doit to remove them"),
    }
}

fn object(dataset: &WipedDataset, done: bool) -> serde_json::Value {
    let counts = dataset.counts;
    json!({
        "key": key_object(&dataset.key),
        "whole": dataset.is_whole,
        "collocations": dataset.collocations.iter().map(key_object).collect::<Vec<_>>(),
        "fields": counts.fields,
        "bytes": counts.bytes,
        "replaced_fields": counts.replaced_fields,
        "replaced_bytes": counts.replaced_bytes,
        "adopted_fields": counts.adopted_fields,
        "adopted_bytes": counts.adopted_bytes,
        "uncounted": dataset.uncounted,
        "kept_by": dataset.kept_by,
        "catalogue": dataset.catalogue.to_string(),
        "store": dataset.store.to_string(),
        "done": done,
    })
}
