//! Numbered transactions: several processes write one transaction together, and each number is a version of the container.
//!
//! The model is that of the transactions of HDF5 on DAOS: numbers are started, updated, finished and aborted in any order, and
//! are committed in strict order. What must stay true:
//! - Version *N* is seen when every number up to *N* is settled: committed or aborted. Of a number all parts are seen, or none.
//! - What is settled stays settled. An aborted number is skipped and never given again.
//! - Whoever dies, anybody can go on: what has finished is prepared, and what is due is settled by whoever looks next.

mod books;
mod settle;
mod transaction;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use self::books::{Counter, OPEN, Pending, Settled, open_key, settled_key};
pub use self::transaction::NumberedTransaction;
use crate::{
    Anchor, Backoff, Container, Epoch, Error, ObjectId, ObjectType, Precondition, Result, Transaction,
    Update, retry,
};

/// For steps that somebody else may make at the same time.
const AGAIN: Backoff =
    Backoff { attempts: 1000, first: Duration::from_micros(100), longest: Duration::from_millis(20) };
/// How often the present is opened again because it had moved on.
const OPEN_TRIES: usize = 20;
/// Numbers that are listed at a time.
const PAGE: usize = 1000;

/// What became of a numbered transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is a version.
    Committed,
    /// It was skipped.
    Aborted,
}

/// How a numbered transaction stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Nobody has started or aborted it.
    NotStarted,
    /// It was started.
    Open {
        /// How many participants it has.
        participants: u32,
        /// Those that have finished, in ascending order.
        finished: Vec<u32>,
    },
    /// It was aborted; lower numbers may be open still.
    Aborted,
    /// It is a version.
    Committed,
}

/// The numbered transactions of a container, and the versions that they make. They keep their books in a key-value object that is
/// theirs alone; with several objects a container has several sequences of versions. Numbers begin with 1, and none may be left out
/// unless it is aborted.
///
/// ```
/// # use isotach_object::{Cell, ContainerOptions, Engine, KeyValue, memory::Memory};
/// # use isotach_object::{ObjectClass, ObjectId, ObjectType, Update, Versions};
/// # let engine = Memory::new();
/// # engine.create_pool(&"memory:doc".parse()?)?;
/// # let pool = engine.open_pool(&"memory:doc".parse()?)?;
/// # pool.create_container(&"c".parse()?, &ContainerOptions::default())?;
/// # let container = pool.open_container(&"c".parse()?)?;
/// let object = |number| ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, number);
/// let versions = Versions::new(&*container, object(1))?;
/// // Each of two participants, which may be processes of their own:
/// for participant in 0..2 {
///     assert_eq!(versions.version()?, 0);
///     let mut transaction = versions.start(1, participant, 2)?;
///     let key = [participant as u8];
///     transaction.update(&[Update::Put { cell: Cell::kv(object(2), &key), value: b"step 1" }])?;
///     transaction.finish()?;
/// }
/// assert_eq!(versions.version()?, 1);
/// let first = versions.open_version(1)?;
/// assert_eq!(KeyValue::new(&*first, object(2))?.get(&[1])?, Some(b"step 1".to_vec()));
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Versions<'c> {
    container: &'c dyn Container,
    object: ObjectId,
}

impl<'c> Versions<'c> {
    /// The versions that a container has by the books in `object`, which need not hold anything yet.
    ///
    /// # Errors
    /// `InvalidInput` for an object of another type; `Unsupported` without [`crate::Capabilities::prepared_transactions`].
    pub fn new(container: &'c dyn Container, object: ObjectId) -> Result<Self> {
        object.expect_type(ObjectType::KeyValue)?;
        // Refuses at once where the engine cannot prepare transactions.
        container.prepared_transactions()?.list_prepared(&object.to_string())?;
        Ok(Self { container, object })
    }

    /// Starts a participant's part of a transaction. Participants are numbered from 0; all give the same count of them, and each
    /// must finish. A participant that died before it finished may be started again.
    ///
    /// # Errors
    /// `InvalidInput` for number 0, a participant that is none of the count, another count than was given before, and a number
    /// that was aborted or committed; else as [`Container::commit`].
    pub fn start(&self, number: u64, participant: u32, participants: u32) -> Result<NumberedTransaction<'c>> {
        if participant >= participants {
            let what = format!("participant {participant} of {participants}");
            return Err(Error::invalid(what, "a number below the count of participants"));
        }
        let settled = |how: &str| {
            Error::invalid(format!("transaction {number}, which was {how},"), "a number that is not settled")
        };
        retry(AGAIN, || match self.look(check_number(number)?)? {
            (Some(Pending::Open { participants: there }), _) if there == participants => Ok(()),
            (Some(Pending::Open { participants: there }), _) => {
                let what = format!("transaction {number} with {participants} participants");
                Err(Error::invalid(what, format!("the {there} that it was started with")))
            }
            (None, None) => self.set_pending(number, None, Pending::Open { participants }),
            (Some(Pending::Aborted), _) | (None, Some(Settled::Aborted)) => Err(settled("aborted")),
            (None, Some(Settled::Committed(_))) => Err(settled("committed")),
        })?;
        let staging = self.container.prepared_transactions()?.begin_prepared()?;
        Ok(NumberedTransaction { versions: *self, number, participant, participants, staging })
    }

    /// Aborts a transaction, whoever has started or finished it, or that nobody has started: its number is skipped. It is
    /// durable when this returns.
    ///
    /// # Errors
    /// `InvalidInput` for number 0 and for one that was committed; else as [`Container::commit`].
    pub fn abort(&self, number: u64) -> Result<()> {
        retry(AGAIN, || match self.look(check_number(number)?)? {
            (Some(Pending::Aborted), _) | (None, Some(Settled::Aborted)) => Ok(()),
            (None, Some(Settled::Committed(_))) => Err(Error::invalid(
                format!("abort of transaction {number}, which was committed,"),
                "a number that is not",
            )),
            (before, _) => self.set_pending(number, before, Pending::Aborted),
        })?;
        self.discard_parts(number)?;
        // Any later caller can settle it, too.
        let _ = self.settle();
        self.container.flush()
    }

    /// Changes what the books say of a number that is not settled.
    fn set_pending(&self, number: u64, before: Option<Pending>, after: Pending) -> Result<()> {
        let (open, settled) = (open_key(number), settled_key(number));
        let (open, settled) = (self.cell(&open), self.cell(&settled));
        let before = before.map(Pending::encode);
        let unchanged = match &before {
            Some(before) => Precondition::Equals(open, before),
            None => Precondition::Absent(open),
        };
        let after = after.encode();
        let transaction = Transaction::new()
            .require(unchanged)
            .require(Precondition::Absent(settled))
            .update(Update::Put { cell: open, value: &after });
        self.container.commit(&transaction).map(drop)
    }

    /// The newest version: the greatest number that is committed; 0 before there is one. Commits what is due, where that
    /// can be done.
    ///
    /// # Errors
    /// As [`Container::get_many`].
    pub fn version(&self) -> Result<u64> {
        // A reader without the permission, and one on the past, see what others have settled.
        let counter = self.settle().or_else(|_| self.counter())?;
        Ok(counter.version)
    }

    /// How a transaction stands. Changes nothing.
    ///
    /// # Errors
    /// As [`Container::get_many`] and [`crate::PreparedTransactions::list_prepared`].
    pub fn status(&self, number: u64) -> Result<Status> {
        Ok(match self.look(number)? {
            (Some(Pending::Open { participants }), _) => {
                let parts = self.parts(number)?;
                let finished = parts.into_iter().map(|(participant, _)| participant).collect();
                Status::Open { participants, finished }
            }
            (Some(Pending::Aborted), _) | (None, Some(Settled::Aborted)) => Status::Aborted,
            (None, Some(Settled::Committed(_))) => Status::Committed,
            (None, None) => Status::NotStarted,
        })
    }

    /// All numbers that were started or aborted and are not settled, in ascending order. Where versions do not go on, this tells
    /// whom the first of them waits for: one that is open for the participants that have not finished, one that is not listed
    /// for whoever was to start it. Changes nothing.
    ///
    /// # Errors
    /// As [`Container::list_entries`] and [`crate::PreparedTransactions::list_prepared`].
    pub fn unsettled(&self) -> Result<Vec<(u64, Status)>> {
        let is_ordered = self.container.capabilities().ordered_listing;
        let mut numbers = Vec::new();
        let mut anchor = Some(Anchor::start());
        while let Some(from) = anchor.take() {
            let page = self.container.list_entries(self.object, &from, PAGE, false)?;
            let number =
                |key: &[u8]| u64::from_str_radix(str::from_utf8(key).ok()?.strip_prefix(OPEN)?, 16).ok();
            numbers.extend(page.keys().filter_map(number));
            let past_them = is_ordered && page.keys().last().is_some_and(|key| number(key).is_none());
            anchor = page.next().filter(|_| !past_them).cloned();
        }
        numbers.sort_unstable();
        let mut found = Vec::new();
        for number in numbers {
            match self.status(number)? {
                // Another process has settled it.
                Status::Committed => {}
                status => found.push((number, status)),
            }
        }
        Ok(found)
    }

    /// Waits until a transaction is settled, and commits what is due. Returns `None` if it is not settled after `patience`.
    ///
    /// # Errors
    /// `InvalidInput` for number 0; as [`crate::PreparedTransactions::commit_prepared`] for what keeps a transaction from being committed.
    pub fn wait(&self, number: u64, patience: Duration) -> Result<Option<Outcome>> {
        let until = Instant::now().checked_add(patience);
        let backoff = Backoff::default();
        let (mut looked, mut rounds) = (None, 0);
        check_number(number)?;
        loop {
            // Asking for the epoch costs much less than looking.
            let epoch = self.container.epoch()?;
            if looked.replace(epoch) != Some(epoch) {
                let counter = match self.settle() {
                    Err(Error::PermissionDenied { .. }) => self.counter()?,
                    settled => settled?,
                };
                if counter.settled >= number {
                    return self.outcome(number).map(Some);
                }
                rounds = 0;
            }
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            rounds += 1;
            backoff.pause(rounds, left);
        }
    }

    fn outcome(&self, number: u64) -> Result<Outcome> {
        match self.look(number)? {
            (_, Some(Settled::Aborted)) => Ok(Outcome::Aborted),
            (_, Some(Settled::Committed(_))) => Ok(Outcome::Committed),
            _ => Err(self.lost(number)),
        }
    }

    fn lost(&self, number: u64) -> Error {
        Error::corrupt(
            format!("transaction {number} is settled and has no entry"),
            format!("object {}", self.object),
        )
    }

    /// A read-only handle on the container as it was when a number was its newest version; 0 is what there was before the first.
    /// The newest version can be opened always; older ones as long as the engine keeps their epochs, and those that a snapshot
    /// shows ([`crate::Snapshots::create`] keeps the newest).
    ///
    /// # Errors
    /// `NotFound` for a number that is no version, or one that is not kept; else as [`crate::Snapshots::open_at`].
    pub fn open_version(&self, number: u64) -> Result<Arc<dyn Container>> {
        for _ in 0..OPEN_TRIES {
            match self.container.epoch().and_then(|epoch| self.open_present(epoch)) {
                Ok((past, counter)) if counter.version == number => return Ok(past),
                Ok((_, counter)) if counter.version > number => return self.open_older(number),
                Ok(_) => return Err(self.no_version(number, "there are not so many")),
                // It went on, or was purged, between the two.
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(self.no_version(number, "the container goes on too fast"))
    }

    fn no_version(&self, number: u64, why: &str) -> Error {
        let label = self.container.label();
        Error::not_found(format!("version {number} of container {label} ({why})"))
    }

    fn open_present(&self, epoch: Epoch) -> Result<(Arc<dyn Container>, Counter)> {
        let past = self.container.snapshots()?.open_at(epoch)?;
        let counter = Versions { container: &*past, object: self.object }.counter()?;
        Ok((past, counter))
    }

    fn open_older(&self, number: u64) -> Result<Arc<dyn Container>> {
        let epoch = match self.look(number)?.1 {
            Some(Settled::Committed(Some(epoch))) => epoch,
            Some(Settled::Aborted) => return Err(self.no_version(number, "it was aborted")),
            _ => return Err(self.lost(number)),
        };
        match self.container.snapshots()?.open_at(epoch) {
            Err(Error::NotFound { .. }) => self.open_snapshot_of(number),
            opened => opened,
        }
    }

    /// Looks for a snapshot that shows a version. Versions grow with the epochs of snapshots.
    fn open_snapshot_of(&self, number: u64) -> Result<Arc<dyn Container>> {
        let snapshots = self.container.snapshots()?.list()?;
        let (mut low, mut high) = (0, snapshots.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let past = self.container.snapshots()?.open(&snapshots[middle].name)?;
            let version = Versions { container: &*past, object: self.object }.counter()?.version;
            match version.cmp(&number) {
                std::cmp::Ordering::Equal => return Ok(past),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(self.no_version(number, "it is not kept"))
    }
}

fn check_number(number: u64) -> Result<u64> {
    match number {
        0 => Err(Error::invalid("transaction number 0", "at least 1")),
        number => Ok(number),
    }
}
