//! The published method as a command: stages that build on each other, with pattern A of Field I/O.
//!
//! What must stay true: a stage chooses only by what is on record. So a resumed run makes the same choices without
//! measuring again.

mod stages;

use std::{
    io::{IsTerminal, Write, stderr},
    path::PathBuf,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use isotach_object::Registry;
use serde::Serialize;
use serde_json::{Map, Value};

use self::stages::{Bench, Bounds, Done, Measured, Point, Row, Stage};
use crate::{
    Error, Result,
    harness::{
        output::{print_line, short, size_text, table},
        parse::process_count,
        spread::{MIB, median},
        study::{ProcessCounts, SiteArgs, Study},
    },
    workloads::field_io::{self, Classes, Contention, Mode, Pattern, field_size},
};

const WORKLOAD: &str = "method";
const STAGES: [Stage; 5] = [Stage::Length, Stage::Processes, Stage::Ratio, Stage::Sweep, Stage::Scale];
const PHASES: [&str; 2] = ["write", "read"];

/// The help of `--pool`, in place of that of other studies.
const POOL: &str = "The pool to measure in, as a URI of any engine: it must not exist, is made for each measurement and removed after it \
                    [default: a new folder in /dev/shm, or in the current folder without one]";

/// Options of `method`.
#[derive(Debug, Clone, Args, Serialize)]
#[command(mut_arg("pools", |option| option.help(POOL)))]
pub(crate) struct MethodArgs {
    /// Where
    #[command(flatten)]
    #[serde(flatten)]
    site: SiteArgs,
    /// The largest number of processes on a node that is tried [default: twice the processors of this one]
    #[arg(long, value_name = "COUNT", value_parser = process_count)]
    processes_max: Option<usize>,
    /// Operations of each process to begin with
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    operations: u64,
    /// The largest number of operations of each process that is tried
    #[arg(long, value_name = "COUNT", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    operations_max: u64,
    /// Bytes of a field in all stages but the sweep
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = field_size)]
    size: usize,
    /// Sizes of the sweep, in bytes
    #[arg(long, value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 20, 5 << 20, 10 << 20, 20 << 20], value_parser = field_size)]
    sizes: Vec<usize>,
    /// Object classes of the sweep: of the main object, indexes and arrays
    #[arg(
        long = "class",
        value_name = "MAIN-INDEX-STORE",
        value_delimiter = ',',
        default_value = "SX-S2-S1,S1-S1-S1,S2-S2-S2,SX-SX-SX"
    )]
    #[serde(rename = "class")]
    classes: Vec<Classes>,
    /// The layout of fields
    #[arg(long, value_name = "MODE", default_value = "full")]
    mode: Mode,
    /// Repetitions of each point
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    repetitions: u32,
    /// Resume the run in this folder; the other options must be the same
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    #[serde(skip)]
    resume: Option<PathBuf>,
}

pub(crate) fn run(args: &MethodArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    if args.site.pools.len() > 1 {
        return Err(Error::invalid(format!("{} values of --pool", args.site.pools.len()), "one, or none"));
    }
    let folder = args.resume.as_deref();
    let mut study = Study::resumable(WORKLOAD, &args.site, registry, args.options()?, folder)?;
    study.shows_progress = false;
    let bounds = args.bounds(study.record().description().hosts.len())?;
    let bar = bar(measurements(&bounds, args));
    let mut bench = StudyBench { args, study, bar };
    let mut point = Point {
        stage: Stage::Length,
        nodes: 1.max(bounds.servers.min(bounds.nodes)),
        processes: 1,
        operations: args.operations,
        size: args.size,
        class: args.classes.first().copied().unwrap_or(Classes::USUAL),
    };
    for (number, stage) in STAGES.into_iter().enumerate() {
        let done = stages::stage(stage, point, &bounds, &mut bench)?;
        bench.bar.suspend(|| explain(number + 1, stage, &done, out)).map_err(Error::Output)?;
        point = done.chosen;
    }
    bench.bar.finish_and_clear();
    bench.study.end()?;
    bench.study.record().check_right()?;
    let folder = bench.study.record().folder().display();
    print_line(&format!("\nRecord: {folder}; `isotach report {folder}` shows it."), out)
}

impl MethodArgs {
    /// The options that a run must be resumed with.
    fn options(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self).map_err(std::io::Error::from).map_err(Error::pipe("encode"))? {
            Value::Object(options) => Ok(options),
            other => Err(Error::invalid(other.to_string(), "options by name")),
        }
    }

    fn bounds(&self, nodes: usize) -> Result<Bounds> {
        if self.operations > self.operations_max {
            let what =
                format!("--operations {} and --operations-max {}", self.operations, self.operations_max);
            return Err(Error::invalid(what, "a maximum that is not smaller than the first value"));
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Bounds {
            nodes,
            servers: self.site.servers.unwrap_or(1),
            processes_max: self.processes_max.unwrap_or(2 * processors),
            operations_max: self.operations_max,
            sizes: self.sizes.clone(),
            classes: self.classes.clone(),
        })
    }
}

/// The largest number of measurements.
fn measurements(bounds: &Bounds, args: &MethodArgs) -> u64 {
    let doublings = |most: u64| u64::from(u64::BITS - most.max(1).leading_zeros()) + 1;
    let points = doublings(bounds.operations_max / args.operations.max(1))
        + doublings(bounds.processes_max as u64)
        + (bounds.nodes / bounds.servers).max(1) as u64
        + (bounds.sizes.len() * bounds.classes.len()) as u64
        + doublings(bounds.nodes as u64);
    points * u64::from(args.repetitions)
}

fn bar(all: u64) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("[{bar:30}] {pos} of at most {len}, {eta} left: {msg}");
    ProgressBar::new(all).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A bench whose study has the points on record.
struct StudyBench<'a> {
    args: &'a MethodArgs,
    study: Study<'a>,
    bar: ProgressBar,
}

impl Bench for StudyBench<'_> {
    fn measure(&mut self, point: &Point) -> Result<Measured> {
        let Point { stage, nodes, processes, operations, size, class } = *point;
        let mut case = field_io::case(Pattern::A, self.args.mode, Contention::Low, class, size, operations);
        // Stages compare points with each other and not with a limit.
        case.flush_every = None;
        case.labels.insert("stage".to_owned(), serde_json::json!(stage));
        let mut measured = Measured::default();
        for repetition in 0..self.args.repetitions {
            self.bar.set_message(format!(
                "{nodes} nodes, {processes} processes on each, {operations} operations of {}",
                size_text(size)
            ));
            let counts = ProcessCounts { nodes, per_node: processes };
            let what = (&case, &PHASES[..]);
            let number = self.study.measure_once(counts, repetition, what, field_io::prepare)?;
            for (phase, found) in PHASES.iter().zip([&mut measured.write, &mut measured.read]) {
                let figures = self.study.record().figures(number, repetition, phase);
                found.push(figures.map_or(0.0, |figures| figures.global_timing_bandwidth));
                measured.is_overlap_poor |= figures.is_some_and(|figures| figures.is_overlap_poor);
            }
            self.bar.inc(1);
        }
        Ok(measured)
    }
}

/// Prints the purpose of a stage, its points and its choice.
fn explain(number: usize, stage: Stage, done: &Done, out: &mut impl Write) -> std::io::Result<()> {
    let header = [
        "nodes",
        "processes",
        "operations",
        "size",
        "class",
        "write MiB/s",
        "read MiB/s",
        "varies by",
        "overlap",
        "",
    ];
    let table = table(header, done.rows.iter().map(|row| cells(row, done)), 0);
    writeln!(out, "\n{number}. {}\n{table}", stage.why())?;
    if done.rows.iter().any(|(_, measured)| measured.is_overlap_poor) {
        writeln!(
            out,
            "Where overlap is poor, processes did not work together all the time: more operations help."
        )?;
    }
    writeln!(out, "-> {}", done.says)?;
    out.flush()
}

fn cells((point, measured): &Row, done: &Done) -> [String; 10] {
    let median = |all: &[f64]| short(median(all.to_vec()) / MIB);
    [
        point.nodes.to_string(),
        point.processes.to_string(),
        point.operations.to_string(),
        size_text(point.size),
        point.class.to_string(),
        median(&measured.write),
        median(&measured.read),
        format!("{:.1} %", measured.variation() * 100.0),
        if measured.is_overlap_poor { "poor" } else { "good" }.to_owned(),
        if *point == done.chosen { "<-".to_owned() } else { String::new() },
    ]
}
