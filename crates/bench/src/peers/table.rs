//! The tables of a comparison: a row for each operation, size, number of processes and folder.

use std::io::{self, Write};

use comfy_table::Table;
use serde_json::{Map, Value};

use super::figure::{Figure, LIST, MEMORY_COPY, Peer};
use crate::harness::{
    machine::Machine,
    measurement::{Measurement, Repetitions},
    output::{self, overlap_mark, short, size_text},
    spread::median,
    study::{Record, text_of},
};

/// The peers in the table of clients.
const PEERS: [Peer; 2] = [Peer::FdbTuned, Peer::Fdb];

/// Closing is shown if it takes at least this part of the time of a figure.
const CLOSING_MIN: f64 = 0.05;

pub(super) struct Shown<'s> {
    pub(super) machine: &'s Machine,
    pub(super) record: &'s Record,
    pub(super) settings: &'s Map<String, Value>,
    pub(super) all: &'s [Figure],
}

impl Shown<'_> {
    /// Prints the tables, after so many problems.
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
        if here.iter().any(|figure| figure.peer == Peer::FdbHammer) {
            writeln!(
                out,
                "Beside hammer; fdb-hammer decodes GRIB for each field, so this is no measure of FDB alone:"
            )?;
            writeln!(out, "{}", table_of(&here, &[Peer::FdbHammer]))?;
        }
        print_closing(&here, out)?;
        print_copies(&here, out)
    }
}

/// Prints the time of closing, which is in no figure.
fn print_closing(here: &[&Figure], out: &mut impl Write) -> io::Result<()> {
    for peer in [Peer::Isotach, Peer::FdbTuned, Peer::Fdb] {
        let of_peer: Vec<&Figure> = here.iter().filter(|figure| figure.peer == peer).copied().collect();
        for group in Repetitions::group(of_peer.iter().map(|figure| &figure.measured)) {
            let (close_s, seconds) = (group.median(|one| one.close_s), group.median(|one| one.seconds));
            let first = group.first();
            let figure = Figure { peer, measured: first.clone() };
            if close_s >= CLOSING_MIN * seconds {
                writeln!(
                    out,
                    "Closing, in no figure: {peer}, {} of {}, processes: {}: {} ms after {} ms",
                    first.what,
                    size_text(first.size),
                    processes(&figure),
                    short(close_s * 1e3),
                    short(seconds * 1e3)
                )?;
            }
        }
    }
    Ok(())
}

/// The number of processes; of readers beside writers both numbers.
fn processes(figure: &Figure) -> String {
    let of = &figure.measured;
    match figure.is_beside() {
        true => format!("{0} + {0}", of.procs),
        false if of.procs != of.archived_by => format!("{} of {}", of.procs, of.archived_by),
        false => of.procs.to_string(),
    }
}

fn print_copies(here: &[&Figure], out: &mut impl Write) -> io::Result<()> {
    let copies = here.iter().map(|figure| &figure.measured).filter(|one| one.what == MEMORY_COPY);
    for group in Repetitions::group(copies) {
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

/// Prints all settings. HOME and FOLDER stand for folders of the run.
fn print_settings(settings: &Map<String, Value>, out: &mut impl Write) -> io::Result<()> {
    for (peer, settings) in settings {
        writeln!(out, "{peer}{}", settings.as_str().map_or(String::new(), |text| format!(": {text}")))?;
        for (name, value) in settings.as_object().into_iter().flatten() {
            writeln!(out, "  {name}: {}", text_of(value))?;
        }
    }
    Ok(())
}

fn synced(here: &[&Figure]) -> &'static str {
    if here.iter().any(|figure| figure.measured.sync) { ", each flush waits for the device" } else { "" }
}

/// The rows of the operations of some peers, or of all other operations if these peers have none.
fn table_of(here: &[&Figure], peers: &[Peer]) -> Table {
    let did = |peer: Peer, what: &str| here.iter().any(|one| one.peer == peer && one.measured.what == what);
    let peers: Vec<Peer> =
        peers.iter().copied().filter(|peer| here.iter().any(|figure| figure.peer == *peer)).collect();
    let mut header: Vec<String> =
        ["", "field", "procs", "unit", "limit", "Isotach"].map(str::to_owned).to_vec();
    header.extend(peers.iter().map(ToString::to_string));
    if !peers.is_empty() {
        header.push(if peers == [Peer::FdbHammer] { "by fdb-hammer" } else { "by FDB" }.to_owned());
    }
    let is_row = |one: &Measurement| {
        peers.is_empty() && !did(Peer::FdbHammer, one.what) || peers.iter().any(|peer| did(*peer, one.what))
    };
    let mut rows: Vec<&Figure> = Vec::new();
    for figure in here.iter().filter(|one| one.peer == Peer::Isotach || peers.contains(&one.peer)) {
        let is_known = rows.iter().any(|row| row.measured.is_same_row(&figure.measured));
        if is_row(&figure.measured) && !is_known {
            rows.push(figure);
        }
    }
    output::table(header, rows.into_iter().map(|figure| row(figure, here, &peers)), 1)
}

fn row(figure: &Figure, here: &[&Figure], peers: &[Peer]) -> Vec<String> {
    // Small fields and lists are counted; of others the bytes count.
    let of = &figure.measured;
    let counts = of.size < 1 << 16 || of.what == LIST;
    let rate = |one: &Measurement| if counts { one.fields_per_s } else { one.mib_per_s };
    let figures = |peer: Peer| -> Vec<&Measurement> {
        let of_peer = here.iter().filter(|one| one.peer == peer).map(|one| &one.measured);
        of_peer.filter(|one| one.is_same_row(of)).collect()
    };
    let medians = |peer: Peer| -> (Option<f64>, Option<f64>) {
        let groups = Repetitions::group(figures(peer));
        groups.first().map_or((None, None), |group| (Some(group.median(rate)), group.ratio()))
    };
    let cell = |peer: Peer| {
        let own = overlap_mark(figures(peer).iter().any(|one| one.is_overlap_poor()));
        let limit = overlap_mark(figures(peer).iter().any(|one| one.is_limit_overlap_poor == Some(true)));
        match medians(peer) {
            (Some(rate), Some(ratio)) => format!("{} ({ratio:.2}{limit}){own}", short(rate)),
            (Some(rate), None) => short(rate) + own,
            _ => String::new(),
        }
    };
    let unit = if counts { "fields/s" } else { "MiB/s" };
    let limits = figures(Peer::Limit);
    let limit = match limits.is_empty() {
        true => String::new(),
        false => {
            short(median(limits.iter().map(|one| rate(one)).collect()))
                + overlap_mark(limits.iter().any(|one| one.is_overlap_poor()))
        }
    };
    let mut row = vec![
        of.what.to_owned(),
        size_text(of.size),
        processes(figure),
        unit.to_owned(),
        limit,
        cell(Peer::Isotach),
    ];
    if !peers.is_empty() {
        let rates = peers.iter().filter_map(|peer| Some((*peer, medians(*peer).0?)));
        let best = rates.max_by(|(_, one), (_, other)| one.total_cmp(other));
        let by = best.and_then(|(peer, _)| ratio(&figures(Peer::Isotach), &figures(peer), rate));
        let by = by.map_or(String::new(), |by| format!("{by:.2}"));
        row.extend(peers.iter().map(|peer| cell(*peer)).chain([by]));
    }
    row
}

/// The median of the ratios of figures of the same repetition.
fn ratio(own: &[&Measurement], others: &[&Measurement], rate: impl Fn(&Measurement) -> f64) -> Option<f64> {
    let pair = |one: &&Measurement| {
        let other = others.iter().find(|other| other.repetition == one.repetition)?;
        Some(rate(one) / rate(other))
    };
    let ratios: Vec<f64> = own.iter().filter_map(pair).collect();
    (!ratios.is_empty()).then(|| median(ratios))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::measurement::tests::measurement;

    fn figure(peer: Peer, seconds: f64, repetition: u32, limit: Option<&Measurement>) -> Figure {
        let measured = Measurement { repetition, ..measurement("archive", seconds, limit) };
        Figure { peer, measured }
    }

    fn row_of(all: &[Figure]) -> Vec<String> {
        let here: Vec<&Figure> = all.iter().collect();
        row(&all[0], &here, &[Peer::Fdb])
    }

    #[test]
    fn by_fdb_is_the_median_of_the_ratios_of_each_repetition() {
        let seconds = [(1.0, 3.0), (2.0, 1.0), (4.0, 8.0)];
        let all: Vec<Figure> = seconds
            .iter()
            .zip(1..)
            .flat_map(|((own, fdb), at)| {
                [figure(Peer::Isotach, *own, at, None), figure(Peer::Fdb, *fdb, at, None)]
            })
            .collect();
        assert_eq!(row_of(&all).last().unwrap(), "2.00", "of 3, 0.5 and 2; the medians are 2 and 3");
        let without = [&all[..1], &all[2..]].concat();
        assert_eq!(row_of(&without).last().unwrap(), "1.25", "of 0.5 and 2 alone");
    }

    #[test]
    fn a_limit_with_poor_overlap_is_marked_and_so_is_the_ratio_to_it() {
        let limit = Measurement { overlap: 0.5, ..measurement("archive", 0.5, None) };
        let all = [
            figure(Peer::Isotach, 1.0, 1, Some(&limit)),
            Figure { peer: Peer::Limit, measured: limit.clone() },
        ];
        let row = row_of(&all);
        assert_eq!((&*row[4], &*row[5]), ("2000*", "1000 (0.50*)"));
    }

    #[test]
    fn an_operation_of_a_peer_alone_has_a_row_with_its_numbers_of_processes() {
        let all = [figure(Peer::Fdb, 1.0, 1, None)];
        let table = table_of(&[&all[0]], &PEERS).to_string();
        assert!(table.contains("archive"), "{table}");
        let with = |procs, archived_by, what| {
            let measured = Measurement { procs, archived_by, what, ..all[0].measured.clone() };
            processes(&Figure { peer: Peer::Fdb, measured })
        };
        let found = [with(1, 1, "archive"), with(1, 4, LIST), with(2, 4, "archive beside readers")];
        assert_eq!(found, ["1", "1 of 4", "2 + 2"]);
    }
}
