//! The published method as a command: stages that build on each other, each explained, on Field I/O's pattern A.
//!
//! What must stay true: a stage chooses by nothing but what is on record. So a plan that was interrupted and is gone on with
//! comes to the same choices without measuring again what it has.

mod stages;

use std::{
    io::{IsTerminal, Write, stderr},
    path::PathBuf,
};

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use isotach_object::Registry;
use serde::Serialize;
use serde_json::{Map, Value};

use self::stages::{Done, Lab, Measured, Point, Room, Row, Stage};
use crate::{
    Error, Result,
    args::process_count,
    harness::{
        metrics::MIB,
        study::{Seats, SiteArgs, Study},
    },
    report::table::{short, size_text},
    workloads::field_io::{self, Classes, Mode, field_size},
};

const WORKLOAD: &str = "plan";
const STAGES: [Stage; 5] = [Stage::Length, Stage::Processes, Stage::Ratio, Stage::Sweep, Stage::Scale];
const PHASES: [&str; 2] = ["write", "read"];

/// Instead of what other studies say of their pools.
const POOL: &str = "The pool to measure in, as a URI of any engine: it must not exist, is made for each measurement and removed after it \
                    [default: a new folder in /dev/shm, or in the current folder where there is none]";

/// Options of `plan`.
#[derive(Debug, Clone, Args, Serialize)]
#[command(mut_arg("pools", |option| option.help(POOL)))]
pub struct PlanArgs {
    /// Where
    #[command(flatten)]
    #[serde(flatten)]
    site: SiteArgs,
    /// The most processes on a node that are tried [default: twice the processors of this one]
    #[arg(long, value_name = "COUNT", value_parser = process_count)]
    processes_max: Option<usize>,
    /// Operations of each process to begin with
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    operations: u64,
    /// The most operations of each process that are tried
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
    /// How often each point is measured
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..))]
    repetitions: u32,
    /// Go on with the run in this folder; the other options must be as they were
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    #[serde(skip)]
    resume: Option<PathBuf>,
}

/// Does all stages.
pub(crate) fn run(args: &PlanArgs, registry: &Registry, out: &mut impl Write) -> Result<()> {
    if args.site.pools.len() > 1 {
        return Err(Error::invalid(format!("{} values of --pool", args.site.pools.len()), "one, or none"));
    }
    let folder = args.resume.as_deref();
    let mut study = Study::resumable(WORKLOAD, &args.site, registry, args.options()?, folder)?;
    study.shows = false;
    let room = args.room(study.record().nodes())?;
    let bar = bar(measurements(&room, args));
    let mut bench = Bench { args, study, bar };
    let mut point = Point {
        stage: Stage::Length,
        nodes: 1.max(room.servers.min(room.nodes)),
        processes: 1,
        operations: args.operations,
        size: args.size,
        class: args.classes.first().copied().unwrap_or(Classes::USUAL),
    };
    for (number, stage) in STAGES.into_iter().enumerate() {
        let done = stages::stage(stage, point, &room, &mut bench)?;
        bench.bar.suspend(|| tell(number + 1, stage, &done, out)).map_err(Error::Output)?;
        point = done.chosen;
    }
    bench.bar.finish_and_clear();
    bench.study.end()?;
    bench.study.record().check_right()?;
    let folder = bench.study.record().folder().display();
    writeln!(out, "\nRecord: {folder}; `isotach report {folder}` shows it.").map_err(Error::Output)
}

impl PlanArgs {
    /// What a plan must be gone on with.
    fn options(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self).map_err(std::io::Error::from).map_err(Error::pipe("encode"))? {
            Value::Object(options) => Ok(options),
            other => Err(Error::invalid(other.to_string(), "options by name")),
        }
    }

    fn room(&self, nodes: usize) -> Result<Room> {
        if self.operations > self.operations_max {
            let what =
                format!("--operations {} and --operations-max {}", self.operations, self.operations_max);
            return Err(Error::invalid(what, "as many at most as to begin with"));
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Room {
            nodes,
            servers: self.site.servers.unwrap_or(1),
            processes_max: self.processes_max.unwrap_or(2 * processors),
            operations_max: self.operations_max,
            sizes: self.sizes.clone(),
            classes: self.classes.clone(),
        })
    }
}

/// How many measurements there are at most.
fn measurements(room: &Room, args: &PlanArgs) -> u64 {
    let doublings = |most: u64| u64::from(u64::BITS - most.max(1).leading_zeros()) + 1;
    let points = doublings(room.operations_max / args.operations.max(1))
        + doublings(room.processes_max as u64)
        + (room.nodes / room.servers).max(1) as u64
        + (room.sizes.len() * room.classes.len()) as u64
        + doublings(room.nodes as u64);
    points * u64::from(args.repetitions)
}

fn bar(all: u64) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("[{bar:30}] {pos} of at most {len}, {eta} left: {msg}");
    ProgressBar::new(all).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Measures points with a study, which remembers them.
struct Bench<'a> {
    args: &'a PlanArgs,
    study: Study<'a>,
    bar: ProgressBar,
}

impl Lab for Bench<'_> {
    fn measure(&mut self, point: &Point) -> Result<Measured> {
        let Point { stage, nodes, processes, operations, size, class } = *point;
        let mut case = field_io::pattern_a(self.args.mode, class, size, operations);
        // What it chooses by is how points compare.
        case.flush_every = None;
        case.labels.insert("stage".to_owned(), serde_json::json!(stage));
        let mut measured = Measured::default();
        for repetition in 0..self.args.repetitions {
            self.bar.set_message(format!(
                "{nodes} nodes, {processes} processes on each, {operations} operations of {}",
                size_text(size)
            ));
            let seats = Seats { nodes, processes };
            let what = (&case, &PHASES[..]);
            let number = self.study.once(seats, repetition, what, field_io::task, field_io::prepare)?;
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

/// Says what a stage was for, what it found and what it chose.
fn tell(number: usize, stage: Stage, done: &Done, out: &mut impl Write) -> std::io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
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
    ]);
    for row in &done.rows {
        table.add_row(cells(row, done));
    }
    for column in table.column_iter_mut().take(9) {
        column.set_cell_alignment(CellAlignment::Right);
    }
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
    let median = |all: &[f64]| short(crate::harness::results::median(all.to_vec()) / MIB);
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
