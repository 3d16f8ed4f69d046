//! Events and their queues.

use std::{
    ffi::{c_int, c_void},
    ptr,
    time::Duration,
};

use super::{Event, Handle, Out, export, outs};
use crate::{
    abi::{constants::*, errors::DER_INVAL, types::*},
    runtime::{
        error::{Der, Result, invalid},
        events::{self, Callback, Ended},
    },
};

/// Ends an event: runs its registered callbacks and completes it. A callback's failure counts where the call itself had none. Then ends the
/// parent, if it waited for this event alone.
///
/// # Safety
/// EVENT, for the address and for the parent, if it has one.
pub(super) unsafe fn end(ended: Ended) {
    let mut next = Some(ended);
    while let Some((address, number)) = next {
        let event: Event = ptr::with_exposed_provenance_mut(address);
        let result = events::take_callbacks(address).into_iter().fold(
            number,
            |result, Callback { call, argument }| {
                // SAFETY: CALLBACK for `call` and `argument`; EVENT for `event`.
                let returned = unsafe { call(ptr::with_exposed_provenance_mut(argument), event, number) };
                if result == 0 { returned } else { result }
            },
        );
        // SAFETY: EVENT for `event`, which nothing here refers to.
        unsafe { (*event).ev_error = result };
        next = events::complete(address, result);
    }
}

/// A timeout of a program in microseconds. A negative one is `None`: forever.
fn time(timeout: i64) -> Option<Duration> {
    u64::try_from(timeout).ok().map(Duration::from_micros)
}

#[export]
fn daos_eq_create(queue: Out<Handle>) -> Result<()> {
    queue.open(events::create_queue)
}

#[export]
fn daos_eq_destroy(queue: Handle, flags: c_int) -> Result<()> {
    events::destroy_queue(queue.cookie, flags & DAOS_EQ_DESTROY_FORCE != 0)
}

#[export]
unsafe fn daos_eq_poll(
    queue: Handle,
    wait_running: c_int,
    timeout: i64,
    count: u32,
    found: *mut Event,
) -> c_int {
    if found.is_null() {
        return -DER_INVAL;
    }
    match events::poll(queue.cookie, wait_running != 0, count as usize, time(timeout)) {
        Err(Der(number)) => -number,
        // SAFETY: LIST for `found`, of `count`, which is no less than what `poll` gives.
        Ok(complete) => unsafe { give_events(&complete, found) },
    }
}

/// Stores events for the caller and returns their number.
///
/// # Safety
/// LIST, for `places`, of as many as there are events.
unsafe fn give_events(events: &[events::Address], places: *mut Event) -> c_int {
    // SAFETY: LIST for `places`, of as many as there are events.
    if let Ok(places) = unsafe { outs(places, events.len() as u64) } {
        places
            .iter_mut()
            .zip(events)
            .for_each(|(place, address)| _ = place.write(ptr::with_exposed_provenance_mut(*address)));
    }
    events.len() as c_int
}

#[export]
unsafe fn daos_eq_query(queue: Handle, what: c_int, count: u32, found: *mut Event) -> c_int {
    match events::query(queue.cookie, what & DAOS_EQR_COMPLETED != 0, what & DAOS_EQR_WAITING != 0) {
        Err(Der(number)) => -number,
        // A call without space asks for their number only.
        Ok(events) if found.is_null() || count == 0 => events.len() as c_int,
        // SAFETY: LIST for `found`, of `count`.
        Ok(events) => unsafe { give_events(&events[..events.len().min(count as usize)], found) },
    }
}

#[export]
unsafe fn daos_event_init(subject: Event, queue: Handle, parent: Event) -> Result<()> {
    if subject.is_null() {
        return invalid("a null pointer for an event");
    }
    // SAFETY: OUT for `subject`, which is not null and need not have a value yet.
    unsafe { (&raw mut (*subject).ev_error).write(0) };
    let parent = (!parent.is_null()).then(|| parent.expose_provenance());
    events::init(subject.expose_provenance(), queue.cookie, parent)
}

#[export]
fn daos_event_fini(subject: Event) -> Result<()> {
    events::fini(subject.addr())
}

#[export]
fn daos_event_test(subject: Event, timeout: i64, flag: Out<bool>) -> Result<()> {
    flag.fill(|| events::test(subject.addr(), time(timeout)))
}

#[export]
unsafe fn daos_event_parent_barrier(subject: Event) -> Result<()> {
    if let Some(ended) = events::barrier(subject.addr())? {
        // SAFETY: EVENT for `subject`, which `barrier` has found initialised.
        unsafe { end(ended) };
    }
    Ok(())
}

/// The thread whose call ends the event runs the callback, before that call returns.
#[export]
unsafe fn daos_event_register_comp_cb(
    subject: Event,
    call: daos_event_comp_cb_t,
    argument: *mut c_void,
) -> Result<()> {
    match call {
        None => invalid("a null pointer for a function"),
        Some(call) => {
            events::register(subject.addr(), Callback { call, argument: argument.expose_provenance() })
        }
    }
}

#[export]
fn daos_event_next(parent: Event, child: Event) -> Event {
    let child = (!child.is_null()).then(|| child.addr());
    events::next(parent.addr(), child).map_or(ptr::null_mut(), ptr::with_exposed_provenance_mut)
}

/// No call can be aborted.
#[export]
fn daos_event_abort(_event: Event) -> c_int {
    0
}
