//! [`Ranks`]: the processes of a parallel program that have a file open together, and how they agree.
//!
//! What must stay true: all ranks make the same calls in the same order. A message says of which call it is, so that ranks that disagree get
//! an error and do not wait for each other. After that, or after a failure of the messages themselves, every further call fails.

use std::{
    fmt,
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use isotach_engine_kit::bytes::Put as _;

use crate::{Error, Result, store::Store};

/// The messages between the ranks that have a file open together. Every call is made by all of them.
pub trait Ranks: fmt::Debug + Send + Sync {
    /// The number of this one, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Gives bytes to all ranks. Returns those of each.
    ///
    /// # Errors
    /// Why messages cannot be sent any more.
    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String>;

    /// Gives bytes to each rank. Returns what each has given to this one.
    ///
    /// # Errors
    /// As [`Ranks::gather`].
    fn exchange(&self, bytes: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, String>;
}

/// What the ranks do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Ready,
    Open,
    Found,
    Joined,
    Delete,
    Numbers,
    Chunks,
    Merged,
    Outcome,
    Changes,
    Entries,
    Unlinked,
    Flushed,
    Commit,
}

impl Call {
    fn what(number: u8) -> &'static str {
        const CALLS: [(Call, &str); 14] = [
            (Call::Ready, "opens, creates or deletes a file"),
            (Call::Open, "opens or creates a file"),
            (Call::Found, "opens or creates a file"),
            (Call::Joined, "opens or creates a file"),
            (Call::Delete, "deletes a file"),
            (Call::Numbers, "creates an object"),
            (Call::Chunks, "transfers elements, resizes, flushes or closes"),
            (Call::Merged, "transfers elements, resizes, flushes or closes"),
            (Call::Outcome, "ends a collective transfer"),
            (Call::Changes, "flushes or closes the file"),
            (Call::Entries, "flushes or closes the file"),
            (Call::Unlinked, "flushes or closes the file"),
            (Call::Flushed, "flushes or closes the file"),
            (Call::Commit, "flushes or closes the file"),
        ];
        CALLS.iter().find(|(call, _)| *call as u8 == number).map_or("sends something else", |(_, what)| what)
    }
}

/// The ranks that have one file open.
#[derive(Debug)]
pub(crate) struct Team {
    ranks: Box<dyn Ranks>,
    /// Why no messages are sent any more.
    broken: Mutex<Option<String>>,
    is_broken: AtomicBool,
    /// Numbers of objects, which are the same on all ranks.
    numbers: Mutex<Range<u64>>,
}

/// Fails on all ranks if it has failed on one: what each does before all open or delete a file together.
///
/// # Errors
/// The failure; `OtherRank` if another rank has failed; `Io` if messages cannot be sent.
pub fn agree_before<T, E>(ranks: Box<dyn Ranks>, outcome: Result<T, E>) -> Result<(Box<dyn Ranks>, T), E>
where
    E: fmt::Display + From<Error>,
{
    let team = Team::new(ranks);
    let outcome = team.agree(Call::Ready, outcome)?;
    Ok((team.ranks, outcome))
}

impl Team {
    pub(crate) fn new(ranks: Box<dyn Ranks>) -> Self {
        Self { ranks, broken: Mutex::default(), is_broken: AtomicBool::new(false), numbers: Mutex::default() }
    }

    pub(crate) fn rank(&self) -> usize {
        self.ranks.rank()
    }

    pub(crate) fn size(&self) -> usize {
        self.ranks.size()
    }

    /// Whether this is the rank that commits.
    pub(crate) fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// From here on every call fails. Returns the error that says so.
    fn fail(&self, cause: String) -> Error {
        self.is_broken.store(true, Ordering::Release);
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let source = broken.get_or_insert(cause).clone().into();
        Error::Io { what: format!("the ranks of the file (this is rank {})", self.rank()), source }
    }

    fn sent<T>(&self, outcome: impl FnOnce() -> Result<T, String>) -> Result<T> {
        if self.is_broken.load(Ordering::Acquire) {
            return Err(self.fail(String::new()));
        }
        outcome().map_err(|cause| self.fail(cause))
    }

    /// Gives bytes, or a failure, to all ranks. Returns the bytes of each, if all have some. Otherwise that they make other calls, or else
    /// this rank's own failure, or else that of the first rank with one.
    pub(crate) fn gather<E>(&self, call: Call, mine: Result<Vec<u8>, E>) -> Result<Vec<Vec<u8>>, E>
    where
        E: fmt::Display + From<Error>,
    {
        let mut message = vec![call as u8, mine.is_ok().into()];
        match &mine {
            Ok(bytes) => message.extend_from_slice(bytes),
            Err(error) => message.extend_from_slice(error.to_string().as_bytes()),
        }
        let sent = self.sent(|| self.ranks.gather(&message));
        let told = match sent {
            Ok(sent) => self.messages(call, sent)?,
            Err(error) => Err(error),
        };
        mine?;
        Ok(told?)
    }

    /// What all ranks have sent, or that one has failed. Fails unless all have sent something of this call.
    fn messages(&self, call: Call, sent: Vec<Vec<u8>>) -> Result<Result<Vec<Vec<u8>>>> {
        let (mut all, mut failed) = (Vec::new(), None);
        for (rank, message) in sent.into_iter().enumerate() {
            let Some(([number, is_ok], bytes)) = message.split_first_chunk::<2>() else {
                return Err(self.fail(format!("rank {rank} has sent nothing")));
            };
            if *number != call as u8 {
                let (this, other) = (Call::what(call as u8), Call::what(*number));
                let me = self.rank();
                return Err(self.fail(format!(
                    "rank {rank} {other} while rank {me} {this}: all ranks must make the same collective calls"
                )));
            }
            if *is_ok == 0 && failed.is_none() {
                failed = Some(Error::OtherRank { rank, what: String::from_utf8_lossy(bytes).into_owned() });
            }
            all.push(bytes.to_vec());
        }
        Ok(failed.map_or(Ok(all), Err))
    }

    /// Fails on all ranks if it has failed on one.
    pub(crate) fn agree<T, E>(&self, call: Call, outcome: Result<T, E>) -> Result<T, E>
    where
        E: fmt::Display + From<Error>,
    {
        let mut value = None;
        let mine = outcome.map(|outcome| {
            value = Some(outcome);
            Vec::new()
        });
        self.gather(call, mine)?;
        value.ok_or_else(|| Error::corrupt("no outcome", "what this rank has sent").into())
    }

    /// What the first rank has.
    pub(crate) fn told_by_first(
        &self,
        call: Call,
        produce: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let mine = if self.is_first() { produce() } else { Ok(Vec::new()) };
        Ok(self.gather(call, mine)?.swap_remove(0))
    }

    /// Gives each rank its bytes, after all have agreed to.
    pub(crate) fn exchange(&self, bytes: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        self.sent(|| self.ranks.exchange(bytes))
    }

    /// The number of the next object that all ranks create. The first rank allocates many at once.
    pub(crate) fn number(&self, store: &Store) -> Result<u64> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if numbers.is_empty() {
            let allocated = self.told_by_first(Call::Numbers, || {
                let mut bytes = Vec::new();
                let range = store.allocate()?;
                bytes.put_u64(range.start);
                bytes.put_u64(range.end);
                Ok(bytes)
            })?;
            let (ends, _) = allocated.as_chunks::<8>();
            let [start, end] = [0, 1].map(|at| ends.get(at).map_or(0, |end| u64::from_le_bytes(*end)));
            *numbers = start..end;
        }
        numbers.next().ok_or_else(|| Error::invalid("no numbers for objects", "some from the first rank"))
    }

    /// The rank that merges what several have written of a chunk.
    pub(crate) fn owner(&self, number: u64, key: &[u8]) -> usize {
        let words = key.iter().copied().chain(number.to_le_bytes());
        let sum = words.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        ((sum >> 32) % self.size().max(1) as u64) as usize
    }
}
