//! The tables of a comparison: a row for each operation, size, number of processes and folder.

use std::io::{self, Write};

use comfy_table::Table;
use serde_json::{Map, Value};

use super::figure::{LIST, MEMORY_COPY};
use crate::harness::{
    groups::grouped,
    measurement::{Measurement, Peer, Repetitions},
    output::{self, overlap_mark, short, size_text},
    spread::median,
    study::{Record, text_of},
};

/// The peers in the table of clients.
const PEERS: [Peer; 2] = [Peer::FdbTuned, Peer::Fdb];

/// Closing is shown if it takes at least this part of the time of a figure.
const CLOSING_MIN: f64 = 0.05;

/// Prints the tables of a record, after so many problems.
pub(super) fn print(
    record: &Record,
    all: &[Measurement],
    problems: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{}", record.description().driver)?;
    print_settings(&record.description().settings, out)?;
    writeln!(
        out,
        "\nMedians; in parentheses the median of the ratios to the limit that was measured right before, where \"limit\" is the median of all of them.\n\
             \"by FDB\" is the median of the ratios of Isotach's figure to that of the better FDB in the same repetition. *: processes did not overlap well, \
             in parentheses those of the limit."
    )?;
    if problems > 0 {
        writeln!(out, "NOT COMPLETE, problems: {problems}; what they were to measure is missing.")?;
    }
    for (place, here) in grouped(all, |figure| figure.case.place.as_str()) {
        print_place(place, &here, out)?;
    }
    writeln!(out, "Kept in {}", record.folder().display())
}

fn print_place(place: &str, here: &[&Measurement], out: &mut impl Write) -> io::Result<()> {
    let is_synced = here.iter().any(|figure| figure.case.sync);
    let synced = if is_synced { ", each flush waits for the device" } else { "" };
    writeln!(out, "\n{place}{synced}\n{}", table_of(here, &PEERS))?;
    if here.iter().any(|figure| figure.peer == Some(Peer::Before)) {
        writeln!(out, "Beside the build before:\n{}", table_of(here, &[Peer::Before]))?;
    }
    if here.iter().any(|figure| figure.peer == Some(Peer::FdbHammer)) {
        writeln!(
            out,
            "Beside hammer; fdb-hammer decodes GRIB for each field, so this is no measure of FDB alone:"
        )?;
        writeln!(out, "{}", table_of(here, &[Peer::FdbHammer]))?;
    }
    print_closing(here, out)?;
    print_copies(here, out)
}

/// Prints the time of closing, which is in no figure.
fn print_closing(here: &[&Measurement], out: &mut impl Write) -> io::Result<()> {
    for peer in [Peer::Isotach, Peer::FdbTuned, Peer::Fdb] {
        let of_peer = here.iter().copied().filter(|figure| figure.peer == Some(peer));
        for group in Repetitions::group(of_peer) {
            let (close_s, seconds) =
                (group.median(|one| one.total.close_s), group.median(|one| one.total.seconds));
            let first = group.first();
            if close_s >= CLOSING_MIN * seconds {
                writeln!(
                    out,
                    "Closing, in no figure: {peer}, {} of {}, processes: {}: {} ms after {} ms",
                    first.what,
                    size_text(first.case.size),
                    processes(first),
                    short(close_s * 1e3),
                    short(seconds * 1e3)
                )?;
            }
        }
    }
    Ok(())
}

/// The number of processes; of readers beside writers both numbers.
fn processes(figure: &Measurement) -> String {
    match (figure.total.procs, figure.case.procs) {
        (procs, _) if figure.is_beside() => format!("{procs} + {procs}"),
        (procs, archived_by) if procs != archived_by => format!("{procs} of {archived_by}"),
        (procs, _) => procs.to_string(),
    }
}

fn print_copies(here: &[&Measurement], out: &mut impl Write) -> io::Result<()> {
    let copies = here.iter().copied().filter(|one| one.what == MEMORY_COPY);
    for group in Repetitions::group(copies) {
        let Measurement { case, total, .. } = group.first();
        let (size, procs) = (size_text(case.size), total.procs);
        let rate = short(group.median(|one| one.mib_per_s));
        writeln!(out, "{MEMORY_COPY} before: {rate} MiB/s in blocks of {size}, processes: {procs}")?;
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

/// The rows of the operations of some peers, or of all other operations if these peers have none.
fn table_of(here: &[&Measurement], peers: &[Peer]) -> Table {
    let did = |peer: Peer, what: &str| here.iter().any(|one| one.peer == Some(peer) && one.what == what);
    let peers: Vec<Peer> =
        peers.iter().copied().filter(|peer| here.iter().any(|figure| figure.peer == Some(*peer))).collect();
    let mut header: Vec<String> =
        ["", "field", "procs", "unit", "limit", "Isotach"].map(str::to_owned).to_vec();
    header.extend(peers.iter().map(ToString::to_string));
    if !peers.is_empty() {
        header.push(match peers[..] {
            [Peer::FdbHammer] => "by fdb-hammer".to_owned(),
            [Peer::Before] => "by before".to_owned(),
            _ => "by FDB".to_owned(),
        });
    }
    let is_row = |one: &Measurement| {
        peers.is_empty() && !did(Peer::FdbHammer, one.what) || peers.iter().any(|peer| did(*peer, one.what))
    };
    let mut rows: Vec<&Measurement> = Vec::new();
    let is_shown = |peer: Peer| peer == Peer::Isotach || peers.contains(&peer);
    for figure in here.iter().filter(|one| one.peer.is_some_and(is_shown)) {
        let is_known = rows.iter().any(|row| row.row() == figure.row());
        if is_row(figure) && !is_known {
            rows.push(figure);
        }
    }
    output::table(header, rows.into_iter().map(|figure| row(figure, here, &peers)), 1)
}

fn row(of: &Measurement, here: &[&Measurement], peers: &[Peer]) -> Vec<String> {
    // Small fields and lists are counted; of others the bytes count.
    let counts = of.case.size < 1 << 16 || of.what == LIST;
    let rate = |one: &Measurement| if counts { one.fields_per_s } else { one.mib_per_s };
    let figures = |peer: Peer| -> Vec<&Measurement> {
        let of_peer = here.iter().copied().filter(|one| one.peer == Some(peer));
        of_peer.filter(|one| one.row() == of.row()).collect()
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
    let mut row = vec![
        of.what.to_owned(),
        size_text(of.case.size),
        processes(of),
        unit.to_owned(),
        cell(Peer::Limit),
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
        let other = others.iter().find(|other| other.case.repetition == one.case.repetition)?;
        Some(rate(one) / rate(other))
    };
    let ratios: Vec<f64> = own.iter().filter_map(pair).collect();
    (!ratios.is_empty()).then(|| median(ratios))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::measurement::tests::measurement;

    fn figure(peer: Peer, seconds: f64, repetition: u32, limit: Option<&Measurement>) -> Measurement {
        let mut measured = Measurement { peer: Some(peer), ..measurement("archive", seconds, limit) };
        measured.case.repetition = repetition;
        measured
    }

    fn row_of(all: &[Measurement]) -> Vec<String> {
        let here: Vec<&Measurement> = all.iter().collect();
        row(&all[0], &here, &[Peer::Fdb])
    }

    #[test]
    fn by_fdb_is_the_median_of_the_ratios_of_each_repetition() {
        let seconds = [(1.0, 3.0), (2.0, 1.0), (4.0, 8.0)];
        let all: Vec<Measurement> = seconds
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
            Measurement { peer: Some(Peer::Limit), ..limit.clone() },
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
            let mut measured = Measurement { what, ..all[0].clone() };
            (measured.total.procs, measured.case.procs) = (procs, archived_by);
            processes(&measured)
        };
        let found = [with(1, 1, "archive"), with(1, 4, LIST), with(2, 4, "archive beside readers")];
        assert_eq!(found, ["1", "1 of 4", "2 + 2"]);
    }
}
