//! The model beside measurements of several processes on one machine, whose costs were measured with one process.
//!
//! What must stay true: `docs/scaling.md` has the figures of these comparisons, row by row.

use serde_json::Value;

use super::{
    curve::{Curve, points},
    examples,
    measure::line,
    site::{Cost, Site},
    units::Rate,
};
use crate::harness::{
    output::short,
    spread::{MIB, Spread},
};

const PAGE: &str = include_str!("../../../../docs/scaling.md");
/// A machine that others used as well, which left the processes two thirds of one processor.
const SHARED: &str = include_str!("../../runs/2026-11-26-scaling/raw.jsonl");
/// A machine with little other work.
const QUIETER: &str = include_str!("../../runs/2026-11-21-2-cpus/raw.jsonl");
const SIZES: [(u64, &str); 2] = [(1 << 20, "1 MiB"), (4096, "4 KiB")];

/// The measurements of a run.
struct Run(Vec<Value>);

impl Run {
    fn read(text: &str) -> Self {
        Self(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// A figure of all repetitions in memory, with so many processes.
    fn figure(&self, what: &str, size: u64, processes: u64, figure: &str) -> Spread {
        let is_of = |line: &&Value| {
            let is_in_memory = line["place"].as_str().is_some_and(|place| place.starts_with("tmpfs"));
            is_in_memory && line["what"] == what && line["size"] == size && line["procs"] == processes
        };
        Spread::of(self.0.iter().filter(is_of).map(|line| line[figure].as_f64().unwrap()).collect())
    }

    /// What one process needs, of processor time and of other time.
    fn cost(&self, what: &str) -> Cost {
        let of = |(size, _): (u64, &str)| {
            let cpu = self.figure(what, size, 1, "cpu_us_per_field").median * 1e-6;
            let all = 1.0 / self.figure(what, size, 1, "fields_per_s").median;
            (size as usize, cpu, (all - cpu).max(0.0))
        };
        let [large, small] = SIZES.map(of);
        let (cpu_per_field, cpu_per_mib) = line((small.0, small.1), (large.0, large.1));
        let (wait_per_field, wait_per_mib) = line((small.0, small.2), (large.0, large.2));
        Cost { cpu_per_field, cpu_per_mib, wait_per_field, wait_per_mib }
    }

    /// The rows of the page for these processes, and the errors of the model in them.
    fn compare(&self, site: &Site, processes: &[u64]) -> Vec<(String, f64)> {
        let mut rows = Vec::new();
        for (size, title) in SIZES {
            let at: Vec<f64> = processes.iter().map(|count| *count as f64).collect();
            let predicted = points(site, Curve::Processes, &at, size as f64).unwrap();
            for what in ["archive", "retrieve"] {
                for (count, point) in processes.iter().zip(&predicted) {
                    let found = self.figure(what, size, *count, "mib_per_s");
                    let model = if what == "archive" { point.write.0 } else { point.read.0 } / MIB;
                    let error = model / found.median - 1.0;
                    let [median, low, high, model] = [found.median, found.min, found.max, model].map(short);
                    let percent = error * 100.0;
                    let row = format!(
                        "| {what} | {title} | {count} | {median} | {low} to {high} | {model} | {percent:+.0} % |"
                    );
                    rows.push((row, error.abs()));
                }
            }
        }
        rows
    }
}

#[track_caller]
fn check(rows: &[(String, f64)], error_max: f64, error_median_max: f64) {
    let missing: Vec<&str> =
        rows.iter().map(|(row, _)| row.as_str()).filter(|row| !PAGE.contains(row)).collect();
    assert!(missing.is_empty(), "docs/scaling.md lacks these rows:\n{}", missing.join("\n"));
    let spread = Spread::of(rows.iter().map(|(_, error)| *error).collect());
    assert!(spread.max <= error_max && spread.median <= error_median_max, "{spread:?}");
}

#[test]
fn on_shared_processors_1_to_16_processes_are_predicted_within_30_percent() {
    let site = examples::site("two-cpus").unwrap();
    check(&Run::read(SHARED).compare(&site, &[1, 2, 4, 8, 16]), 0.3, 0.15);
}

#[test]
fn on_a_quieter_machine_4_processes_are_predicted_within_30_percent() {
    let run = Run::read(QUIETER);
    let mut site = examples::site("two-cpus").unwrap();
    site.clients.cores_per_node = 2.0;
    (site.costs.write, site.costs.read) = (run.cost("archive"), run.cost("retrieve"));
    let devices = site.devices.as_mut().unwrap();
    let limit = |what| Rate(run.figure(what, SIZES[0].0, 4, "mib_per_s").median * MIB);
    (devices.write, devices.read) = (limit("plain write"), limit("plain read"));
    check(&run.compare(&site, &[4]), 0.3, 0.25);
}
