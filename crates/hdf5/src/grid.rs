//! [`Grid`]: how the elements of an extent lie in chunks.

use crate::{Data, Error, Result, Run, Space, header::elements};

/// An extent and its chunks. A scalar is an array of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    dims: Vec<u64>,
    chunk: Vec<u64>,
    /// Bytes of an element.
    pub(crate) element: u64,
    /// Elements of the extent.
    pub(crate) count: u64,
}

/// Elements that follow each other in a chunk and in the caller's buffer. In bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Of the chunk in the grid, counted in row-major order.
    pub(crate) chunk: u64,
    /// In the chunk.
    pub(crate) offset: u64,
    pub(crate) length: usize,
    /// In the buffer.
    pub(crate) packed: usize,
}

impl Piece {
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.length as u64
    }
}

impl Grid {
    pub(crate) fn of(data: &Data) -> Result<Self> {
        let (dims, chunk) = match &data.space {
            Space::Null => (vec![0], vec![1]),
            Space::Scalar => (vec![1], vec![1]),
            Space::Simple { dims, .. } if dims.is_empty() => (vec![1], vec![1]),
            Space::Simple { dims, .. } => (dims.clone(), data.chunk.clone()),
        };
        let count = elements(&dims)?;
        count
            .checked_mul(data.element.into())
            .ok_or_else(|| Error::invalid("an extent of 2^64 bytes", "less"))?;
        Ok(Self { dims, chunk, element: data.element.into(), count })
    }

    /// The bytes of a chunk.
    pub(crate) fn chunk_bytes(&self) -> usize {
        // Checked when the dataset was created: below 4 GiB.
        (self.chunk.iter().product::<u64>() * self.element) as usize
    }

    pub(crate) fn rank(&self) -> usize {
        self.dims.len()
    }

    pub(crate) fn dims(&self) -> &[u64] {
        &self.dims
    }

    /// The lengths of a chunk in elements.
    pub(crate) fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// How many chunks the extent has.
    pub(crate) fn chunk_count(&self) -> u64 {
        // Beside a length of 0, others may be as large as they like.
        if self.count == 0 { 0 } else { self.counts().product() }
    }

    /// The place in the extent of an element of a chunk.
    pub(crate) fn element_in(&self, chunk: u64, mut at: u64) -> Vec<u64> {
        let mut place = self.offset(&self.coordinates(chunk));
        for (place, length) in place.iter_mut().zip(&self.chunk).rev() {
            *place += at % length;
            at /= length;
        }
        place
    }

    /// How many chunks there are along each dimension.
    fn counts(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator {
        self.dims.iter().zip(&self.chunk).map(|(length, chunk)| length.div_ceil(*chunk))
    }

    /// The place of a chunk in the grid.
    pub(crate) fn coordinates(&self, mut chunk: u64) -> Vec<u64> {
        let mut place = vec![0; self.rank()];
        for (at, count) in place.iter_mut().zip(self.counts()).rev() {
            let count = count.max(1);
            (*at, chunk) = (chunk % count, chunk / count);
        }
        place
    }

    /// The number of the chunk at a place in the grid, counted in row-major order.
    pub(crate) fn number(&self, place: &[u64]) -> u64 {
        place.iter().zip(self.counts()).fold(0, |number, (at, count)| number * count + at)
    }

    /// The chunk that begins at an element. `None` if none does.
    pub(crate) fn chunk_at(&self, offset: &[u64]) -> Option<Vec<u64>> {
        let fits = offset.len() == self.rank()
            && offset
                .iter()
                .zip(&self.dims)
                .zip(&self.chunk)
                .all(|((at, length), chunk)| at < length && at % chunk == 0);
        fits.then(|| offset.iter().zip(&self.chunk).map(|(at, chunk)| at / chunk).collect())
    }

    /// The first element of a chunk.
    pub(crate) fn offset(&self, place: &[u64]) -> Vec<u64> {
        place.iter().zip(&self.chunk).map(|(at, chunk)| at.saturating_mul(*chunk)).collect()
    }

    /// Whether a chunk has elements of the extent.
    pub(crate) fn contains(&self, place: &[u64]) -> bool {
        self.offset(place).iter().zip(&self.dims).all(|(first, length)| first < length)
    }

    /// How much of a chunk is in the extent: elements along each dimension.
    pub(crate) fn part_within(&self, place: &[u64]) -> Vec<u64> {
        let offset = self.offset(place);
        let lengths = self.dims.iter().zip(&offset).zip(&self.chunk);
        lengths.map(|((length, first), chunk)| length.saturating_sub(*first).min(*chunk)).collect()
    }

    /// The bytes of a chunk that are in the extent.
    pub(crate) fn bytes_within(&self, place: &[u64]) -> u64 {
        self.part_within(place).iter().product::<u64>() * self.element
    }

    /// The ranges of a chunk's bytes that are not in the extent, one for each row at most.
    pub(crate) fn ranges_beyond(&self, place: &[u64]) -> Vec<std::ops::Range<u64>> {
        let within = self.part_within(place);
        let row = self.chunk.last().copied().unwrap_or(1);
        let rows: u64 = self.chunk.iter().rev().skip(1).product();
        let mut beyond = crate::ranges::Ranges::default();
        for at in 0..rows {
            let (mut left, mut is_within) = (at, true);
            for (length, chunk) in within.iter().zip(&self.chunk).rev().skip(1) {
                is_within &= left % chunk < *length;
                left /= chunk;
            }
            let kept = if is_within { within.last().copied().unwrap_or(0) } else { 0 };
            beyond.add((at * row + kept) * self.element..(at + 1) * row * self.element);
        }
        beyond.iter().collect()
    }

    /// Refuses runs outside of the extent, or a buffer of another length than theirs.
    pub(crate) fn check(&self, runs: &[Run], packed: usize) -> Result<()> {
        let mut total = 0_u64;
        for run in runs {
            let end = run.first.checked_add(run.count).filter(|end| *end <= self.count);
            if end.is_none() {
                let what = format!("elements {} and the {} after it", run.first, run.count);
                return Err(Error::invalid(what, format!("elements of the {} there are", self.count)));
            }
            total = total.saturating_add(run.count);
        }
        if total.checked_mul(self.element) == Some(packed as u64) {
            return Ok(());
        }
        let expected = format!("{total} elements of {} bytes", self.element);
        Err(Error::invalid(format!("a buffer of {packed} bytes"), expected))
    }

    /// Calls `each` with the pieces of the runs, in batches that hold all pieces of a row of chunks where they are not too many.
    pub(crate) fn pieces(&self, runs: &[Run], mut each: impl FnMut(Vec<Piece>) -> Result<()>) -> Result<()> {
        let walk = Walk::of(self);
        let (mut pieces, mut packed) = (Vec::<Piece>::new(), 0);
        for run in runs {
            let (mut at, end) = (run.first, run.first + run.count);
            while at < end {
                let (chunk, offset, most) = walk.find(at);
                let count = most.min(end - at);
                let length = (count * self.element) as usize;
                let offset = offset * self.element;
                match pieces.last_mut() {
                    Some(last)
                        if last.chunk == chunk
                            && last.end() == offset
                            && last.packed + last.length == packed =>
                    {
                        last.length += length;
                    }
                    _ => {
                        if pieces.len() >= PIECES_MAX {
                            each(std::mem::take(&mut pieces))?;
                        }
                        pieces.push(Piece { chunk, offset, length, packed });
                    }
                }
                (at, packed) = (at + count, packed + length);
            }
        }
        if pieces.is_empty() { Ok(()) } else { each(pieces) }
    }
}

/// The most pieces that are handled at once: about 40 MiB of them.
const PIECES_MAX: usize = 1 << 20;

/// The grid with the last dimensions, which chunks do not divide, as one: elements of a chunk follow each other across them.
struct Walk {
    dims: Vec<u64>,
    chunk: Vec<u64>,
    counts: Vec<u64>,
}

impl Walk {
    fn of(grid: &Grid) -> Self {
        let (mut dims, mut chunk) = (grid.dims.clone(), grid.chunk.clone());
        while dims.len() > 1 && dims.last() == chunk.last() {
            if let (Some(length), Some(part)) = (dims.pop(), chunk.pop()) {
                // The product of a chunk fits, as was checked, and that of an extent, but for one with a length of 0.
                dims.iter_mut().last().into_iter().for_each(|last| *last = last.saturating_mul(length));
                chunk.iter_mut().last().into_iter().for_each(|last| *last *= part);
            }
        }
        let counts = dims.iter().zip(&chunk).map(|(length, chunk)| length.div_ceil(*chunk)).collect();
        Self { dims, chunk, counts }
    }

    /// The chunk of an element, the element's place in it, and how many elements follow in both from there on.
    fn find(&self, element: u64) -> (u64, u64, u64) {
        let (mut left, mut chunk, mut offset) = (element, 0, 0);
        let (mut chunks, mut size, mut most) = (1, 1, 1);
        for (at, ((length, part), count)) in
            self.dims.iter().zip(&self.chunk).zip(&self.counts).enumerate().rev()
        {
            let place = left % length;
            left /= length;
            let within = place % part;
            if at + 1 == self.dims.len() {
                most = (part - within).min(length - place);
            }
            chunk += place / part * chunks;
            offset += within * size;
            chunks *= count;
            size *= part;
        }
        (chunk, offset, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dims: &[u64], chunk: &[u64]) -> Grid {
        let space = Space::fixed(dims);
        let data = Data {
            element: 2,
            space,
            chunk: chunk.to_vec(),
            fill: None,
            filters: Vec::new(),
            is_chunked: true,
        };
        Grid::of(&data).unwrap()
    }

    fn pieces(grid: &Grid, first: u64, count: u64) -> Vec<(u64, u64, usize, usize)> {
        let mut all = Vec::new();
        grid.pieces(&[Run { first, count }], |pieces| {
            all.extend(pieces.iter().map(|piece| (piece.chunk, piece.offset, piece.length, piece.packed)));
            Ok(())
        })
        .unwrap();
        all
    }

    #[test]
    fn rows_that_chunks_do_not_divide_are_one_piece() {
        let grid = grid(&[10, 3, 4], &[4, 3, 4]);
        assert_eq!(pieces(&grid, 0, 120), [(0, 0, 96, 0), (1, 0, 96, 96), (2, 0, 48, 192)]);
        assert_eq!(pieces(&grid, 47, 2), [(0, 94, 2, 0), (1, 0, 2, 2)]);
        assert_eq!(grid.coordinates(2), [2, 0, 0]);
    }

    #[test]
    fn every_element_is_where_a_plain_count_finds_it() {
        for (dims, chunk) in [([5, 7], [2, 3]), ([5, 7], [2, 7]), ([5, 7], [9, 9]), ([1, 1], [1, 1])] {
            let grid = grid(&dims, &chunk);
            for (row, column) in (0..dims[0]).flat_map(|row| (0..dims[1]).map(move |column| (row, column))) {
                let found = pieces(&grid, row * dims[1] + column, 1);
                let number = row / chunk[0] * dims[1].div_ceil(chunk[1]) + column / chunk[1];
                let offset = (row % chunk[0] * chunk[1] + column % chunk[1]) * 2;
                assert_eq!(found, [(number, offset, 2, 0)]);
                assert_eq!(grid.coordinates(number), [row / chunk[0], column / chunk[1]]);
            }
        }
    }

    #[test]
    fn what_is_beyond_the_extent_is_the_rest_of_a_chunk() {
        let grid = grid(&[5, 7], &[2, 4]);
        assert_eq!(grid.ranges_beyond(&[0, 0]), []);
        assert_eq!(grid.ranges_beyond(&[0, 1]), [6..8, 14..16]);
        assert_eq!(grid.ranges_beyond(&[2, 1]).first(), Some(&(6..16)));
        assert_eq!((grid.bytes_within(&[2, 1]), grid.contains(&[3, 0])), (6, false));
    }

    #[test]
    fn runs_outside_of_the_extent_are_refused() {
        let grid = grid(&[5], &[2]);
        assert!(grid.check(&[Run { first: 3, count: 2 }], 4).is_ok());
        for (first, count, packed) in [(3, 3, 6), (0, 2, 3), (u64::MAX, 2, 4)] {
            assert!(grid.check(&[Run { first, count }], packed).is_err());
        }
    }
}
