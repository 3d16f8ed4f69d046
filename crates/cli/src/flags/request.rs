//! Requests, as many commands take them.

use std::path::PathBuf;

use clap::Args;

/// One or more requests.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Requests {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6,param=t/u
    #[arg(value_name = "REQUEST", required_unless_present = "file", conflicts_with = "file")]
    pub(crate) request: Option<String>,
    /// Take MARS requests from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) language: Language,
}

/// Requests where none means everything.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct OneRequest {
    /// Which fields: names with values, as in class=od,step=0/to/24/by/6. A name left out matches everything
    #[arg(value_name = "REQUEST", conflicts_with = "file")]
    pub(crate) request: Option<String>,
    /// Take MARS requests from a file; - is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) language: Language,
}

/// What is taken of the MARS language.
#[derive(Debug, Default, Args)]
pub(crate) struct Language {
    /// Refuse keywords of MARS that have no effect here, such as area, format and target
    #[arg(long)]
    pub(crate) strict_request: bool,
}
