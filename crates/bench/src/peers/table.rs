//! Showing a comparison: a row for each operation, size, number of processes and place.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Map, Value};

use super::{Figure, LIST, MEMORY_COPY, Who, is_beside};
use crate::{
    harness::{
        machine::Machine,
        results::{Measurement, Repetitions, median},
        study::{Record, text_of},
    },
    report::table::{short, size_text},
};

/// Whose figures stand beside Isotach's where Isotach's clients ran.
const PEERS: [Who; 2] = [Who::FdbTuned, Who::Fdb];

/// Closing that takes less of a figure's time is not told.
const CLOSING_MIN: f64 = 0.05;

/// What there is to show.
pub(super) struct Shown<'s> {
    pub(super) machine: &'s Machine,
    pub(super) record: &'s Record,
    pub(super) settings: &'s Map<String, Value>,
    pub(super) all: &'s [Figure],
}

impl Shown<'_> {
    /// Prints the tables, for which something could not be measured so many times.
    pub(super) fn print(&self, problems: usize, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.machine.text())?;
        print_settings(self.settings, out)?;
        writeln!(
            out,
            "\nMedians; in parentheses the median of the ratios to the limit that was measured right before, where \"limit\" is the median of all of them.\n\
             \"by FDB\" is the median of the ratios of Isotach's figure to that of the better FDB in the same repetition. *: processes did not overlap well, \
             in parentheses those of the limit."
        )?;
        if problems > 0 {
            writeln!(out, "NOT COMPLETE, problems: {problems}; what they were to measure is missing.")?;
        }
        let mut places: Vec<&str> = Vec::new();
        for figure in self.all {
            if !places.contains(&figure.measured.place.as_str()) {
                places.push(&figure.measured.place);
            }
        }
        places.into_iter().try_for_each(|place| self.print_place(place, out))?;
        writeln!(out, "Kept in {}", self.record.folder().display())
    }

    fn print_place(&self, place: &str, out: &mut impl Write) -> io::Result<()> {
        let here: Vec<&Figure> = self.all.iter().filter(|figure| figure.measured.place == place).collect();
        writeln!(out, "\n{place}{}\n{}", synced(&here), table_of(&here, &PEERS))?;
        if here.iter().any(|figure| figure.peer == Who::FdbHammer) {
            writeln!(
                out,
                "Beside hammer; fdb-hammer decodes GRIB for each field, so this is no measure of FDB alone:"
            )?;
            writeln!(out, "{}", table_of(&here, &[Who::FdbHammer]))?;
        }
        print_closing(&here, out)?;
        print_copies(&here, out)
    }
}

/// What closing takes, which is in no figure.
fn print_closing(here: &[&Figure], out: &mut impl Write) -> io::Result<()> {
    for who in [Who::Isotach, Who::FdbTuned, Who::Fdb] {
        let of_who = here.iter().filter(|figure| figure.peer == who);
        let all: Vec<Measurement> = of_who.map(|figure| figure.measured.clone()).collect();
        for group in Repetitions::group(&all) {
            let (close_s, seconds) = (group.median(|one| one.close_s), group.median(|one| one.seconds));
            let first = group.first();
            if close_s >= CLOSING_MIN * seconds {
                writeln!(
                    out,
                    "Closing, in no figure: {who}, {} of {}, processes: {}: {} ms after {} ms",
                    first.what,
                    size_text(first.size),
                    processes(first),
                    short(close_s * 1e3),
                    short(seconds * 1e3)
                )?;
            }
        }
    }
    Ok(())
}

/// How many do it: of readers beside writers both.
fn processes(of: &Measurement) -> String {
    match is_beside(of) {
        true => format!("{0} + {0}", of.procs),
        false if of.procs != of.archived_by => format!("{} of {}", of.procs, of.archived_by),
        false => of.procs.to_string(),
    }
}

fn print_copies(here: &[&Figure], out: &mut impl Write) -> io::Result<()> {
    let copies = here.iter().filter(|one| one.measured.what == MEMORY_COPY);
    let copies: Vec<Measurement> = copies.map(|one| one.measured.clone()).collect();
    for group in Repetitions::group(&copies) {
        let Measurement { size, procs, .. } = group.first();
        let rate = short(group.median(|one| one.mib_per_s));
        writeln!(
            out,
            "{MEMORY_COPY} before: {rate} MiB/s in blocks of {}, processes: {procs}",
            size_text(*size)
        )?;
    }
    Ok(())
}

/// All that each is told, HOME and FOLDER standing for folders of the run's own.
fn print_settings(settings: &Map<String, Value>, out: &mut impl Write) -> io::Result<()> {
    for (who, settings) in settings {
        writeln!(out, "{who}{}", settings.as_str().map_or(String::new(), |text| format!(": {text}")))?;
        for (name, value) in settings.as_object().into_iter().flatten() {
            writeln!(out, "  {name}: {}", text_of(value))?;
        }
    }
    Ok(())
}

fn synced(here: &[&Figure]) -> &'static str {
    if here.iter().any(|figure| figure.measured.sync) { ", each flush waits for the device" } else { "" }
}

/// The rows of what some peers did, as far as they are there, or of all else if they did nothing.
fn table_of(here: &[&Figure], peers: &[Who]) -> Table {
    let did = |who: Who, what: &str| here.iter().any(|one| one.peer == who && one.measured.what == what);
    let peers: Vec<Who> =
        peers.iter().copied().filter(|who| here.iter().any(|figure| figure.peer == *who)).collect();
    let mut table = Table::new();
    let mut header: Vec<String> =
        ["", "field", "procs", "unit", "limit", "Isotach"].map(str::to_owned).to_vec();
    header.extend(peers.iter().map(ToString::to_string));
    if !peers.is_empty() {
        header.push(if peers == [Who::FdbHammer] { "by fdb-hammer" } else { "by FDB" }.to_owned());
    }
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    let is_row = |one: &Measurement| {
        peers.is_empty() && !did(Who::FdbHammer, one.what) || peers.iter().any(|who| did(*who, one.what))
    };
    let own: Vec<Measurement> = here
        .iter()
        .filter(|figure| figure.peer == Who::Isotach || peers.contains(&figure.peer))
        .filter(|figure| is_row(&figure.measured))
        .map(|figure| figure.measured.clone())
        .collect();
    for group in Repetitions::group(&own) {
        table.add_row(row(group.first(), here, &peers));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn row(of: &Measurement, here: &[&Figure], peers: &[Who]) -> Vec<String> {
    // Fields that are small, and lists, are counted; of others the bytes count.
    let counts = of.size < 1 << 16 || of.what == LIST;
    let rate = |one: &Measurement| if counts { one.fields_per_s } else { one.mib_per_s };
    let figures = |who: Who| -> Vec<Measurement> {
        let of_who = here.iter().filter(|figure| figure.peer == who && is_same(&figure.measured, of));
        of_who.map(|figure| figure.measured.clone()).collect()
    };
    let medians = |who: Who| -> (Option<f64>, Option<f64>) {
        let figures = figures(who);
        let groups = Repetitions::group(&figures);
        groups.first().map_or((None, None), |group| (Some(group.median(rate)), group.ratio()))
    };
    let cell = |who: Who| {
        let own = mark(figures(who).iter().any(Measurement::is_overlap_poor));
        let limit = mark(figures(who).iter().any(|one| one.is_limit_overlap_poor == Some(true)));
        match medians(who) {
            (Some(rate), Some(ratio)) => format!("{} ({ratio:.2}{limit}){own}", short(rate)),
            (Some(rate), None) => short(rate) + own,
            _ => String::new(),
        }
    };
    let unit = if counts { "fields/s" } else { "MiB/s" };
    let limits = figures(Who::Limit);
    let limit = match limits.is_empty() {
        true => String::new(),
        false => {
            short(median(limits.iter().map(rate).collect()))
                + mark(limits.iter().any(Measurement::is_overlap_poor))
        }
    };
    let mut row = vec![
        of.what.to_owned(),
        size_text(of.size),
        processes(of),
        unit.to_owned(),
        limit,
        cell(Who::Isotach),
    ];
    if !peers.is_empty() {
        let rates = peers.iter().filter_map(|who| Some((*who, medians(*who).0?)));
        let best = rates.max_by(|(_, one), (_, other)| one.total_cmp(other));
        let by = best.and_then(|(who, _)| ratio(&figures(Who::Isotach), &figures(who), rate));
        let by = by.map_or(String::new(), |by| format!("{by:.2}"));
        row.extend(peers.iter().map(|who| cell(*who)).chain([by]));
    }
    row
}

fn is_same(one: &Measurement, other: &Measurement) -> bool {
    let case = |one: &Measurement| (one.what, one.size, one.procs, one.archived_by);
    case(one) == case(other)
}

fn mark(is_poor: bool) -> &'static str {
    if is_poor { "*" } else { "" }
}

/// The median of the ratios of figures of the same repetition.
fn ratio(own: &[Measurement], others: &[Measurement], rate: impl Fn(&Measurement) -> f64) -> Option<f64> {
    let pair = |one: &Measurement| {
        let other = others.iter().find(|other| other.repetition == one.repetition)?;
        Some(rate(one) / rate(other))
    };
    let ratios: Vec<f64> = own.iter().filter_map(pair).collect();
    (!ratios.is_empty()).then(|| median(ratios))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::results::tests::measurement;

    fn figure(peer: Who, seconds: f64, repetition: u32, limit: Option<&Measurement>) -> Figure {
        let measured = Measurement { repetition, ..measurement("archive", seconds, limit) };
        Figure { peer, measured }
    }

    fn row_of(all: &[Figure]) -> Vec<String> {
        let here: Vec<&Figure> = all.iter().collect();
        row(&all[0].measured, &here, &[Who::Fdb])
    }

    #[test]
    fn by_fdb_is_the_median_of_the_ratios_of_each_repetition() {
        let seconds = [(1.0, 3.0), (2.0, 1.0), (4.0, 8.0)];
        let all: Vec<Figure> = seconds
            .iter()
            .zip(1..)
            .flat_map(|((own, fdb), at)| {
                [figure(Who::Isotach, *own, at, None), figure(Who::Fdb, *fdb, at, None)]
            })
            .collect();
        assert_eq!(row_of(&all).last().unwrap(), "2.00", "of 3, 0.5 and 2; the medians are 2 and 3");
        let without = [&all[..1], &all[2..]].concat();
        assert_eq!(row_of(&without).last().unwrap(), "1.25", "of 0.5 and 2 alone");
    }

    #[test]
    fn a_limit_whose_processes_did_not_overlap_is_marked_and_so_is_the_ratio_to_it() {
        let limit = Measurement { overlap: 0.5, ..measurement("archive", 0.5, None) };
        let all = [
            figure(Who::Isotach, 1.0, 1, Some(&limit)),
            Figure { peer: Who::Limit, measured: limit.clone() },
        ];
        let row = row_of(&all);
        assert_eq!((&*row[4], &*row[5]), ("2000*", "1000 (0.50*)"));
    }

    #[test]
    fn what_only_others_could_do_has_a_row_and_processes_are_told_as_they_were() {
        let all = [figure(Who::Fdb, 1.0, 1, None)];
        let table = table_of(&[&all[0]], &PEERS).to_string();
        assert!(table.contains("archive"), "{table}");
        let one = &all[0].measured;
        let listed = Measurement { archived_by: 4, what: LIST, ..one.clone() };
        let beside = Measurement { procs: 2, archived_by: 4, what: "archive beside readers", ..one.clone() };
        assert_eq!([one, &listed, &beside].map(processes), ["1", "1 of 4", "2 + 2"]);
    }
}
