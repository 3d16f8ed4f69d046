//! Bits in a row, the highest of each value first.

/// Appends bits to bytes.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    pub(super) bytes: Vec<u8>,
    /// How many bits of the last byte are free.
    free: u32,
}

impl BitWriter {
    /// Appends the lowest `count` bits of a value.
    pub(super) fn put(&mut self, value: u64, mut count: u32) {
        while count > 0 {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            let some = count.min(self.free);
            let bits = (value >> (count - some)) & low(some);
            if let Some(last) = self.bytes.last_mut() {
                *last |= (bits << (self.free - some)) as u8;
            }
            (count, self.free) = (count - some, self.free - some);
        }
    }
}

impl BitWriter {
    /// The bytes. The last one has a free bit, as HDF5 leaves it.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.free == 0 {
            self.bytes.push(0);
        }
        self.bytes
    }
}

/// Takes bits off bytes.
#[derive(Debug)]
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    /// How many bits were taken.
    taken: usize,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, taken: 0 }
    }

    /// The next `count` bits, at most 64. `None` at the end.
    pub(super) fn take(&mut self, mut count: u32) -> Option<u64> {
        let mut value = 0;
        while count > 0 {
            let byte = u64::from(*self.bytes.get(self.taken / 8)?);
            let left = 8 - (self.taken % 8) as u32;
            let some = count.min(left);
            value = value << some | (byte >> (left - some)) & low(some);
            self.taken += some as usize;
            count -= some;
        }
        Some(value)
    }
}

/// This many ones.
pub(super) fn low(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The number in at most 8 bytes.
pub(super) fn number(bytes: &[u8], is_big: bool) -> u64 {
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    if is_big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// Writes the lowest bytes of a number.
pub(super) fn put_number(bytes: &mut [u8], number: u64, is_big: bool) {
    let places = bytes.len();
    for (at, byte) in bytes.iter_mut().enumerate() {
        let place = if is_big { places - 1 - at } else { at };
        *byte = number.checked_shr(8 * place as u32).unwrap_or(0) as u8;
    }
}
