//! [`Selection`]: the elements of a dataset that a query has found.

use super::bits::Bits;
use crate::{Run, grid::Grid};

/// Elements of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    dims: Vec<u64>,
    /// In order, neither overlapping nor touching.
    runs: Vec<Run>,
    work: Work,
}

/// How the chunks of a dataset were looked at to answer a query.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Chunks that were not read: the least and the greatest number in them, or that they were never written, told the answer.
    pub skipped: u64,
    /// Chunks of which the bins were read.
    pub by_bins: u64,
    /// Chunks that were read.
    pub scanned: u64,
}

impl Selection {
    /// Of runs that do not overlap, in any order.
    pub(super) fn new(dims: &[u64], mut runs: Vec<Run>, work: Work) -> Self {
        if !runs.is_sorted_by_key(|run| run.first) {
            // Stable: it merges what is in order already, as the runs of each chunk are.
            runs.sort_by_key(|run| run.first);
        }
        runs.dedup_by(|next, run| {
            let follows = run.first + run.count == next.first;
            run.count += if follows { next.count } else { 0 };
            follows
        });
        Self { dims: dims.to_vec(), runs, work }
    }

    /// The other elements of the `total` that the dataset has.
    pub(super) fn complement(self, total: u64) -> Self {
        let (mut runs, mut first) = (Vec::with_capacity(self.runs.len() + 1), 0);
        for run in self.runs.iter().copied().chain([Run { first: total, count: 0 }]) {
            if run.first > first {
                runs.push(Run { first, count: run.first - first });
            }
            first = run.first + run.count;
        }
        Self { runs, ..self }
    }

    /// The extent of the dataset; empty for a scalar.
    pub fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// The elements, counted in row-major order of the extent. In order; runs neither overlap nor touch.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// How many elements there are.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|run| run.count).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How the chunks were looked at.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The place of an element of the extent.
    pub fn place(&self, mut element: u64) -> Vec<u64> {
        let mut place = vec![0; self.dims.len()];
        for (at, length) in place.iter_mut().zip(&self.dims).rev() {
            let length = (*length).max(1);
            (*at, element) = (element % length, element / length);
        }
        place
    }
}

/// Which elements of a chunk were found.
#[derive(Debug, Clone)]
pub(super) enum InChunk {
    None,
    All,
    Some(Bits),
}

/// Chunks as rows of elements that follow each other in the chunk and in the extent.
pub(super) struct Rows {
    dims: Vec<u64>,
    chunk: Vec<u64>,
}

impl Rows {
    pub(super) fn of(grid: &Grid) -> Self {
        let (mut dims, mut chunk) = (grid.dims().to_vec(), grid.chunk().to_vec());
        // The last dimensions that chunks do not divide are one.
        while dims.len() > 1 && dims.last() == chunk.last() {
            if let (Some(length), Some(part)) = (dims.pop(), chunk.pop()) {
                dims.iter_mut().last().into_iter().for_each(|last| *last = last.saturating_mul(length));
                chunk.iter_mut().last().into_iter().for_each(|last| *last *= part);
            }
        }
        Self { dims, chunk }
    }

    /// The elements of the extent that were found in the chunk at a place in the grid.
    pub(super) fn runs(&self, place: &[u64], found: &InChunk) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut add = |first: u64, count: u64| match runs.last_mut() {
            Some(last) if last.first + last.count == first => last.count += count,
            _ => runs.push(Run { first, count }),
        };
        self.each_row(place, |position, first, length| match found {
            InChunk::None => {}
            InChunk::All => add(first, length),
            InChunk::Some(bits) => {
                let start = position as usize;
                bits.runs(start..start + length as usize, |run| {
                    add(first + (run.start - start) as u64, run.len() as u64);
                });
            }
        });
        runs
    }

    /// Calls `each` with the position in the chunk, the first element and the length of every row of the chunk that is in the extent.
    fn each_row(&self, place: &[u64], mut each: impl FnMut(u64, u64, u64)) {
        let offset: Vec<u64> = place.iter().zip(&self.chunk).map(|(at, part)| at * part).collect();
        let lengths = self.dims.iter().zip(&offset).zip(&self.chunk);
        let within: Vec<u64> =
            lengths.map(|((length, first), part)| length.saturating_sub(*first).min(*part)).collect();
        let Some((row, outer)) = within.split_last() else { return };
        for number in 0..outer.iter().product::<u64>() {
            let (mut left, mut position, mut first) = (number, 0, 0);
            let (mut size, mut step) =
                (self.chunk.last().copied().unwrap_or(1), self.dims.last().copied().unwrap_or(1));
            let dimensions = outer.iter().zip(&offset).zip(self.chunk.iter().zip(&self.dims));
            for ((length, start), (part, total)) in dimensions.collect::<Vec<_>>().into_iter().rev() {
                let at = left % length;
                left /= length;
                position += at * size;
                first += (start + at) * step;
                (size, step) = (size * part, step * total);
            }
            each(position, first + offset.last().copied().unwrap_or(0), *row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, Space};

    #[test]
    fn found_elements_of_chunks_are_runs_of_the_extent() {
        for (dims, chunk) in [
            (vec![5, 7], vec![2, 3]),
            (vec![5, 7], vec![2, 7]),
            (vec![4, 3, 5], vec![3, 2, 5]),
            (vec![11], vec![4]),
        ] {
            let data = Data {
                element: 1,
                space: Space::fixed(&dims),
                chunk,
                fill: None,
                filters: Vec::new(),
                is_chunked: true,
            };
            let grid = Grid::of(&data).unwrap();
            let rows = Rows::of(&grid);
            let is_found = |element: u64| element % 5 == 1 || element % 7 > 3;
            let (mut runs, mut at) = (Vec::new(), std::collections::BTreeMap::<u64, Vec<u64>>::new());
            let all: Vec<Run> = vec![Run { first: 0, count: dims.iter().product() }];
            grid.pieces(&all, |pieces| {
                for piece in pieces {
                    let positions = piece.offset..piece.end();
                    let elements = at.entry(piece.chunk).or_default();
                    elements.resize(grid.chunk_bytes(), u64::MAX);
                    positions
                        .zip(piece.packed as u64..)
                        .for_each(|(at, element)| elements[at as usize] = element);
                }
                Ok(())
            })
            .unwrap();
            for (number, elements) in at {
                let bits = Bits::of(elements.len(), |at| elements[at] == u64::MAX || is_found(elements[at]));
                runs.extend(rows.runs(&grid.coordinates(number), &InChunk::Some(bits)));
            }
            let selection = Selection::new(&dims, runs, Work::default());
            let found: Vec<u64> =
                selection.runs().iter().flat_map(|run| run.first..run.first + run.count).collect();
            let expected: Vec<u64> = (0..all[0].count).filter(|element| is_found(*element)).collect();
            assert_eq!(found, expected);
            assert!(selection.runs().windows(2).all(|two| two[0].first + two[0].count < two[1].first));
        }
    }
}
