//! The rates of all cases as bars, for runs without a sweep or a comparison.

use super::{
    axes::{Phase, captioned, choice, groups, phases, pick, title, varying},
    html::Table,
    measured::Measured,
    plot::{Bars, Figure, Panel, Plot, Shape},
};

const CAPTION: &str = "The mean of the repetitions, with their standard deviation; a triangle marks processes that did not overlap well.";

/// The figure, if there are rates.
pub(crate) fn figure(measured: &Measured) -> Option<Figure> {
    let rows = measured.own();
    if rows.is_empty() {
        return None;
    }
    let (categories, choices) = pick(varying(&rows, &[]), 3);
    let panels = groups(&rows, &choices).into_iter().map(|group| {
        let plots = phases(&group.rows, measured.unit);
        let plots = plots.iter().map(|phase| plot(measured, &categories, phase)).collect();
        Panel { choice: choice(&choices, &group.values), plots }
    });
    Some(Figure {
        id: "rates",
        title: "Bandwidth".to_owned(),
        caption: captioned(&rows, CAPTION),
        panels: panels.collect(),
        table: Table::of(&rows, measured.unit),
    })
}

fn plot(measured: &Measured, categories: &[String], phase: &Phase<'_>) -> Plot {
    let rows = &phase.rows;
    let names: Vec<String> = rows.iter().map(|row| title(row, categories)).collect();
    let alternative = format!("{} in {} of {} cases", phase.title, phase.unit, names.len());
    let series = vec![Bars::of(phase.title.clone(), rows.iter().map(|row| Some(*row)), measured.unit)];
    let shape = Shape::Bars { y: phase.unit.clone(), categories: names, series, stacked: false };
    Plot { title: phase.title.clone(), alternative, shape }
}
