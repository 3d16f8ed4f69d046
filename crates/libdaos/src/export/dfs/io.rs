//! Reading and writing files.

use std::ffi::c_int;

use super::{Mounted, Opened, answer, both, done};
use crate::{
    abi::{dfs::*, types::*},
    arrays::Range,
    dfs::Result,
    export::{buffers, many, place, vectors},
};

/// The ranges of a description.
///
/// # Safety
/// As [`place`], for the description and its ranges.
unsafe fn ranges(described: *mut dfs_iod_t) -> Result<Vec<Range>> {
    // SAFETY: as the caller says.
    let described = unsafe { place(described) }?;
    // SAFETY: as the caller says.
    let ranges = unsafe { many(described.iod_rgs.cast_const(), described.iod_nr) }?;
    Ok(ranges.iter().map(|range| (range.rg_idx, range.rg_len)).collect())
}

fn length(vectors: &[d_iov_t]) -> u64 {
    vectors.iter().fold(0, |sum, vector| sum.saturating_add(vector.iov_len))
}

/// Reads ranges, or from an offset on as much as there is room for; how many bytes there were.
///
/// # Safety
/// As [`vectors`], for the list and its buffers.
unsafe fn read(
    (mounted, opened): (Mounted, Opened),
    list: *mut d_sg_list_t,
    size: *mut u64,
    ranges: impl FnOnce(u64) -> Result<Vec<Range>>,
) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    // SAFETY: as the caller says.
    let (vectors, size) = unsafe { (vectors(list)?, place(size)?) };
    let ranges = ranges(length(vectors))?;
    // SAFETY: each vector has room for as many bytes as it says.
    *size = system.read(&node, &ranges, unsafe { buffers(vectors) }?)?;
    Ok(())
}

/// Writes ranges, or from an offset on.
///
/// # Safety
/// As [`vectors`], for the list and its buffers.
unsafe fn write(
    (mounted, opened): (Mounted, Opened),
    list: *mut d_sg_list_t,
    ranges: impl FnOnce(u64) -> Result<Vec<Range>>,
) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    // SAFETY: as the caller says.
    let vectors: &[d_iov_t] = if list.is_null() { &[] } else { unsafe { vectors(list) }? };
    let ranges = ranges(length(vectors))?;
    // SAFETY: each vector has as many bytes as it says.
    let all = vectors.iter().map(|vector| unsafe { many(vector.iov_buf.cast::<u8>(), vector.iov_len) });
    system.write(&node, &ranges, &all.collect::<crate::error::Result<Vec<&[u8]>>>()?)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_read(
    mounted: Mounted,
    opened: Opened,
    list: *mut d_sg_list_t,
    offset: u64,
    size: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: what the caller has for the call.
    answer(event, || unsafe { read((mounted, opened), list, size, |length| Ok(vec![(offset, length)])) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_readx(
    mounted: Mounted,
    opened: Opened,
    described: *mut dfs_iod_t,
    list: *mut d_sg_list_t,
    size: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: what the caller has for the call.
    answer(event, || unsafe { read((mounted, opened), list, size, |_| ranges(described)) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_write(
    mounted: Mounted,
    opened: Opened,
    list: *mut d_sg_list_t,
    offset: u64,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: what the caller has for the call.
    answer(event, || unsafe { write((mounted, opened), list, |length| Ok(vec![(offset, length)])) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_writex(
    mounted: Mounted,
    opened: Opened,
    described: *mut dfs_iod_t,
    list: *mut d_sg_list_t,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: what the caller has for the call.
    answer(event, || unsafe { write((mounted, opened), list, |_| ranges(described)) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_get_size(mounted: Mounted, opened: Opened, size: *mut u64) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        // SAFETY: a place of the caller's.
        let size = unsafe { place(size) }?;
        *size = node.file()?.bytes.size()?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_punch(mounted: Mounted, opened: Opened, offset: u64, length: u64) -> c_int {
    done(|| {
        let (system, node) = both(mounted, opened)?;
        system.punch(&node, offset, length)
    })
}
