//! Where the intervals of a stream begin.

use super::bits::Bits;
use super::block::BlockCoding;
use super::{Ccsds, JumpError};

impl Ccsds {
    /// The bit at which each interval of a stream of `values` values begins. Decodes nothing, but steps over every block.
    pub(in crate::jump) fn intervals(&self, stream: &[u8], values: u64) -> Result<Vec<u64>, JumpError> {
        let mut starts = Vec::new();
        let mut bits = Bits::new(stream, 0);
        let mut left = values;
        while left > 0 {
            starts.push(bits.at());
            let here = left.min(u64::from(self.interval()));
            self.skip_interval(&mut bits, here)?;
            left -= here;
        }
        Ok(starts)
    }

    fn skip_interval(&self, bits: &mut Bits<'_>, values: u64) -> Result<(), JumpError> {
        let blocks = values.div_ceil(u64::from(self.block)) as u32;
        let mut done = 0;
        while done < blocks {
            done += self.skip_block(bits, done)?;
        }
        bits.check_whole()?;
        self.skip_padding(bits);
        Ok(())
    }

    /// Steps over a block, or a run of zero blocks, and returns for how many blocks it stands.
    fn skip_block(&self, bits: &mut Bits<'_>, done: u32) -> Result<u32, JumpError> {
        let coding = self.coding(bits);
        let (block, width) = (u32::from(self.block), u64::from(self.bits));
        if let BlockCoding::Plain = coding {
            bits.skip(width * u64::from(block));
            return Ok(1);
        }
        let reference = u32::from(self.has_reference(done));
        bits.skip(width * u64::from(reference));
        match coding {
            BlockCoding::ZeroBlocks => return self.zero_blocks(bits.unary()?, done),
            BlockCoding::Pairs => bits.skip_unaries(block / 2)?,
            BlockCoding::Split(low) => {
                bits.skip_unaries(block - reference)?;
                bits.skip(u64::from(low) * u64::from(block - reference));
            }
            BlockCoding::Plain => {}
        }
        Ok(1)
    }
}
