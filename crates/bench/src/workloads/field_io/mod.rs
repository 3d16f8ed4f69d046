//! Field I/O: the published benchmark of fields on an object store, on the object model and therefore on every engine.

mod fields;
mod play;

use std::io::Write;

use clap::{Args, ValueEnum};
use isotach_object::Registry;
use serde::Serialize;
use serde_json::json;

pub(crate) use self::{
    fields::{Classes, Contention, Mode, prepare},
    play::Run,
};

use self::{fields::SIZE_MIN, play::Action};
use crate::{
    Result,
    harness::{
        parse::within,
        study::{Case, Study, StudyArgs, Work, labels, print_table},
    },
    workloads::ensemble,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pattern {
    /// Unique writes; then a second set of processes reads
    A,
    /// Half of the processes re-write one field each while the others read it
    B,
    /// As B, over many fields each
    C,
    /// Each process one write, all to one index
    #[value(name = "0A")]
    #[serde(rename = "0A")]
    ZeroA,
    /// Each process one write, to an index of its own
    #[value(name = "0B")]
    #[serde(rename = "0B")]
    ZeroB,
    /// Unique writes, then the same processes read
    #[value(name = "1")]
    #[serde(rename = "1")]
    One,
    /// B under its older name
    #[value(name = "2B")]
    #[serde(rename = "2B")]
    TwoB,
}

impl Pattern {
    /// The actions of a pattern, one after the other, and the operations of each process.
    fn actions(self, operations: u64) -> (Vec<Action>, u64) {
        match self {
            Self::A => (vec![Action::Write, Action::Read], operations),
            Self::B | Self::TwoB => (vec![Action::RewriteWhileRead { fields: 1 }], operations),
            Self::C => (vec![Action::RewriteWhileRead { fields: operations }], operations),
            Self::ZeroA | Self::ZeroB => (vec![Action::Write], 1),
            Self::One => (vec![Action::WriteThenRead], operations),
        }
    }

    /// The contention in the definition of the pattern, if it is defined.
    fn contention(self) -> Option<Contention> {
        match self {
            Self::ZeroA => Some(Contention::High),
            Self::ZeroB => Some(Contention::Low),
            _ => None,
        }
    }
}

/// The size of a field with a stamp at both ends.
pub(crate) fn field_size(text: &str) -> std::result::Result<usize, String> {
    within(SIZE_MIN, ensemble::SIZE_MAX, text)
}

/// Options of Field I/O. All combinations of their values are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct FieldIoArgs {
    /// Access patterns
    #[arg(
        long = "pattern",
        value_name = "PATTERN",
        value_delimiter = ',',
        default_value = "a,b",
        ignore_case = true
    )]
    pub(crate) patterns: Vec<Pattern>,
    /// Layouts of fields
    #[arg(long = "mode", value_name = "MODE", value_delimiter = ',', default_value = "full")]
    pub(crate) modes: Vec<Mode>,
    /// Whether processes share an index
    #[arg(long = "contention", value_name = "LEVEL", value_delimiter = ',', default_value = "low")]
    pub(crate) contentions: Vec<Contention>,
    /// Object classes of the main object, indexes and arrays
    #[arg(
        long = "class",
        value_name = "MAIN-INDEX-STORE",
        value_delimiter = ',',
        default_value = "SX-S2-S1"
    )]
    pub(crate) classes: Vec<Classes>,
    /// Bytes of a field
    #[arg(long = "size", value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20], value_parser = field_size)]
    pub(crate) sizes: Vec<usize>,
    /// Operations of each process
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) operations: u64,
    /// Where, with how many processes, how often
    #[command(flatten)]
    pub(crate) study: StudyArgs,
}

pub(crate) fn run(args: &FieldIoArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    if args.patterns.iter().any(|pattern| matches!(pattern, Pattern::B | Pattern::C | Pattern::TwoB)) {
        args.study.check_halves("patterns b, c and 2B")?;
    }
    let cases = cases(args);
    let mut study = Study::begin(Run::NAME, &args.study.site, registry)?;
    study.run(&args.study, &cases, prepare)?;
    study.finish(&args.study, out, |record, out| print_table(record, false, out))
}

fn cases(args: &FieldIoArgs) -> Vec<Case<Run>> {
    let mut cases = Vec::new();
    for mode in &args.modes {
        for pattern in &args.patterns {
            let fixed = pattern.contention().map(|contention| vec![contention]);
            for contention in fixed.as_ref().unwrap_or(&args.contentions) {
                for classes in &args.classes {
                    for size in &args.sizes {
                        cases.push(case(*pattern, *mode, *contention, *classes, *size, args.operations));
                    }
                }
            }
        }
    }
    cases
}

/// The case of a pattern with so many operations of each process.
pub(crate) fn case(
    pattern: Pattern,
    mode: Mode,
    contention: Contention,
    classes: Classes,
    size: usize,
    operations: u64,
) -> Case<Run> {
    let (actions, operations) = pattern.actions(operations);
    let labels = labels([
        ("mode", json!(mode)),
        ("pattern", json!(pattern)),
        ("contention", json!(contention)),
        ("class", json!(classes)),
        ("size", size.into()),
        ("operations", operations.into()),
    ]);
    let run = |action| Run { mode, contention, classes, size, operations, action };
    // Each write is flushed before it counts as done.
    Case { labels, runs: actions.into_iter().map(run).collect(), flush_every: Some(1) }
}
