//! IOR: the benchmark of file systems, in segments and repetitions, on the object model and beside it on plain files.

mod api;
mod args;
mod layout;
mod play;
mod table;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use isotach_object::{PoolUri, Registry};
use serde_json::json;

pub(crate) use self::{
    args::IorArgs,
    play::{NAME, run_process},
};

use self::{
    api::ApiName,
    play::{Task, Test},
};
use crate::{
    Result,
    harness::{
        launcher,
        study::{Case, Location, Study, Work, labels},
    },
};

pub(crate) fn run(args: &IorArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let tests = args.tests()?;
    let cases: Vec<Case<Run>> = tests.into_iter().map(|test| case(test, args.files.as_deref())).collect();
    let mut study = Study::begin(NAME, &args.study.site, registry)?;
    study.retention = args.retention();
    study.records_iterations = true;
    study.run(&args.study, &cases, api::prepare)?;
    study.finish(&args.study, out, |record, out| match args.csv {
        true => table::print_csv(record, out),
        false => table::print(record, out),
    })
}

/// The folder for plain files beside a pool.
fn beside(pool: &PoolUri) -> PathBuf {
    let path = Path::new(pool.path());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push("-files");
    path.with_file_name(name)
}

struct Run {
    test: Test,
    /// The folder of plain files, unless it is beside the pool.
    files: Option<PathBuf>,
}

impl Work for Run {
    fn location(&self, pool: &PoolUri) -> Location {
        match self.test.api {
            ApiName::Object => Location::Pool(pool.clone()),
            ApiName::Posix => {
                let folder = self.files.clone().unwrap_or_else(|| beside(pool));
                // The record is read from other folders, too.
                Location::Folder(std::path::absolute(&folder).unwrap_or(folder))
            }
        }
    }

    fn task(&self, location: &Location) -> Result<launcher::Task> {
        launcher::Task::new(NAME, &Task { location: location.to_string(), test: self.test })
    }

    fn bytes_written(&self, processes: u64) -> u64 {
        self.test.bytes(processes)
    }
}

fn case(test: Test, files: Option<&Path>) -> Case<Run> {
    let word = |is: bool, yes: &str, no: &str| json!(if is { yes } else { no });
    let class = match test.api {
        ApiName::Object => test.class.to_string(),
        ApiName::Posix => "-".to_owned(),
    };
    let labels = labels([
        ("api", json!(test.api)),
        ("access", word(test.shape.file_per_process, "file-per-process", "single-shared-file")),
        ("block", test.shape.block.into()),
        ("transfer", test.shape.transfer.into()),
        ("size", test.shape.transfer.into()),
        ("segments", test.shape.segments.into()),
        ("iterations", test.iterations.into()),
        ("class", class.into()),
        ("reads", word(test.reorder, "neighbour's", "own")),
        ("fsync", word(test.fsync, "yes", "no")),
    ]);
    // IOR measures plain files itself, so there is no limit.
    Case { labels, runs: vec![Run { test, files: files.map(Path::to_owned) }], flush_every: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_files_are_beside_the_pool() {
        let pool = |text: &str| text.parse::<PoolUri>().unwrap();
        assert_eq!(beside(&pool("posix:/data/pool?sync=no")), Path::new("/data/pool-files"));
        assert_eq!(beside(&pool("posix:pool/")), Path::new("pool-files"));
    }
}
