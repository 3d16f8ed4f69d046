//! A coder for tests: it writes any option that the caller chooses for a block, if the block's values permit it.

use super::Ccsds;

/// What a test asks of one block. Where the values do not permit it, the block is plain.
#[derive(Debug, Clone, Copy)]
pub(in crate::jump) enum Choice {
    Zero,
    Pairs,
    Split(u32),
    Plain,
}

#[derive(Debug, Default)]
pub(in crate::jump) struct Coder {
    bits: Vec<bool>,
}

impl Coder {
    /// Codes `values`, which fit the parameters. `choices` are used in turn. Returns the stream, and where intervals begin.
    pub(in crate::jump) fn code(stream: Ccsds, values: &[u32], choices: &[Choice]) -> (Vec<u8>, Vec<u64>) {
        let mut coder = Self::default();
        let mut starts = Vec::new();
        let mut choices = choices.iter().copied().cycle();
        for interval in values.chunks(stream.interval() as usize) {
            starts.push(coder.bits.len() as u64);
            let mut numbers = interval.to_vec();
            // A block that is not full repeats the last value.
            let length = numbers.len().next_multiple_of(stream.block.into());
            numbers.resize(length, *interval.last().unwrap());
            if stream.is_predicted() {
                numbers = differences(&numbers, stream.max());
            }
            coder.interval(stream, &numbers, &mut choices);
            if stream.flags & super::PADDED != 0 {
                coder.bits.resize(coder.bits.len().next_multiple_of(8), false);
            }
        }
        let bytes = coder.bits.chunks(8).map(|bits| {
            bits.iter().enumerate().fold(0, |byte, (place, bit)| byte | u8::from(*bit) << (7 - place))
        });
        (bytes.collect(), starts)
    }

    fn interval(&mut self, stream: Ccsds, numbers: &[u32], choices: &mut impl Iterator<Item = Choice>) {
        let size = usize::from(stream.block);
        let total = numbers.len() / size;
        let mut done = 0;
        while done < total {
            let block = &numbers[done * size..][..size];
            let skip = usize::from(stream.has_reference(done as u32));
            let zeros = numbers[done * size + skip..].iter().take_while(|number| **number == 0).count();
            let zeros = (zeros + skip) / size;
            match choices.next().unwrap() {
                Choice::Zero if zeros > 0 => {
                    let segment = (64 - done % 64).min(total - done);
                    let run = zeros.min(segment);
                    self.number(0, stream.id_bits() + 1);
                    self.reference(stream, block, skip);
                    // Runs of up to four blocks, "all the rest of the segment", and longer runs.
                    self.unary(match run {
                        1..=4 => run as u32 - 1,
                        run if run == segment => 4,
                        run => run as u32,
                    });
                    done += run;
                    continue;
                }
                Choice::Pairs if pairs_fit(stream, block, skip) => self.pairs(stream, block, skip),
                Choice::Split(low) if split_fits(stream, &block[skip..], low) => {
                    self.split(stream, block, skip, low);
                }
                _ => {
                    self.number((1 << stream.id_bits()) - 1, stream.id_bits());
                    block.iter().for_each(|value| self.number(*value, stream.bits.into()));
                }
            }
            done += 1;
        }
    }

    fn pairs(&mut self, stream: Ccsds, block: &[u32], skip: usize) {
        self.number(0, stream.id_bits());
        self.number(1, 1);
        self.reference(stream, block, skip);
        let mut block = block.to_vec();
        block[..skip].fill(0);
        for pair in block.chunks(2) {
            let sum = pair[0] + pair[1];
            self.unary(sum * (sum + 1) / 2 + pair[1]);
        }
    }

    fn split(&mut self, stream: Ccsds, block: &[u32], skip: usize, low: u32) {
        self.number(low + 1, stream.id_bits());
        self.reference(stream, block, skip);
        block[skip..].iter().for_each(|value| self.unary(value >> low));
        block[skip..].iter().for_each(|value| self.number(value & ((1 << low) - 1), low));
    }

    fn reference(&mut self, stream: Ccsds, block: &[u32], skip: usize) {
        block[..skip].iter().for_each(|value| self.number(*value, stream.bits.into()));
    }

    fn number(&mut self, number: u32, bits: u32) {
        self.bits.extend((0..bits).rev().map(|place| number >> place & 1 == 1));
    }

    fn unary(&mut self, number: u32) {
        self.bits.extend(std::iter::repeat_n(false, number as usize));
        self.bits.push(true);
    }
}

/// Pairs are numbered up to a sum of 12. No option may take more bits than a plain block does: libaec relies on that.
fn pairs_fit(stream: Ccsds, block: &[u32], skip: usize) -> bool {
    let mut block = block.to_vec();
    block[..skip].fill(0);
    let code = |pair: &[u32]| (pair[0] + pair[1]) * (pair[0] + pair[1] + 1) / 2 + pair[1] + 1;
    block.iter().all(|number| *number <= 6) && block.chunks(2).map(code).sum::<u32>() <= plain_bits(stream)
}

fn split_fits(stream: Ccsds, numbers: &[u32], low: u32) -> bool {
    // The last identifier is the plain block's.
    let known = low + 1 < (1 << stream.id_bits()) - 1 && low < stream.bits.into();
    let bits = |number: &u32| u64::from(number.checked_shr(low).unwrap_or(0)) + 1 + u64::from(low);
    known && numbers.iter().map(bits).sum::<u64>() <= plain_bits(stream).into()
}

fn plain_bits(stream: Ccsds) -> u32 {
    u32::from(stream.block) * u32::from(stream.bits)
}

/// The differences of the standard: the first value stays.
fn differences(values: &[u32], max: u32) -> Vec<u32> {
    let mut numbers = vec![values[0]];
    for pair in values.windows(2) {
        let (last, value) = (u64::from(pair[0]), u64::from(pair[1]));
        let nearer_end = last.min(u64::from(max) - last);
        let distance = last.abs_diff(value);
        numbers.push(match value >= last {
            _ if distance > nearer_end => nearer_end + distance,
            true => 2 * distance,
            false => 2 * distance - 1,
        } as u32);
    }
    numbers
}
