//! `isotach read`.

use std::path::PathBuf;

use clap::Args;

use super::{AtFlag, Requests};

/// Retrieve fields, one after the other, in the request's order
///
/// The request names every key that the schema asks for; one that is optional there may be left out. A field that is not
/// there is no error: it is named on standard error.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  isotach read class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6,param=t -o t.grib")]
pub(crate) struct ReadFlags {
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Where the fields go; - is standard output. A file appears when it is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Fail, and leave no file, if a field is missing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object on standard error: fields, bytes, missing, and the first 1000 of the missing keys
    #[arg(long)]
    pub(crate) json: bool,
}
