//! `isotach wipe`: says what would go, and removes it when told to.

use clap::Args;
use isotach_fields::{WipeReport, WipedDataset};
use isotach_mars::Match;
use serde_json::json;

use crate::{
    context::{self, PlaceFlags},
    failure::Outcome,
    output::{Bytes, Table, count, key_object, outln, print_json},
    requests::{self, LeastFlag, Requests},
};

/// Remove datasets, or whole collocations of them
///
/// Says what would be removed; --doit removes it. A key left out of the request matches every value. Files that were
/// adopted stay where they are.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach wipe class=rd,expver=x001,date=20240101 --doit")]
pub(crate) struct WipeFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) least: LeastFlag,
    /// Remove it
    #[arg(long)]
    pub(crate) doit: bool,
    /// Print one JSON object for each dataset
    #[arg(long)]
    pub(crate) json: bool,
}

/// Wipes request by request.
pub(crate) fn run(place: &PlaceFlags, flags: &WipeFlags) -> Outcome {
    let requests = requests::given(&flags.requests)?.with_least(&flags.least)?;
    let store = context::open(place)?;
    if flags.doit && requests.are_many() {
        // Nothing goes unless all can.
        requests.for_each(&store, Match::Partial, |request| Ok(store.wipe(request, false).map(|_| ())?))?;
    }
    let mut reports = Vec::new();
    let wiped = requests.for_each(&store, Match::Partial, |request| {
        reports.push(store.wipe(request, flags.doit)?);
        Ok(())
    });
    // Told when all is done: a reader that goes away stops no wiping.
    let told = reports.iter().try_for_each(|report| tell(report, flags.json));
    wiped.and(told)
}

fn tell(report: &WipeReport, as_json: bool) -> Outcome {
    if as_json {
        return report.datasets.iter().try_for_each(|dataset| print_json(&object(dataset, report.done)));
    }
    if report.datasets.is_empty() {
        return outln!("nothing to wipe: the request matches no dataset");
    }
    let mut table = Table::new(["dataset", "goes", "fields", "bytes"]).right(&[2, 3]);
    for dataset in &report.datasets {
        let counts = dataset.counts;
        let (fields, bytes) = (counts.fields + counts.replaced_fields, counts.bytes + counts.replaced_bytes);
        table.row([
            dataset.key.to_string(),
            what_goes(dataset),
            fields.to_string(),
            Bytes(bytes).to_string(),
        ]);
    }
    table.print()?;
    let counts = report.counts();
    let mut fields = count(counts.fields + counts.replaced_fields, "field");
    let uncounted: Vec<&str> =
        report.datasets.iter().filter_map(|dataset| dataset.uncounted.as_deref()).collect();
    if !uncounted.is_empty() {
        fields = format!("at least {fields}");
        uncounted.iter().try_for_each(|why| outln!("not all fields can be counted: {why}"))?;
    }
    for dataset in report.datasets.iter().filter(|dataset| !dataset.kept_by.is_empty()) {
        let names = dataset.kept_by.join(", ");
        outln!("dataset {} stays readable, and takes its room, in: snapshot {names}", dataset.key)?;
    }
    match report.done {
        true => outln!("wiped {fields}"),
        false => outln!("would wipe {fields}; nothing was removed: add --doit to remove them"),
    }
}

fn what_goes(dataset: &WipedDataset) -> String {
    match dataset.is_whole {
        true => "all".to_owned(),
        false => dataset.collocations.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and "),
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
