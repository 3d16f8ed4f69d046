//! Requests of asynchronous operations, which event sets (`H5ES`) hold: one for each transfer that goes on in the [background](crate::background).
//! Other operations are complete when their callback returns, and have none.

use std::{
    ffi::{c_int, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    process,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use crate::{
    abi::{
        Herr, Hid, OptionalArgs, RequestCallback, RequestSpecificArgs, request_specific,
        request_status as status,
    },
    background::Work,
    error::{Error, Result},
    guard,
    library::Library,
    out::put,
};

/// An operation that HDF5 can wait for.
pub(crate) struct Operation {
    state: Mutex<State>,
    changed: Condvar,
    /// The process in which it goes on. In a fork it never ends.
    process: u32,
}

impl Default for Operation {
    fn default() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), process: process::id() }
    }
}

#[derive(Default)]
enum State {
    #[default]
    Waiting,
    Canceled,
    Running,
    Ended {
        outcome: Result<(), String>,
        began: SystemTime,
        took: Duration,
    },
}

impl State {
    /// `H5VL_REQUEST_STATUS_*`.
    fn status(&self) -> c_int {
        match self {
            Self::Waiting | Self::Running => status::IN_PROGRESS,
            Self::Canceled => status::CANCELED,
            Self::Ended { outcome: Ok(()), .. } => status::SUCCEED,
            Self::Ended { outcome: Err(_), .. } => status::FAIL,
        }
    }
}

impl Operation {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does its work, unless it was cancelled.
    pub(crate) fn run(&self, work: Work) {
        if !self.begin() {
            return;
        }
        let (began, clock) = (SystemTime::now(), Instant::now());
        let outcome = catch_unwind(AssertUnwindSafe(work.act));
        let outcome = outcome.unwrap_or_else(|_| Err(guard::PANICKED.to_string_lossy().into_owned()));
        if let (Err(why), true) = (&outcome, work.writes) {
            work.file.file().note_failure(why.clone());
        }
        drop(work.file);
        *self.state() = State::Ended { outcome, began, took: clock.elapsed() };
        self.changed.notify_all();
    }

    /// Marks it as running. False if it was cancelled.
    fn begin(&self) -> bool {
        let mut state = self.state();
        let is_wanted = !matches!(*state, State::Canceled);
        if is_wanted {
            *state = State::Running;
        }
        is_wanted
    }

    /// Waits until it has ended, but no longer than this. Returns its status.
    fn wait(&self, nanoseconds: u64) -> c_int {
        if self.process != process::id() {
            // What has not ended before the fork never will.
            let state = self.state.try_lock().ok().map(|state| state.status());
            return state.filter(|state| *state != status::IN_PROGRESS).unwrap_or(status::FAIL);
        }
        let goes_on = |state: &mut State| state.status() == status::IN_PROGRESS;
        let limit = Duration::from_nanos(nanoseconds);
        let waited = self.changed.wait_timeout_while(self.state(), limit, goes_on);
        waited.unwrap_or_else(PoisonError::into_inner).0.status()
    }

    /// Keeps it from being done, if it has not begun. Returns its status.
    fn cancel(&self) -> c_int {
        let mut state = self.state();
        match *state {
            State::Waiting => *state = State::Canceled,
            State::Running => return status::CANT_CANCEL,
            State::Canceled | State::Ended { .. } => {}
        }
        state.status()
    }

    /// What HDF5 holds; [`free`] ends it.
    pub(crate) fn into_request(self: Arc<Self>) -> *mut c_void {
        Arc::into_raw(self).cast_mut().cast()
    }
}

/// The operation behind a request.
///
/// # Safety
/// The pointer is null, or comes from [`Operation::into_request`] and is not freed.
unsafe fn operation<'a>(request: *mut c_void) -> Result<&'a Operation> {
    // SAFETY: the caller's promise; what changes in an operation is behind a lock.
    unsafe { request.cast::<Operation>().as_ref() }.ok_or_else(|| Error::argument("no request was given"))
}

/// Waits for a time.
pub(crate) unsafe fn wait(
    _: &'static Library,
    request: *mut c_void,
    nanoseconds: u64,
    status: *mut c_int,
) -> Result<Herr> {
    // SAFETY: HDF5 passes a request of this connector and a place for the status.
    unsafe { put(status, operation(request)?.wait(nanoseconds)) };
    Ok(0)
}

/// Calls back when the operation has ended: in this thread, since a program's function may call HDF5.
pub(crate) unsafe fn notify(
    _: &'static Library,
    request: *mut c_void,
    call: Option<RequestCallback>,
    context: *mut c_void,
) -> Result<Herr> {
    // SAFETY: HDF5 passes a request of this connector.
    let status = unsafe { operation(request) }?.wait(u64::MAX);
    // SAFETY: HDF5 passes its own function with its own context.
    Ok(call.map_or(0, |call| unsafe { call(context, status) }))
}

/// Cancels the operation if it has not begun.
pub(crate) unsafe fn cancel(_: &'static Library, request: *mut c_void, status: *mut c_int) -> Result<Herr> {
    // SAFETY: HDF5 passes a request of this connector and a place for the status.
    unsafe { put(status, operation(request)?.cancel()) };
    Ok(0)
}

/// Tells why the operation failed, and when it was done.
pub(crate) unsafe fn specific(
    library: &'static Library,
    request: *mut c_void,
    arguments: *mut RequestSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes a request of this connector and the arguments.
    let (operation, arguments) =
        unsafe { (operation(request)?, arguments.as_mut().ok_or_else(|| Error::argument("no arguments"))?) };
    match arguments.op {
        request_specific::GET_ERR_STACK => {
            arguments.args.id = error_stack(library, operation);
        }
        request_specific::GET_EXEC_TIME => {
            let (began, took) = match *operation.state() {
                State::Ended { began, took, .. } => (began, took),
                _ => return Err(Error::argument("the operation has not ended")),
            };
            let began = began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            // SAFETY: the number says which member of the union is set, and HDF5 passes places for both times.
            unsafe {
                put(arguments.args.times.start, began.as_nanos() as u64);
                put(arguments.args.times.duration, took.as_nanos() as u64);
            }
        }
        other => return Err(Error::unsupported(format!("request {other} about a request"))),
    }
    Ok(0)
}

/// A new error stack with the error of an operation, or an empty one.
fn error_stack(library: &'static Library, operation: &Operation) -> Hid {
    if let State::Ended { outcome: Err(error), .. } = &*operation.state() {
        guard::push(library, library.H5E_CANTGET_g(), error);
    }
    library.H5Eget_current_stack()
}

/// There are no operations of others on requests.
pub(crate) unsafe fn optional(_: &'static Library, _: *mut c_void, _: *mut OptionalArgs) -> Result<Herr> {
    Err(Error::unsupported("optional operations on requests"))
}

/// Frees a request.
pub(crate) unsafe fn free(_: &'static Library, request: *mut c_void) -> Result<Herr> {
    if !request.is_null() {
        // SAFETY: HDF5 passes a request of this connector, and frees it once.
        drop(unsafe { Arc::from_raw(request.cast::<Operation>().cast_const()) });
    }
    Ok(0)
}
