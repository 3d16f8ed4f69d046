//! The parts of a plot. The script of the page draws it, and does not depend on benchmarks.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    axes::{Phase, groups, phases, words},
    html::Table,
    measured::Row,
    rates::Unit,
};
use crate::harness::spread::Spread;

/// Plots of one kind under a heading. The page shows one panel at a time.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) id: &'static str,
    #[serde(skip)]
    pub(crate) title: &'static str,
    /// Plain text about the plots and their signs.
    #[serde(skip)]
    pub(crate) caption: String,
    pub(crate) panels: Vec<Panel>,
    #[serde(skip)]
    pub(crate) table: Table,
}

/// Plots side by side.
#[derive(Debug, Serialize)]
pub(crate) struct Panel {
    /// The common labels of its plots, by which it is chosen.
    pub(crate) choice: Map<String, Value>,
    pub(crate) plots: Vec<Plot>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Plot {
    pub(crate) title: String,
    /// The text for readers who do not see it.
    pub(crate) alternative: String,
    #[serde(flatten)]
    pub(crate) shape: Shape,
}

/// The kind and the data of a plot.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Shape {
    /// Lines of points over a number.
    Lines {
        x: String,
        y: String,
        series: Vec<Line>,
    },
    /// Groups of bars, or bars of parts.
    Bars {
        y: String,
        categories: Vec<String>,
        series: Vec<Bars>,
        stacked: bool,
    },
    /// Cells over two numbers.
    Heat {
        x: String,
        y: String,
        unit: String,
        columns: Vec<String>,
        rows: Vec<String>,
        cells: Vec<Cell>,
    },
    Times {
        processes: Vec<String>,
        phases: Vec<String>,
        bars: Vec<TimeBar>,
    },
}

#[derive(Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// Its colour, as a number.
    pub(crate) colour: usize,
    /// How it is dashed, as a number.
    pub(crate) dash: usize,
    pub(crate) points: Vec<Point>,
}

/// A point with its distribution.
#[derive(Debug, Serialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) deviation: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) hollow: bool,
    pub(crate) poor: bool,
}

/// Bars of one colour, one for each category.
#[derive(Debug, Serialize)]
pub(crate) struct Bars {
    pub(crate) name: String,
    /// Its colour, as a number; none for the next one.
    pub(crate) colour: Option<usize>,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) deviations: Vec<Option<f64>>,
    /// Where processes did not overlap well.
    pub(crate) poor: Vec<bool>,
}

impl Bars {
    /// The means of rows, with their standard deviations.
    pub(crate) fn of<'r>(name: String, rows: impl Iterator<Item = Option<&'r Row>>, unit: Unit) -> Self {
        Self::at(name, rows, unit, |spread| spread.mean)
    }

    /// The means, or medians, of rows, with their standard deviations.
    pub(crate) fn at<'r>(
        name: String,
        rows: impl Iterator<Item = Option<&'r Row>>,
        unit: Unit,
        middle: fn(&Spread) -> f64,
    ) -> Self {
        let mut bars =
            Self { name, colour: None, values: Vec::new(), deviations: Vec::new(), poor: Vec::new() };
        for row in rows {
            let spread = row.map(|row| row.spread(unit));
            bars.values.push(spread.as_ref().map(middle));
            bars.deviations.push(spread.map(|one| one.deviation));
            bars.poor.push(row.is_some_and(Row::is_overlap_poor));
        }
        bars
    }

    pub(crate) fn plain(name: &str, colour: usize, values: Vec<Option<f64>>) -> Self {
        let (name, colour) = (name.to_owned(), Some(colour));
        Self { name, colour, values, deviations: Vec::new(), poor: Vec::new() }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) column: usize,
    pub(crate) row: usize,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    pub(crate) max: f64,
    pub(crate) poor: bool,
}

/// Row, phase, start and end in milliseconds, and the number of operations.
pub(crate) type TimeBar = (usize, usize, f64, f64, usize);

impl Figure {
    /// A figure, if it has panels.
    pub(crate) fn new(
        id: &'static str,
        title: &'static str,
        caption: String,
        panels: Vec<Panel>,
        table: impl FnOnce() -> Table,
    ) -> Option<Self> {
        (!panels.is_empty()).then(|| Self { id, title, caption, panels, table: table() })
    }

    pub(crate) fn count(&self) -> usize {
        self.panels.iter().map(|panel| panel.plots.len()).sum()
    }
}

impl Panel {
    /// The panel of these values of labels, if it has plots.
    pub(crate) fn new(names: &[String], values: Vec<String>, plots: Vec<Plot>) -> Option<Self> {
        let choice = names.iter().map(|name| words(name)).zip(values.into_iter().map(Value::from)).collect();
        (!plots.is_empty()).then_some(Self { choice, plots })
    }

    /// A panel for each choice, with the plots of its phases.
    pub(crate) fn all(
        rows: &[&Row],
        choices: &[String],
        unit: Unit,
        plot: impl Fn(&Phase<'_>) -> Option<Plot>,
    ) -> Vec<Self> {
        let panel = |(values, rows): (Vec<String>, Vec<&Row>)| {
            Self::new(choices, values, phases(&rows, unit).iter().filter_map(&plot).collect())
        };
        groups(rows, choices).into_iter().filter_map(panel).collect()
    }
}

impl Plot {
    pub(crate) fn bars(
        phase: &Phase<'_>,
        alternative: String,
        categories: Vec<String>,
        series: Vec<Bars>,
    ) -> Self {
        let shape = Shape::Bars { y: phase.unit.clone(), categories, series, stacked: false };
        Self { title: phase.title.clone(), alternative, shape }
    }
}
