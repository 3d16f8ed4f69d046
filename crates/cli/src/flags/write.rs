//! `isotach write`.

use std::path::PathBuf;

use clap::Args;

/// Archive the messages of files
///
/// Each GRIB message is archived under the key that it carries. What was archived is durable and visible to every reader
/// when the command ends. A bad message ends it; the good ones before it are archived.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  isotach write forecast.grib
  isotach write --key class=rd,expver=x001 unlabelled.grib
  isotach write --key class=rd,expver=x001,date=20240101,time=0,levtype=sfc,step=0,param=t image.raw")]
pub(crate) struct WriteFlags {
    /// Files to archive; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Keys laid over those that the messages carry, as class=rd,expver=x001
    ///
    /// A key that names a field whole needs no message at all: a FILE that is one GRIB message, or no GRIB, is then
    /// archived under it as it is, without ecCodes. An empty value takes a key away.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Go on after a message that is broken, cannot be decoded or does not fit the schema
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Also flush after every N fields, so that readers see them while the command goes on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) flush_every: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
