//! `isotach snapshot`: names for the present state of a store.

use clap::{Args, Subcommand};
use isotach_fields::StoreSnapshot;
use isotach_mars::Match;
use serde_json::{Value, json};

use crate::{
    context::{self, StoreFlags},
    failure::Outcome,
    output::{Table, count, key_object, outln, print_done, print_json, utc},
    progress::Steps,
    requests::{Requests, check_whole_datasets},
};

/// Name the present state of datasets, so that it stays readable
///
/// The commands that read show it with --at NAME, whatever is archived, replaced or wiped later.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach snapshot create before-rerun class=od,date=20240101")]
pub(crate) struct SnapshotFlags {
    #[command(subcommand)]
    action: SnapshotAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    json: bool,
}

/// An operation on snapshots.
#[derive(Debug, Subcommand)]
enum SnapshotAction {
    /// Create a snapshot of whole datasets
    Create {
        /// Its name: letters, digits and . _ : -
        name: String,
        /// Which datasets: names with values, as in class=od,date=20240101. A name left out matches everything
        request: Option<String>,
    },
    /// List the snapshots and their datasets
    List,
    /// Remove a snapshot, and the data that only it needs
    Remove {
        /// Its name
        name: String,
    },
}

/// Runs the operation.
pub(crate) fn run(target: &StoreFlags, flags: &SnapshotFlags) -> Outcome {
    let store = context::open(target)?;
    match &flags.action {
        SnapshotAction::Create { name, request } => {
            let request = Requests::one(request.as_deref().unwrap_or_default())?;
            request.for_each(&store, Match::Partial, |request| {
                check_whole_datasets(store.schema(), request, "snapshots are of")?;
                let steps = Steps::new();
                let snapshot =
                    store.snapshot_with_progress(request, name, &|done, total| steps.set(done, total));
                steps.finish();
                let snapshot = snapshot?;
                let datasets = count(snapshot.datasets.len() as u64, "dataset");
                match flags.json {
                    true => print_json(&object(&snapshot)),
                    false => outln!("created snapshot {name} of {datasets}"),
                }
            })
        }
        SnapshotAction::List => list(&store.snapshots()?, flags.json),
        SnapshotAction::Remove { name } => {
            store.remove_snapshot(name)?;
            print_done(flags.json, "removed", "snapshot", name)
        }
    }
}

fn list(snapshots: &[StoreSnapshot], as_json: bool) -> Outcome {
    if as_json {
        return snapshots.iter().try_for_each(|snapshot| print_json(&object(snapshot)));
    }
    let mut table = Table::new(["snapshot", "created", "datasets", "request"]).right(&[2]);
    for snapshot in snapshots {
        let created = match snapshot.is_complete {
            true => utc(snapshot.created_us),
            false => "incomplete".to_owned(),
        };
        let datasets = snapshot.datasets.len().to_string();
        table.row([snapshot.name.to_string(), created, datasets, snapshot.request.clone()]);
    }
    table.print()
}

fn object(snapshot: &StoreSnapshot) -> Value {
    json!({
        "snapshot": snapshot.name.as_str(),
        "created": utc(snapshot.created_us),
        "request": snapshot.request,
        "datasets": snapshot.datasets.iter().map(key_object).collect::<Vec<_>>(),
        "whole": snapshot.is_complete,
    })
}
