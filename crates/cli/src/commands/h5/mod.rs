//! `isotach h5`: HDF5 files.

mod copy;
mod describe;
mod dump;
mod index;
mod ls;
mod maps;
mod query;
mod site;
mod snapshot;
mod sweep;
mod values;

use clap::{Args, Subcommand};
use isotach_hdf5_tools::forget_connector;

use crate::failure::Outcome;

/// HDF5 files: those that programs write through the connector, and native ones
///
/// A file is named as the programs name it: by its path, or by the URI of a pool and its name (rados://fields/run.h5). ISOTACH_H5_POOL
/// names the pool for paths, as it does for the connector.
#[derive(Debug, Args)]
pub(crate) struct H5Flags {
    #[command(subcommand)]
    action: H5Action,
}

/// An operation on files.
#[derive(Debug, Subcommand)]
enum H5Action {
    Ls(ls::LsFlags),
    Dump(dump::DumpFlags),
    Copy(copy::CopyFlags),
    Query(query::QueryFlags),
    Index(index::IndexFlags),
    Snapshot(snapshot::SnapshotFlags),
    Sweep(sweep::SweepFlags),
}

/// Runs the command.
pub(crate) fn run(flags: &H5Flags) -> Outcome {
    // Native files are read by an HDF5 library, which must not be led to the connector. No thread runs so far.
    forget_connector();
    match &flags.action {
        H5Action::Ls(flags) => ls::run(flags),
        H5Action::Dump(flags) => dump::run(flags),
        H5Action::Copy(flags) => copy::run(flags),
        H5Action::Query(flags) => query::run(flags),
        H5Action::Index(flags) => index::run(flags),
        H5Action::Snapshot(flags) => snapshot::run(flags),
        H5Action::Sweep(flags) => sweep::run(flags),
    }
}
