//! Requests, as many commands take them.

use std::path::PathBuf;

use clap::Args;

/// One or more requests.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Requests {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6,param=t/u
    #[arg(value_name = "REQUEST")]
    pub(crate) request: Option<String>,
    /// Take MARS requests from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// Requests where none means everything.
#[derive(Debug, Args)]
#[group(required = false, multiple = false)]
pub(crate) struct OneRequest {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6. A name left out matches everything
    #[arg(value_name = "REQUEST")]
    pub(crate) request: Option<String>,
    /// Take MARS requests from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}
