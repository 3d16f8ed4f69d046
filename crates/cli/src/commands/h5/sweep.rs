//! `isotach h5 sweep`: removes what dead processes have left in an HDF5 file.

use clap::Args;
use serde_json::json;

use super::site::site;
use crate::{
    failure::Outcome,
    output::{count, outln, print_json},
};

/// Remove the data that programs have stored in an HDF5 file and not committed before they died
///
/// Reads all entries of the file. Others may read and write meanwhile. A writer that has stored data and not committed it may get an error that says that its data
/// was swept, and writes it again.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach h5 sweep run.h5")]
pub(crate) struct SweepFlags {
    /// The file
    file: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Sweeps, and prints how much was removed.
pub(crate) fn run(flags: &SweepFlags) -> Outcome {
    let removed = site()?.sweep(&flags.file)?;
    if flags.json {
        return print_json(&json!({"file": flags.file, "removed": removed}));
    }
    outln!("removed {}", count(removed, "array"))
}
