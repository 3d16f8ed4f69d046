//! The books of numbered transactions: the cells of the key-value object, and what they say.
//!
//! The keys of open numbers come first in the order of bytes, and number by number.

use super::Versions;
use crate::{Cell, Epoch, Error, Label, Result};

/// The cell that says how far the numbers are settled.
pub(super) const VERSION: &[u8] = b"version";
/// What the keys of numbers that are not settled begin with.
pub(super) const OPEN: &str = "open.";

/// The key of a number that is not settled.
pub(super) fn open_key(number: u64) -> Vec<u8> {
    format!("{OPEN}{number:016x}").into_bytes()
}

/// The key of a number that is settled.
pub(super) fn settled_key(number: u64) -> Vec<u8> {
    format!("settled.{number:016x}").into_bytes()
}

/// A number that was started or aborted, and is not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    Open { participants: u32 },
    Aborted,
}

impl Pending {
    pub(super) fn encode(self) -> Vec<u8> {
        match self {
            Self::Open { participants } => [&[1][..], &participants.to_le_bytes()].concat(),
            Self::Aborted => vec![2],
        }
    }

    fn decode(value: &[u8]) -> Option<Self> {
        match value {
            [1, participants @ ..] => {
                Some(Self::Open { participants: u32::from_le_bytes(participants.try_into().ok()?) })
            }
            [2] => Some(Self::Aborted),
            _ => None,
        }
    }
}

/// A number that is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// With an epoch at which it was the newest version, once there is a newer one.
    Committed(Option<Epoch>),
    Aborted,
}

impl Settled {
    pub(super) fn encode(self) -> Vec<u8> {
        match self {
            Self::Committed(epoch) => [&[1][..], &epoch.map_or(0, |epoch| epoch.0).to_le_bytes()].concat(),
            Self::Aborted => vec![2],
        }
    }

    fn decode(value: &[u8]) -> Option<Self> {
        match value {
            [1, epoch @ ..] => {
                let epoch = u64::from_le_bytes(epoch.try_into().ok()?);
                Some(Self::Committed((epoch > 0).then_some(Epoch(epoch))))
            }
            [2] => Some(Self::Aborted),
            _ => None,
        }
    }
}

/// How far the numbers are settled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counter {
    /// The last number that was committed or aborted.
    pub(super) settled: u64,
    /// The last number that was committed.
    pub(super) version: u64,
}

impl Counter {
    pub(super) fn encode(self) -> Vec<u8> {
        [self.settled, self.version].map(u64::to_le_bytes).concat()
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let (settled, version) = value.split_at_checked(8)?;
        let number = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
        Some(Self { settled: number(settled)?, version: number(version)? })
    }
}

impl Versions<'_> {
    pub(super) fn cell<'k>(&self, key: &'k [u8]) -> Cell<'k> {
        Cell::kv(self.object, key)
    }

    /// What the cells with these keys hold, in one state.
    fn values<const N: usize>(&self, keys: [&[u8]; N]) -> Result<[Option<Vec<u8>>; N]> {
        let values = self.container.get_many(&keys.map(|key| self.cell(key)))?;
        values.try_into().map_err(|_| self.malformed(b"any"))
    }

    fn decoded<T>(
        &self,
        key: &[u8],
        value: Option<Vec<u8>>,
        decode: fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>> {
        value.map(|value| decode(&value).ok_or_else(|| self.malformed(key))).transpose()
    }

    fn malformed(&self, key: &[u8]) -> Error {
        let place = format!("object {} key {:?}", self.object, String::from_utf8_lossy(key));
        Error::corrupt("no entry of numbered transactions", place)
    }

    pub(super) fn counter(&self) -> Result<Counter> {
        let [value] = self.values([VERSION])?;
        Ok(self.decoded(VERSION, value, Counter::decode)?.unwrap_or_default())
    }

    /// What is known of a number, in one state.
    pub(super) fn look(&self, number: u64) -> Result<(Option<Pending>, Option<Settled>)> {
        let (open, settled) = (open_key(number), settled_key(number));
        let [pending, done] = self.values([&open, &settled])?;
        let pending = self.decoded(&open, pending, Pending::decode)?;
        Ok((pending, self.decoded(&settled, done, Settled::decode)?))
    }

    /// What the names of the prepared parts of a number begin with.
    fn prefix(&self, number: u64) -> String {
        format!("{}.{number:016x}.", self.object)
    }

    /// The name under which a participant's part is prepared.
    pub(super) fn part_name(&self, number: u64, participant: u32) -> Result<Label> {
        format!("{}{participant:08x}", self.prefix(number)).parse()
    }

    /// The participants that have finished, and the names of their parts, in the order of the participants.
    pub(super) fn parts(&self, number: u64) -> Result<Vec<(u32, Label)>> {
        let prefix = self.prefix(number);
        let names = self.container.prepared_transactions()?.list_prepared(&prefix)?;
        let participant = |name: &Label| u32::from_str_radix(name.as_str().strip_prefix(&prefix)?, 16).ok();
        Ok(names.into_iter().filter_map(|name| Some((participant(&name)?, name))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back_and_nothing_shorter_does() {
        for pending in [Pending::Open { participants: 2500 }, Pending::Aborted] {
            let value = pending.encode();
            assert_eq!(Pending::decode(&value), Some(pending));
            assert_eq!(Pending::decode(&value[..value.len() - 1]), None);
        }
        for settled in [Settled::Committed(Some(Epoch(7))), Settled::Committed(None), Settled::Aborted] {
            let value = settled.encode();
            assert_eq!(Settled::decode(&value), Some(settled));
            assert_eq!(Settled::decode(&value[..value.len() - 1]), None);
        }
        let counter = Counter { settled: 9, version: 7 };
        assert_eq!(Counter::decode(&counter.encode()), Some(counter));
        assert_eq!(Counter::decode(&[0; 15]), None);
    }
}
