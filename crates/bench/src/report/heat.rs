//! Heat maps: processes per node by nodes.

use super::{
    axes::{Phase, captioned, choice, groups, numbers, phases, varying},
    html::Table,
    measured::Measured,
    plot::{Cell, Figure, Panel, Plot, Shape},
};

const CAPTION: &str = "For each number of nodes and of processes on each: the mean of the repetitions, their standard deviation and \
    the highest. The colour is the mean's; a triangle marks processes that did not overlap well.";
const AXES: [&str; 2] = ["nodes", "processes_per_node"];

/// The figure, if both numbers differ among cases.
pub(crate) fn figure(measured: &Measured) -> Option<Figure> {
    let rows = measured.own();
    let choices = varying(&rows, &AXES);
    let all = groups(&rows, &choices);
    let panels: Vec<Panel> = all
        .iter()
        .filter_map(|group| {
            let plots: Vec<Plot> =
                phases(&group.rows, measured.unit).iter().filter_map(|phase| plot(measured, phase)).collect();
            (!plots.is_empty()).then(|| Panel { choice: choice(&choices, &group.values), plots })
        })
        .collect();
    (!panels.is_empty()).then(|| Figure {
        id: "heat",
        title: "Processes per node by nodes".to_owned(),
        caption: captioned(&rows, CAPTION),
        panels,
        table: Table::of(&rows, measured.unit),
    })
}

fn plot(measured: &Measured, phase: &Phase<'_>) -> Option<Plot> {
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
