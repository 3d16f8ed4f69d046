//! Requests.

use std::{
    ffi::{CString, c_char, c_int, c_void},
    ptr,
    sync::LazyLock,
};

use isotach_capi_kit::{CODE_INTERNAL, Failure, c_text};
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
    given_from(texts, |size| {
        // SAFETY: it has no preconditions.
        unsafe { libc::malloc(size) }
    })
}

/// As `given_away`, from an allocator whose memory `free` takes back. All or nothing is given.
fn given_from(texts: &[CString], mut allocate: impl FnMut(usize) -> *mut c_void) -> Result<*mut *mut c_char> {
    // One more than the texts, since memory of no size may be null.
    let array: *mut *mut c_char = allocate((texts.len() + 1) * size_of::<*mut c_char>()).cast();
    if array.is_null() {
        return Err(no_memory());
    }
    for (at, text) in texts.iter().enumerate() {
        let bytes = text.as_bytes_with_nul();
        let copy: *mut c_char = allocate(bytes.len()).cast();
        if copy.is_null() {
            // SAFETY: `array` has `at` texts, which nobody has seen.
            unsafe { free_all(array, at) };
            return Err(no_memory());
        }
        // SAFETY: `copy` is new memory of so many bytes, and `at` is below the length of the array.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr().cast(), copy, bytes.len());
            array.add(at).write(copy);
        }
    }
    Ok(array)
}

/// Frees an array and its first texts.
///
/// # Safety
/// They are of the C library's memory, and nothing uses them afterwards.
unsafe fn free_all(array: *mut *mut c_char, count: usize) {
    for at in 0..count {
        // SAFETY: the caller's promise.
        unsafe { libc::free((*array.add(at)).cast()) };
    }
    // SAFETY: the caller's promise.
    unsafe { libc::free(array.cast()) };
}

fn no_memory() -> Failure {
    Failure { code: CODE_INTERNAL, text: "there is no memory for the values of the request".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn values_are_given_whole_or_not_at_all_where_memory_ends() {
        let texts = [c"0".to_owned(), c"6".to_owned()];
        for allocations in 0..3 {
            let mut left = allocations;
            let refused = given_from(&texts, |size| {
                if left == 0 {
                    return ptr::null_mut();
                }
                left -= 1;
                // SAFETY: it has no preconditions.
                unsafe { libc::malloc(size) }
            });
            let failure = refused.unwrap_err();
            assert_eq!(failure.code, "internal", "{allocations} allocations");
            assert!(failure.text.starts_with("there is no memory"), "{}", failure.text);
        }
        let given = given_away(&texts).unwrap();
        // SAFETY: two texts, used by nobody else.
        unsafe {
            assert_eq!(CStr::from_ptr(*given.add(1)), c"6");
            free_all(given, 2);
        }
    }
}
