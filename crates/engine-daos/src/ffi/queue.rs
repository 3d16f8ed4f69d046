//! Operations that are under way while the caller goes on, on the event queue of their session.

use std::{
    ffi::c_int,
    fmt,
    mem::ManuallyDrop,
    ptr,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use isotach_daos_abi::{
    constants::DAOS_EQ_WAIT,
    errors::{DER_MISC, DER_NO_HDL},
    types::{daos_event_t, daos_handle_t},
};

use super::{Cont, Der, api::Functions};

/// How many events are asked for at once.
const AT_ONCE: usize = 32;

/// A call of libdaos with all the memory that it needs until it has ended.
pub(crate) trait Operation {
    /// Calls. Without an event it has ended when this returns; else `self` stays where it is until the event has come.
    fn launch(&mut self, functions: &Functions, event: *mut daos_event_t) -> c_int;

    /// What it is done in.
    fn container(&self) -> &Arc<Cont>;

    /// Calls, and waits for the end.
    fn run(&mut self) -> Result<(), Der> {
        let functions = self.container().functions();
        let result = self.launch(functions, ptr::null_mut());
        self.container().check(result)
    }
}

/// The event queue of a session, made when it is first needed. Each that there is takes a share of the network, of which a process can
/// have few; so all containers and threads of a session have this one.
#[derive(Default)]
pub(super) struct Queue {
    handle: Mutex<Option<daos_handle_t>>,
    /// Whether a thread asks the queue what has ended; the others wait until it has.
    is_polled: Mutex<bool>,
    polled: Condvar,
}

/// What libdaos is given: the event, first, so that its address is that of the whole.
#[repr(C)]
struct Slot<O> {
    head: Head,
    operation: O,
}

#[repr(C)]
struct Head {
    event: daos_event_t,
    /// Set when the queue has told of the event.
    ended: AtomicBool,
}

/// An operation that is under way.
pub(crate) struct Begun<O> {
    container: Arc<Cont>,
    /// From a box. Until the event has come it is libdaos', but for `ended`.
    slot: *mut Slot<O>,
    /// What launching it came to: if it failed there is no event to come.
    launched: Result<(), Der>,
}

// SAFETY: the slot is reached through this value alone, and by libdaos and the queue, which use it from any thread.
unsafe impl<O: Send> Send for Begun<O> {}
// SAFETY: nothing can be done with a shared one but asking `ended`, which is atomic.
unsafe impl<O: Send> Sync for Begun<O> {}

impl<O> fmt::Debug for Begun<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Begun({:?})", self.slot)
    }
}

impl Queue {
    fn handle(&self, functions: &Functions) -> Result<daos_handle_t, Der> {
        let mut kept = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = *kept {
            return Ok(handle);
        }
        let mut handle = daos_handle_t::default();
        // SAFETY: a place for the handle, alive for the call.
        Der::check(unsafe { (functions.eq_create)(&mut handle) })?;
        Ok(*kept.insert(handle))
    }

    /// Waits until what was asked for has ended, whichever thread learns of it.
    fn wait_for(&self, functions: &Functions, ended: &AtomicBool) -> Result<(), Der> {
        let mut is_polled = self.is_polled.lock().unwrap_or_else(PoisonError::into_inner);
        while !ended.load(Ordering::Acquire) {
            if *is_polled {
                is_polled = self.polled.wait(is_polled).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            *is_polled = true;
            drop(is_polled);
            let told = self.poll(functions);
            is_polled = self.is_polled.lock().unwrap_or_else(PoisonError::into_inner);
            *is_polled = false;
            self.polled.notify_all();
            told?;
        }
        Ok(())
    }

    /// Waits for an event, and takes all that have come.
    fn poll(&self, functions: &Functions) -> Result<(), Der> {
        let handle = self.handle(functions)?;
        let mut events = [ptr::null_mut::<daos_event_t>(); AT_ONCE];
        // SAFETY: room for as many events as it is told.
        let count =
            unsafe { (functions.eq_poll)(handle, 1, DAOS_EQ_WAIT, AT_ONCE as u32, events.as_mut_ptr()) };
        let Ok(count) = usize::try_from(count) else { return Err(Der(count.saturating_abs())) };
        for event in events.iter().take(count) {
            // SAFETY: the queue has events of `begin` alone, which are the first part of a head that lives until `ended` was seen.
            unsafe { &(*event.cast::<Head>()).ended }.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Ends it, where nothing is under way any more.
    pub(super) fn destroy(&mut self, functions: &Functions) {
        if let Some(handle) = self.handle.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // SAFETY: a queue that was made, without events, each of which had a share of the session.
            unsafe { (functions.eq_destroy)(handle, 0) };
        }
    }
}

impl Cont {
    /// Begins an operation.
    pub(crate) fn begin<O: Operation + Send + 'static>(
        self: &Arc<Self>,
        operation: O,
    ) -> Result<Begun<O>, Der> {
        let functions = self.functions();
        let queue = self.queue().handle(functions)?;
        let head = Head { event: daos_event_t::default(), ended: AtomicBool::new(false) };
        let slot = Box::into_raw(Box::new(Slot { head, operation }));
        // SAFETY: the slot is from a box that nobody else knows yet; the event is its own, and nobody's child.
        let ready = Der::check(unsafe {
            (functions.event_init)(&raw mut (*slot).head.event, queue, ptr::null_mut())
        });
        if let Err(der) = ready {
            // SAFETY: from the box above, and libdaos has not taken it.
            drop(unsafe { Box::from_raw(slot) });
            return Err(der);
        }
        // SAFETY: the slot is from a box that nobody else knows yet; from here on it stays where it is until the event has come.
        let launched =
            self.check(unsafe { (*slot).operation.launch(functions, &raw mut (*slot).head.event) });
        Ok(Begun { container: Arc::clone(self), slot, launched })
    }
}

impl<O> Begun<O> {
    fn ended(&self) -> &AtomicBool {
        // SAFETY: the slot lives as long as this value does, and nobody takes an exclusive reference to this part of it.
        unsafe { &(*self.slot).head.ended }
    }

    fn settle(&self) -> Result<(), Der> {
        self.launched?;
        // In a child nothing of its parent's ever ends.
        if !self.container.is_of_this_process() {
            return Err(Der(DER_NO_HDL));
        }
        self.container.queue().wait_for(self.container.functions(), self.ended())?;
        // SAFETY: the event has come, so libdaos has let go of it.
        self.container.check(unsafe { (*self.slot).head.event.ev_error })
    }

    /// Whether libdaos has let go of the slot.
    fn is_over(&self) -> bool {
        self.launched.is_err() || self.ended().load(Ordering::Acquire)
    }

    /// Waits for the end, and gives the operation back.
    pub(crate) fn wait(self) -> Result<O, Der> {
        let outcome = self.settle();
        let this = ManuallyDrop::new(self);
        if !this.is_over() {
            // The queue is broken, and libdaos may still write there: the slot is left to it.
            return Err(outcome.err().unwrap_or(Der(DER_MISC)));
        }
        // SAFETY: taken out once: `this` is never dropped.
        let container = unsafe { ptr::read(&raw const this.container) };
        // SAFETY: it is over, and this is the only value with the slot, which is not used through `this` any more.
        let slot = unsafe { freed(&container, this.slot) };
        outcome.map(|()| slot.operation)
    }
}

/// The slot of an operation that is over, without its event; in a child the event is left to the parent.
///
/// # Safety
/// From a box that libdaos has let go of, and not used otherwise any more.
unsafe fn freed<O>(container: &Cont, slot: *mut Slot<O>) -> Box<Slot<O>> {
    if container.is_of_this_process() {
        // SAFETY: an event that was initialised and has nothing under way.
        unsafe { (container.functions().event_fini)(&raw mut (*slot).head.event) };
    }
    // SAFETY: `begin` took the slot from a box. libdaos has let go of it, and its one `Begun` uses it no more.
    unsafe { Box::from_raw(slot) }
}

impl<O> Drop for Begun<O> {
    fn drop(&mut self) {
        let _ = self.settle();
        if self.is_over() {
            // SAFETY: it is over, and the slot is this value's own.
            drop(unsafe { freed(&self.container, self.slot) });
        }
    }
}
