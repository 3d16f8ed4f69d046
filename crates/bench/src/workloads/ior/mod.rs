//! IOR: the benchmark of file systems, in segments and repetitions, on the object model and beside it on plain files.

mod api;
mod args;
mod layout;
mod play;
mod table;

use std::io::Write;

use isotach_object::Registry;
use serde_json::json;

pub(crate) use self::{args::IorArgs, play::Test};

use self::api::ApiName;
use crate::{
    Result,
    harness::study::{Case, Study, Work, labels},
};

pub(crate) fn run(args: &IorArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    let cases: Vec<Case<Test>> = args.tests()?.into_iter().map(case).collect();
    let mut study = Study::begin(Test::NAME, &args.study.site, registry)?;
    study.retention = args.retention();
    study.records_iterations = true;
    study.run(&args.study, &cases, api::prepare)?;
    study.finish(&args.study, out, |record, out| match args.csv {
        true => table::print_csv(record, out),
        false => table::print(record, out),
    })
}

fn case(test: Test) -> Case<Test> {
    let word = |is: bool, yes: &str, no: &str| json!(if is { yes } else { no });
    let class = if test.api == ApiName::Object { &*test.class } else { "-" };
    let labels = labels([
        ("api", json!(test.api)),
        ("access", word(test.shape.file_per_process, "file-per-process", "single-shared-file")),
        ("block", test.shape.block.into()),
        ("transfer", test.shape.transfer.into()),
        ("size", test.shape.transfer.into()),
        ("segments", test.shape.segments.into()),
        ("iterations", test.iterations.into()),
        ("class", class.into()),
        ("reads", word(test.steps.reorder, "neighbour's", "own")),
        ("fsync", word(test.steps.fsync, "yes", "no")),
    ]);
    // IOR measures plain files itself, so there is no limit.
    Case { labels, runs: vec![test], flush_every: None }
}
