//! A message: noise with a stamp at both ends, so that a receiver knows whose message it is, which one, and whether it is the
//! last.

use crate::{Error, Result, harness::noise};

/// Bytes of the stamp at each end.
const STAMP: usize = 8;
/// The smallest message with a stamp at both ends; a smaller one has a stamp at its begin.
const BOTH_ENDS_MIN: usize = 2 * STAMP;
pub(super) const SIZE_MIN: usize = STAMP;
/// The bit of a message's number that says that no other follows.
const LAST: u32 = 1 << 31;

/// The message with number `number` of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) sender: u32,
    pub(super) number: u64,
    pub(super) is_last: bool,
}

impl Message {
    fn stamp(self) -> [u8; STAMP] {
        // Numbers start over after two thousand million messages.
        let number = self.number as u32 & !LAST;
        let number = if self.is_last { number | LAST } else { number };
        let mut stamp = [0; STAMP];
        let (first, second) = stamp.split_at_mut(STAMP / 2);
        first.copy_from_slice(&number.to_le_bytes());
        second.copy_from_slice(&self.sender.to_le_bytes());
        stamp
    }

    /// Writes its stamp into the bytes of a message.
    pub(super) fn write_stamp(self, bytes: &mut [u8]) {
        match bytes.len() < BOTH_ENDS_MIN {
            true => bytes[..STAMP].copy_from_slice(&self.stamp()),
            false => noise::stamp_ends(bytes, &self.stamp()),
        }
    }

    /// Checks the stamps of bytes that should be a message of `sender`, and returns whether it is the last one.
    pub(super) fn check_stamp(sender: u32, number: u64, bytes: &[u8]) -> Result<bool> {
        let stamps = |is_last| {
            let stamp = Self { sender, number, is_last }.stamp();
            bytes[..STAMP] == stamp && (bytes.len() < BOTH_ENDS_MIN || bytes.ends_with(&stamp))
        };
        match (stamps(false), stamps(true)) {
            (true, _) => Ok(false),
            (_, true) => Ok(true),
            _ => Err(Error::wrong(
                format!("message {number} of process {sender} has other stamps at its ends"),
                "those that were sent",
            )),
        }
    }

    /// Compares all bytes with those that were sent: noise with the stamps of this message. `expected` is noise of the same
    /// size.
    pub(super) fn check_bytes(self, bytes: &[u8], expected: &mut [u8]) -> Result<()> {
        self.write_stamp(expected);
        match bytes.iter().zip(&*expected).position(|(found, sent)| found != sent) {
            None => Ok(()),
            Some(at) => Err(Error::wrong(
                format!("byte {at} of message {} of process {} is {}", self.number, self.sender, bytes[at]),
                format!("{}, which was sent", expected[at]),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_tells_sender_number_and_the_last_message() {
        for size in [8, 9, 15, 16, 100] {
            let mut bytes = noise::block(size);
            for is_last in [false, true] {
                Message { sender: 3, number: 7, is_last }.write_stamp(&mut bytes);
                assert_eq!(Message::check_stamp(3, 7, &bytes).unwrap(), is_last, "{size}");
                assert!(Message::check_stamp(3, 8, &bytes).is_err(), "another number");
                assert!(Message::check_stamp(4, 7, &bytes).is_err(), "another sender");
            }
        }
    }

    #[test]
    fn a_changed_byte_is_found_at_either_end_and_between() {
        let message = Message { sender: 1, number: 2, is_last: false };
        let mut expected = noise::block(64);
        let mut bytes = expected.to_vec();
        message.write_stamp(&mut bytes);
        message.check_bytes(&bytes, &mut expected).unwrap();
        for (at, is_stamp) in [(0, true), (63, true), (30, false)] {
            let mut wrong = bytes.clone();
            wrong[at] ^= 1;
            let error = message.check_bytes(&wrong, &mut expected).unwrap_err().to_string();
            assert!(error.contains(&format!("byte {at} of message 2 of process 1")), "{error}");
            assert_eq!(Message::check_stamp(1, 2, &wrong).is_err(), is_stamp);
        }
    }
}
