//! Catching what ecCodes would print on standard error.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// Lines kept of one call; the first ones name the cause.
const LINES: usize = 4;

/// What was logged since the last [`clear`]. Calls are made under one lock, so all of it belongs to the call under way.
static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Given to ecCodes as its logging procedure.
pub(super) unsafe extern "C" fn collect(_context: *const c_void, _level: c_int, message: *const c_char) {
    if message.is_null() {
        return;
    }
    // SAFETY: ecCodes passes a C string of its own that lives for the length of this call; null was excluded above.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().trim().to_owned();
    let mut logged = LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    if logged.len() < LINES && !text.is_empty() {
        logged.push(text);
    }
}

pub(super) fn clear() {
    LOGGED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// What was logged, in one line.
pub(super) fn take() -> Option<String> {
    let lines = std::mem::take(&mut *LOGGED.lock().unwrap_or_else(PoisonError::into_inner));
    (!lines.is_empty()).then(|| lines.join("; "))
}
