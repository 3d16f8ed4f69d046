//! The books of numbered transactions: the entries of their object, which is small, since a number that is committed leaves none.

use std::{collections::BTreeMap, time::Duration};

use isotach_object::{Backoff, Cell, Container, Error as ObjectError, Precondition};

use crate::{Error, Result, layout::TRANSACTIONS, session::list};

/// The key of the counter.
pub(super) const COUNTER: &[u8] = b"counter";
const OPEN: &str = "open.";
const PART: &str = "part.";
const ABORTED: &str = "aborted.";

/// The key of a number that is started, and not settled.
pub(super) fn open_key(number: u64) -> Vec<u8> {
    format!("{OPEN}{number:016x}").into_bytes()
}

/// The key of a participant's part.
pub(super) fn part_key(number: u64, participant: u32) -> Vec<u8> {
    format!("{PART}{number:016x}.{participant:08x}").into_bytes()
}

/// The key of a number that was aborted.
pub(super) fn aborted_key(number: u64) -> Vec<u8> {
    format!("{ABORTED}{number:016x}").into_bytes()
}

/// How often a step is tried that another process may make at the same time.
pub(super) const AGAIN: Backoff =
    Backoff { attempts: 1000, first: Duration::from_micros(100), longest: Duration::from_millis(20) };

/// How a numbered transaction stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionStatus {
    /// No process has started or aborted it.
    NotStarted,
    /// It was started, and is not committed.
    Open {
        /// How many participants it has.
        participants: u32,
        /// Those that have finished, in ascending order.
        finished: Vec<u32>,
    },
    /// It was aborted: its number is skipped.
    Aborted {
        /// Why.
        reason: String,
    },
    /// It is a version.
    Committed,
}

/// Repeats what lost against another process.
pub(super) fn retry<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let mut conflicts = 0;
    loop {
        match attempt() {
            Err(Error::Object(ObjectError::Conflict { .. })) if conflicts + 1 < AGAIN.attempts => {
                conflicts += 1;
                AGAIN.pause(conflicts, Duration::MAX);
            }
            outcome => return outcome,
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

    /// The counter in an entry, which may be missing.
    pub(super) fn decode(record: Option<&[u8]>) -> Result<Self> {
        let Some(record) = record else { return Ok(Self::default()) };
        let [settled, version] = numbers(record).ok_or_else(|| damaged(COUNTER))?;
        Ok(Self { settled, version })
    }
}

fn numbers<const N: usize>(record: &[u8]) -> Option<[u64; N]> {
    let (numbers, []) = record.as_chunks::<8>() else { return None };
    let numbers: Vec<u64> = numbers.iter().map(|number| u64::from_le_bytes(*number)).collect();
    numbers.try_into().ok()
}

fn damaged(key: &[u8]) -> Error {
    Error::corrupt("a damaged entry", format!("transactions, key {:?}", String::from_utf8_lossy(key)))
}

/// What the books say.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) counter: Counter,
    /// The entry of the counter.
    stored: Option<Vec<u8>>,
    /// How many participants a number has that is started, and not settled.
    pub(super) open: BTreeMap<u64, u32>,
    /// The array and the length of each part, by number and participant.
    pub(super) parts: BTreeMap<(u64, u32), (u64, u64)>,
    /// Why a number was aborted.
    aborted: BTreeMap<u64, String>,
}

impl Books {
    pub(super) fn read(container: &dyn Container) -> Result<Self> {
        let mut books = Self::default();
        for (key, value) in list(container, TRANSACTIONS)? {
            books.add(&key, value).ok_or_else(|| damaged(&key))?;
        }
        books.counter = Counter::decode(books.stored.as_deref())?;
        Ok(books)
    }

    /// Adds an entry; `None` if it is damaged.
    fn add(&mut self, key: &[u8], value: Vec<u8>) -> Option<()> {
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let text = str::from_utf8(key).ok()?;
        if key == COUNTER {
            self.stored = Some(value);
        } else if let Some(rest) = text.strip_prefix(OPEN) {
            self.open.insert(number(rest)?, u32::from_le_bytes(value.try_into().ok()?));
        } else if let Some(rest) = text.strip_prefix(ABORTED) {
            self.aborted.insert(number(rest)?, String::from_utf8(value).ok()?);
        } else {
            let (of, participant) = text.strip_prefix(PART)?.split_once('.')?;
            let [array, length] = numbers(&value)?;
            self.parts.insert((number(of)?, u32::from_str_radix(participant, 16).ok()?), (array, length));
        }
        Some(())
    }

    /// The condition that no number was settled since.
    pub(super) fn unchanged(&self) -> Precondition<'_> {
        let cell = Cell::kv(TRANSACTIONS, COUNTER);
        match &self.stored {
            Some(stored) => Precondition::Equals(cell, stored),
            None => Precondition::Absent(cell),
        }
    }

    /// The entry of the counter, which is a condition of the next commit.
    pub(super) fn stored_counter(&self) -> Option<Vec<u8>> {
        self.stored.clone()
    }

    /// Whether a number was aborted.
    pub(super) fn is_aborted(&self, number: u64) -> bool {
        self.aborted.contains_key(&number)
    }

    /// The parts of a number: participant, array and length.
    pub(super) fn parts_of(&self, number: u64) -> Vec<(u32, (u64, u64))> {
        let parts = self.parts.range((number, 0)..=(number, u32::MAX));
        parts.map(|((_, participant), place)| (*participant, *place)).collect()
    }

    pub(super) fn status(&self, number: u64) -> TransactionStatus {
        if let Some(reason) = self.aborted.get(&number) {
            return TransactionStatus::Aborted { reason: reason.clone() };
        }
        if let Some(participants) = self.open.get(&number) {
            let finished = self.parts_of(number).into_iter().map(|(participant, _)| participant).collect();
            return TransactionStatus::Open { participants: *participants, finished };
        }
        match number {
            1.. if number <= self.counter.settled => TransactionStatus::Committed,
            _ => TransactionStatus::NotStarted,
        }
    }
}

/// The number of the newest version in a container.
pub(crate) fn version_of(container: &dyn Container) -> Result<u64> {
    let record = container.get_many(&[Cell::kv(TRANSACTIONS, COUNTER)])?.pop().flatten();
    Ok(Counter::decode(record.as_deref())?.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn books(entries: &[(Vec<u8>, Vec<u8>)]) -> Option<Books> {
        let mut books = Books::default();
        entries.iter().try_for_each(|(key, value)| books.add(key, value.clone()))?;
        Some(books)
    }

    #[test]
    fn entries_say_how_each_number_stands() {
        let part = [70_u64, 9].map(u64::to_le_bytes).concat();
        let mut books = books(&[
            (COUNTER.to_vec(), Counter { settled: 3, version: 2 }.encode()),
            (aborted_key(3), b"why".to_vec()),
            (open_key(4), 2_u32.to_le_bytes().to_vec()),
            (part_key(4, 1), part),
        ])
        .unwrap();
        books.counter = Counter::decode(books.stored.as_deref()).unwrap();
        assert_eq!(books.counter, Counter { settled: 3, version: 2 });
        let open = TransactionStatus::Open { participants: 2, finished: vec![1] };
        let aborted = TransactionStatus::Aborted { reason: "why".to_owned() };
        let (committed, not) = (TransactionStatus::Committed, TransactionStatus::NotStarted);
        for (number, status) in
            [not.clone(), committed.clone(), committed, aborted, open, not].into_iter().enumerate()
        {
            assert_eq!(books.status(number as u64), status, "{number}");
        }
    }

    #[test]
    fn damaged_entries_are_no_books() {
        for (key, value) in [
            (b"other".to_vec(), vec![]),
            (b"open.x".to_vec(), vec![0; 4]),
            (open_key(1), vec![0; 3]),
            (part_key(1, 1), vec![0; 15]),
            (part_key(1, 1)[..20].to_vec(), vec![0; 16]),
            (aborted_key(1), vec![0xff]),
        ] {
            assert!(books(&[(key.clone(), value)]).is_none(), "{key:?}");
        }
        assert!(Counter::decode(Some(&[0; 15])).is_err());
    }
}
