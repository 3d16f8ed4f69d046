//! Errors: the text of the last one of this process, and the failure handler.

use std::{
    cell::RefCell,
    ffi::{CString, c_char, c_int, c_void},
    ptr,
    sync::{Mutex, PoisonError},
};

use isotach_capi_kit::{CODE_INTERNAL, Failure, c_text};

use super::{GENERAL_EXCEPTION, UNKNOWN_EXCEPTION, export};

type FailureHandler = unsafe extern "C" fn(*mut c_void, c_int);

/// The handler with its context, as an address.
static HANDLER: Mutex<Option<(FailureHandler, usize)>> = Mutex::new(None);
static LAST: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// The text that this thread was given last: another thread's error must not free it.
    static GIVEN: RefCell<CString> = RefCell::default();
}

/// Keeps the text of a failure, calls the handler, and returns the number.
pub(super) fn record(failure: &Failure) -> c_int {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&failure.text);
    let number = if failure.code == CODE_INTERNAL { UNKNOWN_EXCEPTION } else { GENERAL_EXCEPTION };
    // The handler may call this library, so it is not called under the lock.
    let handler = *HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((handler, context)) = handler {
        // SAFETY: the program gave the handler, of the type in the header, together with this context.
        unsafe { handler(ptr::with_exposed_provenance_mut(context), number) };
    }
    number
}

#[export]
fn fdb_set_failure_handler(
    handler: Option<FailureHandler>,
    context: *mut c_void,
) -> isotach_capi_kit::Result<()> {
    let handler = handler.map(|handler| (handler, context.expose_provenance()));
    *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) = handler;
    Ok(())
}

#[export]
fn fdb_error_string(error: c_int) -> *const c_char {
    let text = match error {
        super::SUCCESS => c"Success",
        super::ITERATION_COMPLETE => c"Iteration complete",
        GENERAL_EXCEPTION | UNKNOWN_EXCEPTION => return last(),
        _ => c"<unknown>",
    };
    text.as_ptr()
}

fn last() -> *const c_char {
    let last = c_text(&LAST.lock().unwrap_or_else(PoisonError::into_inner));
    let given = GIVEN.try_with(|given| {
        let mut given = given.borrow_mut();
        // The same text stays where it is.
        if *given != last {
            *given = last;
        }
        given.as_ptr()
    });
    // A thread that is ending has lost its place for a text.
    given.unwrap_or_else(|_| c"the thread ends".as_ptr())
}
