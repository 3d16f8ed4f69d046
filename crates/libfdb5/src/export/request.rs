//! Requests.

use std::{
    ffi::{CStr, CString, c_char, c_int},
    ptr,
    sync::LazyLock,
};

use isotach_capi_kit::{Failure, c_text};
use isotach_mars::{Request, Schema};

use super::{Handle, Out, Result, Text, export, texts};

/// It says of what type the values of a key are: to expand a request, no store is at hand.
static STANDARD: LazyLock<Schema> = LazyLock::new(Schema::standard);

#[export]
fn fdb_new_request(request: Out<Handle<Request>>) -> Result<()> {
    request.fill("req", || Ok(Request::new()))
}

#[export]
unsafe fn fdb_request_add(
    mut request: Handle<Request>,
    param: Text,
    values: *const Text,
    count: c_int,
) -> Result<()> {
    let (request, name) = (request.get_mut("req")?, param.get("param")?);
    if values.is_null() {
        return Err(Failure::invalid("values is NULL"));
    }
    let count = usize::try_from(count).map_err(|_| Failure::invalid(format!("numValues is {count}")))?;
    // SAFETY: a list of `count` TEXTs.
    let values = unsafe { texts("values", values, count) }?;
    let values = values.iter().flat_map(|value| value.split('/')).filter(|value| !value.is_empty());
    request.set(name, values);
    Ok(())
}

#[export]
fn fdb_request_get(
    request: Handle<Request>,
    param: Text,
    values: Out<*mut *mut c_char>,
    count: Out<usize>,
) -> Result<()> {
    let (request, name) = (request.get("req")?, param.get("param")?);
    values.check("values")?;
    count.check("numValues")?;
    let found = request.get(name);
    let found = found.ok_or_else(|| Failure::invalid(format!("the request {request} has no {name}")))?;
    let texts: Vec<CString> = found.iter().map(|value| c_text(value)).collect();
    values.put("values", given_away(&texts)?)?;
    count.put("numValues", texts.len())
}

#[export]
fn fdb_expand_request(mut request: Handle<Request>) -> Result<()> {
    let request = request.get_mut("req")?;
    *request = STANDARD.expanded(request)?;
    Ok(())
}

#[export]
fn fdb_delete_request(request: Handle<Request>) -> Result<()> {
    request.take("req").map(drop)
}

/// An array of texts of the C library's memory, each of which the caller frees.
fn given_away(texts: &[CString]) -> Result<*mut *mut c_char> {
    // SAFETY: it has no preconditions. One more than the texts, since none could give no array.
    let array: *mut *mut c_char = unsafe { libc::calloc(texts.len() + 1, size_of::<*mut c_char>()) }.cast();
    if array.is_null() {
        return Err(no_memory());
    }
    for (at, text) in texts.iter().enumerate() {
        // SAFETY: `at` is below the length of the array.
        unsafe { array.add(at).write(copied(text)) };
    }
    Ok(array)
}

fn copied(text: &CStr) -> *mut c_char {
    let bytes = text.to_bytes_with_nul();
    // SAFETY: it has no preconditions.
    let copy: *mut c_char = unsafe { libc::malloc(bytes.len()) }.cast();
    if !copy.is_null() {
        // SAFETY: `copy` is new memory of so many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().cast(), copy, bytes.len()) };
    }
    copy
}

fn no_memory() -> Failure {
    Failure::invalid("there is no memory for the values")
}
