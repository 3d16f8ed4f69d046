//! [`Part`]: the wanted bytes of a value.

use std::ops::Range;

/// The wanted bytes of a value. What lies past its end is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All bytes.
    Whole,
    /// The bytes from the first position up to the second.
    Range(u64, u64),
    /// The bytes from a position on.
    From(u64),
    /// So many bytes at the end.
    Last(u64),
}

impl Part {
    /// The positions of the part in a value of this length.
    pub(crate) fn of(self, length: u64) -> Range<u64> {
        match self {
            Self::Whole => 0..length,
            Self::Range(start, end) => {
                let end = end.min(length);
                start.min(end)..end
            }
            Self::From(start) => start.min(length)..length,
            Self::Last(count) => length.saturating_sub(count)..length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_past_the_end_is_cut_off() {
        let parts = [Part::Whole, Part::Range(2, 9), Part::Range(9, 12), Part::Range(3, 1), Part::From(7)];
        assert_eq!(parts.map(|part| part.of(5)), [0..5, 2..5, 5..5, 1..1, 5..5]);
        assert_eq!([Part::Last(2), Part::Last(9), Part::Last(0)].map(|part| part.of(5)), [3..5, 0..5, 5..5]);
    }
}
