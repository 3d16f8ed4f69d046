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

use clap::ValueEnum;
use isotach_object::{PoolUri, Registry};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use self::args::IorArgs;
pub(crate) use self::play::{Task, play};

use self::play::Test;
use crate::{
    Result,
    harness::study::{Case, Place, Study},
};

/// What is written to and read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ApiName {
    /// Arrays of the object model
    Object,
    /// Plain files
    Posix,
}

/// Runs all tests.
pub(crate) fn run(args: &IorArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let tests = args.tests()?;
    let cases: Vec<Case<Test>> = tests.into_iter().map(Test::case).collect();
    let place = |test: &Test, pool: &PoolUri| match test.api {
        ApiName::Object => Place::Pool(pool.clone()),
        ApiName::Posix => Place::Folder(absolute(args.files.clone().unwrap_or_else(|| beside(pool)))),
    };
    let task = |test: &Test, place: &Place| crate::Task::Ior(Task { place: place.to_string(), test: *test });
    let mut study = Study::begin("ior", &args.study.site, registry)?;
    study.custody = args.custody();
    study.tells_iterations = true;
    study.run_in(&args.study, &cases, place, task, api::prepare)?;
    study.finish_with(&args.study, out, |record, out| match args.csv {
        true => table::print_csv(record, out),
        false => table::print(record, out),
    })
}

/// As it is on record, whoever cleans up later from wherever.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The folder for plain files beside a pool that is a folder.
fn beside(pool: &PoolUri) -> PathBuf {
    let path = Path::new(pool.path());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push("-files");
    path.with_file_name(name)
}

impl Test {
    fn case(self) -> Case<Self> {
        let word = |is: bool, yes: &str, no: &str| json!(if is { yes } else { no });
        let class = match self.api {
            ApiName::Object => self.class.to_string(),
            ApiName::Posix => "-".to_owned(),
        };
        let labels = [
            ("api", json!(self.api)),
            ("access", word(self.shape.file_per_process, "file-per-process", "single-shared-file")),
            ("block", self.shape.block.into()),
            ("transfer", self.shape.transfer.into()),
            ("size", self.shape.transfer.into()),
            ("segments", self.shape.segments.into()),
            ("iterations", self.iterations.into()),
            ("class", class.into()),
            ("reads", word(self.reorder, "neighbour's", "own")),
            ("fsync", word(self.fsync, "yes", "no")),
        ];
        let labels = labels.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        // Plain files are measured where they are asked for.
        Case { labels, plays: vec![self], bytes: Self::bytes, flush_every: None }
    }
}

/// A value as its text.
mod text {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_files_go_beside_the_pool() {
        let pool = |text: &str| text.parse::<PoolUri>().unwrap();
        assert_eq!(beside(&pool("posix:/data/pool?sync=no")), Path::new("/data/pool-files"));
        assert_eq!(beside(&pool("posix:pool/")), Path::new("pool-files"));
    }
}
