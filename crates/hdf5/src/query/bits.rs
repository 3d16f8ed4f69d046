//! [`Bits`]: a set of elements of a chunk, by their positions in it.

use std::ops::Range;

/// A set of positions below a length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
    length: usize,
}

impl Bits {
    pub(crate) fn none(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(64)], length }
    }

    pub(crate) fn all(length: usize) -> Self {
        let mut bits = Self { words: vec![u64::MAX; length.div_ceil(64)], length };
        bits.clear_rest();
        bits
    }

    /// The set of positions for which `holds` is true.
    pub(crate) fn of(length: usize, mut holds: impl FnMut(usize) -> bool) -> Self {
        let word = |first: usize| {
            let end = (first + 64).min(length);
            (first..end).fold(0, |word, at| word | u64::from(holds(at)) << (at - first))
        };
        Self { words: (0..length).step_by(64).map(word).collect(), length }
    }

    /// The set of which each word holds 64 positions; there are as many as the length needs.
    pub(crate) fn of_words(words: Vec<u64>, length: usize) -> Self {
        let mut bits = Self { words, length };
        bits.clear_rest();
        bits
    }

    /// No position beyond the length is in the set.
    fn clear_rest(&mut self) {
        if let (Some(last), rest @ 1..) = (self.words.last_mut(), self.length % 64) {
            *last &= (1 << rest) - 1;
        }
    }

    /// Adds a position. One beyond the length is left out.
    pub(crate) fn insert(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 64).filter(|_| at < self.length) {
            *word |= 1 << (at % 64);
        }
    }

    pub(crate) fn contains(&self, at: usize) -> bool {
        self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    pub(crate) fn and(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    pub(crate) fn or(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn invert(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.clear_rest();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Calls `each` with the positions in a range that follow each other, as many at once as there are.
    pub(crate) fn runs(&self, range: Range<usize>, mut each: impl FnMut(Range<usize>)) {
        let mut at = range.start;
        while let Some(start) = self.next(at, range.end, 0) {
            let end = self.next(start, range.end, u64::MAX).unwrap_or(range.end);
            each(start..end);
            at = end;
        }
    }

    /// The first position from `at` on that is in the set, or with `flip` all ones, that is not.
    fn next(&self, at: usize, end: usize, flip: u64) -> Option<usize> {
        let mut word = at / 64;
        let mut found = (self.words.get(word)? ^ flip) & (u64::MAX << (at % 64));
        while found == 0 {
            word += 1;
            if word * 64 >= end {
                return None;
            }
            found = self.words.get(word)? ^ flip;
        }
        Some(word * 64 + found.trailing_zeros() as usize).filter(|found| *found < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(bits: &Bits, range: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        bits.runs(range, |run| found.push(run));
        found
    }

    #[test]
    fn runs_of_a_range_are_the_positions_in_it() {
        for length in [0, 1, 63, 64, 65, 200] {
            let bits = Bits::of(length, |at| at % 7 < 3 || at > 130);
            for (start, end) in [(0, length), (length / 3, length / 2), (length, length)] {
                let found: Vec<usize> = runs(&bits, start..end).into_iter().flatten().collect();
                let expected: Vec<usize> = (start..end).filter(|at| at % 7 < 3 || *at > 130).collect();
                assert_eq!(found, expected, "{start}..{end} of {length}");
            }
        }
        assert_eq!(runs(&Bits::all(130), 0..130), vec![0..130; 1]);
    }

    #[test]
    fn an_inverted_set_has_no_position_beyond_the_length() {
        let mut bits = Bits::none(70);
        bits.insert(3);
        bits.insert(70);
        bits.invert();
        assert_eq!(runs(&bits, 0..70), [0..3, 4..70]);
        bits.or(&Bits::of(70, |at| at == 3));
        assert_eq!(bits, Bits::all(70));
        bits.and(&Bits::none(70));
        assert!(bits.is_empty());
    }
}
