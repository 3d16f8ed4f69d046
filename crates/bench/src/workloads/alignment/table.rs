//! The figures as tables: buffers by offsets in the file, and both by their difference.

use std::{
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

/// A destination so many bytes behind its source is the slow one.
const BEHIND_MAX: i64 = 31;
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
    writeln!(out, "{}", by_difference(figures))?;
    writeln!(out, "{}", verdict(figures))
}

/// The ratios of destinations shortly behind their source, of those that are so within a cache line only, and of all others.
fn by_difference(figures: &[Figure]) -> String {
    let is_behind = |difference: i64| (1..=BEHIND_MAX).contains(&difference);
    let of = |wanted: fn(bool, bool) -> bool| {
        let is_wanted = |one: &&Figure| {
            wanted(is_behind(one.destination_minus_source), is_behind(one.destination_minus_source_modulo_64))
        };
        let ratios: Vec<f64> = figures.iter().filter(is_wanted).map(|one| one.ratio_to_best).collect();
        if ratios.is_empty() { "-".to_owned() } else { format!("{:.2}", median(ratios)) }
    };
    format!(
        "medians of the ratios, by the place of the destination in its page: 1 to {BEHIND_MAX} bytes behind that of the source {}; as \
         many modulo {LINE} alone {}; others {}",
        of(|is_behind, _| is_behind),
        of(|is_behind, in_line| !is_behind && in_line),
        of(|_, in_line| !in_line)
    )
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
    use super::{
        super::{Call, difference},
        *,
    };

    fn figure(buffer_offset: usize, file_offset: usize, median_us: f64) -> Figure {
        Figure {
            place: "tmpfs /dev/shm".to_owned(),
            call: Call::Pread,
            size: 1 << 20,
            buffer_offset,
            file_offset,
            destination_minus_source: difference(Call::Pread, buffer_offset, file_offset),
            destination_minus_source_modulo_64: difference(Call::Pread, buffer_offset, file_offset)
                .rem_euclid(LINE),
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
            "1 to 31 bytes behind that of the source 1.50; as many modulo 64 alone 1.35; others 1.00",
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
