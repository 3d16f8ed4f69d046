//! The ways in which a block is coded.

use super::bits::Bits;
use super::{Ccsds, JumpError, broken};

/// How many codes there are for pairs of values, "the second extension" of the standard.
const PAIRS: usize = 91;
static SUMS: [u32; PAIRS] = sums();

/// How the block at hand is coded.
pub(super) enum BlockCoding {
    /// All values are zero, in this block and in others that follow. Their number stands in unary.
    ZeroBlocks,
    /// Pairs of small values, each pair as one number in unary.
    Pairs,
    /// The upper bits in unary, then these many lower bits.
    Split(u32),
    /// As they are.
    Plain,
}

impl Ccsds {
    /// Reads how a block is coded.
    pub(super) fn coding(&self, bits: &mut Bits<'_>) -> BlockCoding {
        let id_bits = self.id_bits();
        let plain = (1 << id_bits) - 1;
        match bits.take(id_bits) {
            0 if bits.take(1) == 1 => BlockCoding::Pairs,
            0 => BlockCoding::ZeroBlocks,
            id if id == plain => BlockCoding::Plain,
            id => BlockCoding::Split(id - 1),
        }
    }

    /// Whether the block behind `done` others of its interval begins with a value as it is.
    pub(super) fn has_reference(&self, done: u32) -> bool {
        done == 0 && self.is_predicted()
    }

    /// Reads a block, or a run of zero blocks, into the start of `values`, which has space for one block at least. Returns
    /// for how many blocks it stands.
    pub(super) fn read_block(
        &self,
        bits: &mut Bits<'_>,
        done: u32,
        values: &mut [u32],
    ) -> Result<u32, JumpError> {
        let coding = self.coding(bits);
        let (block, _) =
            values.split_at_mut_checked(self.block.into()).ok_or_else(|| broken("it is too long"))?;
        let width = u32::from(self.bits);
        let skip = usize::from(self.has_reference(done));
        if let BlockCoding::Plain = coding {
            block.fill_with(|| bits.take(width));
            return bits.check_whole().map(|()| 1);
        }
        if let (1, Some(first)) = (skip, block.first_mut()) {
            *first = bits.take(width);
        }
        let coded = block.get_mut(skip..).unwrap_or_default();
        let mut blocks = 1;
        match coding {
            // They are zero already.
            BlockCoding::ZeroBlocks => blocks = self.zero_blocks(bits.unary()?, done)?,
            BlockCoding::Pairs => self.pairs(bits, skip, coded)?,
            BlockCoding::Split(low) => self.split(bits, low, coded)?,
            BlockCoding::Plain => {}
        }
        bits.check_whole()?;
        Ok(blocks)
    }

    fn split(&self, bits: &mut Bits<'_>, low: u32, values: &mut [u32]) -> Result<(), JumpError> {
        if low >= u32::from(self.bits) {
            return Err(broken("a block has more bits than its values"));
        }
        bits.unaries(self.max() >> low, values)?;
        if low > 0 {
            bits.append(low, values);
        }
        Ok(())
    }

    /// Of the first pair of an interval with a reference, only the second value counts.
    fn pairs(&self, bits: &mut Bits<'_>, skip: usize, values: &mut [u32]) -> Result<(), JumpError> {
        let (alone, pairs) = values.split_at_mut(skip);
        for value in alone {
            (_, *value) = self.pair(bits)?;
        }
        for pair in pairs.chunks_exact_mut(2) {
            let (first, second) = self.pair(bits)?;
            pair.copy_from_slice(&[first, second]);
        }
        Ok(())
    }

    /// A pair. They are numbered along diagonals of equal sums: (0,0), (1,0), (0,1), (2,0) ...
    fn pair(&self, bits: &mut Bits<'_>) -> Result<(u32, u32), JumpError> {
        let code = bits.unary()?;
        let sum =
            SUMS.get(code as usize).copied().ok_or_else(|| broken("a pair of values is out of range"))?;
        let second = code - sum * (sum + 1) / 2;
        let first = sum - second;
        if first.max(second) > self.max() {
            return Err(broken("a value has more bits than it says"));
        }
        Ok((first, second))
    }
}

/// The sum of the two values of each code of a pair.
const fn sums() -> [u32; PAIRS] {
    let mut sums = [0; PAIRS];
    let (mut code, mut sum) = (0, 0);
    while code < PAIRS {
        if code == (sum + 1) * (sum + 2) / 2 {
            sum += 1;
        }
        sums[code] = sum as u32;
        code += 1;
    }
    sums
}
