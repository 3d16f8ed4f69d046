//! Scaling of bandwidth with nodes and with processes: lines of means, with hollow dots where the load is light.

use super::{
    axes::{Phase, captioned, groups, numbers, pick, title, varying},
    html::Table,
    measured::{Measured, Row},
    plot::{Figure, Line, Panel, Plot, Point, Shape},
    runs::Run,
};

struct Sweep<'m> {
    runs: &'m [Run],
    measured: &'m Measured,
    id: &'static str,
    title: &'static str,
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
    Sweep { runs, measured, id: "nodes", title: "Scaling by nodes", label, axis }.figure()
}

/// Bandwidth by processes on each node.
pub(crate) fn by_processes(runs: &[Run], measured: &Measured) -> Option<Figure> {
    let (label, axis) = ("processes_per_node", "processes per node");
    Sweep { runs, measured, id: "processes", title: "Scaling by processes", label, axis }.figure()
}

impl Sweep<'_> {
    fn figure(&self) -> Option<Figure> {
        let rows = self.measured.own();
        // A number of servers is measured with several numbers of client nodes; the best one is its dot.
        let along: &[&str] = if self.label == "servers" { &["servers", "nodes"] } else { &[self.label] };
        let (series, choices) = pick(varying(&rows, along), 2);
        let panels = Panel::all(&rows, &choices, self.measured.unit, |phase| self.plot(&series, phase));
        let table = || Table::of(&rows, self.measured.unit);
        Figure::new(self.id, self.title, captioned(&rows, DOTS), panels, table)
    }

    fn plot(&self, series: &[String], phase: &Phase<'_>) -> Option<Plot> {
        if numbers(&phase.rows, self.label).len() < 2 {
            return None;
        }
        // The first values, each with the number of lines that have it.
        let mut firsts: Vec<(String, usize)> = Vec::new();
        let mut lines: Vec<Line> = Vec::new();
        for (values, rows) in groups(&phase.rows, series) {
            let first = values.into_iter().next().unwrap_or_default();
            let colour = firsts.iter().position(|(known, _)| *known == first).unwrap_or_else(|| {
                firsts.push((first, 0));
                firsts.len() - 1
            });
            let (name, dash) = (title(rows[0], series), firsts[colour].1);
            lines.push(Line { name, colour, dash, points: self.points(&rows) });
            firsts[colour].1 += 1;
        }
        let ends = lines.iter().filter_map(|line| {
            let (first, last) = (line.points.first()?, line.points.last()?);
            Some(format!("{}: {:.0} at {}, {:.0} at {}", line.name, first.y, first.x, last.y, last.x))
        });
        let (x, y, ends) = (self.axis.to_owned(), phase.unit.clone(), ends.collect::<Vec<_>>().join("; "));
        let alternative = format!("{} bandwidth in {y} by {x}. {ends}", phase.title);
        Some(Plot { title: phase.title.clone(), alternative, shape: Shape::Lines { x, y, series: lines } })
    }

    /// The points of a line. Of several points with the same x the highest counts.
    fn points(&self, rows: &[&Row]) -> Vec<Point> {
        let point = |row: &&Row| {
            let spread = row.spread(self.measured.unit);
            Some(Point {
                x: row.number(self.label)?,
                y: spread.mean,
                deviation: spread.deviation,
                min: spread.min,
                max: spread.max,
                hollow: are_clients_few(row, self.runs[row.run].processors()),
                poor: row.is_overlap_poor(),
            })
        };
        let mut points: Vec<Point> = rows.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then(b.y.total_cmp(&a.y)));
        points.dedup_by(|one, before| one.x.total_cmp(&before.x).is_eq());
        points
    }
}

/// Whether more clients might reach a higher bandwidth.
fn are_clients_few(row: &Row, processors: usize) -> bool {
    match (row.number("servers"), row.number("nodes"), row.number("processes_per_node")) {
        (Some(servers), Some(nodes), _) => nodes < FEW * servers,
        (_, _, Some(processes)) => processes < FEW * processors as f64,
        _ => false,
    }
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
