//! `isotach adopt`: indexes the messages of files where they are.

use std::path::PathBuf;

use clap::Args;

use crate::{
    context::{self, PlaceFlags},
    failure::Outcome,
    intake::{self, Intake, IntakeFlags, change::Change},
};

/// Index the messages of files where they are, without copying them
///
/// The files must stay where and as they are; each read checks their bytes. Wiping adopted fields leaves the files alone.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach adopt /archive/2024/*.grib")]
pub(crate) struct AdoptFlags {
    /// Files to index
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) intake: IntakeFlags,
}

/// Adopts.
pub(crate) fn run(place: &PlaceFlags, flags: &AdoptFlags) -> Outcome {
    let intake = Intake {
        files: &flags.files,
        how: &flags.intake,
        flush_every: u64::MAX,
        in_place: true,
        atomic: false,
        change: Change::default(),
    };
    intake::run(|| context::open(place), &intake)
}
