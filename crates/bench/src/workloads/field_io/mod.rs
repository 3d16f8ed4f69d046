//! Field I/O: the published benchmark of fields on an object store, on the object model and so on every engine.

mod fields;
mod play;

use std::{fmt, io::Write, str::FromStr};

use clap::{Args, ValueEnum};
use isotach_object::{ObjectClass, Registry};
use serde::{Deserialize, Serialize, Serializer};

pub(crate) use self::{
    fields::prepare,
    play::{Act, Task, play},
};

use self::fields::{Contention, SIZE_MIN};
use crate::{
    Result,
    args::within,
    harness::study::{Case, Study, StudyArgs},
    workloads::ensemble,
};

/// Which layout fields have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// A main key-value object, and containers for each index and its arrays
    Full,
    /// All in one container
    NoContainers,
    /// All in one container, arrays found by the MD5 of their identifier
    NoIndex,
}

/// Who does what in which order.
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
    /// The plays of a pattern, one after the other, and how many operations each process does.
    fn plays(self, operations: u64) -> (Vec<Act>, u64) {
        match self {
            Self::A => (vec![Act::Write, Act::Read], operations),
            Self::B | Self::TwoB => (vec![Act::RewriteWhileRead { fields: 1 }], operations),
            Self::C => (vec![Act::RewriteWhileRead { fields: operations }], operations),
            Self::ZeroA | Self::ZeroB => (vec![Act::Write], 1),
            Self::One => (vec![Act::WriteThenRead], operations),
        }
    }

    /// The contention that a pattern is defined with, if it is.
    fn contention(self) -> Option<Contention> {
        match self {
            Self::ZeroA => Some(Contention::High),
            Self::ZeroB => Some(Contention::Low),
            _ => None,
        }
    }

    fn needs_two_halves(self) -> bool {
        matches!(self, Self::B | Self::C | Self::TwoB)
    }
}

/// The size of a field that says at both ends which it is.
pub(crate) fn field_size(text: &str) -> std::result::Result<usize, String> {
    within(SIZE_MIN, ensemble::SIZE_MAX, text)
}

/// The object classes of the main key-value object, of indexes and of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes {
    pub(crate) main: ObjectClass,
    pub(crate) index: ObjectClass,
    pub(crate) store: ObjectClass,
}

impl Classes {
    /// Those of the published runs, unless others are asked for.
    pub(crate) const USUAL: Self =
        Self { main: ObjectClass::SX, index: ObjectClass::S2, store: ObjectClass::S1 };
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.main, self.index, self.store)
    }
}

impl FromStr for Classes {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected =
            "expected three object classes, of the main object, indexes and arrays, as in SX-S2-S1";
        let classes: std::result::Result<Vec<ObjectClass>, _> = text.split('-').map(str::parse).collect();
        match classes.map_err(|error| error.to_string())?[..] {
            [main, index, store] => Ok(Self { main, index, store }),
            _ => Err(expected.to_owned()),
        }
    }
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Options of Field I/O. Each that takes several values is gone through with all others.
#[derive(Debug, Clone, Args)]
pub struct FieldIoArgs {
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

/// Runs all cases.
pub(crate) fn run(args: &FieldIoArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    check(args)?;
    let cases = cases(args);
    let mut study = Study::begin("field-io", &args.study.site, registry)?;
    study.run(&args.study, &cases, task, prepare)?;
    study.finish(&args.study, out)
}

fn check(args: &FieldIoArgs) -> Result<()> {
    match args.patterns.iter().any(|pattern| pattern.needs_two_halves()) {
        true => args.study.check_halves("patterns b, c and 2B"),
        false => Ok(()),
    }
}

/// What a case is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pattern: Pattern,
    mode: Mode,
    contention: Contention,
    classes: Classes,
    size: usize,
    operations: u64,
}

fn cases(args: &FieldIoArgs) -> Vec<Case<(Setting, Act)>> {
    let mut cases = Vec::new();
    for mode in &args.modes {
        for pattern in &args.patterns {
            let fixed = pattern.contention().map(|contention| vec![contention]);
            for contention in fixed.as_ref().unwrap_or(&args.contentions) {
                for classes in &args.classes {
                    for size in &args.sizes {
                        let (acts, operations) = pattern.plays(args.operations);
                        let setting = Setting {
                            pattern: *pattern,
                            mode: *mode,
                            contention: *contention,
                            classes: *classes,
                            size: *size,
                            operations,
                        };
                        cases.push(setting.case(acts));
                    }
                }
            }
        }
    }
    cases
}

/// Pattern A with low contention: unique writes, then unique reads.
pub(crate) fn pattern_a(mode: Mode, classes: Classes, size: usize, operations: u64) -> Case<(Setting, Act)> {
    let (acts, operations) = Pattern::A.plays(operations);
    let (pattern, contention) = (Pattern::A, Contention::Low);
    Setting { pattern, mode, contention, classes, size, operations }.case(acts)
}

/// What the processes of a play are told of the pool.
pub(crate) fn task((setting, act): &(Setting, Act), pool: &str) -> crate::Task {
    setting.task(*act, pool)
}

impl Setting {
    fn task(self, act: Act, pool: &str) -> crate::Task {
        let Self { mode, contention, classes, size, operations, .. } = self;
        crate::Task::FieldIo(Task { pool: pool.to_owned(), mode, contention, classes, size, operations, act })
    }

    fn case(self, acts: Vec<Act>) -> Case<(Self, Act)> {
        let Self { pattern, mode, contention, classes, size, operations } = self;
        let labels = [
            ("mode", serde_json::json!(mode)),
            ("pattern", serde_json::json!(pattern)),
            ("contention", serde_json::json!(contention)),
            ("class", serde_json::json!(classes)),
            ("size", size.into()),
            ("operations", operations.into()),
        ];
        let labels = labels.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let plays = acts.into_iter().map(|act| (self, act)).collect();
        let bytes = |(setting, act): &(Self, Act), processes| setting.bytes(*act, processes);
        // Each write is flushed before it counts as done.
        Case { labels, plays, bytes, flush_every: Some(1) }
    }

    /// Bytes that so many processes write.
    fn bytes(self, act: Act, processes: u64) -> u64 {
        let writes = match act {
            Act::Write | Act::WriteThenRead => processes.saturating_mul(self.operations),
            Act::RewriteWhileRead { fields } => (processes / 2).saturating_mul(fields + self.operations),
            Act::Read => 0,
        };
        writes.saturating_mul(self.size as u64)
    }
}
