//! Transfers between processes: bandwidth, latency, and the network's ceiling beside what a store reaches.

use std::io::{self, Write};

use serde_json::Value;

use super::{
    axes::{Group, Phase, groups, title, varying},
    html::{Table, number},
    measured::{Measured, Row},
    plot::{Bars, Figure, Panel, Plot, Shape},
    rates::{Rate, Unit},
};
use crate::{
    harness::{
        groups::grouped,
        output::{self, print_table},
        spread::{Spread, median_of},
    },
    workloads::transfer::{TRANSFER, latency_of},
};

const BANDWIDTH: &str = "Messages between pairs of processes: all bytes that arrived by the time from the first start to the last end, of both \
    directions where both send. The mean of the repetitions, with their standard deviation; a triangle marks processes that did not \
    overlap well.";
const LATENCY: &str = "Half of the time in which a message goes there and comes back: median, 95th and 99th percentile over all round \
    trips, and of these the medians of the repetitions.";
const CEILING: &str = "What the store reaches beside the network's ceiling: the mean of the repetitions, with their standard deviation. The \
    ceiling is the highest mean of transfers one way, over all sizes and numbers of processes, for one pair of nodes, times the client \
    nodes of the case, or times its servers where they are fewer. Ratios are the store's by the ceiling. \
    A triangle marks a figure of processes that did not overlap well, and a ratio that such a figure is in. A store with replicas, or one \
    that reads from memory of the client's own node, is not bound by it.";
/// The figure that has the store and the network.
pub(crate) const CEILING_ID: &str = "ceiling";
/// The labels of the lines; others are chosen.
const SERIES: [&str; 3] = ["transport", "variables", "direction"];
const PARTS: [&str; 3] = ["median", "95th percentile", "99th percentile"];

fn direction_is(row: &Row, name: &str) -> bool {
    row.labels.get("direction").and_then(Value::as_str) == Some(name)
}

fn timed(measured: &Measured) -> impl Iterator<Item = &Row> {
    measured.transfers.iter().filter(|row| row.phase == TRANSFER)
}

/// The rows of transfers with a bandwidth.
pub(crate) fn with_bandwidth(measured: &Measured) -> Vec<&Row> {
    timed(measured).filter(|row| !direction_is(row, "ping-pong")).collect()
}

/// The bandwidths by size of the messages.
pub(crate) fn bandwidth(measured: &Measured) -> Option<Figure> {
    let mut rows = with_bandwidth(measured);
    rows.sort_by_key(|row| row.number("size").unwrap_or(0.0) as u64);
    let (series, choices): (Vec<String>, Vec<String>) =
        varying(&rows, &["size"]).into_iter().partition(|name| SERIES.contains(&name.as_str()));
    let panels = Panel::all(&rows, &choices, measured.unit, |phase| {
        let sizes = groups(&phase.rows, &["size".to_owned()]);
        let bars = |(_, rows): &Group<'_>| {
            let of = |(size, _): &Group<'_>| rows.iter().find(|row| row.text("size") == size[0]).copied();
            Bars::of(title(rows[0], &series), sizes.iter().map(of), measured.unit)
        };
        let series: Vec<Bars> = groups(&phase.rows, &series).iter().map(bars).collect();
        let alternative = format!("transfers in {} by {} sizes", phase.unit, sizes.len());
        let sizes = sizes.iter().flat_map(|(size, _)| size.clone()).collect();
        Some(Plot::bars(phase, alternative, sizes, series))
    });
    let table = || Table::of(&rows, measured.unit);
    Figure::new("transfers", "Transfers", BANDWIDTH.to_owned(), panels, table)
}

/// One-way times of small messages, in microseconds.
pub(crate) fn latency(measured: &Measured) -> Option<Figure> {
    let rows: Vec<(&Row, [f64; 3])> =
        timed(measured).filter_map(|row| latencies(row).map(|found| (row, found))).collect();
    let only: Vec<&Row> = rows.iter().map(|(row, _)| *row).collect();
    let names = varying(&only, &[]);
    let categories: Vec<String> = only.iter().map(|row| title(row, &names)).collect();
    let series = PARTS
        .iter()
        .enumerate()
        .map(|(part, name)| Bars::plain(name, part, rows.iter().map(|(_, all)| Some(all[part])).collect()));
    let shape = Shape::Bars { y: "us".to_owned(), categories, series: series.collect(), stacked: false };
    let alternative = format!("one-way times in microseconds of {} cases", rows.len());
    let plot = Plot { title: "latency".to_owned(), alternative, shape };
    let plots = if rows.is_empty() { Vec::new() } else { vec![plot] };
    let panels = Panel::new(&[], Vec::new(), plots).into_iter().collect();
    let table = || {
        let cells = rows.iter().map(|(row, all)| row.cells(&names).chain(all.map(Value::from)).collect());
        Table::new(&names, ["phase", "median us", "p95 us", "p99 us"], cells.collect())
    };
    Figure::new("latency", "Latency of transfers", LATENCY.to_owned(), panels, table)
}

fn latencies(row: &Row) -> Option<[f64; 3]> {
    let all: Vec<Spread> = row.results.iter().filter_map(latency_of).collect();
    let of = |figure: fn(&Spread) -> f64| median_of(&all, figure);
    (!all.is_empty()).then(|| [of(|one| one.median), of(|one| one.p95), of(|one| one.p99)])
}

/// The highest bandwidth of a transport one way.
struct Ceiling<'r> {
    /// Transport and variables.
    name: String,
    row: &'r Row,
    /// Of one pair of nodes, or of all pairs on a single node, in the page's unit.
    of_link: f64,
}

impl Ceiling<'_> {
    fn is_of_nodes(&self) -> bool {
        self.row.number("nodes").unwrap_or(1.0) > 1.0
    }

    /// The ceiling of a case of a store. Transfers on a single node say nothing of several.
    fn of(&self, store: &Row) -> Option<f64> {
        let nodes = store.number("nodes").unwrap_or(1.0);
        let links = store.number("servers").map_or(nodes, |servers| servers.min(nodes));
        (nodes <= 1.0 || self.is_of_nodes()).then_some(self.of_link * links)
    }

    fn text(&self, unit: Unit) -> String {
        let Self { name, row, of_link } = self;
        let what = if self.is_of_nodes() { "a pair of nodes" } else { "all pairs on the node" };
        format!(
            "{name}: {} {} for {what}, with messages of {} and {} processes on each node.",
            number(*of_link),
            unit.name,
            row.text("size"),
            row.text("processes_per_node")
        )
    }
}

/// The best row of each transport. Where nodes were measured, a single one does not count.
fn ceilings(measured: &Measured) -> Vec<Ceiling<'_>> {
    let one_way = timed(measured).filter(|row| direction_is(row, "one-way"));
    let name =
        |row: &&Row| ["network", &row.text("transport"), &row.text("variables")].join(" ").trim().to_owned();
    let groups = grouped(one_way, name);
    groups.into_iter().filter_map(|(name, rows)| best(&name, rows, measured.unit)).collect()
}

fn best<'r>(name: &str, rows: Vec<&'r Row>, unit: Unit) -> Option<Ceiling<'r>> {
    let all: Vec<Ceiling<'r>> = rows.into_iter().map(|row| ceiling(name.to_owned(), row, unit)).collect();
    let has_nodes = all.iter().any(Ceiling::is_of_nodes);
    let counted = all.into_iter().filter(|one| one.is_of_nodes() == has_nodes);
    counted.max_by(|a, b| a.of_link.total_cmp(&b.of_link))
}

fn ceiling(name: String, row: &Row, unit: Unit) -> Ceiling<'_> {
    let links = (row.number("nodes").unwrap_or(1.0) / 2.0).max(1.0);
    Ceiling { name, row, of_link: row.spread(unit).mean / links }
}

/// The store beside the ceiling of each transport, if both are in the report.
pub(crate) fn beside_stores(measured: &Measured) -> Option<Figure> {
    let ceilings = ceilings(measured);
    let has_ceiling = |row: &&Row| ceilings.iter().any(|ceiling| ceiling.of(row).is_some());
    let is_bytes = |row: &&Row| row.rate != Rate::Fields;
    let rows: Vec<&Row> = measured.own().into_iter().filter(is_bytes).filter(has_ceiling).collect();
    let names = varying(&rows, &[]);
    let (categories, choices) = super::axes::pick(names.clone(), 3);
    let plot = |phase: &Phase<'_>| Some(plot(phase, &categories, &ceilings, measured.unit));
    let panels = Panel::all(&rows, &choices, measured.unit, plot);
    let texts = ceilings.iter().map(|ceiling| ceiling.text(measured.unit));
    let caption = [CEILING.to_owned()].into_iter().chain(texts).collect::<Vec<_>>().join(" ");
    let table = || table(&rows, &names, &ceilings, measured.unit);
    Figure::new(CEILING_ID, "Store and network", caption, panels, table)
}

fn plot(phase: &Phase<'_>, categories: &[String], ceilings: &[Ceiling<'_>], unit: Unit) -> Plot {
    let names: Vec<String> = phase.rows.iter().map(|row| title(row, categories)).collect();
    let store = Bars::of("store".to_owned(), phase.rows.iter().map(|row| Some(*row)), unit);
    let of_network = ceilings.iter().enumerate().map(|(number, ceiling)| {
        let values = phase.rows.iter().map(|row| ceiling.of(row)).collect();
        Bars::plain(&ceiling.name, number + 1, values)
    });
    let store = Bars { colour: Some(0), ..store };
    let series = [store].into_iter().chain(of_network).collect();
    let alternative = format!("{} in {} beside the network, {} cases", phase.title, phase.unit, names.len());
    Plot::bars(phase, alternative, names, series)
}

/// A row for each case of the store, with the ceilings and the ratios to them.
fn table(rows: &[&Row], names: &[String], ceilings: &[Ceiling<'_>], unit: Unit) -> Table {
    let of_network = ceilings.iter().flat_map(|one| [one.name.clone(), format!("store / {}", one.name)]);
    let columns = ["phase", "unit", "store"].map(str::to_owned).into_iter().chain(of_network);
    let row = |row: &&Row| -> Vec<Value> {
        let store = row.spread(unit).mean;
        let compared = ceilings.iter().flat_map(|ceiling| {
            let found = ceiling.of(row);
            [Value::from(found), found.map(|most| store / most).into()]
        });
        row.cells(names).chain([unit.text(row.rate).into(), store.into()]).chain(compared).collect()
    };
    let mut table = Table::new(names, columns, rows.iter().map(row).collect());
    // After the labels come phase and unit.
    let store = names.len() + 2;
    for (at, row) in rows.iter().enumerate() {
        if row.is_overlap_poor() {
            table.poor.insert((at, store));
        }
        for (number, ceiling) in ceilings.iter().enumerate() {
            let column = store + 1 + 2 * number;
            if ceiling.row.is_overlap_poor() {
                table.poor.insert((at, column));
            }
            if ceiling.row.is_overlap_poor() || row.is_overlap_poor() {
                table.poor.insert((at, column + 1));
            }
        }
    }
    table
}

/// Prints the table of a figure.
pub(crate) fn print(figure: &Figure, out: &mut impl Write) -> io::Result<()> {
    let Table { columns, rows, .. } = &figure.table;
    let cell = |value: &Value| match value.as_f64() {
        Some(figure) => number(figure),
        None => value.as_str().unwrap_or_default().to_owned(),
    };
    let left = rows.first().map_or(0, |row| row.iter().take_while(|value| !value.is_number()).count());
    let cells = rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>());
    print_table(&output::table(columns.iter().map(String::as_str), cells, left), out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{
            runs::Run,
            sample::{fast, result, run},
        },
        *,
    };

    fn sent(direction: &str, size: u64, nodes: u64) -> Value {
        json!({"transport": "tcp", "direction": direction, "size": size, "nodes": nodes, "processes_per_node": 2})
    }

    /// Four nodes, two pairs of them, reach 600 MiB/s one way at best; one node reaches more.
    fn transfers() -> Run {
        let cases = [
            sent("one-way", 1 << 16, 4),
            sent("one-way", 1 << 20, 4),
            sent("both-ways", 1 << 20, 4),
            sent("ping-pong", 8, 4),
            sent("one-way", 1 << 20, 1),
        ];
        let rates = [400.0, 600.0, 1100.0, 0.5, 4000.0];
        let mut results: Vec<Value> =
            rates.iter().enumerate().map(|(case, rate)| fast(case, 0, "transfer", *rate)).collect();
        let spread = json!({"mean": 9, "deviation": 0, "min": 1, "median": 7, "p95": 8, "p99": 9, "max": 20});
        results[3] = result(3, 0, "transfer", &json!({ "one_way_us": spread }));
        run("net", "transfer", &cases, &results)
    }

    fn store(cases: &[Value]) -> Run {
        let results: Vec<Value> = (0..cases.len()).map(|case| fast(case, 0, "write", 240.0)).collect();
        run("store", "field-io", cases, &results)
    }

    #[test]
    fn a_store_is_beside_the_best_one_way_transfer_of_as_many_nodes() {
        let case = |nodes: u64, servers: u64| json!({"mode": "full", "nodes": nodes, "servers": servers});
        let runs = [store(&[case(1, 4), case(4, 4), case(4, 2)]), transfers()];
        let figure = beside_stores(&Measured::of(&runs)).unwrap();
        let table = &figure.table;
        assert_eq!(
            table.columns,
            ["nodes", "servers", "phase", "unit", "store", "network tcp", "store / network tcp"]
        );
        let figures: Vec<Vec<f64>> =
            table.rows.iter().map(|row| row[4..].iter().filter_map(Value::as_f64).collect()).collect();
        assert_eq!(figures, [[240.0, 300.0, 0.8], [240.0, 1200.0, 0.2], [240.0, 600.0, 0.4]]);
        assert!(
            figure.caption.contains("network tcp: 300 MiB/s for a pair of nodes, with messages of 1 MiB")
        );
        assert!(table.poor.is_empty());
        let mut out = Vec::new();
        print(&figure, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("store / network tcp") && text.contains("0.80"), "{text}");
    }

    #[test]
    fn transfers_on_one_node_are_no_ceiling_of_several() {
        let mut poor = fast(0, 0, "transfer", 480.0);
        poor["is_overlap_poor"] = true.into();
        let alone = run("net", "transfer", &[sent("one-way", 1 << 20, 1)], &[poor]);
        let runs = [store(&[json!({"nodes": 1}), json!({"nodes": 2})]), alone];
        let figure = beside_stores(&Measured::of(&runs)).unwrap();
        let found: Vec<f64> = figure.table.rows.iter().filter_map(|row| row.last()?.as_f64()).collect();
        assert_eq!(found, [0.5], "the case on two nodes is left out");
        let poor: Vec<_> = figure.table.poor.iter().copied().collect();
        assert_eq!(poor, [(0, 3), (0, 4)], "the ceiling and the ratio to it");
    }

    #[test]
    fn transfers_have_figures_of_their_own_and_none_of_a_store() {
        let measured = Measured::of(&[transfers()]);
        assert!(measured.own().is_empty() && beside_stores(&measured).is_none());
        let rows = bandwidth(&measured).unwrap().table.rows;
        assert_eq!(rows.len(), 4, "round trips have no bandwidth");
        let latency = latency(&measured).unwrap();
        let figures: Vec<f64> = latency.table.rows[0].iter().filter_map(Value::as_f64).collect();
        assert_eq!(figures, [7.0, 8.0, 9.0]);
        assert_eq!(measured.all().len(), 5, "the table of all results has them all");
    }
}
