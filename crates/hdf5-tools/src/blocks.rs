//! [`Block`]: a part of an extent, and how an extent is cut into them.

use isotach_hdf5::Run;

/// A part of an extent: its first element and its lengths. Without dimensions it is the one element of a scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its first element.
    pub start: Vec<u64>,
    /// Its lengths.
    pub count: Vec<u64>,
}

impl Block {
    /// The whole extent.
    pub fn whole(dims: &[u64]) -> Self {
        Self { start: vec![0; dims.len()], count: dims.to_vec() }
    }

    /// The part of a chunk at `offset` that is in the extent.
    pub fn chunk(offset: &[u64], chunk: &[u64], dims: &[u64]) -> Self {
        let lengths = offset.iter().zip(chunk).zip(dims);
        let count = lengths.map(|((start, part), length)| length.saturating_sub(*start).min(*part));
        Self { start: offset.to_vec(), count: count.collect() }
    }

    /// What it has in common with another one.
    pub fn common(&self, other: &Self) -> Option<Self> {
        let mut common = Self { start: Vec::new(), count: Vec::new() };
        let pairs = self.start.iter().zip(&self.count).zip(other.start.iter().zip(&other.count));
        for ((start, count), (other_start, other_count)) in pairs {
            let first = *start.max(other_start);
            let end = (start + count).min(other_start + other_count);
            common.start.push(first);
            common.count.push(end.checked_sub(first).filter(|length| *length > 0)?);
        }
        Some(common)
    }

    /// The same with its place counted from the first element of another one, which it is a part of.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let start = self.start.iter().zip(&other.start).map(|(start, first)| start.saturating_sub(*first));
        Self { start: start.collect(), count: self.count.clone() }
    }

    /// How many elements it has.
    pub fn elements(&self) -> u64 {
        self.count.iter().product()
    }

    /// Its elements in the extent `dims`, in row-major order.
    pub fn runs(&self, dims: &[u64]) -> Vec<Run> {
        if self.elements() == 0 {
            return Vec::new();
        }
        // The last dimensions of which the block has all are one with the dimension before them.
        let whole = dims.iter().zip(&self.count).rev().take_while(|(length, count)| length == count).count();
        let outer = dims.len().saturating_sub(whole + 1);
        let inner: u64 = self.count.get(outer..).unwrap_or_default().iter().product();
        let rows: u64 = self.count.get(..outer).unwrap_or_default().iter().product();
        let row = |number: u64| {
            let mut place = self.start.clone();
            let mut left = number;
            for (at, count) in place.iter_mut().zip(&self.count).take(outer).rev() {
                *at += left % count;
                left /= count;
            }
            let first = place.iter().zip(dims).fold(0, |first, (at, length)| first * length + at);
            Run { first, count: inner }
        };
        (0..rows).map(row).collect()
    }

    /// The parts of it with at most `most` elements, in row-major order.
    pub fn cut(&self, most: u64) -> Blocks {
        let mut lengths = self.count.clone();
        let mut inner = 1_u64;
        for length in lengths.iter_mut().rev() {
            *length = (*length).clamp(1, (most / inner).max(1));
            inner = inner.saturating_mul(*length);
        }
        Blocks {
            whole: self.clone(),
            lengths,
            next: (self.elements() > 0).then(|| vec![0; self.count.len()]),
        }
    }
}

/// The parts of a block, in row-major order.
#[derive(Debug)]
pub struct Blocks {
    whole: Block,
    lengths: Vec<u64>,
    /// Where the next one begins within the whole.
    next: Option<Vec<u64>>,
}

impl Iterator for Blocks {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let at = self.next.take()?;
        let whole = &self.whole;
        let block = Block {
            start: whole.start.iter().zip(&at).map(|(start, at)| start + at).collect(),
            count: whole
                .count
                .iter()
                .zip(&at)
                .zip(&self.lengths)
                .map(|((all, at), part)| (all - at).min(*part))
                .collect(),
        };
        let mut following = at;
        for ((place, part), all) in following.iter_mut().zip(&self.lengths).zip(&whole.count).rev() {
            *place += part;
            if *place < *all {
                self.next = Some(following);
                break;
            }
            *place = 0;
        }
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the elements of a block.
    fn elements(block: &Block, dims: &[u64]) -> Vec<u64> {
        block.runs(dims).iter().flat_map(|run| run.first..run.first + run.count).collect()
    }

    #[test]
    fn the_parts_of_a_block_have_each_element_once_and_in_order_within_each() {
        let dims = [5, 6, 7];
        let block = Block { start: vec![1, 2, 0], count: vec![3, 4, 7] };
        let all = elements(&block, &dims);
        assert_eq!((all.len(), all[0], all.is_sorted()), (84, 56, true));
        for most in [1, 3, 7, 10, 28, 50, 1000] {
            let parts: Vec<Block> = block.cut(most).collect();
            assert!(parts.iter().all(|part| part.elements() <= most && elements(part, &dims).is_sorted()));
            let mut together: Vec<u64> = parts.iter().flat_map(|part| elements(part, &dims)).collect();
            together.sort_unstable();
            assert_eq!(together, all, "{most}");
        }
    }

    #[test]
    fn a_common_part_lies_in_both_blocks() {
        let one = Block { start: vec![0, 4], count: vec![4, 4] };
        let other = Block { start: vec![2, 0], count: vec![4, 6] };
        let common = one.common(&other).unwrap();
        assert_eq!(common, Block { start: vec![2, 4], count: vec![2, 2] });
        assert_eq!(common.within(&one), Block { start: vec![2, 0], count: vec![2, 2] });
        assert_eq!(one.common(&Block { start: vec![4, 0], count: vec![1, 9] }), None);
    }

    #[test]
    fn scalars_have_one_element_and_empty_extents_none() {
        let scalar = Block::whole(&[]);
        assert_eq!((scalar.elements(), elements(&scalar, &[])), (1, vec![0]));
        assert_eq!(scalar.cut(10).count(), 1);
        let empty = Block::whole(&[3, 0]);
        assert_eq!((empty.cut(10).count(), empty.runs(&[3, 0]).len()), (0, 0));
        assert_eq!(Block::whole(&[4, 4]).runs(&[4, 4]), [Run { first: 0, count: 16 }]);
    }
}
