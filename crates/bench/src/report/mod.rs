//! The report: the results of runs as one HTML page that needs no network.
//!
//! - `measured`: the phases of all cases of all runs, with their labels and figures; `runs` reads them.
//! - `rates`: the rate of a phase and its unit.
//! - `plot`: the parts of a plot; `axes`: the labels for its lines and for choices.
//! - One module for each kind of figure: `bandwidth`, `scaling`, `shares`, `times`, `compare`, `delays`, `transfer`.
//! - `overview` and `page`: the page around them.
//!
//! What must stay true: figures are those of the record, only units are changed; empty plots are left out; every plot has its
//! numbers as a table.

mod axes;
mod bandwidth;
mod compare;
mod delays;
mod html;
mod measured;
mod overview;
mod page;
mod plot;
mod rates;
mod runs;
#[cfg(test)]
mod sample;
mod scaling;
mod shares;
#[cfg(test)]
mod tests;
mod times;
mod transfer;

use std::{fs, io::Write, path::PathBuf};

use clap::Args;

use self::{measured::Measured, plot::Figure, runs::Run};
use crate::{Error, Result};

/// The options of the report.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// Folders of runs, as the studies of `bench` write them. Runs of the same cases are compared, others are combined
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// The page; an existing one is replaced [default: report.html in the first folder]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Writes the page and prints its path. The page and `out` name what is missing in a run.
///
/// # Errors
/// [`Error`]: a folder that has no record of a run, a record that is broken, or a page that cannot be written.
pub fn report(args: &ReportArgs, out: &mut impl Write) -> Result<()> {
    let mut runs = args.runs.iter().map(|folder| Run::read(folder)).collect::<Result<Vec<_>>>()?;
    runs::name_apart(&mut runs);
    let measured = Measured::of(&runs);
    let mut figures = figures(&runs, &measured);
    let times = times::figures(&mut runs, &measured);
    figures.extend(times);
    figures.extend(delays::starts(&measured));
    let path = args.out.clone().unwrap_or_else(|| args.runs[0].join("report.html"));
    fs::write(&path, page::page(&runs, &measured, &figures)).map_err(Error::io("write", &path))?;
    let all: usize = figures.iter().map(Figure::count).sum();
    for run in &runs {
        for notice in run.notices() {
            writeln!(out, "{}: {notice}", run.name).map_err(Error::Output)?;
        }
    }
    if let Some(ceiling) = figures.iter().find(|figure| figure.id == transfer::CEILING_ID) {
        transfer::print(ceiling, out).map_err(Error::Output)?;
    }
    writeln!(out, "{}: {} figures with {all} plots", path.display(), figures.len()).map_err(Error::Output)
}

/// The figures that need no events.
fn figures(runs: &[Run], measured: &Measured) -> Vec<Figure> {
    let swept = [
        scaling::by_nodes(runs, measured),
        scaling::by_processes(runs, measured),
        bandwidth::sizes(measured),
        bandwidth::heat(measured),
        compare::contention(measured),
        compare::runs(measured),
    ];
    let mut swept: Vec<Figure> = swept.into_iter().flatten().collect();
    if swept.is_empty() {
        swept.extend(bandwidth::plain(measured));
    }
    let mut figures = swept;
    // The purpose of a run with peers is their comparison.
    let index = if measured.others.is_empty() { figures.len() } else { 0 };
    compare::peers(measured).into_iter().for_each(|figure| figures.insert(index, figure));
    figures.extend(
        [transfer::beside_stores(measured), transfer::bandwidth(measured), transfer::latency(measured)]
            .into_iter()
            .flatten(),
    );
    figures.extend(delays::freshness(measured));
    figures.extend(shares::calls(measured));
    figures
}
