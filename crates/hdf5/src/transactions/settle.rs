//! Settles numbers in order: commits those whose participants have all finished, and skips those that were aborted.
//!
//! Any process may do it at any time, and several at once: each step is one transaction on the condition that the counter is what it was.

use std::time::Duration;

use isotach_object::{Cell, Error as ObjectError, Precondition, Transaction, Update};

use super::{
    books::{AGAIN, Books, COUNTER, Counter, TransactionStatus, aborted_key, open_key, part_key, retry},
    part::Part,
};
use crate::{
    Error, Result,
    commit::{Condition, Expected},
    layout::{TRANSACTIONS, array},
    session::Session,
    store::Store,
};

/// Settles every number that is due. Returns the books, and how many bytes the file stores if a commit changed that.
pub(super) fn settle(store: &Store) -> Result<(Books, Option<u64>)> {
    let (mut stored, mut attempts) = (None, 0);
    loop {
        let books = Books::read(&*store.container)?;
        match settle_next(store, &books, &mut stored) {
            Ok(true) => attempts = 0,
            Ok(false) => return Ok((books, stored)),
            Err(error) => {
                let is_conflict = matches!(error, Error::Object(ObjectError::Conflict { .. }));
                // Of the parts nothing is swept. Only what was written here, to put a part over what is there, has to be written again.
                let is_swept = matches!(error, Error::Swept { .. });
                store.begin_version();
                let is_settled = Books::read(&*store.container)?.counter != books.counter;
                attempts += 1;
                if !(is_conflict || is_swept || is_settled) || attempts >= AGAIN.attempts {
                    return Err(error);
                }
                AGAIN.pause(attempts, Duration::MAX);
            }
        }
    }
}

/// Settles the next number if it is due.
fn settle_next(store: &Store, books: &Books, stored: &mut Option<u64>) -> Result<bool> {
    let next = books.counter.settled.saturating_add(1);
    if books.is_aborted(next) {
        return skip(store, books, next).map(|()| true);
    }
    if books.open.get(&next).is_none_or(|participants| books.parts_of(next).len() < *participants as usize) {
        return Ok(false);
    }
    let mut session = Session::new(store.container.clone(), false)?;
    let outcome = commit(store, &mut session, books, next);
    if !matches!(outcome, Ok(None)) && !session.is_uncertain {
        discard_own(store, &session);
    }
    if let Some(clash) = outcome? {
        abort(store, next, &clash)?;
        return Ok(true);
    }
    *stored = session.counted.take().or(*stored);
    session.end_changes(store);
    store.container.flush()?;
    Ok(true)
}

/// Puts the parts of a number into a session, and commits it. Returns why the parts cannot be put there, if they cannot.
fn commit(store: &Store, session: &mut Session, books: &Books, number: u64) -> Result<Option<String>> {
    let parts = books.parts_of(number);
    for (_, place) in &parts {
        if let Some(clash) = session.load(store, Part::read(&*store.container, *place)?)? {
            return Ok(Some(clash));
        }
    }
    let open = open_key(number);
    let participants = books.open.get(&number).map(|participants| participants.to_le_bytes().to_vec());
    let conditions = vec![
        Condition {
            object: TRANSACTIONS,
            key: COUNTER.to_vec(),
            expected: Expected::of(books.stored_counter()),
        },
        Condition { object: TRANSACTIONS, key: open.clone(), expected: Expected::of(participants) },
    ];
    session.remove(TRANSACTIONS, &open);
    for (participant, (place, _)) in parts {
        session.remove(TRANSACTIONS, &part_key(number, participant));
        session.destroyed.push(array(place));
    }
    session.put(TRANSACTIONS, COUNTER.to_vec(), Counter { settled: number, version: number }.encode());
    session.spill_whole(store, None)?;
    store.flush_arrays()?;
    session.attempt(store, conditions)?;
    Ok(None)
}

/// Destroys the arrays that a session wrote that is not committed, but for those of the parts.
fn discard_own(store: &Store, session: &Session) {
    let own = session.written_arrays().into_iter().chain(session.unused.iter().copied());
    store.discard(&own.filter(|array| !session.prepared.contains(array)).collect::<Vec<_>>());
}

/// Skips a number that was aborted.
fn skip(store: &Store, books: &Books, number: u64) -> Result<()> {
    let counter = Counter { settled: number, ..books.counter }.encode();
    let aborted = aborted_key(number);
    // A file that was created anew may have the same counter, which is none.
    let mut transaction = Transaction::new()
        .require(books.unchanged())
        .require(Precondition::Present(Cell::kv(TRANSACTIONS, &aborted)));
    let parts = books.parts_of(number);
    let keys: Vec<_> = parts.iter().map(|(participant, _)| part_key(number, *participant)).collect();
    for (key, (_, (place, _))) in keys.iter().zip(&parts) {
        transaction = transaction
            .update(Update::Remove { cell: Cell::kv(TRANSACTIONS, key) })
            .update(Update::Destroy { object: array(*place) });
    }
    let put = Update::Put { cell: Cell::kv(TRANSACTIONS, COUNTER), value: &counter };
    store.container.commit(&transaction.update(put))?;
    Ok(())
}

/// Notes that a number was aborted, and why. No participant can finish it after that.
pub(super) fn abort(store: &Store, number: u64, reason: &str) -> Result<()> {
    retry(|| {
        let books = Books::read(&*store.container)?;
        let participants = match books.status(number) {
            TransactionStatus::Aborted { .. } => return Ok(()),
            TransactionStatus::Committed => {
                let what = format!("abort of transaction {number}, which is committed,");
                return Err(Error::invalid(what, "a number that is not"));
            }
            TransactionStatus::Open { participants, .. } => Some(participants.to_le_bytes()),
            TransactionStatus::NotStarted => None,
        };
        let (open, aborted) = (open_key(number), aborted_key(number));
        let open = Cell::kv(TRANSACTIONS, &open);
        let same = match &participants {
            Some(participants) => Precondition::Equals(open, participants),
            None => Precondition::Absent(open),
        };
        let transaction = Transaction::new()
            .require(books.unchanged())
            .require(same)
            .update(Update::Remove { cell: open })
            .update(Update::Put { cell: Cell::kv(TRANSACTIONS, &aborted), value: reason.as_bytes() });
        store.container.commit(&transaction)?;
        Ok(())
    })
}
