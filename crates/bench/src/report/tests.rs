//! The figures of sample records.

use serde_json::{Value, json};

use super::{
    bandwidth, compare, delays,
    measured::Measured,
    plot::{Bars, Cell, Figure, Line, Shape},
    sample::{fast, result, run, spread},
    scaling, shares,
};
use crate::harness::spread::MIB;

fn measured(workload: &str, cases: &[Value], results: &[Value]) -> Measured {
    Measured::of(&[run("a", workload, cases, results)])
}

fn shapes(figure: &Figure) -> Vec<&Shape> {
    figure.panels.iter().flat_map(|panel| &panel.plots).map(|plot| &plot.shape).collect()
}

fn bars(figure: &Figure) -> (&[String], &[Bars]) {
    match shapes(figure)[0] {
        Shape::Bars { categories, series, .. } => (categories, series),
        other => panic!("{other:?} has no bars"),
    }
}

fn values(bars: &Bars) -> Vec<f64> {
    bars.values.iter().map(|value| value.unwrap_or(f64::NAN)).collect()
}

#[test]
fn a_heat_map_cell_has_mean_deviation_and_maximum_of_its_repetitions() {
    let case = |nodes, processes| json!({"nodes": nodes, "processes_per_node": processes});
    let cases = [case(1, 2), case(1, 4), case(2, 2), case(2, 4)];
    let mut results: Vec<Value> = (0..3).map(|case| fast(case, 0, "write", 5.0)).collect();
    results.extend([fast(3, 0, "write", 10.0), fast(3, 1, "write", 30.0)]);
    results[1]["is_overlap_poor"] = true.into();
    let figure = bandwidth::heat(&measured("field-io", &cases, &results)).unwrap();
    let Shape::Heat { columns, rows, cells, unit, .. } = shapes(&figure)[0] else { panic!("no heat map") };
    assert_eq!((columns.join(" "), rows.join(" "), unit.as_str()), ("1 2".into(), "2 4".into(), "MiB/s"));
    let found = |cell: &Cell| (cell.column, cell.row, cell.mean, cell.deviation, cell.max, cell.poor);
    let found: Vec<_> = cells.iter().map(found).collect();
    assert_eq!(found[1], (0, 1, 5.0, 0.0, 5.0, true));
    assert_eq!(found[3], (1, 1, 20.0, 10.0, 30.0, false));
}

#[test]
fn the_dot_of_a_server_count_is_that_of_its_best_client_count() {
    let case = |servers, nodes| json!({"servers": servers, "nodes": nodes, "processes_per_node": 1});
    let cases = [case(1, 1), case(1, 2), case(2, 3), case(2, 4)];
    let rates = [10.0, 20.0, 40.0, 30.0];
    let results: Vec<Value> =
        rates.iter().enumerate().map(|(case, rate)| fast(case, 0, "write", *rate)).collect();
    let runs = [run("a", "field-io", &cases, &results)];
    let figure = scaling::by_nodes(&runs, &Measured::of(&runs)).unwrap();
    let Shape::Lines { series, x, .. } = shapes(&figure)[0] else { panic!("no lines") };
    let [Line { points, .. }] = series.as_slice() else { panic!("{series:?} is not one line") };
    let dots: Vec<_> = points.iter().map(|dot| (dot.x, dot.y, dot.hollow)).collect();
    assert_eq!((x.as_str(), dots), ("servers", vec![(1.0, 20.0, false), (2.0, 40.0, true)]));
}

#[test]
fn nodes_with_fewer_operations_per_process_are_on_one_line() {
    let case = |nodes, operations| json!({"nodes": nodes, "processes_per_node": 1, "operations": operations});
    let cases = [case(1, 40), case(2, 20), case(4, 10)];
    let results: Vec<Value> = (0..3).map(|number| fast(number, 0, "write", 1.0)).collect();
    let runs = [run("a", "field-io", &cases, &results)];
    let figure = scaling::by_nodes(&runs, &Measured::of(&runs)).unwrap();
    let Shape::Lines { series, .. } = shapes(&figure)[0] else { panic!("no lines") };
    assert_eq!((figure.count(), series.len(), series[0].points.len()), (1, 1, 3));
}

#[test]
fn each_size_has_a_bar_for_the_longest_run_of_each_class() {
    let case = |size, class, operations| json!({"size": size, "class": class, "operations": operations});
    let cases =
        [case(2 << 20, "S1", 8), case(1 << 20, "S1", 8), case(1 << 20, "S1", 16), case(1 << 20, "SX", 16)];
    let results: Vec<Value> = (0..4).map(|number| fast(number, 0, "write", (number + 1) as f64)).collect();
    let figure = bandwidth::sizes(&measured("field-io", &cases, &results)).unwrap();
    let (categories, series) = bars(&figure);
    assert_eq!(categories, ["1 MiB", "2 MiB"]);
    let found: Vec<_> = series.iter().map(|one| (one.name.as_str(), one.values.clone())).collect();
    assert_eq!(found, [("S1", vec![Some(3.0), Some(1.0)]), ("SX", vec![Some(4.0), None])]);
}

#[test]
fn shares_of_calls_add_up_and_the_shortest_calls_are_combined() {
    let call = |seconds: u32| json!({"count": 1, "seconds": seconds, "share": 0});
    let mut profile = json!({"put": call(60), "get": call(12)});
    for number in 0..8 {
        profile[format!("call {number}")] = call(if number < 6 { 4 } else { 2 });
    }
    let results = [result(0, 0, "write", &json!({ "profile": profile }))];
    let figure = shares::calls(&measured("hammer", &[json!({})], &results)).unwrap();
    let (_, series) = bars(&figure);
    let found: Vec<_> = series.iter().map(|one| (one.name.as_str(), values(one)[0])).collect();
    assert_eq!((found[0], found[1], found.len()), (("put", 60.0), ("get", 12.0), 9));
    assert_eq!(found[8], ("other calls", 4.0));
}

#[test]
fn start_delays_are_medians_of_repetitions_and_the_overall_maximum() {
    let delayed = |repetition, median: f64, max: f64| {
        let delay = json!({"mean": 9, "deviation": 0, "min": 0, "median": median, "p95": median, "p99": max, "max": max});
        result(0, repetition, "write", &json!({ "start_delay_s": delay }))
    };
    let results = [delayed(0, 0.001, 0.5), delayed(1, 0.003, 0.25), delayed(2, 0.002, 0.125)];
    let figure =
        delays::starts(&measured("field-io", &[json!({"processes_per_node": 2})], &results)).unwrap();
    let (categories, series) = bars(&figure);
    assert_eq!(categories, ["write, 2 processes per node"]);
    assert_eq!(series.iter().map(|one| values(one)[0]).collect::<Vec<_>>(), [2.0, 2.0, 500.0]);
}

#[test]
fn a_ratio_is_the_median_over_repetitions_and_marks_poor_overlap() {
    let limited = |repetition, rate: f64, limit: f64, is_poor: bool| {
        let mut result = fast(0, repetition, "write", rate);
        result["limit_mib_per_s"] = limit.into();
        result["is_limit_overlap_poor"] = is_poor.into();
        result
    };
    // Medians of both are 20 and 40; the ratios are 0.25, 2 and 0.4.
    let mut results =
        vec![limited(0, 10.0, 40.0, false), limited(1, 80.0, 40.0, true), limited(2, 20.0, 50.0, false)];
    results.extend((0..3).map(|repetition| fast(1, repetition, "write", 10.0)));
    let cases = [json!({"size": 1 << 20}), json!({"size": 1 << 20, "peer": "FDB"})];
    let figure = compare::peers(&measured("peers", &cases, &results)).unwrap();
    let table = &figure.table;
    assert_eq!(
        table.columns,
        ["phase", "unit", "Isotach", "FDB", "limit", "Isotach / FDB", "Isotach / limit"]
    );
    let figures: Vec<f64> = table.rows[0][2..].iter().filter_map(Value::as_f64).collect();
    assert_eq!(figures, [20.0, 10.0, 40.0, 2.0, 0.4]);
    assert_eq!(table.poor.iter().copied().collect::<Vec<_>>(), [(0, 4), (0, 6)]);
    let (_, series) = bars(&figure);
    let poor: Vec<_> = series.iter().map(|one| (one.name.as_str(), one.poor[0])).collect();
    assert_eq!(poor, [("Isotach", false), ("FDB", false), ("limit", true)]);
    assert_eq!(table.html().matches("poor overlap").count(), 2);
}

#[test]
fn a_limit_is_compared_with_any_workload_that_has_one() {
    let more = json!({"limit_mib_per_s": 4, "ratio_to_limit": 0.25});
    let results = [result(0, 0, "write", &more), result(0, 0, "list", &json!({}))];
    let measured = measured("kernels", &[json!({"kernel": "clamr"})], &results);
    let figure = compare::peers(&measured).unwrap();
    assert_eq!(figure.table.columns[2..], ["Isotach", "limit", "Isotach / limit"]);
    let figures: Vec<f64> = figure.table.rows[0][2..].iter().filter_map(Value::as_f64).collect();
    assert_eq!((figure.table.rows.len(), figures), (1, vec![1.0, 4.0, 0.25]));
    assert_eq!(shapes(&bandwidth::plain(&measured).unwrap()).len(), 2, "what has no limit is shown as well");
}

#[test]
fn synchronous_bandwidth_is_shown_where_iterations_begin_together() {
    let fields = json!({"synchronous_bandwidth": 3.0 * MIB, "iteration_s": spread(1.0)});
    let columns = |workload| {
        let measured = measured(workload, &[json!({})], &[result(0, 0, "write", &fields)]);
        bandwidth::plain(&measured).unwrap().table.columns
    };
    let synchronous = "synchronous MiB/s".to_owned();
    assert!(columns("ior").contains(&synchronous) && !columns("field-io").contains(&synchronous));
}
