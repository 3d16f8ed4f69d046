//! `isotach snapshot`: names for what the store holds now.

use isotach_fields::StoreSnapshot;
use isotach_mars::{Match, Request};
use serde_json::{Value, json};

use super::{control::check_whole_datasets, pool, requests};
use crate::{
    context,
    failure::Outcome,
    flags::{PlaceFlags, SnapshotAction, SnapshotFlags},
    output::{Table, count, key_object, outln, print_json, utc},
    progress::Steps,
};

/// Makes, lists or removes.
pub(crate) fn run(place: &PlaceFlags, flags: &SnapshotFlags) -> Outcome {
    let store = context::open(place)?;
    match &flags.action {
        SnapshotAction::Create { name, request } => {
            let mut made = None;
            requests::typed(request.as_deref())?.for_each(&store, Match::Partial, |request: &Request| {
                check_whole_datasets(store.schema(), request, "snapshots are of")?;
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
            pool::told(flags.json, "removed", "snapshot", name)
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
