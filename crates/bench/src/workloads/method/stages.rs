//! The stages of the method: what each measures, and how it chooses.
//!
//! They do not depend on machines: a [`Bench`] measures, or has a point on record.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    harness::{
        output::size_text,
        spread::{Spread, median},
    },
    workloads::field_io::Classes,
};

/// The largest variation of useful repetitions: their standard deviation by their mean.
pub(super) const VARIATION_MAX: f64 = 0.05;
/// A point that reaches this part of the best is as good.
const AS_GOOD: f64 = 0.95;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Stage {
    Length,
    Processes,
    Ratio,
    Sweep,
    Scale,
}

impl Stage {
    /// Its purpose, as text.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Length => {
                "How long a run must be: operations of each process are doubled until repetitions vary by less than 5 %."
            }
            Self::Processes => {
                "How many processes a node needs: doubled until more bring nothing. The fewest that reach 95 % of the best are taken."
            }
            Self::Ratio => {
                "How many client nodes a server needs: one by one. The fewest that reach 95 % of the best are taken."
            }
            Self::Sweep => "What size of fields and which object classes bring.",
            Self::Scale => {
                "How bandwidth grows with nodes: as many client nodes for each server as was found, doubled."
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Point {
    pub(super) stage: Stage,
    pub(super) nodes: usize,
    /// On each node.
    pub(super) processes: usize,
    /// Of each process.
    pub(super) operations: u64,
    pub(super) size: usize,
    pub(super) class: Classes,
}

/// Global timing bandwidths of repetitions, in bytes per second.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) write: Vec<f64>,
    pub(super) read: Vec<f64>,
    /// Whether processes did not overlap well in any repetition.
    pub(super) is_overlap_poor: bool,
}

impl Measured {
    /// The larger of both variations.
    pub(super) fn variation(&self) -> f64 {
        let of = |all: &[f64]| {
            let spread = Spread::of(all.to_vec());
            if spread.mean > 0.0 { spread.deviation / spread.mean } else { 0.0 }
        };
        of(&self.write).max(of(&self.read))
    }

    /// One figure for both: the geometric mean of their medians.
    pub(super) fn rate(&self) -> f64 {
        (median(self.write.clone()) * median(self.read.clone())).sqrt()
    }
}

/// What measures points.
pub(super) trait Bench {
    fn measure(&mut self, point: &Point) -> Result<Measured>;
}

#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// Nodes that clients can run on.
    pub(super) nodes: usize,
    pub(super) servers: usize,
    pub(super) processes_max: usize,
    pub(super) operations_max: u64,
    pub(super) sizes: Vec<usize>,
    pub(super) classes: Vec<Classes>,
}

pub(super) type Row = (Point, Measured);

/// A completed stage: its rows, and the point from which the next one starts.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) rows: Vec<Row>,
    pub(super) chosen: Point,
    /// The choice and its reason, as text.
    pub(super) says: String,
}

/// Runs a stage from the point of the one before.
pub(super) fn stage(stage: Stage, from: Point, bounds: &Bounds, bench: &mut impl Bench) -> Result<Done> {
    let from = Point { stage, ..from };
    match stage {
        Stage::Length => length(from, bounds, bench),
        Stage::Processes => {
            let counts = doubled(bounds.processes_max).map(|processes| Point { processes, ..from });
            fewest(counts.collect(), bench, |chosen| format!("{} processes on each node", chosen.processes))
        }
        Stage::Ratio => {
            let most = (bounds.nodes / bounds.servers).max(1);
            let ratios = (1..=most).map(|ratio| Point { nodes: ratio * bounds.servers, ..from });
            let says = |chosen: &Point| match most {
                1 => format!("{} client nodes: there are no more to try", chosen.nodes),
                _ => format!("{} client nodes for each server", chosen.nodes / bounds.servers),
            };
            fewest(
                ratios.map(|point| Point { nodes: point.nodes.min(bounds.nodes), ..point }).collect(),
                bench,
                says,
            )
        }
        Stage::Sweep => sweep(from, bounds, bench),
        Stage::Scale => {
            let ratio = (from.nodes / bounds.servers).max(1);
            let nodes = doubled(bounds.nodes / ratio).map(|servers| Point { nodes: servers * ratio, ..from });
            let rows = measure(nodes.collect(), bench)?;
            let most = rows.last().map_or(0, |(point, _)| point.nodes);
            Ok(Done { rows, chosen: from, says: format!("up to {most} client nodes") })
        }
    }
}

/// 1, 2, 4 and so on, and at last `most`.
fn doubled(most: usize) -> impl Iterator<Item = usize> {
    let most = most.max(1);
    std::iter::successors(Some(1), move |count| (*count < most).then(|| (count * 2).min(most)))
}

fn length(from: Point, bounds: &Bounds, bench: &mut impl Bench) -> Result<Done> {
    let mut rows: Vec<Row> = Vec::new();
    let mut operations = from.operations;
    loop {
        let point = Point { operations, ..from };
        let measured = bench.measure(&point)?;
        let variation = measured.variation();
        rows.push((point, measured));
        let percent = variation * 100.0;
        if variation <= VARIATION_MAX {
            let says = format!("{operations} operations: repetitions vary by {percent:.1} %");
            return Ok(Done { rows, chosen: point, says });
        }
        if operations >= bounds.operations_max {
            let says = format!(
                "{operations} operations, the most that are tried, although repetitions still vary by {percent:.1} %: take differences below that for noise"
            );
            return Ok(Done { rows, chosen: point, says });
        }
        operations = (operations * 2).min(bounds.operations_max);
    }
}

fn measure(points: Vec<Point>, bench: &mut impl Bench) -> Result<Vec<Row>> {
    points.into_iter().map(|point| Ok((point, bench.measure(&point)?))).collect()
}

/// The first point that is as good as the best, of points in increasing order.
fn fewest(points: Vec<Point>, bench: &mut impl Bench, says: impl Fn(&Point) -> String) -> Result<Done> {
    let rows = measure(points, bench)?;
    let best = rows.iter().map(|(_, measured)| measured.rate()).fold(0.0, f64::max);
    let chosen = rows.iter().find(|(_, measured)| measured.rate() >= AS_GOOD * best);
    let chosen = chosen.or(rows.first()).map(|(point, _)| *point);
    let chosen = chosen.ok_or_else(|| Error::invalid("a stage without points", "at least one"))?;
    Ok(Done { rows, chosen, says: says(&chosen) })
}

fn sweep(from: Point, bounds: &Bounds, bench: &mut impl Bench) -> Result<Done> {
    let mut points = Vec::new();
    for class in &bounds.classes {
        for size in &bounds.sizes {
            // The same number of bytes for each size, with a minimum of operations.
            let operations = (from.operations * from.size as u64 / *size as u64).max(8);
            points.push(Point { size: *size, class: *class, operations, ..from });
        }
    }
    let rows = measure(points, bench)?;
    let best = rows.iter().max_by(|(_, a), (_, b)| a.rate().total_cmp(&b.rate()));
    let chosen = best.map_or(from, |(point, _)| *point);
    let says = format!("the best are fields of {} in classes {}", size_text(chosen.size), chosen.class);
    // Scaling continues with the user's size and class, not with the fastest.
    Ok(Done { rows, chosen: from, says })
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINT: Point = Point {
        stage: Stage::Length,
        nodes: 1,
        processes: 1,
        operations: 16,
        size: 1 << 20,
        class: Classes::USUAL,
    };

    /// Bandwidth by a formula. More operations reduce the variation of repetitions.
    struct Formula(fn(&Point) -> f64);

    impl Bench for Formula {
        fn measure(&mut self, point: &Point) -> Result<Measured> {
            let noise = 1.6 / point.operations as f64;
            let all: Vec<f64> =
                [1.0 - noise, 1.0, 1.0 + noise].iter().map(|part| part * (self.0)(point)).collect();
            Ok(Measured { write: all.clone(), read: all, is_overlap_poor: false })
        }
    }

    fn bounds() -> Bounds {
        Bounds {
            nodes: 6,
            servers: 2,
            processes_max: 12,
            operations_max: 1000,
            sizes: vec![1 << 20, 5 << 20],
            classes: vec![Classes::USUAL],
        }
    }

    #[test]
    fn a_run_is_lengthened_until_repetitions_agree_or_the_bound_is_reached() {
        let done = stage(Stage::Length, POINT, &bounds(), &mut Formula(|_| 100.0)).unwrap();
        assert_eq!((done.chosen.operations, done.rows.len()), (32, 2));
        let short = Bounds { operations_max: 20, ..bounds() };
        let done = stage(Stage::Length, POINT, &short, &mut Formula(|_| 100.0)).unwrap();
        assert_eq!(done.chosen.operations, 20);
        assert!(done.says.contains("still vary"), "{}", done.says);
    }

    #[test]
    fn the_fewest_processes_that_are_as_good_as_the_best_are_chosen() {
        let mut bench = Formula(|point| (point.processes as f64).min(4.0) + point.processes as f64 / 100.0);
        let done = stage(Stage::Processes, POINT, &bounds(), &mut bench).unwrap();
        let tried: Vec<usize> = done.rows.iter().map(|(point, _)| point.processes).collect();
        assert_eq!((tried, done.chosen.processes), (vec![1, 2, 4, 8, 12], 4));
    }

    #[test]
    fn client_nodes_per_server_are_chosen_and_then_scaled() {
        let mut bench = Formula(|point| (point.nodes as f64).min(4.0));
        let done = stage(Stage::Ratio, POINT, &bounds(), &mut bench).unwrap();
        let tried: Vec<usize> = done.rows.iter().map(|(point, _)| point.nodes).collect();
        assert_eq!((tried, done.chosen.nodes), (vec![2, 4, 6], 4));
        let scaled = stage(Stage::Scale, done.chosen, &bounds(), &mut bench).unwrap();
        let tried: Vec<usize> = scaled.rows.iter().map(|(point, _)| point.nodes).collect();
        assert_eq!(tried, [2, 4, 6]);
    }

    #[test]
    fn each_size_of_the_sweep_moves_the_same_number_of_bytes() {
        let from = Point { operations: 100, ..POINT };
        let done = stage(Stage::Sweep, from, &bounds(), &mut Formula(|point| point.size as f64)).unwrap();
        let moved: Vec<_> = done.rows.iter().map(|(point, _)| (point.size >> 20, point.operations)).collect();
        assert_eq!(moved, [(1, 100), (5, 20)]);
        assert!(done.says.contains("5 MiB"), "{}", done.says);
        assert_eq!(done.chosen.size, 1 << 20);
    }
}
