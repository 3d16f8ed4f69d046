//! Scaling of bandwidth with nodes and with processes: lines of means, with hollow dots where the load is light.

use super::{
    axes::{Group, Phase, captioned, choice, groups, numbers, phases, pick, title, varying},
    html::Table,
    measured::{Measured, Row},
    plot::{Figure, Line, Panel, Plot, Point, Shape},
    runs::Run,
};

struct Sweep {
    id: &'static str,
    title: &'static str,
    /// The label of the axis.
    label: &'static str,
    axis: &'static str,
}

/// Clients are few below this multiple of the servers or processors.
const FEW: f64 = 2.0;
const DOTS: &str = "The mean of the repetitions, with their standard deviation. Dots are hollow where clients are few: where client nodes are \
    fewer than twice the servers, or, for a store without servers, where the processes on a node are fewer than twice its \
    processors; more of them might reach more. Triangles: the processes did not overlap well.";

/// Bandwidth by nodes, or by servers if their number differs.
pub(crate) fn by_nodes(runs: &[Run], measured: &Measured) -> Option<Figure> {
    let rows = measured.own();
    let (label, axis) = match numbers(&rows, "servers").len() {
        0 | 1 => ("nodes", "client nodes"),
        _ => ("servers", "servers"),
    };
    figure(runs, measured, &Sweep { id: "nodes", title: "Scaling by nodes", label, axis })
}

/// Bandwidth by processes on each node.
pub(crate) fn by_processes(runs: &[Run], measured: &Measured) -> Option<Figure> {
    let (label, axis) = ("processes_per_node", "processes per node");
    figure(runs, measured, &Sweep { id: "processes", title: "Scaling by processes", label, axis })
}

fn figure(runs: &[Run], measured: &Measured, sweep: &Sweep) -> Option<Figure> {
    let rows = measured.own();
    // A number of servers is measured with several numbers of client nodes; the best one is its dot.
    let along: &[&str] = if sweep.label == "servers" { &["servers", "nodes"] } else { &[sweep.label] };
    let (series, choices) = pick(varying(&rows, along), 2);
    let all = groups(&rows, &choices);
    let panels: Vec<Panel> =
        all.iter().filter_map(|group| panel(runs, measured, sweep, &series, &choices, group)).collect();
    let table = Table::of(&rows, measured.unit);
    let (id, title, caption) = (sweep.id, sweep.title.to_owned(), captioned(&rows, DOTS));
    (!panels.is_empty()).then_some(Figure { id, title, caption, panels, table })
}

fn panel(
    runs: &[Run],
    measured: &Measured,
    sweep: &Sweep,
    series: &[String],
    choices: &[String],
    group: &Group<'_>,
) -> Option<Panel> {
    let plots: Vec<Plot> = phases(&group.rows, measured.unit)
        .iter()
        .filter(|phase| numbers(&phase.rows, sweep.label).len() > 1)
        .map(|phase| plot(runs, measured, sweep, series, phase))
        .collect();
    (!plots.is_empty()).then(|| Panel { choice: choice(choices, &group.values), plots })
}

fn plot(runs: &[Run], measured: &Measured, sweep: &Sweep, series: &[String], phase: &Phase<'_>) -> Plot {
    let mut firsts: Vec<String> = Vec::new();
    let mut dashes: Vec<usize> = Vec::new();
    let lines = groups(&phase.rows, series).into_iter().map(|line| {
        let first = line.values.first().cloned().unwrap_or_default();
        let colour = firsts.iter().position(|known| *known == first).unwrap_or_else(|| {
            firsts.push(first);
            dashes.push(0);
            firsts.len() - 1
        });
        let dash = dashes[colour];
        dashes[colour] += 1;
        let points = points(runs, measured, sweep, &line.rows);
        Line { name: title(line.rows[0], series), colour, dash, points }
    });
    let series: Vec<Line> = lines.collect();
    let (x, y) = (sweep.axis.to_owned(), phase.unit.clone());
    let alternative = alternative(&phase.title, sweep, &y, &series);
    Plot { title: phase.title.clone(), alternative, shape: Shape::Lines { x, y, series } }
}

/// The points of a line. Of several points with the same x the highest counts.
fn points(runs: &[Run], measured: &Measured, sweep: &Sweep, rows: &[&Row]) -> Vec<Point> {
    let mut points: Vec<Point> = rows
        .iter()
        .filter_map(|row| {
            let spread = row.spread(measured.unit);
            Some(Point {
                x: row.number(sweep.label)?,
                y: spread.mean,
                deviation: spread.deviation,
                min: spread.min,
                max: spread.max,
                hollow: are_clients_few(row, runs[row.run].processors()),
                poor: row.is_overlap_poor(),
            })
        })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(b.y.total_cmp(&a.y)));
    points.dedup_by(|one, before| one.x.total_cmp(&before.x).is_eq());
    points
}

/// Whether more clients might reach a higher bandwidth.
fn are_clients_few(row: &Row, processors: usize) -> bool {
    match (row.number("servers"), row.number("nodes"), row.number("processes_per_node")) {
        (Some(servers), Some(nodes), _) => nodes < FEW * servers,
        (_, _, Some(processes)) => processes < FEW * processors as f64,
        _ => false,
    }
}

fn alternative(phase: &str, sweep: &Sweep, unit: &str, lines: &[Line]) -> String {
    let ends = lines.iter().filter_map(|line| {
        let (first, last) = (line.points.first()?, line.points.last()?);
        Some(format!("{}: {:.0} at {}, {:.0} at {}", line.name, first.y, first.x, last.y, last.x))
    });
    let ends: Vec<String> = ends.collect();
    format!("{phase} bandwidth in {unit} by {}. {}", sweep.axis, ends.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(labels: &serde_json::Value) -> Row {
        Row::without_results(labels.as_object().cloned().unwrap(), "write")
    }

    #[test]
    fn clients_are_few_below_twice_the_servers_or_processors() {
        let served = |nodes| row(&json!({"servers": 2, "nodes": nodes, "processes_per_node": 1}));
        assert!(are_clients_few(&served(3), 1) && !are_clients_few(&served(4), 8));
        let alone = |processes| row(&json!({"nodes": 1, "processes_per_node": processes}));
        assert!(are_clients_few(&alone(3), 2) && !are_clients_few(&alone(4), 2));
    }
}
