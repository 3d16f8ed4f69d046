//! `isotach h5 snapshot`: names for versions of an HDF5 file.

use clap::{Args, Subcommand};
use isotach_hdf5::{Access, Snapshot};
use serde_json::json;

use super::site::site;
use crate::{
    failure::Outcome,
    output::{Table, print_created, print_done, print_json},
};

/// Name the newest version of an HDF5 file, so that it stays readable
///
/// Programs open a file at a snapshot by the name FILE@NAME, by ISOTACH_H5_SNAPSHOT, or by a property list. Files must be those of the connector.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach h5 snapshot create run.h5 monday
  isotach h5 snapshot list run.h5
  isotach h5 dump run.h5@monday fields")]
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
    /// Create a snapshot
    Create {
        /// The file
        file: String,
        /// The name of the snapshot: letters, digits and . _ : -
        name: String,
    },
    /// List the snapshots, oldest first, with the number of the last transaction in each
    List {
        /// The file
        file: String,
    },
    /// Remove a snapshot, and the data that only it needs
    Remove {
        /// The file
        file: String,
        /// The name of the snapshot
        name: String,
    },
}

/// Runs the operation.
pub(crate) fn run(flags: &SnapshotFlags) -> Outcome {
    let site = site()?;
    match &flags.action {
        SnapshotAction::Create { file, name } => {
            site.open(file, Access::ReadWrite)?.create_snapshot(name)?;
            print_created(flags.json, "snapshot", name)
        }
        SnapshotAction::List { file } => list(&site.open(file, Access::ReadOnly)?.snapshots()?, flags.json),
        SnapshotAction::Remove { file, name } => {
            site.open(file, Access::ReadWrite)?.remove_snapshot(name)?;
            print_done(flags.json, "removed", "snapshot", name)
        }
    }
}

fn list(snapshots: &[Snapshot], as_json: bool) -> Outcome {
    if as_json {
        let object =
            |snapshot: &Snapshot| json!({"snapshot": snapshot.name, "transaction": snapshot.transaction});
        return snapshots.iter().try_for_each(|snapshot| print_json(&object(snapshot)));
    }
    let mut table = Table::new(["snapshot", "transaction"]).right(&[1]);
    for snapshot in snapshots {
        table.row([snapshot.name.clone(), snapshot.transaction.to_string()]);
    }
    table.print()
}
