//! `isotach write`.

use std::path::PathBuf;

use clap::Args;

use super::{FilterFlags, IntakeFlags, ModifyFlag};

/// Archive the messages of files
///
/// Each GRIB message is archived under the key that it carries. What was archived is durable and visible to every reader
/// when the command ends. A bad message ends it; the good ones before it are archived, unless --atomic is given.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach write forecast.grib
  isotach write --atomic step-6.grib step-6-surface.grib
  isotach write --key class=rd,expver=x001 unlabelled.grib
  isotach write --modify class=rd,expver=x001 forecast.grib
  isotach write --key class=rd,expver=x001,date=20240101,time=0,levtype=sfc,step=0,param=t image.raw")]
pub(crate) struct WriteFlags {
    /// Files to archive; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) intake: IntakeFlags,
    #[command(flatten)]
    pub(crate) change: ModifyFlag,
    #[command(flatten)]
    pub(crate) filter: FilterFlags,
    /// Make the store if it is not there, with the standard schema or that of the configuration
    ///
    /// Without it a person at a terminal is asked.
    #[arg(long)]
    pub(crate) init: bool,
    /// Also flush after every N fields, so that readers see them while the command goes on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) flush_every: Option<u64>,
    /// Let all fields become visible at once, or none if something is bad; they must be of one dataset
    #[arg(long, conflicts_with = "flush_every")]
    pub(crate) atomic: bool,
}
