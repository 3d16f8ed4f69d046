//! `isotach h5`: HDF5 files.

mod describe;
mod dump;
mod ls;
mod values;

use clap::{Args, Subcommand};
use isotach_hdf5::Site;

use crate::failure::{Failure, Outcome};

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
}

/// Runs the command.
pub(crate) fn run(flags: &H5Flags) -> Outcome {
    match &flags.action {
        H5Action::Ls(flags) => ls::run(flags),
        H5Action::Dump(flags) => dump::run(flags),
    }
}

/// Where files are.
fn site() -> Outcome<Site> {
    Site::from_environment(None).map_err(Failure::usage)
}
