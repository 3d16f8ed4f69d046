//! Numbered transactions: a program numbers the versions that it makes, and several processes write one of them together.
//!
//! Each participant starts the transaction, changes the file and finishes. What it changed is then stored as its *part*, which no
//! reader sees. A transaction is committed when all its parts are there and every lower number is settled: committed or aborted.
//!
//! What must stay true:
//! - Numbers are settled in order, and of a number all parts are seen, or none.
//! - A part is applied to the version before its number, as every commit is: what was written to a part of a chunk is put over what is there.
//! - No process is needed to go on: whoever looks next commits what is due.

mod books;
mod load;
mod part;
mod settle;

use std::time::{Duration, Instant};

use isotach_object::{Backoff, Cell, Error as ObjectError, Precondition, Transaction, Update};

pub use self::books::TransactionStatus;
pub(crate) use self::{books::version_of, part::arrays_of_parts};
use self::{
    books::{Books, Counter, aborted_key, open_key, part_key, retry},
    part::Part,
};
use crate::{
    Error, File, Result,
    fence::{fence, number_of},
    layout::{FENCE_KEY, FILE, TRANSACTIONS},
    participant::Participant,
    session::Session,
};

impl File {
    /// Starts this process's part of a transaction. What is changed from now on, through every opening of the file in this process, belongs to
    /// it. Numbers begin with 1, and each has to be started or aborted. Participants are numbered from 0; all give the same count of them,
    /// and each has to finish. One that died before it finished can be started again.
    ///
    /// # Errors
    /// `InvalidInput` for a number that is settled or 0, another count of participants than was given before, a participant that has finished, a file
    /// with changes that are not committed, and a process whose last transaction is not ended. `WriteFailed` after [`File::note_failure`];
    /// `ReadOnly`; `Unsupported` where the engine has no transactions; `Object`.
    pub fn start_transaction(&self, number: u64, participant: u32, participants: u32) -> Result<()> {
        self.check_writable()?;
        self.check_transactions()?;
        let wanted = Participant { number, participant, participants };
        let _alone = self.alone();
        self.check_failure()?;
        let mut own = self.transactions();
        if let Some(started) = own.started {
            let what = format!("start of {}", self.transaction_name(number));
            return Err(Error::invalid(
                what,
                format!("the end of transaction {}, which is started", started.number),
            ));
        }
        let mut session = self.session();
        if session.has_changes() {
            let what = format!("start of {}, which was changed", self.transaction_name(number));
            return Err(Error::invalid(what, "a flush of the changes that belong to no transaction"));
        }
        let books = self.settle()?;
        if own.finished != number && matches!(books.status(own.finished), TransactionStatus::Open { .. }) {
            let what =
                format!("start of {}, while {} is not settled", self.transaction_name(number), own.finished);
            return Err(Error::invalid(
                what,
                "that this process waits for the transaction that it has finished",
            ));
        }
        retry(|| self.open(&wanted))?;
        session.go_to_newest(&self.store)?;
        own.started = Some(wanted);
        Ok(())
    }

    /// Notes in the books that a participant has started.
    fn open(&self, wanted: &Participant) -> Result<()> {
        let Participant { number, participant, participants } = *wanted;
        let name = || self.transaction_name(number);
        if participant >= participants {
            let what = format!("participant {participant} of {participants} of {}", name());
            return Err(Error::invalid(what, "a number below the count of participants"));
        }
        let books = Books::read(&*self.store.container)?;
        match books.status(number) {
            TransactionStatus::NotStarted if number == 0 => Err(Error::invalid(name(), "a number from 1 on")),
            TransactionStatus::Open { participants: there, .. } if there != participants => {
                Err(Error::invalid(
                    format!("{} with {participants} participants", name()),
                    format!("the {there} that it was started with"),
                ))
            }
            TransactionStatus::Open { finished, .. } if finished.contains(&participant) => {
                Err(Error::invalid(
                    format!("start of {}, which participant {participant} has finished", name()),
                    "a participant that has not",
                ))
            }
            TransactionStatus::Open { .. } => Ok(()),
            TransactionStatus::Committed => Err(Error::invalid(
                format!("start of {}, which is committed", name()),
                format!("a number from {} on", books.counter.settled + 1),
            )),
            TransactionStatus::Aborted { reason } => Err(Error::invalid(
                format!("start of {}, which was aborted ({reason})", name()),
                "a number that was not",
            )),
            TransactionStatus::NotStarted => {
                let (key, aborted) = (open_key(number), aborted_key(number));
                let value = participants.to_le_bytes();
                let put = Update::Put { cell: Cell::kv(TRANSACTIONS, &key), value: &value };
                let transaction = Transaction::new()
                    .require(books.unchanged())
                    .require(Precondition::Absent(Cell::kv(TRANSACTIONS, &key)))
                    .require(Precondition::Absent(Cell::kv(TRANSACTIONS, &aborted)))
                    .update(put);
                self.store.container.commit(&transaction)?;
                Ok(self.store.container.flush()?)
            }
        }
    }

    /// Ends this process's part of the transaction that it has started. The part is durable when this returns. It is seen, also through
    /// this file, when the transaction is committed, which may be at once.
    ///
    /// # Errors
    /// `InvalidInput` if none is started. `InvalidInput`, too, if the transaction was aborted by another process, or if another process has
    /// finished this participant: the transaction is then ended here, and what was changed is given up. `Swept`; `WriteFailed` after
    /// [`File::note_failure`]; `Object`. After these the transaction is still started, and can be aborted.
    pub fn finish_transaction(&self) -> Result<()> {
        let _alone = self.alone();
        let mut own = self.transactions();
        let Some(started) = own.started else {
            return Err(Error::invalid(
                format!("finish of a transaction of file {}", self.name()),
                "one that was started",
            ));
        };
        self.check_failure()?;
        self.store.check_process()?;
        let mut session = self.session();
        let stored = self.store_part(&mut session, started);
        if let Err(Error::InvalidInput { .. }) = &stored {
            // It cannot be finished any more.
            session.discard(&self.store);
            own.started = None;
        }
        stored?;
        session.end_changes(&self.store);
        (own.started, own.finished) = (None, started.number);
        // The part is there. Who waits for the transaction gets the error that keeps it from being committed.
        let _ = self.settle();
        self.go_along(&mut session);
        Ok(())
    }

    /// Stores what a participant has changed, and makes it durable. The changes stay.
    fn store_part(&self, session: &mut Session, started: Participant) -> Result<()> {
        let part = session.part(&self.store)?;
        let array = part.store(&self.store)?;
        retry(|| self.put_part(started, &part, array)).inspect_err(|error| {
            session.is_uncertain = matches!(error, Error::Object(error) if !error.is_refusal());
        })?;
        // Until it is flushed, it counts and may be lost.
        session.is_uncertain = true;
        self.store.container.flush()?;
        session.is_uncertain = false;
        Ok(())
    }

    /// Goes to the newest version, if there is an answer to which one it is.
    fn go_along(&self, session: &mut Session) {
        if let Ok(epoch) = self.store.container.epoch() {
            session.rebase(epoch);
        }
    }

    /// Notes in the books that a participant has finished: its part is in an array.
    fn put_part(&self, started: Participant, part: &Part, (number, length): (u64, u64)) -> Result<()> {
        let container = &*self.store.container;
        let open = open_key(started.number);
        let key = part_key(started.number, started.participant);
        let (open, cell) = (Cell::kv(TRANSACTIONS, &open), Cell::kv(TRANSACTIONS, &key));
        self.check_unfinished(started, Books::read(container)?.status(started.number))?;
        let fence = fence(container)?;
        let first = part.arrays()?.iter().map(|array| array.lo()).chain([number]).min();
        if first < Some(number_of(fence.as_deref())?) {
            return Err(Error::Swept { what: format!("container {}", container.label()) });
        }
        let fence_cell = Cell::kv(FILE, FENCE_KEY);
        let same_fence = match &fence {
            Some(fence) => Precondition::Equals(fence_cell, fence),
            None => Precondition::Absent(fence_cell),
        };
        let (participants, value) =
            (started.participants.to_le_bytes(), [number, length].map(u64::to_le_bytes).concat());
        let transaction = Transaction::new()
            .require(Precondition::Equals(open, &participants))
            .require(Precondition::Absent(cell))
            .require(same_fence)
            .update(Update::Put { cell, value: &value });
        container.commit(&transaction).map(drop)?;
        Ok(())
    }

    /// Refuses a participant that cannot finish any more.
    fn check_unfinished(&self, started: Participant, status: TransactionStatus) -> Result<()> {
        let Participant { number, participant, participants } = started;
        let why = match status {
            TransactionStatus::Open { participants: there, finished } if there == participants => {
                if !finished.contains(&participant) {
                    return Ok(());
                }
                format!("another process has finished as participant {participant}")
            }
            TransactionStatus::Aborted { reason } => format!("was aborted ({reason})"),
            TransactionStatus::Committed => "is committed".to_owned(),
            TransactionStatus::NotStarted | TransactionStatus::Open { .. } => {
                "is gone, since the file was created anew".to_owned()
            }
        };
        let what = format!("finish of {}, which {why}", self.transaction_name(number));
        Err(Error::invalid(what, "one that is open; what was changed here is given up"))
    }

    /// Aborts a transaction for all its participants, whichever process has started or finished it, or one that no process has started: its
    /// number is skipped. If this process has started it, what it changed is given up. It is durable when this returns.
    ///
    /// # Errors
    /// `InvalidInput` for number 0 and for one that is committed; `ReadOnly`, `Unsupported`, `Object`.
    pub fn abort_transaction(&self, number: u64) -> Result<()> {
        self.check_writable()?;
        self.check_transactions()?;
        let _alone = self.alone();
        let mut own = self.transactions();
        if own.started.is_some_and(|started| started.number == number) {
            self.session().discard(&self.store);
            own.started = None;
            // What was written in part is given up with the rest.
            self.forget_failure();
        }
        if number == 0 {
            return Err(Error::invalid(self.transaction_name(number), "a number from 1 on"));
        }
        settle::abort(&self.store, number, "by a program").map_err(|error| match error {
            Error::InvalidInput { what, expected } => {
                Error::invalid(format!("{what} of file {}", self.name()), expected)
            }
            error => error,
        })?;
        // Who waits for a number gets the error that keeps it from being settled.
        let _ = self.settle();
        self.store.container.flush()?;
        let mut session = self.session();
        if !session.has_changes() {
            self.go_along(&mut session);
        }
        Ok(())
    }

    /// Gives up what this process has changed in the transaction that it has started. Its number stays open, as if the process had died.
    ///
    /// # Errors
    /// `InvalidInput` after a fork.
    pub fn leave_transaction(&self) -> Result<()> {
        self.store.check_process()?;
        let _alone = self.alone();
        if self.transactions().started.take().is_some() {
            self.session().discard(&self.store);
            self.forget_failure();
        }
        Ok(())
    }

    /// The number of the transaction that this process has started and not ended.
    pub fn started_transaction(&self) -> Option<u64> {
        self.transactions().started.map(|started| started.number)
    }

    /// How a transaction stands. Commits what is due if the file is open for writing.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn transaction_status(&self, number: u64) -> Result<TransactionStatus> {
        let books = self.settle().or_else(|_| Books::read(&*self.store.container))?;
        Ok(books.status(number))
    }

    /// Waits until a transaction is committed or aborted, and commits what is due if the file is open for writing. Returns how it stands then,
    /// or after `patience`.
    ///
    /// # Errors
    /// What keeps the transaction from being committed: `Corrupt`, `Object`.
    pub fn wait_for_transaction(&self, number: u64, patience: Duration) -> Result<TransactionStatus> {
        let until = Instant::now().checked_add(patience);
        let (backoff, container) = (Backoff::default(), &self.store.container);
        let (mut seen, mut rounds) = (None, 0);
        let mut status = TransactionStatus::NotStarted;
        loop {
            // Asking for the epoch costs much less than looking.
            let epoch = container.epoch()?;
            if seen.replace(epoch) != Some(epoch) {
                status = self.settle()?.status(number);
                rounds = 0;
            }
            let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
            let is_settled =
                matches!(status, TransactionStatus::Aborted { .. } | TransactionStatus::Committed);
            if is_settled || left.is_zero() {
                return Ok(status);
            }
            rounds += 1;
            backoff.pause(rounds, left);
        }
    }

    /// The number of the version that is read: that of the last transaction in it that is committed; 0 if there is none.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn transaction_version(&self) -> Result<u64> {
        let record = self.session().get(TRANSACTIONS, books::COUNTER)?;
        Ok(Counter::decode(record.as_deref())?.version)
    }

    /// The number of the newest version. Commits what is due if the file is open for writing.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn newest_transaction_version(&self) -> Result<u64> {
        let books = self.settle().or_else(|_| Books::read(&*self.store.container))?;
        Ok(books.counter.version)
    }

    /// Commits what is due if the file is open for writing.
    fn settle(&self) -> Result<Books> {
        if !self.is_writable() {
            return Books::read(&*self.store.container);
        }
        let (books, stored) = settle::settle(&self.store)?;
        if let Some(bytes) = stored {
            self.set_stub_length(bytes);
        }
        Ok(books)
    }

    fn check_transactions(&self) -> Result<()> {
        self.store.check_process()?;
        if self.is_shared() {
            let what = "numbered transactions of a file that several ranks have open together: open it without the communicator";
            return Err(Error::unsupported(what));
        }
        if self.store.container.capabilities().transactions {
            return Ok(());
        }
        let (engine, what) = (self.store.container.facets().engine, "numbered transactions".to_owned());
        Err(ObjectError::Unsupported { engine, what }.into())
    }

    fn transaction_name(&self, number: u64) -> String {
        format!("transaction {number} of file {}", self.name())
    }
}
