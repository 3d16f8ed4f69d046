//! Bandwidth as bars of all cases, by sizes and classes of objects, and as a heat map of processes per node by nodes.

use super::{
    axes::{Group, Phase, captioned, groups, numbers, pick, title, varying},
    html::Table,
    measured::Measured,
    plot::{Bars, Cell, Figure, Panel, Plot, Shape},
};

const PLAIN: &str = "The mean of the repetitions, with their standard deviation; a triangle marks processes that did not overlap well.";
const HEAT: &str = "For each number of nodes and of processes on each: the mean of the repetitions, their standard deviation and \
    the highest. The colour is the mean's; a triangle marks processes that did not overlap well.";
const AXES: [&str; 2] = ["nodes", "processes_per_node"];
const SIZES: &str = "By the size of fields or transfers and the classes of objects: the mean of the repetitions, with their standard \
    deviation; of several lengths of a run the longest.";
/// The length of a run, which may depend on the size.
const LENGTH: &str = "operations";

/// The rates of all cases, for runs without a sweep or a comparison.
pub(crate) fn plain(measured: &Measured) -> Option<Figure> {
    let rows = measured.own();
    let (categories, choices) = pick(varying(&rows, &[]), 3);
    let panels = Panel::all(&rows, &choices, measured.unit, |phase| {
        let names: Vec<String> = phase.rows.iter().map(|row| title(row, &categories)).collect();
        let alternative = format!("{} in {} of {} cases", phase.title, phase.unit, names.len());
        let rows = phase.rows.iter().map(|row| Some(*row));
        let series = vec![Bars::of(phase.title.clone(), rows, measured.unit)];
        Some(Plot::bars(phase, alternative, names, series))
    });
    Figure::new("rates", "Bandwidth", captioned(&rows, PLAIN), panels, || Table::of(&rows, measured.unit))
}

/// The heat map, if both numbers differ among cases.
pub(crate) fn heat(measured: &Measured) -> Option<Figure> {
    let rows = measured.own();
    let choices = varying(&rows, &AXES);
    let panels = Panel::all(&rows, &choices, measured.unit, |phase| heat_of_phase(measured, phase));
    let table = || Table::of(&rows, measured.unit);
    Figure::new("heat", "Processes per node by nodes", captioned(&rows, HEAT), panels, table)
}

fn heat_of_phase(measured: &Measured, phase: &Phase<'_>) -> Option<Plot> {
    let rows = &phase.rows;
    let [nodes, processes] = AXES.map(|name| numbers(rows, name));
    if nodes.len() < 2 || processes.len() < 2 {
        return None;
    }
    let cells = rows.iter().filter_map(|row| {
        let at = |all: &[f64], name| {
            let value = row.number(name)?;
            all.iter().position(|one| *one == value)
        };
        let spread = row.spread(measured.unit);
        Some(Cell {
            column: at(&nodes, AXES[0])?,
            row: at(&processes, AXES[1])?,
            mean: spread.mean,
            deviation: spread.deviation,
            max: spread.max,
            poor: row.is_overlap_poor(),
        })
    });
    let texts = |all: &[f64]| all.iter().map(f64::to_string).collect();
    let shape = Shape::Heat {
        x: "nodes".to_owned(),
        y: "processes per node".to_owned(),
        unit: phase.unit.clone(),
        columns: texts(&nodes),
        rows: texts(&processes),
        cells: cells.collect(),
    };
    let alternative = format!("{} in {} by nodes and processes per node", phase.title, phase.unit);
    Some(Plot { title: phase.title.clone(), alternative, shape })
}

/// Bandwidth by sizes and classes, if there are several.
pub(crate) fn sizes(measured: &Measured) -> Option<Figure> {
    let mut rows = measured.own();
    rows.sort_by_key(|row| row.number("size").unwrap_or(0.0) as u64);
    let names = varying(&rows, &[]);
    if !names.iter().any(|name| name == "size" || name == "class") {
        return None;
    }
    let names = names.into_iter().filter(|name| name != "size" && name != LENGTH);
    let (series, choices): (Vec<String>, Vec<String>) =
        names.partition(|name| name == "class" || name == "api");
    let panels = Panel::all(&rows, &choices, measured.unit, |phase| {
        let has_several = groups(&phase.rows, &["size", "class"].map(str::to_owned)).len() > 1;
        has_several.then(|| sizes_of_phase(measured, &series, phase))
    });
    let table = || Table::of(&rows, measured.unit);
    Figure::new("sizes", "Sizes and classes of objects", captioned(&rows, SIZES), panels, table)
}

fn sizes_of_phase(measured: &Measured, series: &[String], phase: &Phase<'_>) -> Plot {
    let sizes = groups(&phase.rows, &["size".to_owned()]);
    let bars = |(_, rows): &Group<'_>| {
        let of = |(size, _): &Group<'_>| {
            let same = rows.iter().filter(|row| row.text("size") == size[0]);
            same.max_by_key(|row| row.number(LENGTH).unwrap_or(0.0) as u64).copied()
        };
        Bars::of(title(rows[0], series), sizes.iter().map(of), measured.unit)
    };
    let mut classes = groups(&phase.rows, series);
    classes.sort_by(|(a, _), (b, _)| a.cmp(b));
    let series: Vec<Bars> = classes.iter().map(bars).collect();
    let (title, unit) = (&phase.title, &phase.unit);
    let alternative = format!("{title} in {unit} for {} sizes and {} classes", sizes.len(), series.len());
    Plot::bars(phase, alternative, sizes.into_iter().flat_map(|(size, _)| size).collect(), series)
}
