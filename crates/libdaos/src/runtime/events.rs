//! Events and their queues. A call ends before it returns, so only other threads see its event under way.
//!
//! An event is identified by the address of the program's structure, which must not move while the event is in use.
//!
//! A call ends its event. The last child to end also ends a parent that waits for its children. First the registered callbacks run
//! (`export`), then the event is complete ([`complete`]). No lock is held while callbacks run.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ffi::{c_int, c_void},
    mem, process,
    sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    abi::{errors::*, types::daos_event_t},
    containers::pools,
    runtime::{
        error::{Der, Result, invalid, refuse},
        locked,
    },
};

/// The address of an event.
pub(crate) type Address = usize;

/// A function of the program that is called once, when an event is complete.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Callback {
    /// Takes the argument, the event and the result of the call.
    pub(crate) call: unsafe extern "C" fn(*mut c_void, *mut daos_event_t, c_int) -> c_int,
    pub(crate) argument: Address,
}

/// An event that ends, and its result.
pub(crate) type Ended = (Address, c_int);

/// The state of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// Of a call that has not ended.
    Running,
    /// A parent whose children are not all complete.
    Waiting,
    /// A parent whose children are all complete, and whose callbacks run.
    Ending,
    /// Complete, and not reported to the program yet.
    Complete,
}

impl State {
    /// Whether the event is still to be completed.
    fn is_under_way(self) -> bool {
        matches!(self, Self::Running | Self::Waiting | Self::Ending)
    }
}

#[derive(Debug)]
struct Event {
    queue: Option<u64>,
    parent: Option<Address>,
    children: Vec<Address>,
    state: State,
    /// The first failure among its children.
    failure: c_int,
    callbacks: Vec<Callback>,
}

#[derive(Debug, Default)]
struct Table {
    /// The process that the events belong to.
    process: u32,
    events: HashMap<Address, Event>,
    /// The complete events of each queue, in the order in which they were.
    queues: BTreeMap<u64, VecDeque<Address>>,
    last_queue: u64,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);
/// Notified whenever an event is complete.
static CHANGED: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Table> {
    let mut table = locked(&TABLE);
    if table.process != process::id() {
        // A child process does not inherit the events of its parent.
        *table = Table { process: process::id(), last_queue: table.last_queue, ..Table::default() };
    }
    table
}

fn with<T>(act: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
    act(&mut lock())
}

/// See `daos_eq_create`.
pub(crate) fn create_queue() -> Result<u64> {
    pools::check_started()?;
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
        if (is_used || table.under_way(queue).next().is_some()) && !force {
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
        if queue.is_none() && parent.is_none() {
            pools::check_started()?;
        }
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
        let (children, callbacks) = (Vec::new(), Vec::new());
        let event = Event { queue, parent, children, state: State::Ready, failure: 0, callbacks };
        table.events.insert(address, event);
        Ok(())
    })
}

/// See `daos_event_register_comp_cb`.
pub(crate) fn register(address: Address, callback: Callback) -> Result<()> {
    with(|table| match table.events.get_mut(&address) {
        None => invalid("a function for an event that was not initialised"),
        Some(event) => {
            event.callbacks.push(callback);
            Ok(())
        }
    })
}

/// See `daos_event_next`: the first child of a parent, or the one that follows another.
pub(crate) fn next(parent: Address, child: Option<Address>) -> Option<Address> {
    let table = lock();
    let children = &table.events.get(&parent)?.children;
    match child {
        None => children.first(),
        Some(child) => children.get(children.iter().position(|other| *other == child)? + 1),
    }
    .copied()
}

/// See `daos_event_fini`.
pub(crate) fn fini(address: Address) -> Result<()> {
    with(|table| {
        if table.events.get(&address).is_some_and(|event| event.state.is_under_way()) {
            return refuse(DER_BUSY, "the end of an event that is under way");
        }
        table.forget(address);
        Ok(())
    })
}

/// Begins a call with an event, which is under way until it is [`complete`]. An event that was never initialised counts as one without a
/// queue.
pub(crate) fn launch(address: Address) -> Result<()> {
    with(|table| match table.events.get_mut(&address) {
        None => Ok(()),
        Some(event) if event.state != State::Ready => refuse(DER_NO_PERM, "an event that is in use"),
        Some(event) => {
            event.state = State::Running;
            Ok(())
        }
    })
}

/// The callbacks of an event that ends.
pub(crate) fn take_callbacks(address: Address) -> Vec<Callback> {
    let mut table = lock();
    table.events.get_mut(&address).map(|event| mem::take(&mut event.callbacks)).unwrap_or_default()
}

/// Completes an event with this result. Returns its parent if that waited for this event alone.
pub(crate) fn complete(address: Address, result: c_int) -> Option<Ended> {
    let above = lock().complete(address, result);
    CHANGED.notify_all();
    above
}

/// See `daos_event_test`: waits up to `timeout`, or forever, and returns whether the event is complete. It may then be used again.
pub(crate) fn test(address: Address, timeout: Option<Duration>) -> Result<bool> {
    let end = timeout.map(|timeout| Instant::now() + timeout);
    let mut table = lock();
    loop {
        if table.is_ended(address)? {
            return Ok(true);
        }
        let Some(changed) = until_change(table, end) else { return Ok(false) };
        table = changed;
    }
}

/// Waits for a change of the table until `end`. Returns `None` when that has passed.
fn until_change(
    table: MutexGuard<'static, Table>,
    end: Option<Instant>,
) -> Option<MutexGuard<'static, Table>> {
    let left = end.map(|end| end.saturating_duration_since(Instant::now()));
    if left == Some(Duration::ZERO) {
        return None;
    }
    let wait = left.unwrap_or(Duration::from_secs(1));
    Some(CHANGED.wait_timeout(table, wait).unwrap_or_else(PoisonError::into_inner).0)
}

/// See `daos_event_parent_barrier`: the parent completes as soon as all its children have. Returns it if they have already.
pub(crate) fn barrier(address: Address) -> Result<Option<Ended>> {
    with(|table| {
        let event = table.events.get_mut(&address).ok_or(Der(DER_NONEXIST))?;
        if event.children.is_empty() {
            return invalid("a barrier for an event without children");
        }
        if event.state != State::Ready {
            return refuse(
                DER_NO_PERM,
                "a barrier for an event that has one, or is complete without a waiter",
            );
        }
        event.state = State::Waiting;
        Ok(table.ended_parent(address))
    })
}

/// See `daos_eq_poll`: returns at most `most` complete events. Waits for one up to `timeout`, or forever; with `waits_for_running` only
/// while an event is under way.
pub(crate) fn poll(
    queue: u64,
    waits_for_running: bool,
    most: usize,
    timeout: Option<Duration>,
) -> Result<Vec<Address>> {
    if most == 0 {
        return invalid("daos_eq_poll for no event");
    }
    let end = timeout.map(|timeout| Instant::now() + timeout);
    let mut table = lock();
    loop {
        let found = table.take(queue, most)?;
        if !found.is_empty() || waits_for_running && table.under_way(queue).next().is_none() {
            return Ok(found);
        }
        let Some(changed) = until_change(table, end) else { return Ok(found) };
        table = changed;
    }
}

/// See `daos_eq_query`: the events that are complete and not polled, those that are under way, or both.
pub(crate) fn query(queue: u64, complete: bool, under_way: bool) -> Result<Vec<Address>> {
    with(|table| {
        let mut found = Vec::new();
        let done = table.queues.get(&queue).ok_or(Der(DER_NONEXIST))?;
        if complete {
            found.extend(done);
        }
        if under_way {
            found.extend(table.under_way(queue));
        }
        Ok(found)
    })
}

impl Table {
    /// Whether an event is complete, or not in use. It may then be used again.
    fn is_ended(&mut self, address: Address) -> Result<bool> {
        let event = self.events.get_mut(&address).ok_or(Der(DER_NONEXIST))?;
        if event.parent.is_some() {
            return refuse(DER_NO_PERM, "a child is not tested, but its parent");
        }
        if event.state.is_under_way() {
            return Ok(false);
        }
        event.state = State::Ready;
        if let Some(done) = event.queue.and_then(|queue| self.queues.get_mut(&queue)) {
            done.retain(|other| *other != address);
        }
        Ok(true)
    }

    /// The events of a queue that are under way. As on DAOS a child does not count; its parent does once it waits.
    fn under_way(&self, queue: u64) -> impl Iterator<Item = Address> {
        let is_it = move |event: &Event| {
            event.queue == Some(queue) && event.parent.is_none() && event.state.is_under_way()
        };
        self.events.iter().filter(move |(_, event)| is_it(event)).map(|(address, _)| *address)
    }

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

    fn complete(&mut self, address: Address, result: c_int) -> Option<Ended> {
        let event = self.events.get_mut(&address)?;
        event.state = State::Complete;
        match (event.parent, event.queue) {
            (Some(parent), _) => {
                let above = self.events.get_mut(&parent)?;
                above.failure = if above.failure == 0 { result } else { above.failure };
                return self.ended_parent(parent);
            }
            (None, Some(queue)) => self.queues.get_mut(&queue)?.push_back(address),
            (None, None) => {}
        }
        None
    }

    /// A parent that waits for its children, if all are complete. They may then be used again.
    fn ended_parent(&mut self, address: Address) -> Option<Ended> {
        let parent = self.events.get(&address).filter(|parent| parent.state == State::Waiting)?;
        let children = parent.children.clone();
        let is_done =
            |child: &Address| self.events.get(child).is_none_or(|child| child.state == State::Complete);
        if !children.iter().all(is_done) {
            return None;
        }
        for child in children {
            if let Some(child) = self.events.get_mut(&child) {
                child.state = State::Ready;
            }
        }
        let parent = self.events.get_mut(&address)?;
        parent.state = State::Ending;
        Some((address, mem::take(&mut parent.failure)))
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
