//! Lists of server processes, which programs read from text to name a pool's service.

use std::ptr;

use super::{Text, copied};
use crate::abi::info::d_rank_list_t;

/// The numbers in a text, between separators.
fn ranks(text: &str, separators: &str) -> Option<Vec<u32>> {
    let parts = text.split(|c| separators.contains(c)).filter(|part| !part.is_empty());
    parts.map(|part| part.trim().parse().ok()).collect()
}

/// Returns null for a text with anything but numbers.
#[unsafe(no_mangle)]
extern "C" fn daos_rank_list_parse(list: Text, separators: Text) -> *mut d_rank_list_t {
    let texts = list.text().and_then(|list| Ok((list, separators.text()?)));
    let ranks = texts.ok().and_then(|(list, separators)| ranks(list, separators)).unwrap_or_default();
    let bytes: Vec<u8> = ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect();
    if bytes.is_empty() {
        return ptr::null_mut();
    }
    let Ok(numbers) = copied(&bytes) else { return ptr::null_mut() };
    // SAFETY: `malloc` takes any number.
    let made: *mut d_rank_list_t = unsafe { libc::malloc(size_of::<d_rank_list_t>()) }.cast();
    // SAFETY: `made` is null or was allocated just now for such a structure; `numbers` is of this function.
    unsafe {
        match made.is_null() {
            true => libc::free(numbers.cast()),
            false => made.write(d_rank_list_t { rl_ranks: numbers.cast(), rl_nr: ranks.len() as u32 }),
        }
    }
    made
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn d_rank_list_free(list: *mut d_rank_list_t) {
    // SAFETY: HEAP for `list`, which is of `daos_rank_list_parse` or `d_rank_list_alloc`, and for its numbers.
    unsafe {
        if let Some(head) = list.as_ref() {
            libc::free(head.rl_ranks.cast());
        }
        libc::free(list.cast());
    }
}
