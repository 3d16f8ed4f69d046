//! What an omap says of itself: how often its range was halved, and what is being done to it.

use crate::keys::HASH_BITS;
use isotach_engine_kit::checksum::crc32c;

/// What is being done to an omap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum State {
    /// Nothing.
    #[default]
    Settled,
    /// It is being split: writers wait.
    Frozen,
    /// It is being filled from another: only its owner knows it.
    Building,
    /// Its object is being removed: readers and writers wait.
    Gone,
}

const NAMES: [(State, &str); 4] = [
    (State::Settled, ""),
    (State::Frozen, " frozen"),
    (State::Building, " building"),
    (State::Gone, " gone"),
];

/// The mark of an omap. The one of an object that was never split is not stored, and is the default.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Mark {
    /// How often the range was halved.
    pub(crate) level: u8,
    /// The random number of the process that set the mark.
    pub(crate) owner: u64,
    pub(crate) state: State,
}

impl Mark {
    /// How many hashes the range has.
    pub(super) fn width(&self) -> u64 {
        1 << (HASH_BITS - self.level)
    }

    pub(super) fn with(&self, owner: u64, state: State) -> Self {
        Self { level: self.level, owner, state }
    }

    /// The mark as it is stored and compared: readable text with a checksum.
    pub(crate) fn encode(&self) -> Vec<u8> {
        if *self == Self::default() {
            return Vec::new();
        }
        let name = NAMES.iter().find(|(state, _)| *state == self.state).map_or("", |(_, name)| name);
        let text = format!("{} {:016x}{name}", self.level, self.owner);
        format!("{text} {:08x}", crc32c(text.as_bytes())).into_bytes()
    }

    pub(crate) fn decode(stored: &[u8]) -> Option<Self> {
        if stored.is_empty() {
            return Some(Self::default());
        }
        let (text, sum) = str::from_utf8(stored).ok()?.rsplit_once(' ')?;
        if sum != format!("{:08x}", crc32c(text.as_bytes())) {
            return None;
        }
        let (level, rest) = text.split_once(' ')?;
        let (owner, name) = rest.split_at_checked(16)?;
        let (state, _) = NAMES.iter().find(|(_, known)| *known == name)?;
        let level = level.parse().ok().filter(|level| *level < HASH_BITS)?;
        Some(Self { level, owner: u64::from_str_radix(owner, 16).ok()?, state: *state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back() {
        for (state, _) in NAMES {
            let mark = Mark { level: 3, owner: 77, state };
            let stored = mark.encode();
            for bit in 0..stored.len() * 8 {
                let mut stored = stored.clone();
                stored[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Mark::decode(&stored), None);
            }
            assert_eq!(Mark::decode(&stored), Some(mark));
        }
        assert_eq!(Mark::decode(b""), Some(Mark::default()));
        assert_eq!((Mark::default().width(), Mark { level: 23, ..Mark::default() }.width()), (1 << 24, 2));
    }
}
