//! One message opened by ecCodes.

use std::ffi::{CStr, CString, c_char, c_double, c_long, c_void};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::Refusal;
use super::api::{Api, Functions, RawHandle, RawKeys, Turn};

/// Longer than any value of the MARS namespace. ecCodes refuses to write more than the given length.
const TEXT_BYTES_MAX: usize = 1024;

/// A handle over a message: one of ecCodes' own memory (`'static`), or over bytes that live for `'m`.
pub(crate) struct Handle<'m> {
    api: &'static Api,
    raw: NonNull<c_void>,
    _message: PhantomData<&'m [u8]>,
}

// SAFETY: ecCodes ties a handle to no thread, and every use of one is made under the lock of `Api`.
unsafe impl Send for Handle<'_> {}

impl<'m> Handle<'m> {
    /// Opens a message without copying it. The handle must not be modified.
    pub(crate) fn borrow(api: &'static Api, message: &'m [u8]) -> Result<Self, Refusal> {
        let turn = api.turn();
        // SAFETY: pointer and length are those of a slice, which outlives the handle by the lifetime `'m`.
        let raw = unsafe {
            (turn.functions.codes_handle_new_from_message)(
                ptr::null_mut(),
                message.as_ptr().cast(),
                message.len(),
            )
        };
        Ok(Self { api, raw: turn.made(raw)?, _message: PhantomData })
    }

    /// The keys and values of a namespace whose names `admit` takes, in ecCodes' order.
    pub(crate) fn namespace(
        &self,
        name: &CStr,
        admit: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, String)>, Refusal> {
        let turn = self.api.turn();
        let keys = Keys::new(&turn, self.raw, name)?;
        let mut pairs = Vec::new();
        while keys.next() {
            let name = keys.name();
            if admit(&name) {
                pairs.push((name, keys.value()?));
            }
        }
        Ok(pairs)
    }

    /// A key's value as text.
    pub(crate) fn string(&self, key: &CStr) -> Result<String, Refusal> {
        let turn = self.api.turn();
        // SAFETY: handle and key are alive, and `text` passes a buffer of the length it states.
        text(&turn, |buffer, length| unsafe {
            (turn.functions.codes_get_string)(self.raw.as_ptr(), key.as_ptr(), buffer, length)
        })
    }

    pub(crate) fn long(&self, key: &CStr) -> Result<i64, Refusal> {
        let turn = self.api.turn();
        let mut value: c_long = 0;
        // SAFETY: handle, key and `value` are alive.
        let status =
            unsafe { (turn.functions.codes_get_long)(self.raw.as_ptr(), key.as_ptr(), &raw mut value) };
        turn.check(status).map(|()| value)
    }

    pub(crate) fn double(&self, key: &CStr) -> Result<f64, Refusal> {
        let turn = self.api.turn();
        let mut value: c_double = 0.0;
        // SAFETY: handle, key and `value` are alive.
        let status =
            unsafe { (turn.functions.codes_get_double)(self.raw.as_ptr(), key.as_ptr(), &raw mut value) };
        turn.check(status).map(|()| value)
    }

    /// How many values a key holds. It comes from the header and need not be believed.
    pub(crate) fn size(&self, key: &CStr) -> Result<usize, Refusal> {
        let turn = self.api.turn();
        let mut size = 0;
        // SAFETY: handle, key and `size` are alive.
        let status =
            unsafe { (turn.functions.codes_get_size)(self.raw.as_ptr(), key.as_ptr(), &raw mut size) };
        turn.check(status).map(|()| size)
    }

    /// Reads a key's values into `values` and says how many there are.
    pub(crate) fn doubles(&self, key: &CStr, values: &mut [f64]) -> Result<usize, Refusal> {
        let turn = self.api.turn();
        let mut length = values.len();
        // SAFETY: `length` is the length of `values`, and ecCodes refuses if it needs more.
        let status = unsafe {
            (turn.functions.codes_get_double_array)(
                self.raw.as_ptr(),
                key.as_ptr(),
                values.as_mut_ptr(),
                &raw mut length,
            )
        };
        turn.check(status).map(|()| length)
    }
}

impl Handle<'static> {
    /// Opens a copy of a message.
    pub(crate) fn copy(api: &'static Api, message: &[u8]) -> Result<Self, Refusal> {
        let turn = api.turn();
        // SAFETY: pointer and length are those of a slice, which ecCodes copies before it returns.
        let raw = unsafe {
            (turn.functions.codes_handle_new_from_message_copy)(
                ptr::null_mut(),
                message.as_ptr().cast(),
                message.len(),
            )
        };
        Ok(Self { api, raw: turn.made(raw)?, _message: PhantomData })
    }

    /// Opens one of the messages that come with ecCodes.
    pub(crate) fn sample(api: &'static Api, name: &CStr) -> Result<Self, Refusal> {
        let turn = api.turn();
        // SAFETY: the name is a C string.
        let raw =
            unsafe { (turn.functions.codes_grib_handle_new_from_samples)(ptr::null_mut(), name.as_ptr()) };
        Ok(Self { api, raw: turn.made(raw)?, _message: PhantomData })
    }

    pub(crate) fn set_long(&mut self, key: &CStr, value: i64) -> Result<(), Refusal> {
        self.set(|functions, raw| {
            // SAFETY: handle and key are alive, and the handle's memory is ecCodes' own.
            unsafe { (functions.codes_set_long)(raw, key.as_ptr(), value) }
        })
    }

    pub(crate) fn set_double(&mut self, key: &CStr, value: f64) -> Result<(), Refusal> {
        self.set(|functions, raw| {
            // SAFETY: handle and key are alive, and the handle's memory is ecCodes' own.
            unsafe { (functions.codes_set_double)(raw, key.as_ptr(), value) }
        })
    }

    pub(crate) fn set_string(&mut self, key: &CStr, value: &str) -> Result<(), Refusal> {
        let value = CString::new(value)
            .map_err(|_| Refusal { reason: "The text holds a byte of value zero".to_owned() })?;
        let mut length = value.as_bytes().len();
        self.set(|functions, raw| {
            // SAFETY: handle, key and value are alive, `length` is the value's, the handle's memory is ecCodes' own.
            unsafe { (functions.codes_set_string)(raw, key.as_ptr(), value.as_ptr(), &raw mut length) }
        })
    }

    pub(crate) fn set_doubles(&mut self, key: &CStr, values: &[f64]) -> Result<(), Refusal> {
        self.set(|functions, raw| {
            // SAFETY: pointer and length are those of a slice; the handle's memory is ecCodes' own.
            unsafe { (functions.codes_set_double_array)(raw, key.as_ptr(), values.as_ptr(), values.len()) }
        })
    }

    fn set(&mut self, call: impl FnOnce(&Functions, RawHandle) -> i32) -> Result<(), Refusal> {
        let turn = self.api.turn();
        turn.check(call(turn.functions, self.raw.as_ptr()))
    }

    /// A copy of the message as it stands.
    pub(crate) fn message(&self) -> Result<Vec<u8>, Refusal> {
        let turn = self.api.turn();
        let (mut start, mut length) = (ptr::null(), 0);
        // SAFETY: handle and both results are alive.
        let status =
            unsafe { (turn.functions.codes_get_message)(self.raw.as_ptr(), &raw mut start, &raw mut length) };
        turn.check(status)?;
        if start.is_null() {
            return Err(turn.refusal("The handle holds no message"));
        }
        // SAFETY: not null; ecCodes says that `length` bytes are there, and they stay while the lock is held.
        Ok(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) }.to_vec())
    }

    /// Latitudes, longitudes and values of all points, into three slices of one length.
    ///
    /// The caller has checked that the length is what `values` and `numberOfDataPoints` both say; ecCodes writes as many.
    pub(crate) fn points(
        &self,
        lats: &mut [f64],
        lons: &mut [f64],
        values: &mut [f64],
    ) -> Result<(), Refusal> {
        for key in [c"values", c"numberOfDataPoints"] {
            let count = if key == c"values" { self.size(key)? } else { as_size(self.long(key)?) };
            if [lats.len(), lons.len(), values.len()] != [count; 3] {
                return Err(Refusal {
                    reason: "The message contradicts itself on the number of points".to_owned(),
                });
            }
        }
        let turn = self.api.turn();
        // SAFETY: ecCodes writes as many values to each as the message has points, which is their length.
        let status = unsafe {
            (turn.functions.codes_grib_get_data)(
                self.raw.as_ptr(),
                lats.as_mut_ptr(),
                lons.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        turn.check(status)
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        let turn = self.api.turn();
        // SAFETY: the handle is alive and nothing uses it after this. The status could only say that it was null.
        unsafe { (turn.functions.codes_handle_delete)(self.raw.as_ptr()) };
    }
}

/// An iterator over a namespace, freed on drop. Lives within one turn.
struct Keys<'t, 'a> {
    turn: &'t Turn<'a>,
    raw: RawKeys,
}

impl<'t, 'a> Keys<'t, 'a> {
    fn new(turn: &'t Turn<'a>, handle: NonNull<c_void>, name: &CStr) -> Result<Self, Refusal> {
        // SAFETY: handle and name are alive.
        let raw = unsafe { (turn.functions.codes_keys_iterator_new)(handle.as_ptr(), 0, name.as_ptr()) };
        if raw.is_null() {
            return Err(turn.refusal("No keys to go through"));
        }
        Ok(Self { turn, raw })
    }

    fn next(&self) -> bool {
        // SAFETY: the iterator is alive.
        unsafe { (self.turn.functions.codes_keys_iterator_next)(self.raw) == 1 }
    }

    fn name(&self) -> String {
        // SAFETY: the iterator is alive and stands on a key, because `next` said so.
        let name = unsafe { (self.turn.functions.codes_keys_iterator_get_name)(self.raw) };
        if name.is_null() {
            return String::new();
        }
        // SAFETY: not null; a C string that lives until the iterator moves.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    fn value(&self) -> Result<String, Refusal> {
        // SAFETY: the iterator stands on a key, and `text` passes a buffer of the length it states.
        text(self.turn, |buffer, length| unsafe {
            (self.turn.functions.codes_keys_iterator_get_string)(self.raw, buffer, length)
        })
    }
}

impl Drop for Keys<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: the iterator is alive and nothing uses it after this.
        unsafe { (self.turn.functions.codes_keys_iterator_delete)(self.raw) };
    }
}

/// Calls `get` with a buffer and its length, and converts what it wrote to text.
fn text(turn: &Turn<'_>, get: impl FnOnce(*mut c_char, *mut usize) -> i32) -> Result<String, Refusal> {
    let mut buffer = [0_u8; TEXT_BYTES_MAX];
    let mut length = TEXT_BYTES_MAX - 1;
    turn.check(get(buffer.as_mut_ptr().cast(), &raw mut length))?;
    // The last byte was not offered, so there is a zero in any case.
    let value = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
    Ok(value.to_string_lossy().into_owned())
}

fn as_size(value: i64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
