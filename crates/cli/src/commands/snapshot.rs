//! `isotach snapshot`: names for what the store holds now.

use clap::{Args, Subcommand};
use isotach_fields::StoreSnapshot;
use isotach_mars::{Match, Request};
use serde_json::{Value, json};

use crate::{
    context::{self, PlaceFlags},
    failure::Outcome,
    output::{Table, count, key_object, outln, print_done, print_json, utc},
    progress::Steps,
    requests,
};

/// Name the present state of datasets, so that it stays readable
///
/// Whatever is archived, replaced or wiped later, the commands that read show it with --at NAME.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach snapshot create before-rerun class=od,date=20240101")]
pub(crate) struct SnapshotFlags {
    #[command(subcommand)]
    pub(crate) action: SnapshotAction,
    /// Print JSON objects
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do with snapshots.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotAction {
    /// Make a snapshot of whole datasets
    Create {
        /// Its name: letters, digits and . _ : -
        name: String,
        /// Which datasets: names with values, as in class=od,date=20240101. A name left out matches everything
        request: Option<String>,
    },
    /// List the snapshots and their datasets
    List,
    /// Remove a snapshot, and what only it kept
    Remove {
        /// Its name
        name: String,
    },
}

/// Makes, lists or removes.
pub(crate) fn run(place: &PlaceFlags, flags: &SnapshotFlags) -> Outcome {
    let store = context::open(place)?;
    match &flags.action {
        SnapshotAction::Create { name, request } => {
            let mut made = None;
            requests::typed(request.as_deref())?.for_each(&store, Match::Partial, |request: &Request| {
                requests::check_whole_datasets(store.schema(), request, "snapshots are of")?;
                let steps = Steps::new();
                let snapshot = store.snapshot_telling(request, name, &|done, total| steps.reach(done, total));
                steps.finish();
                made = Some(snapshot?);
                Ok(())
            })?;
            let Some(made) = made else { return Ok(()) };
            match flags.json {
                true => print_json(&object(&made)),
                false => outln!("made snapshot {name} of {}", count(made.datasets.len() as u64, "dataset")),
            }
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
    let mut table = Table::new(["snapshot", "made", "datasets", "request"]).right(&[2]);
    for snapshot in snapshots {
        let made = match snapshot.is_complete {
            true => utc(snapshot.created_us),
            false => "not whole".to_owned(),
        };
        let datasets = snapshot.datasets.len().to_string();
        table.row([snapshot.name.to_string(), made, datasets, snapshot.request.clone()]);
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
