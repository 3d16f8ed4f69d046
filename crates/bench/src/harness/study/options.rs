//! The options that all studies share.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::{Error, Result, harness::parse::process_count};

/// Where a study measures, and where its record goes.
#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct SiteArgs {
    /// Pools to measure in, as URIs of any engine: each must not exist, is made for each repetition and removed after it
    /// [default: a new folder in /dev/shm and one in the current folder]
    #[arg(long = "pool", value_name = "URI", value_delimiter = ',')]
    pub(crate) pools: Vec<String>,
    /// Nodes to run on [default: this one]. This program must exist under the same path on each
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// How nodes are started: ssh, srun, mpirun, or a command line in which {host} stands for the host
    #[arg(long, value_name = "LAUNCHER", default_value = "ssh", requires = "hosts")]
    pub(crate) launcher: String,
    /// Servers of the pool, by which the report shows its bandwidth
    #[arg(long, value_name = "COUNT", value_parser = process_count)]
    pub(crate) servers: Option<usize>,
    /// The folder for the record of the run, run.json and events/; it must not exist [default: bench-WORKLOAD-TIME]
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip)]
    pub(crate) out: Option<PathBuf>,
}

/// The options of each study.
#[derive(Debug, Clone, Args)]
pub(crate) struct StudyArgs {
    /// Where
    #[command(flatten)]
    pub(crate) site: SiteArgs,
    /// Processes on each node
    #[arg(short = 'n', long = "processes", value_name = "COUNT", value_delimiter = ',', default_values_t = [4], value_parser = process_count)]
    pub(crate) processes: Vec<usize>,
    /// Repetitions of each case: all cases are measured once before any of them again
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repetitions: u32,
    /// One JSON object per line for each result, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

impl StudyArgs {
    /// The numbers of processes on all nodes together.
    pub(crate) fn totals(&self) -> impl Iterator<Item = usize> {
        let nodes = self.site.hosts.len().max(1);
        self.processes.iter().map(move |count| count * nodes)
    }

    /// Refuses odd numbers of processes, for the sake of `what`, which needs two halves.
    pub(crate) fn check_halves(&self, what: &str) -> Result<()> {
        match self.totals().find(|count| count % 2 == 1) {
            Some(count) => Err(Error::invalid(
                format!("{count} processes, of which half write and half read ({what})"),
                "an even number of processes",
            )),
            None => Ok(()),
        }
    }
}
