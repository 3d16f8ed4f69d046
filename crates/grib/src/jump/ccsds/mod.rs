//! The lossless compression of CCSDS 121.0-B ("AEC"), of which GRIB 2 stores template 5.42.
//!
//! A stream codes values in *blocks*. Several blocks make an *interval*, the reference sample interval of the standard:
//! its first value stands there as it is, each other as a difference from the one before. So an interval can be decoded
//! alone, by whoever knows the bit at which it begins. Nothing in the stream says so: [`Ccsds::intervals`] walks through
//! all blocks to find out.
//!
//! What must stay true: no stream, however broken, makes the decoder panic, loop, or write outside of its buffer.

mod bits;
mod block;
#[cfg(test)]
pub(super) mod coder;
mod predictor;
mod walk;

#[cfg(test)]
pub(super) mod tests;

use super::JumpError;
use bits::Bits;

/// Flags of template 5.42, which are those of libaec.
const SIGNED: u8 = 1;
const PREDICTED: u8 = 8;
const RESTRICTED: u8 = 16;
const PADDED: u8 = 32;
/// The most blocks in an interval.
const BLOCKS_MAX: u16 = 4096;

/// The parameters of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ccsds {
    flags: u8,
    bits: u8,
    block: u8,
    blocks: u16,
}

impl Ccsds {
    /// Parameters of values of `bits` bits, in blocks of `block` values, in intervals of `blocks` blocks. The error names the stream
    /// that they would be of.
    pub(super) fn new(flags: u8, bits: u8, block: u8, blocks: u16) -> Result<Self, String> {
        let refuse = |what: String| Err(format!("a CCSDS stream of {what}"));
        match (bits, block, blocks) {
            (0 | 33.., _, _) => refuse(format!("values of {bits} bits")),
            (_, block, _) if ![8, 16, 32, 64].contains(&block) => refuse(format!("blocks of {block} values")),
            (_, _, blocks) if !(1..=BLOCKS_MAX).contains(&blocks) => {
                refuse(format!("intervals of {blocks} blocks"))
            }
            _ if flags & SIGNED != 0 => refuse("signed values".to_owned()),
            (5..=8, _, _) if flags & RESTRICTED != 0 => refuse(format!("restricted options for {bits} bits")),
            _ => Ok(Self { flags, bits, block, blocks }),
        }
    }

    /// Flags, values in a block, blocks in an interval.
    pub(super) fn parameters(&self) -> (u8, u8, u16) {
        (self.flags, self.block, self.blocks)
    }

    /// How many values an interval holds; the last may hold fewer.
    pub(super) fn interval(&self) -> u32 {
        u32::from(self.block) * u32::from(self.blocks)
    }

    /// How many intervals hold `values` values.
    pub(super) fn count(&self, values: u64) -> u64 {
        values.div_ceil(u64::from(self.interval()))
    }

    /// Decodes the first values of the interval that begins at bit `start` of `stream`, as many as `values` has.
    ///
    /// `values` is at most as long as an interval, and is rounded up to whole blocks by this function.
    pub(super) fn decode(
        &self,
        stream: &[u8],
        start: u64,
        values: &mut Vec<u32>,
        wanted: usize,
    ) -> Result<(), JumpError> {
        self.read_interval(&mut Bits::new(stream, start), values, wanted)
    }

    /// Decodes the first `count` values of a stream, and calls `each` with those of each interval in turn.
    pub(super) fn decode_all(
        &self,
        stream: &[u8],
        count: usize,
        mut each: impl FnMut(&[u32]),
    ) -> Result<(), JumpError> {
        let mut bits = Bits::new(stream, 0);
        let mut values = Vec::new();
        let mut left = count;
        while left > 0 {
            let wanted = left.min(self.interval() as usize);
            self.read_interval(&mut bits, &mut values, wanted)?;
            self.skip_padding(&mut bits);
            each(&values);
            left -= wanted;
        }
        Ok(())
    }

    fn read_interval(
        &self,
        bits: &mut Bits<'_>,
        values: &mut Vec<u32>,
        wanted: usize,
    ) -> Result<(), JumpError> {
        let block = usize::from(self.block);
        let length = wanted.min(self.interval() as usize).next_multiple_of(block);
        values.clear();
        values.resize(length, 0);
        let mut done = 0;
        while done < length {
            let rest = values.get_mut(done..).unwrap_or_default();
            done += block * self.read_block(bits, (done / block) as u32, rest)? as usize;
        }
        values.truncate(wanted);
        if self.is_predicted() {
            predictor::undo(values, self.bits);
        }
        Ok(())
    }

    /// Steps to where the next interval begins.
    fn skip_padding(&self, bits: &mut Bits<'_>) {
        if self.flags & PADDED != 0 {
            bits.skip(bits.at().next_multiple_of(8) - bits.at());
        }
    }

    fn is_predicted(&self) -> bool {
        self.flags & PREDICTED != 0
    }

    /// The greatest value.
    fn max(&self) -> u32 {
        u32::MAX >> (32 - u32::from(self.bits))
    }

    /// The number of bits by which a block says how it is coded.
    fn id_bits(&self) -> u32 {
        match self.bits {
            ..=2 if self.flags & RESTRICTED != 0 => 1,
            ..=4 if self.flags & RESTRICTED != 0 => 2,
            ..=8 => 3,
            9..=16 => 4,
            17.. => 5,
        }
    }

    /// How many blocks a run of zero blocks of the code `code` has, if `done` blocks of the interval precede it. The code 4
    /// stands for all up to the end of a segment of 64 blocks, or of the interval.
    fn zero_blocks(&self, code: u32, done: u32) -> Result<u32, JumpError> {
        let left = u32::from(self.blocks).saturating_sub(done);
        let blocks = match code {
            0..=3 => code + 1,
            4 => left.min(64 - done % 64),
            code => code,
        };
        if blocks <= left { Ok(blocks) } else { Err(broken("a run of zero blocks is too long")) }
    }
}

fn broken(reason: &str) -> JumpError {
    JumpError::corrupt(format!("its CCSDS stream is broken: {reason}"))
}

fn cut() -> JumpError {
    broken("it ends within a block")
}
