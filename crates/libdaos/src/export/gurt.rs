//! Memory, lists of buffers and of server processes, and times, as libgurt has them.
//!
//! Memory is of the C library: programs may free it by `free`, and these functions free memory of `malloc`.

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

use super::{InOut, Out, Text, export};
use crate::{
    abi::{errors::*, info::d_rank_list_t, types::*},
    runtime::error::{Der, Result},
    transactions::epochs,
};

const NANOSECONDS: u64 = 1_000_000_000;
/// Parts of a nanosecond that a unit of an epoch is.
const PARTS: u64 = 16;

#[export]
fn d_calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: `calloc` takes any numbers.
    unsafe { libc::calloc(count, size) }
}

#[export]
fn d_malloc(size: usize) -> *mut c_void {
    // SAFETY: `malloc` takes any number.
    unsafe { libc::malloc(size) }
}

#[export]
unsafe fn d_realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: HEAP for `memory`.
    unsafe { libc::realloc(memory, size) }
}

#[export]
unsafe fn d_free(memory: *mut c_void) {
    // SAFETY: HEAP for `memory`.
    unsafe { libc::free(memory) };
}

#[export]
unsafe fn d_strndup(text: *const c_char, most: usize) -> *mut c_char {
    // SAFETY: BYTES for `text`, up to the first NUL or `most`.
    unsafe { libc::strndup(text, most) }
}

#[export]
fn d_aligned_alloc(alignment: usize, size: usize, is_zeroed: bool) -> *mut c_void {
    let mut memory = ptr::null_mut();
    // SAFETY: `memory` is of this function; a wrong alignment is refused.
    if unsafe { libc::posix_memalign(&raw mut memory, alignment.max(size_of::<usize>()), size) } != 0 {
        return ptr::null_mut();
    }
    if is_zeroed {
        // SAFETY: `memory` was allocated just now with `size` bytes.
        unsafe { memory.cast::<u8>().write_bytes(0, size) };
    }
    memory
}

#[export]
unsafe fn d_realpath(path: *const c_char, resolved: *mut c_char) -> *mut c_char {
    // SAFETY: STRING for `path`; BUFFER for `resolved`, of `PATH_MAX` bytes.
    unsafe { libc::realpath(path, resolved) }
}

/// Whether an environment variable is set to a value other than the number 0.
#[export]
fn d_getenv_bool(name: Text, value: Out<bool>) -> Result<()> {
    let (name, value) = (name.text()?, value.place()?);
    let given = std::env::var_os(name).ok_or(Der(DER_NONEXIST))?;
    let is_zero = given.to_str().is_some_and(|given| given.trim_start().parse() == Ok(0_i64));
    value.set(!is_zero);
    Ok(())
}

/// A list with space for `count` buffers, without the buffers.
#[export]
fn daos_sgl_init(list: Out<d_sg_list_t>, count: u32) -> Result<()> {
    let list = list.place()?;
    let vectors = match count {
        0 => ptr::null_mut(),
        count => d_calloc(count as usize, size_of::<d_iov_t>()).cast::<d_iov_t>(),
    };
    if count > 0 && vectors.is_null() {
        return Err(Der(DER_NOMEM));
    }
    list.set(d_sg_list_t { sg_nr: count, sg_nr_out: 0, sg_iovs: vectors });
    Ok(())
}

/// Frees a list of `daos_sgl_init`, on request with its buffers.
#[export]
unsafe fn daos_sgl_fini(list: InOut<d_sg_list_t>, with_buffers: bool) -> c_int {
    let Some(list) = list.or_none() else { return 0 };
    if list.sg_iovs.is_null() {
        return 0;
    }
    // SAFETY: LIST for `sg_iovs`, of `sg_nr`; HEAP for that list, and for the buffers in it if `with_buffers`.
    unsafe {
        for at in (0..list.sg_nr as usize).filter(|_| with_buffers) {
            libc::free((*list.sg_iovs.add(at)).iov_buf);
        }
        libc::free(list.sg_iovs.cast());
    }
    *list = d_sg_list_t { sg_nr: 0, sg_nr_out: 0, sg_iovs: ptr::null_mut() };
    0
}

/// A list of the processes 0, 1 and so on.
#[export]
fn d_rank_list_alloc(count: u32) -> *mut d_rank_list_t {
    let list: *mut d_rank_list_t = d_calloc(1, size_of::<d_rank_list_t>()).cast();
    if list.is_null() || count == 0 {
        return list;
    }
    let ranks: *mut u32 = d_calloc(count as usize, size_of::<u32>()).cast();
    // SAFETY: `list` and `ranks` were allocated just now, for one structure and for `count` numbers.
    unsafe {
        if ranks.is_null() {
            libc::free(list.cast());
            return ptr::null_mut();
        }
        (0..count).for_each(|rank| ranks.add(rank as usize).write(rank));
        list.write(d_rank_list_t { rl_ranks: ranks, rl_nr: count });
    }
    list
}

/// The numbers in a text, between separators.
fn ranks(text: &str, separators: &str) -> Option<Vec<u32>> {
    let parts = text.split(|c| separators.contains(c)).filter(|part| !part.is_empty());
    parts.map(|part| part.trim().parse().ok()).collect()
}

/// Returns null for a text with anything but numbers.
#[export]
fn daos_rank_list_parse(list: Text, separators: Text) -> *mut d_rank_list_t {
    let texts = list.text().and_then(|list| Ok((list, separators.text()?)));
    let found = texts.ok().and_then(|(list, separators)| ranks(list, separators)).unwrap_or_default();
    if found.is_empty() {
        return ptr::null_mut();
    }
    let made = d_rank_list_alloc(found.len() as u32);
    // SAFETY: `made` is null or was allocated just now, for as many numbers as `found` has.
    unsafe {
        if let Some(head) = made.as_ref() {
            ptr::copy_nonoverlapping(found.as_ptr(), head.rl_ranks, found.len());
        }
    }
    made
}

#[export]
pub(super) unsafe fn d_rank_list_free(list: *mut d_rank_list_t) {
    // SAFETY: HEAP for `list`, which is of `d_rank_list_alloc`, and for its numbers.
    unsafe {
        if let Some(head) = list.as_ref() {
            libc::free(head.rl_ranks.cast());
        }
        libc::free(list.cast());
    }
}

/// The present time as an epoch.
#[export]
fn d_hlc_get() -> u64 {
    epochs::next()
}

#[export]
fn d_hlc2nsec(epoch: u64) -> u64 {
    epoch / PARTS
}

#[export]
fn d_nsec2hlc(nanoseconds: u64) -> u64 {
    nanoseconds.wrapping_mul(PARTS)
}

#[export]
fn d_hlc2unixnsec(epoch: u64) -> u64 {
    epoch / PARTS + epochs::BEGIN * NANOSECONDS
}

/// Returns 0 for a time that no epoch can represent.
#[export]
fn d_unixnsec2hlc(nanoseconds: u64) -> u64 {
    let since = nanoseconds.checked_sub(epochs::BEGIN * NANOSECONDS);
    since.and_then(|since| since.checked_mul(PARTS)).unwrap_or(0)
}

#[export(daos_hlc2timespec)]
fn d_hlc2timespec(epoch: u64, time: Out<libc::timespec>) -> Result<()> {
    let unix = d_hlc2unixnsec(epoch);
    let time = time.place()?;
    let (tv_sec, tv_nsec) = ((unix / NANOSECONDS) as i64, (unix % NANOSECONDS) as i64);
    time.set(libc::timespec { tv_sec, tv_nsec });
    Ok(())
}

#[export]
fn d_timespec2hlc(time: libc::timespec, epoch: Out<u64>) -> Result<()> {
    let epoch = epoch.place()?;
    let seconds = (time.tv_sec as u64).wrapping_sub(epochs::BEGIN);
    epoch.set(d_nsec2hlc(seconds.wrapping_mul(NANOSECONDS).wrapping_add(time.tv_nsec as u64)));
    Ok(())
}

#[export]
fn daos_hlc2timestamp(epoch: u64, seconds: Out<libc::time_t>) -> Result<()> {
    seconds.fill(|| Ok((d_hlc2unixnsec(epoch) / NANOSECONDS) as i64))
}
