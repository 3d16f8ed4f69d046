//! The figures as tables: buffers by offsets in the file, and both by their difference.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
};

use super::{
    Figure, LINE,
    measure::{FILE_OFFSETS, MALLOC},
};
use crate::harness::{
    machine::Machine,
    output::{print_table, short, size_text, table},
    spread::median,
};

/// The processor's flags that tell how it copies.
const FLAGS: [&str; 2] = ["erms", "fsrm"];

/// Prints the machine, and what the tables show.
pub(super) fn print_head(rounds: u32, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", Machine::this().text())?;
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = flags(&cpuinfo).map(|(name, has)| format!("{name} {}", if has { "yes" } else { "no" }));
    writeln!(out, "fast copies of the processor: {} (fsrm: also short ones)", flags.join(", "))?;
    writeln!(
        out,
        "microseconds of a call, medians of {rounds} rounds, and in parentheses the ratio to the fastest place of the table; \
         rows: the begin of the buffer behind a page; columns: the offset in the file"
    )
}

/// Whether the processor has each flag.
fn flags(cpuinfo: &str) -> [(&'static str, bool); 2] {
    let line = cpuinfo.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    FLAGS.map(|name| (name, line.split_whitespace().any(|word| word == name)))
}

/// Prints the figures of one call and size in one folder.
pub(super) fn print(figures: &[Figure], out: &mut impl Write) -> io::Result<()> {
    let Some(first) = figures.first() else { return Ok(()) };
    let (name, size) = (first.call.name(), size_text(first.size));
    writeln!(out, "\n{name} of {size}, {}:", first.place)?;
    let header = ["buffer".to_owned()].into_iter().chain(FILE_OFFSETS.map(|at| format!("file +{at}")));
    let rows = figures.chunks(FILE_OFFSETS.len()).map(|row| {
        let mark = if row[0].is_malloc { " malloc" } else { "" };
        let cell = |one: &Figure| format!("{} ({:.2})", short(one.median_us), one.ratio_to_best);
        [format!("+{}{mark}", row[0].buffer_offset)].into_iter().chain(row.iter().map(cell))
    });
    print_table(&table(header, rows, 1), out)?;
    writeln!(out, "by destination minus source, modulo {LINE}: {}", by_difference(figures))?;
    writeln!(out, "{}", verdict(figures))
}

/// The median ratio of the places with the same difference.
fn by_difference(figures: &[Figure]) -> String {
    let mut all: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    figures
        .iter()
        .for_each(|one| all.entry(one.destination_minus_source).or_default().push(one.ratio_to_best));
    let texts = all.into_iter().map(|(difference, ratios)| format!("{difference}: {:.2}", median(ratios)));
    texts.collect::<Vec<_>>().join(", ")
}

/// What malloc's place costs, in a sentence.
fn verdict(figures: &[Figure]) -> String {
    let at = |buffer: usize, file: usize| {
        let is_it = |one: &&Figure| (one.buffer_offset, one.file_offset) == (buffer, file);
        figures.iter().find(is_it).map_or(f64::NAN, |one| one.median_us)
    };
    let ratio = at(MALLOC, 0) / at(0, 0);
    format!(
        "malloc: a large block begins {MALLOC} bytes behind a page; at file offset 0 a call takes {ratio:.2} times as long \
         as with a buffer at the page"
    )
}

#[cfg(test)]
mod tests {
    use super::{super::Call, *};

    fn figure(buffer_offset: usize, file_offset: usize, median_us: f64) -> Figure {
        Figure {
            place: "tmpfs /dev/shm".to_owned(),
            call: Call::Pread,
            size: 1 << 20,
            buffer_offset,
            file_offset,
            destination_minus_source: super::super::difference(Call::Pread, buffer_offset, file_offset),
            is_malloc: buffer_offset == MALLOC,
            median_us,
            mib_per_s: 1e6 / median_us,
            ratio_to_best: median_us / 100.0,
        }
    }

    #[test]
    fn a_table_has_a_row_for_each_buffer_and_marks_the_place_of_malloc() {
        let row = |buffer, times: [f64; 4]| {
            FILE_OFFSETS.iter().zip(times).map(move |(file, time)| figure(buffer, *file, time))
        };
        let figures: Vec<Figure> =
            row(0, [100.0, 110.0, 100.0, 120.0]).chain(row(16, [150.0, 100.0, 150.0, 130.0])).collect();
        let mut out = Vec::new();
        print(&figures, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for expected in [
            "pread of 1 MiB, tmpfs /dev/shm:",
            "│ +16 malloc ┆ 150 (1.50) ┆ 100 (1.00) ┆ 150 (1.50) ┆ 130 (1.30) │",
            "modulo 64: 0: 1.00, 16: 1.50, 27: 1.20, 43: 1.30, 48: 1.10",
            "a call takes 1.50 times as long as with a buffer at the page",
        ] {
            assert!(text.contains(expected), "no {expected:?} in {text}");
        }
    }

    #[test]
    fn flags_of_the_processor_are_whole_words() {
        let text = "model name : A\nflags\t\t: fpu erms xfsrm\n";
        assert_eq!(flags(text), [("erms", true), ("fsrm", false)]);
        assert_eq!(flags(""), [("erms", false), ("fsrm", false)]);
    }
}
