//! Events and their queues. Calls end before they return here, so what is left of an event is the order in which programs learn of it.
//!
//! An event is known by the address of the program's structure, which it may not move while the event is in use.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    abi::errors::*,
    error::{Der, Result, invalid, refuse},
};

/// The address of an event.
pub(crate) type Address = usize;

/// What has become of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// A parent whose children are not all complete.
    Waiting,
    /// Complete, and nobody was told.
    Complete,
}

#[derive(Debug)]
struct Event {
    queue: Option<u64>,
    parent: Option<Address>,
    children: Vec<Address>,
    state: State,
}

#[derive(Debug, Default)]
struct Table {
    events: HashMap<Address, Event>,
    /// The complete events of each queue, in the order in which they were.
    queues: BTreeMap<u64, VecDeque<Address>>,
    last_queue: u64,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);
/// Told of whenever an event is complete.
static CHANGED: Condvar = Condvar::new();

type Guard = MutexGuard<'static, Option<Table>>;

fn lock() -> Guard {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(act: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
    act(lock().get_or_insert_with(Table::default))
}

/// See `daos_eq_create`.
pub(crate) fn create_queue() -> Result<u64> {
    with(|table| {
        table.last_queue += 1;
        let queue = table.last_queue << 4 | crate::abi::constants::DAOS_HTYPE_EQ;
        table.queues.insert(queue, VecDeque::new());
        Ok(queue)
    })
}

/// See `daos_eq_destroy`.
pub(crate) fn destroy_queue(queue: u64, force: bool) -> Result<()> {
    with(|table| {
        let is_used = !table.queues.get(&queue).ok_or(Der(DER_NONEXIST))?.is_empty();
        if is_used && !force {
            return refuse(DER_BUSY, "a queue with events that are not polled");
        }
        table.queues.remove(&queue);
        table.events.retain(|_, event| event.queue != Some(queue));
        Ok(())
    })
}

/// See `daos_event_init`.
pub(crate) fn init(address: Address, queue: u64, parent: Option<Address>) -> Result<()> {
    with(|table| {
        let queue = (queue != 0).then_some(queue);
        if queue.is_some_and(|queue| !table.queues.contains_key(&queue)) {
            return Err(Der(DER_NONEXIST));
        }
        table.forget(address);
        if let Some(parent) = parent {
            match table.events.get_mut(&parent) {
                None => return invalid("a parent that is no event"),
                Some(parent) if parent.parent.is_some() => return refuse(DER_NO_PERM, "a child as a parent"),
                Some(parent) => parent.children.push(address),
            }
        }
        table.events.insert(address, Event { queue, parent, children: Vec::new(), state: State::Ready });
        Ok(())
    })
}

/// See `daos_event_fini`.
pub(crate) fn fini(address: Address) -> Result<()> {
    with(|table| {
        table.forget(address);
        Ok(())
    })
}

/// Whether a call may use an event. One that was never initialised is taken for one without a queue.
pub(crate) fn launch(address: Address) -> Result<()> {
    with(|table| match table.events.get(&address) {
        Some(event) if event.state != State::Ready => refuse(DER_NO_PERM, "an event that is in use"),
        _ => Ok(()),
    })
}

/// The call that used an event has ended.
pub(crate) fn complete(address: Address) {
    let _ = with(|table| {
        table.complete(address);
        Ok(())
    });
    CHANGED.notify_all();
}

/// See `daos_event_test`: whether it is complete, after which it may be used again.
pub(crate) fn test(address: Address) -> Result<bool> {
    with(|table| {
        let event = table.events.get_mut(&address).ok_or(Der(DER_NONEXIST))?;
        if event.parent.is_some() {
            return refuse(DER_NO_PERM, "a child is not tested, but its parent");
        }
        if event.state == State::Waiting {
            return Ok(false);
        }
        event.state = State::Ready;
        if let Some(done) = event.queue.and_then(|queue| table.queues.get_mut(&queue)) {
            done.retain(|other| *other != address);
        }
        Ok(true)
    })
}

/// See `daos_event_parent_barrier`: from now on the parent is complete as soon as all its children are.
pub(crate) fn barrier(address: Address) -> Result<()> {
    with(|table| {
        let event = table.events.get_mut(&address).ok_or(Der(DER_NONEXIST))?;
        event.state = State::Waiting;
        table.complete_parent(address);
        Ok(())
    })?;
    CHANGED.notify_all();
    Ok(())
}

/// See `daos_eq_poll`: at most so many complete events, for which it waits so long, or for ever.
pub(crate) fn poll(queue: u64, most: usize, timeout: Option<Duration>) -> Result<Vec<Address>> {
    if most == 0 {
        return invalid("daos_eq_poll for no event");
    }
    let end = timeout.map(|timeout| Instant::now() + timeout);
    let mut guard = lock();
    loop {
        let found = guard.get_or_insert_with(Table::default).take(queue, most)?;
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        if !found.is_empty() || left == Some(Duration::ZERO) {
            return Ok(found);
        }
        let wait = left.unwrap_or(Duration::from_secs(1));
        guard = CHANGED.wait_timeout(guard, wait).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// See `daos_eq_query`: the events that are complete and not polled, and those that wait for their children, as far as they are asked for.
pub(crate) fn query(queue: u64, complete: bool, waiting: bool) -> Result<Vec<Address>> {
    with(|table| {
        let mut found = Vec::new();
        let done = table.queues.get(&queue).ok_or(Der(DER_NONEXIST))?;
        if complete {
            found.extend(done);
        }
        if waiting {
            let is_waiting = |event: &Event| event.queue == Some(queue) && event.state == State::Waiting;
            found.extend(
                table.events.iter().filter(|(_, event)| is_waiting(event)).map(|(address, _)| *address),
            );
        }
        Ok(found)
    })
}

impl Table {
    fn take(&mut self, queue: u64, most: usize) -> Result<Vec<Address>> {
        let done = self.queues.get_mut(&queue).ok_or(Der(DER_NONEXIST))?;
        let taken: Vec<Address> = done.drain(..most.min(done.len())).collect();
        for address in &taken {
            if let Some(event) = self.events.get_mut(address) {
                event.state = State::Ready;
            }
        }
        Ok(taken)
    }

    fn complete(&mut self, address: Address) {
        let Some(event) = self.events.get_mut(&address) else { return };
        event.state = State::Complete;
        match (event.parent, event.queue) {
            (Some(parent), _) => self.complete_parent(parent),
            (None, Some(queue)) => {
                if let Some(done) = self.queues.get_mut(&queue) {
                    done.push_back(address);
                }
            }
            (None, None) => {}
        }
    }

    /// Completes a parent that waits for its children, if all are; these may be used again then.
    fn complete_parent(&mut self, address: Address) {
        let Some(parent) = self.events.get(&address).filter(|parent| parent.state == State::Waiting) else {
            return;
        };
        let children = parent.children.clone();
        let is_done =
            |child: &Address| self.events.get(child).is_none_or(|child| child.state == State::Complete);
        if !children.iter().all(is_done) {
            return;
        }
        for child in children {
            if let Some(child) = self.events.get_mut(&child) {
                child.state = State::Ready;
            }
        }
        self.complete(address);
    }

    fn forget(&mut self, address: Address) {
        let Some(event) = self.events.remove(&address) else { return };
        if let Some(done) = event.queue.and_then(|queue| self.queues.get_mut(&queue)) {
            done.retain(|other| *other != address);
        }
        if let Some(parent) = event.parent.and_then(|parent| self.events.get_mut(&parent)) {
            parent.children.retain(|other| *other != address);
        }
    }
}
