//! Regular hyperslabs along one dimension: where they end within an extent, and which extent holds how much of them.

/// `H5S_UNLIMITED`.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// A regular hyperslab along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Along {
    pub(crate) start: u64,
    pub(crate) stride: u64,
    /// How many blocks.
    pub(crate) count: u64,
    /// The length of a block.
    pub(crate) block: u64,
}

impl Along {
    pub(crate) fn is_unlimited(&self) -> bool {
        self.count == UNLIMITED || self.block == UNLIMITED
    }

    /// All in one piece.
    fn is_solid(&self) -> bool {
        self.block == UNLIMITED || self.block >= self.stride
    }

    /// How many of an unlimited one's places an extent has.
    pub(crate) fn within(&self, extent: u64) -> u64 {
        let length = extent.saturating_sub(self.start);
        if self.is_solid() {
            return length;
        }
        length / self.stride * self.block + (length % self.stride).min(self.block)
    }

    /// The smallest extent that has this many places of an unlimited one; with the gap behind a whole block if `with_gap`.
    pub(crate) fn extent_of(&self, places: u64, with_gap: bool) -> u64 {
        if places == 0 {
            return if with_gap { self.start } else { 0 };
        }
        if self.is_solid() {
            return self.start.saturating_add(places);
        }
        let (blocks, rest) = (places / self.block, places % self.block);
        if rest > 0 || with_gap {
            self.start + blocks * self.stride + rest
        } else {
            self.start + (blocks - 1) * self.stride + self.block
        }
    }

    /// The part within an extent, with a last block that may reach beyond it; nothing if it begins there.
    pub(crate) fn reaching(&self, extent: u64) -> Option<Self> {
        let length = extent.checked_sub(self.start).filter(|length| *length > 0)?;
        if self.block == UNLIMITED {
            return Some(Self { stride: length, count: 1, block: length, ..*self });
        }
        Some(Self { count: length.div_ceil(self.stride).min(self.count), ..*self })
    }

    /// The block with this number.
    pub(crate) fn nth(&self, block: u64) -> Option<Self> {
        let start = self.start.checked_add(block.checked_mul(self.stride)?)?;
        Some(Self { start, stride: self.block.max(1), count: 1, block: self.block })
    }
}

#[cfg(test)]
mod tests {
    use super::{Along, UNLIMITED};

    #[test]
    fn an_extent_holds_whole_blocks_and_a_part_of_the_last() {
        let blocks = Along { start: 2, stride: 5, count: UNLIMITED, block: 3 };
        let within: Vec<u64> = (0..=12).map(|extent| blocks.within(extent)).collect();
        assert_eq!(within, [0, 0, 0, 1, 2, 3, 3, 3, 4, 5, 6, 6, 6]);
        assert_eq!(blocks.extent_of(3, false), 5);
        assert_eq!(blocks.extent_of(3, true), 7);
        assert_eq!(blocks.extent_of(4, false), 8);
        assert_eq!((blocks.extent_of(0, false), blocks.extent_of(0, true)), (0, 2));
        assert_eq!(blocks.reaching(8).map(|part| part.count), Some(2));
        assert_eq!(blocks.reaching(2), None);
    }

    #[test]
    fn an_endless_block_ends_with_the_extent() {
        let rows = Along { start: 1, stride: 1, count: 1, block: UNLIMITED };
        assert_eq!((rows.within(0), rows.within(7)), (0, 6));
        assert_eq!(rows.extent_of(6, false), 7);
        assert_eq!(rows.reaching(7).map(|part| part.block), Some(6));
    }

    #[test]
    fn blocks_are_numbered_from_0() {
        let blocks = Along { start: 2, stride: 5, count: UNLIMITED, block: 3 };
        assert_eq!(blocks.nth(2), Some(Along { start: 12, stride: 3, count: 1, block: 3 }));
        assert_eq!(blocks.nth(UNLIMITED), None);
    }
}
