//! Alignment: what the place of a buffer in its page costs when bytes are copied from and to the page cache.
//!
//! The kernel copies with one instruction (`rep movsb`) where the processor has a fast one. On some processors this instruction
//! is slower when the destination begins 1 to 31 bytes behind the source. Some compare whole addresses, others only places in a
//! page or in a cache line. A page of the page cache begins at a page boundary, so two numbers decide: the buffer's place in its
//! page, and the offset in the file. The benchmark measures all their combinations and shows whether this machine has the effect.

mod measure;
mod table;

use std::{
    io::{IsTerminal, Write, stderr},
    path::PathBuf,
};

use clap::{Args, ValueEnum};
use serde::Serialize;

use self::measure::{BUFFER_OFFSETS, Bench, FILE_OFFSETS, MALLOC};
use crate::{
    Error, Result,
    harness::{
        folders,
        output::{json, print_line},
        parse::within,
        spread::{MIB, median},
    },
};

/// The bytes of a cache line.
const LINE: i64 = 64;
const SIZE_MAX: usize = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Call {
    /// pread(2): from the page cache into the buffer
    Pread,
    /// pwrite(2): from the buffer into the page cache
    Pwrite,
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Self::Pread => "pread",
            Self::Pwrite => "pwrite",
        }
    }
}

fn copy_size(text: &str) -> std::result::Result<usize, String> {
    within(1, SIZE_MAX, text)
}

/// Options of `alignment`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AlignmentArgs {
    /// Folders to measure in, each with a temporary file [default: /dev/shm and the current folder]
    #[arg(long = "where", value_name = "FOLDER", value_delimiter = ',')]
    places: Vec<PathBuf>,
    /// Bytes of a call
    #[arg(long = "size", value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 16, 1 << 20, 1 << 22], value_parser = copy_size)]
    sizes: Vec<usize>,
    /// Calls to measure
    #[arg(long = "call", value_name = "CALL", value_delimiter = ',', default_value = "pread,pwrite")]
    calls: Vec<Call>,
    /// Rounds: each measures all places once, in an order of its own; medians are shown
    #[arg(long, value_name = "COUNT", default_value_t = 31, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// One JSON object per line for each place, instead of tables
    #[arg(long)]
    json: bool,
}

/// The figure of one place: a call with a buffer and an offset in the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Figure {
    /// The kind of file system, and the folder.
    pub(super) place: String,
    pub(super) call: Call,
    /// Bytes of a call.
    pub(super) size: usize,
    /// Bytes of the buffer's begin behind a page boundary.
    pub(super) buffer_offset: usize,
    pub(super) file_offset: usize,
    /// The place of the copy's destination in its page minus that of its source.
    pub(super) destination_minus_source: i64,
    pub(super) destination_minus_source_modulo_64: i64,
    /// Whether malloc puts large blocks there.
    pub(super) is_malloc: bool,
    /// Microseconds of a call: the median of the rounds.
    pub(super) median_us: f64,
    pub(super) mib_per_s: f64,
    /// The median by that of the fastest place of the same call, size and folder.
    pub(super) ratio_to_best: f64,
}

pub(crate) fn run(args: &AlignmentArgs, out: &mut impl Write) -> Result<()> {
    let places = folders::given_or_default(&args.places)?;
    if !args.json {
        table::print_head(args.rounds, out).map_err(Error::Output)?;
    }
    for place in &places {
        for size in &args.sizes {
            for call in &args.calls {
                // The file is removed after each call.
                let mut bench = Bench::create(place, *call, *size)?;
                progress(&format!("{}: {} of {size} bytes", place.display(), call.name()));
                let figures = figures(&mut bench, &folders::title(place), args.rounds)?;
                progress("");
                match args.json {
                    true => figures.iter().try_for_each(|one| print_line(&json(one)?, out))?,
                    false => table::print(&figures, out).map_err(Error::Output)?,
                }
            }
        }
    }
    Ok(())
}

fn progress(text: &str) {
    if stderr().is_terminal() {
        let _ = write!(stderr(), "\r\x1b[K{text}");
    }
}

/// The figures of all places of buffer and file offsets.
fn figures(bench: &mut Bench, place: &str, rounds: u32) -> Result<Vec<Figure>> {
    let places: Vec<(usize, usize)> =
        BUFFER_OFFSETS.iter().flat_map(|buffer| FILE_OFFSETS.map(|file| (*buffer, file))).collect();
    bench.check(&places)?;
    let mut seconds = vec![Vec::new(); places.len()];
    // The first round warms up.
    for round in 0..=rounds as usize {
        for step in 0..places.len() {
            // Each round begins with another place, so that a change of the machine affects all alike.
            let at = (step + round * 7) % places.len();
            let taken = bench.time(places[at])?;
            if round > 0 {
                seconds[at].push(taken);
            }
        }
    }
    let medians: Vec<f64> = seconds.into_iter().map(median).collect();
    let best = medians.iter().copied().fold(f64::INFINITY, f64::min);
    let (call, size) = (bench.call(), bench.size());
    let figure = |((buffer_offset, file_offset), seconds): (&(usize, usize), f64)| Figure {
        place: place.to_owned(),
        call,
        size,
        buffer_offset: *buffer_offset,
        file_offset: *file_offset,
        destination_minus_source: difference(call, *buffer_offset, *file_offset),
        destination_minus_source_modulo_64: difference(call, *buffer_offset, *file_offset).rem_euclid(LINE),
        is_malloc: *buffer_offset == MALLOC,
        median_us: seconds * 1e6,
        mib_per_s: size as f64 / MIB / seconds,
        ratio_to_best: seconds / best,
    };
    Ok(places.iter().zip(medians).map(figure).collect())
}

/// The destination of a copy minus its source. Pages of the cache begin at a multiple of the page.
fn difference(call: Call, buffer: usize, file: usize) -> i64 {
    match call {
        Call::Pread => buffer as i64 - file as i64,
        Call::Pwrite => file as i64 - buffer as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_goes_to_the_buffer_and_a_write_comes_from_it() {
        assert_eq!(difference(Call::Pread, 16, 64), -48);
        assert_eq!(difference(Call::Pwrite, 16, 64), 48);
    }

    #[test]
    fn the_fastest_place_has_the_ratio_one_and_all_others_more() {
        let folder = tempfile::tempdir().unwrap();
        for call in [Call::Pread, Call::Pwrite] {
            let mut bench = Bench::create(folder.path(), call, 4096).unwrap();
            let figures = figures(&mut bench, "here", 3).unwrap();
            assert_eq!(figures.len(), BUFFER_OFFSETS.len() * FILE_OFFSETS.len());
            let ratios = figures.iter().map(|one| one.ratio_to_best);
            assert_eq!(ratios.fold(f64::INFINITY, f64::min), 1.0);
            assert!(
                figures.iter().all(|one| one.median_us > 0.0 && one.is_malloc == (one.buffer_offset == 16))
            );
        }
    }
}
