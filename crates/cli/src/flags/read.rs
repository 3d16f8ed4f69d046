//! `isotach read`.

use std::path::PathBuf;

use clap::Args;

use super::{AtFlag, OneRequest};

/// Retrieve fields, one after the other, in the request's order
///
/// The request names every key that the schema asks for; one that is optional there may be left out. A field that is not
/// there is no error: it is named on standard error.
#[derive(Debug, Args)]
#[command(mut_arg("request", |request| request
    .required_unless_present_any(["file", "extract"])
    .help("Which fields: names with values, as in class=od,step=0/to/24/by/6,param=t/u")))]
#[command(after_help = "Example:
  isotach read class=od,date=-1,time=12,type=fc,levtype=pl,levelist=500,step=6,param=t -o t.grib")]
pub(crate) struct ReadFlags {
    #[command(flatten)]
    pub(crate) requests: OneRequest,
    /// Read the fields that have the keys of a file's messages; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["request", "file"])]
    pub(crate) extract: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) at: AtFlag,
    /// Where the fields go; - is standard output, which is also taken without this unless it is a terminal
    ///
    /// A file appears, or is replaced, when it is whole and something was found. It keeps its permissions.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Fail, and leave no file, if a field is missing
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one JSON object on standard error: fields, bytes, missing, and the first 1000 of the missing keys
    #[arg(long)]
    pub(crate) json: bool,
}
