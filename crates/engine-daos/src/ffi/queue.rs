//! Asynchronous operations, on the event queue of their session.

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

/// The events of one poll.
const AT_ONCE: usize = 32;

/// A call of libdaos, with the memory that it needs until its end.
pub(crate) trait Operation {
    /// Starts the call. Without an event it has ended when this returns. With an event `self` must not move until the event.
    fn launch(&mut self, functions: &Functions, event: *mut daos_event_t) -> c_int;

    /// The container of the call.
    fn container(&self) -> &Arc<Cont>;

    /// Makes the call and waits for its end.
    fn run(&mut self) -> Result<(), Der> {
        let functions = self.container().functions();
        let result = self.launch(functions, ptr::null_mut());
        self.container().check(result)
    }
}

/// The event queue of a session, created at its first use. Each queue takes a network context, and a process can have few of these, so all
/// containers and threads of a session share one queue.
#[derive(Default)]
pub(super) struct Queue {
    handle: Mutex<Option<daos_handle_t>>,
    /// Whether a thread is polling the queue. The others wait for it.
    is_polled: Mutex<bool>,
    polled: Condvar,
}

/// The part that libdaos gets: the event, first, so that its address is that of the whole.
#[repr(C)]
struct Slot<O> {
    head: Head,
    operation: O,
}

#[repr(C)]
struct Head {
    event: daos_event_t,
    /// Set when the queue has reported the event.
    ended: AtomicBool,
}

/// A pending operation.
pub(crate) struct Begun<O> {
    container: Arc<Cont>,
    /// From a box. It belongs to libdaos until the event, except for `ended`.
    slot: *mut Slot<O>,
    /// The result of launching it. After a failure no event follows.
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

    /// Waits for the end of an operation. Any thread may receive the event.
    fn wait_for(&self, functions: &Functions, ended: &AtomicBool) -> Result<(), Der> {
        let mut is_polled = self.is_polled.lock().unwrap_or_else(PoisonError::into_inner);
        while !ended.load(Ordering::Acquire) {
            if *is_polled {
                is_polled = self.polled.wait(is_polled).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            *is_polled = true;
            drop(is_polled);
            let polled = self.poll(functions);
            is_polled = self.is_polled.lock().unwrap_or_else(PoisonError::into_inner);
            *is_polled = false;
            self.polled.notify_all();
            polled?;
        }
        Ok(())
    }

    /// Waits for an event, and processes all available ones.
    fn poll(&self, functions: &Functions) -> Result<(), Der> {
        let handle = self.handle(functions)?;
        let mut events = [ptr::null_mut::<daos_event_t>(); AT_ONCE];
        // SAFETY: the buffer has space for as many events as the call names.
        let count =
            unsafe { (functions.eq_poll)(handle, 1, DAOS_EQ_WAIT, AT_ONCE as u32, events.as_mut_ptr()) };
        let Ok(count) = usize::try_from(count) else { return Err(Der(count.saturating_abs())) };
        for event in events.iter().take(count) {
            // SAFETY: the queue has events of `begin` alone, which are the first part of a head that lives until `ended` was seen.
            unsafe { &(*event.cast::<Head>()).ended }.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Destroys the queue, if no operation is pending.
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
        // In a child, operations of its parent never end.
        if !self.container.is_of_this_process() {
            return Err(Der(DER_NO_HDL));
        }
        self.container.queue().wait_for(self.container.functions(), self.ended())?;
        // SAFETY: the event has come, so libdaos has let go of it.
        self.container.check(unsafe { (*self.slot).head.event.ev_error })
    }

    /// Whether libdaos has released the slot.
    fn is_over(&self) -> bool {
        self.launched.is_err() || self.ended().load(Ordering::Acquire)
    }

    /// Waits for the end and returns the operation.
    pub(crate) fn wait(self) -> Result<O, Der> {
        let outcome = self.settle();
        let this = ManuallyDrop::new(self);
        if !this.is_over() {
            // The queue is broken, and libdaos may still write to the slot, so it is never freed.
            return Err(outcome.err().unwrap_or(Der(DER_MISC)));
        }
        // SAFETY: taken out once: `this` is never dropped.
        let container = unsafe { ptr::read(&raw const this.container) };
        // SAFETY: it is over, and this is the only value with the slot, which is not used through `this` any more.
        let slot = unsafe { freed(&container, this.slot) };
        outcome.map(|()| slot.operation)
    }
}

/// Takes the slot of an ended operation and finalises its event. In a child the event is left to the parent.
///
/// # Safety
/// A slot from a box, released by libdaos and not used afterwards.
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
