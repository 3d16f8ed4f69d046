//! Bandwidth by size and class of objects.

use super::{
    axes::{Group, Phase, captioned, choice, groups, phases, title, varying},
    html::Table,
    measured::Measured,
    plot::{Bars, Figure, Panel, Plot, Shape},
};

const CAPTION: &str = "By the size of fields or transfers and the classes of objects: the mean of the repetitions, with their standard \
    deviation; of several lengths of a run the longest.";

/// The length of a run, which may depend on the size.
const LENGTH: &str = "operations";

/// The figure, if there are several sizes or classes.
pub(crate) fn figure(measured: &Measured) -> Option<Figure> {
    let mut rows = measured.own();
    rows.sort_by_key(|row| row.number("size").unwrap_or(0.0) as u64);
    let names = varying(&rows, &[]);
    let has = |name: &str| names.iter().any(|known| known == name);
    if !has("size") && !has("class") {
        return None;
    }
    let (series, choices): (Vec<String>, Vec<String>) = names
        .iter()
        .filter(|name| *name != "size" && *name != LENGTH)
        .cloned()
        .partition(|name| name == "class" || name == "api");
    let panels = groups(&rows, &choices).into_iter().map(|group| {
        let plots = phases(&group.rows, measured.unit);
        let plots =
            plots.iter().filter(|phase| has_several(phase)).map(|phase| plot(measured, &series, phase));
        Panel { choice: choice(&choices, &group.values), plots: plots.collect() }
    });
    let panels: Vec<Panel> = panels.filter(|panel| !panel.plots.is_empty()).collect();
    (!panels.is_empty()).then(|| Figure {
        id: "sizes",
        title: "Sizes and classes of objects".to_owned(),
        caption: captioned(&rows, CAPTION),
        panels,
        table: Table::of(&rows, measured.unit),
    })
}

/// Whether a phase has several sizes or classes.
fn has_several(phase: &Phase<'_>) -> bool {
    groups(&phase.rows, &["size", "class"].map(str::to_owned)).len() > 1
}

fn plot(measured: &Measured, series: &[String], phase: &Phase<'_>) -> Plot {
    let sizes = groups(&phase.rows, &["size".to_owned()]);
    let bars = |one: &Group<'_>| {
        let of = |size: &Group<'_>| {
            let same = one.rows.iter().filter(|row| row.text("size") == size.values[0]);
            same.max_by_key(|row| row.number(LENGTH).unwrap_or(0.0) as u64).copied()
        };
        Bars::of(title(one.rows[0], series), sizes.iter().map(of), measured.unit)
    };
    let mut classes = groups(&phase.rows, series);
    classes.sort_by(|a, b| a.values.cmp(&b.values));
    let series: Vec<Bars> = classes.iter().map(bars).collect();
    let y = phase.unit.clone();
    let alternative =
        format!("{} in {y} for {} sizes and {} classes", phase.title, sizes.len(), series.len());
    let categories = sizes.iter().map(|size| size.values[0].clone()).collect();
    Plot {
        title: phase.title.clone(),
        alternative,
        shape: Shape::Bars { y, categories, series, stacked: false },
    }
}
