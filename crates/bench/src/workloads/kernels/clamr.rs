//! A checkpoint of CLAMR: the cells of an adaptive mesh. The number of cells of a process changes with each checkpoint.

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use super::piece::{Piece, scaled};

/// The variables of a cell: height and two momenta, its indices in the mesh (i, j) and its refinement level, and three more
/// for other data of a mesh.
const VARIABLES: u64 = 9;
/// The mean number of cells of a process, at scale 1.
const CELLS: u64 = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Clamr {
    /// The mean number of cells of a process.
    cells: u64,
    seed: u64,
}

impl Clamr {
    pub(super) fn new(scale: f64, seed: u64) -> Self {
        Self { cells: scaled(CELLS, scale), seed }
    }

    /// The cells of a process in a checkpoint: from half to one and a half times the average.
    fn cells_of(self, process: u32, checkpoint: u64) -> u64 {
        let digest: [u8; 16] = Md5::digest(format!("{},{process},{checkpoint}", self.seed)).into();
        let [a, b, c, d, ..] = digest;
        let draw = u64::from(u32::from_le_bytes([a, b, c, d]));
        (self.cells / 2 + draw % (self.cells + 1)).max(1)
    }

    /// The largest number of values of a process.
    pub(super) fn values_max(self) -> u64 {
        VARIABLES * (self.cells / 2 + self.cells).max(1)
    }

    /// The pieces of a process, after those of all processes before it.
    pub(super) fn written(self, writer: u32, checkpoint: u64) -> Vec<Piece> {
        let before = (0..writer).map(|process| self.cells_of(process, checkpoint)).sum();
        pieces(before, self.cells_of(writer, checkpoint))
    }
}

/// The pieces of one of several readers, which divide all cells evenly. `values` has the number of values of each writer.
pub(super) fn read(reader: u64, readers: u64, values: &[u64]) -> Vec<Piece> {
    let cells = values.iter().sum::<u64>() / VARIABLES;
    let from = |reader: u64| cells * reader / readers;
    pieces(from(reader), from(reader + 1) - from(reader))
}

fn pieces(position: u64, count: u64) -> Vec<Piece> {
    (0..VARIABLES as u8).map(|variable| Piece::of_variable(variable, position, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_numbers_differ_by_process_and_checkpoint_and_pieces_are_contiguous() {
        let mesh = Clamr::new(1.0, 1);
        let counts = |checkpoint| -> Vec<u64> { (0..4).map(|p| mesh.cells_of(p, checkpoint)).collect() };
        assert_ne!(counts(1), counts(2));
        assert!(counts(1).iter().all(|count| (CELLS / 2..=CELLS / 2 * 3).contains(count)), "{:?}", counts(1));
        assert_ne!(mesh.cells_of(0, 1), Clamr::new(1.0, 2).cells_of(0, 1), "another seed");
        let mut end = 0;
        for (process, count) in counts(2).into_iter().enumerate() {
            let written = mesh.written(process as u32, 2);
            assert_eq!(written.len() as u64, VARIABLES);
            assert!(written.iter().all(|piece| (piece.start, piece.count) == (end, count)));
            end += count;
        }
    }

    #[test]
    fn any_number_of_readers_reads_all_cells() {
        let mesh = Clamr::new(0.001, 7);
        let values: Vec<u64> =
            (0..4).map(|process| mesh.written(process, 3).iter().map(|piece| piece.count).sum()).collect();
        let cells = values.iter().sum::<u64>() / VARIABLES;
        for readers in [1, 3, 7] {
            let mut end = 0;
            for reader in 0..readers {
                let first = read(reader, readers, &values)[0];
                assert_eq!(first.start, end);
                end += first.count;
            }
            assert_eq!(end, cells);
        }
    }
}
