//! The variables of PIO on a grid: many processes compute, few do the I/O, and the values are rearranged in between.
//!
//! There are no computing processes: a store only sees what each I/O process holds after the rearrangement. The messages of
//! the rearrangement itself take no time here.
//!
//! The two rearrangements are those of PIO's documentation ("Describing decompositions").

use serde::{Deserialize, Serialize};

use super::piece::{Piece, scaled};

/// The grid at scale 1: longitudes and latitudes of an atmosphere model at about one degree, and its levels. A scale changes
/// the number of latitudes.
const LONGITUDES: u64 = 288;
const LATITUDES: u64 = 192;
const LEVELS: u64 = 30;
/// The levels of each variable: two variables fill the grid, four have one level.
const VARIABLES: [u64; 6] = [LEVELS, LEVELS, 1, 1, 1, 1];
/// Columns of one chunk. The computing processes get chunks of the grid in turns, as in an atmosphere model, to spread day and
/// night.
const CHUNK: u64 = 16;

/// The data of an I/O process after the rearrangement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rearrangement {
    /// One contiguous block of each variable
    Box,
    /// The data of its computing processes, in many pieces
    Subset,
}

/// The grid and its rearrangement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pio {
    rearrangement: Rearrangement,
    columns: u64,
    /// Computing processes for each that does I/O.
    ratio: u64,
}

impl Pio {
    pub(super) fn new(rearrangement: Rearrangement, scale: f64, ratio: u64) -> Self {
        Self { rearrangement, columns: LONGITUDES * scaled(LATITUDES, scale), ratio }
    }

    /// The pieces of one of several I/O processes. The order in memory is level, latitude, longitude.
    pub(super) fn part(self, process: u64, processes: u64) -> Vec<Piece> {
        let variables = (0_u8..).zip(VARIABLES);
        let all = variables.flat_map(|(variable, levels)| {
            let runs = match self.rearrangement {
                Rearrangement::Box => vec![block(levels * self.columns, process, processes)],
                Rearrangement::Subset => self.subset(levels, process, processes),
            };
            runs.into_iter().map(move |(from, count)| Piece::of_variable(variable, from, count))
        });
        all.filter(|piece| piece.count > 0).collect()
    }

    /// The columns of the computing processes of an I/O process, at each level. These processes have consecutive numbers, so
    /// they have runs of consecutive chunks.
    fn subset(self, levels: u64, process: u64, processes: u64) -> Vec<(u64, u64)> {
        let run = self.ratio * CHUNK;
        let of_level = move |level: u64| {
            let starts = (process * run..self.columns).step_by((processes * run) as usize);
            starts.map(move |start| (level * self.columns + start, run.min(self.columns - start)))
        };
        (0..levels).flat_map(of_level).collect()
    }
}

/// The start and the length of the block of a process.
fn block(values: u64, process: u64, processes: u64) -> (u64, u64) {
    let from = |process: u64| values * process / processes;
    (from(process), from(process + 1) - from(process))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rearrangements_give_each_value_to_one_process() {
        for rearrangement in [Rearrangement::Box, Rearrangement::Subset] {
            for (scale, processes) in [(0.02, 1), (0.02, 3), (0.001, 5)] {
                let pio = Pio::new(rearrangement, scale, 2);
                let mut all: Vec<Piece> =
                    (0..processes).flat_map(|process| pio.part(process, processes)).collect();
                all.sort_by_key(|piece| (piece.variable, piece.position));
                let mut ends = [0; VARIABLES.len()];
                for piece in all {
                    let end = &mut ends[usize::from(piece.variable)];
                    assert_eq!(piece.position, *end, "{rearrangement:?} {processes}");
                    *end += piece.count;
                }
                assert_eq!(ends, VARIABLES.map(|levels| levels * pio.columns));
            }
        }
    }

    #[test]
    fn a_box_is_one_piece_of_a_variable_and_a_subset_is_many() {
        let pieces = |rearrangement| Pio::new(rearrangement, 1.0, 8).part(1, 4);
        assert_eq!(pieces(Rearrangement::Box).len(), VARIABLES.len());
        let subset = pieces(Rearrangement::Subset);
        // 55296 columns in runs of 128, of which every fourth: 108 of each of 64 levels.
        assert_eq!(subset.len(), 108 * 64);
        assert!(subset.iter().all(|piece| piece.count == 128));
        assert_eq!((subset[0].start, subset[1].start), (128, 128 + 512));
    }
}
