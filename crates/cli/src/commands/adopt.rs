//! `isotach adopt`: indexes the messages of files in place.

use std::path::PathBuf;

use clap::Args;

use crate::{
    context::{self, StoreFlags},
    failure::Outcome,
    intake::{self, Intake, IntakeFlags, change::MessageRules},
};

/// Index the messages of files in place, without copying them
///
/// The files must stay unchanged at their paths; each read checks their bytes. Wiping adopted fields leaves the files alone.
#[derive(Debug, Args)]
#[command(after_help = "Example: isotach adopt /archive/2024/*.grib")]
pub(crate) struct AdoptFlags {
    /// Files to index
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    intake: IntakeFlags,
}

/// Adopts the files.
pub(crate) fn run(target: &StoreFlags, flags: &AdoptFlags) -> Outcome {
    let intake = Intake {
        files: &flags.files,
        flags: &flags.intake,
        flush_every: u64::MAX,
        in_place: true,
        atomic: false,
        change: MessageRules::default(),
    };
    intake::run(|| context::open(target), &intake)
}
