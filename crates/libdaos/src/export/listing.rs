//! Listing keys into the caller's buffers.

use std::ptr;

use isotach_object::{Anchor, Page};

use super::{
    InOut,
    anchors::{pack, unpacked},
    many_mut,
};
use crate::{
    abi::{constants::*, errors::*, types::*},
    runtime::error::{Der, Result, invalid},
};

/// Lists a page of keys for `daos_kv_list` and the like: at most `count`, and as many as fit into the buffers of `list`.
///
/// # Safety
/// LIST for `descriptions`, of `count`; BUFFER for the vectors of `list`.
pub(super) unsafe fn keys(
    count: InOut<u32>,
    descriptions: *mut daos_key_desc_t,
    list: InOut<d_sg_list_t>,
    anchor: InOut<daos_anchor_t>,
    page: impl Fn(&Anchor, usize) -> Result<Page>,
) -> Result<()> {
    let (count, anchor, vectors) = (count.get()?, anchor.get()?, list.vectors()?);
    // SAFETY: LIST for `descriptions`, of `count`.
    let descriptions = unsafe { many_mut(descriptions, (*count).into()) }?;
    if descriptions.is_empty() {
        return invalid("a listing with space for no key");
    }
    if anchor.da_type == DAOS_ANCHOR_TYPE_EOF {
        *count = 0;
        return Ok(());
    }
    let most = descriptions.len();
    *count = 0;
    let capacity: u64 = vectors.iter().map(|vector| vector.iov_buf_len).sum();
    let page = match fitting(most, capacity as usize, &unpacked(anchor)?, page)? {
        Ok(page) => page,
        Err(needed) => {
            descriptions[0].kd_key_len = needed as u64;
            return Err(Der(DER_KEY2BIG));
        }
    };
    let mut bytes = Vec::new();
    for (description, key) in descriptions.iter_mut().zip(page.keys()) {
        *description = daos_key_desc_t { kd_key_len: key.len() as u64, ..Default::default() };
        bytes.extend_from_slice(key);
    }
    vectors.iter_mut().for_each(|vector| vector.iov_len = 0);
    // SAFETY: BUFFER for each of `vectors`.
    unsafe { scatter(0, &bytes, vectors) };
    *count = page.len() as u32;
    pack(page.next(), anchor);
    Ok(())
}

/// A page whose keys together have at most `space` bytes, or the size of the first key if it does not fit. An engine's anchor
/// is that of the end of a page, so a page that does not fit is read again with fewer keys.
pub(super) fn fitting<E>(
    most: usize,
    capacity: usize,
    anchor: &Anchor,
    page: impl Fn(&Anchor, usize) -> std::result::Result<Page, E>,
) -> std::result::Result<std::result::Result<Page, usize>, E> {
    let mut limit = most;
    loop {
        let page = page(anchor, limit)?;
        let mut left = capacity;
        let fit = page
            .keys()
            .take_while(|key| left.checked_sub(key.len()).map(|rest| left = rest).is_some())
            .count();
        let first = page.keys().next().map_or(0, <[u8]>::len);
        match fit {
            _ if fit == page.len() => return Ok(Ok(page)),
            0 => return Ok(Err(first)),
            _ => limit = fit,
        }
    }
}

/// Copies bytes into vectors, one after the other, which are large enough, from a position on. The bytes before it count as filled.
///
/// # Safety
/// BUFFER for each vector.
pub(super) unsafe fn scatter(position: u64, mut bytes: &[u8], vectors: &mut [d_iov_t]) {
    let mut skip = position;
    for vector in vectors {
        let from = skip.min(vector.iov_buf_len);
        skip -= from;
        let (part, rest) = bytes.split_at(((vector.iov_buf_len - from) as usize).min(bytes.len()));
        if part.is_empty() || vector.iov_buf.is_null() {
            continue;
        }
        // SAFETY: BUFFER for the vector, which is not null: `from` is at most `iov_buf_len`.
        let place = unsafe { vector.iov_buf.cast::<u8>().add(from as usize) };
        // SAFETY: BUFFER for the vector: behind `from` there is space for `part`, which is of this library.
        unsafe { ptr::copy_nonoverlapping(part.as_ptr(), place, part.len()) };
        vector.iov_len = vector.iov_len.max(from + part.len() as u64);
        bytes = rest;
    }
}
