//! Reading and writing files.

use std::{ffi::c_int, sync::Arc};

use super::{Mounted, Opened, answer, both, done, system};
use crate::{
    abi::{dfs::*, types::*},
    dfs::{Errno, FileSystem, Node, Result},
    export::{fill, many, out, place, vectors},
    objects::arrays::Range,
};

/// An open file and its file system.
type Checked = (Arc<FileSystem>, Arc<Node>);

/// Checks the arguments of a function, then calls it. The call itself reports wrong arguments, and the event does not begin.
fn answer_after<T>(
    event: *mut daos_event_t,
    check: impl FnOnce() -> Result<T>,
    act: impl FnOnce(T) -> Result<()>,
) -> c_int {
    let mut checked = None;
    let number = done(|| {
        checked = Some(check()?);
        Ok(())
    });
    checked.map_or(number, |checked| answer(event, || act(checked)))
}

fn check_read((mounted, opened): (Mounted, Opened), size: *mut u64) -> Result<Checked> {
    let (system, node) = both(mounted, opened)?;
    if size.is_null() {
        return Err(Errno(libc::EINVAL));
    }
    node.check_readable()?;
    Ok((system, node))
}

fn check_write((mounted, opened): (Mounted, Opened)) -> Result<Checked> {
    system(mounted)?.check_writable()?;
    let (system, node) = both(mounted, opened)?;
    node.file()?;
    node.check_writable()?;
    Ok((system, node))
}

/// The ranges of a description.
///
/// # Safety
/// STRUCT, with its LIST of `iod_nr` ranges.
unsafe fn ranges(described: *mut dfs_iod_t) -> Result<Vec<Range>> {
    // SAFETY: STRUCT for `described`.
    let described = unsafe { place(described) }?;
    // SAFETY: LIST for `iod_rgs`, of `iod_nr`.
    let ranges = unsafe { many(described.iod_rgs.cast_const(), described.iod_nr) }?;
    Ok(ranges.iter().map(|range| (range.rg_idx, range.rg_len)).collect())
}

/// The range that vectors cover from an offset on.
fn range(offset: u64, vectors: &[d_iov_t]) -> Range {
    (offset, vectors.iter().fold(0, |sum, vector| sum.saturating_add(vector.iov_len)))
}

/// Reads ranges and reports the number of bytes.
///
/// # Safety
/// OUT for `size`, BUFFER for each vector.
unsafe fn read((system, node): Checked, ranges: &[Range], vectors: &[d_iov_t], size: *mut u64) -> Result<()> {
    // SAFETY: OUT for `size`.
    let size = unsafe { out(size) }?;
    // SAFETY: BUFFER for each vector.
    size.set(unsafe { fill(vectors, |buffers| system.read(&node, ranges, buffers)) }?);
    Ok(())
}

/// Writes ranges.
///
/// # Safety
/// BYTES for each vector.
unsafe fn write((system, node): Checked, ranges: &[Range], vectors: &[d_iov_t]) -> Result<()> {
    // SAFETY: BYTES for each vector, as many as `iov_len` says.
    let all = vectors.iter().map(|vector| unsafe { many(vector.iov_buf.cast::<u8>(), vector.iov_len) });
    system.write(&node, ranges, &all.collect::<crate::runtime::error::Result<Vec<&[u8]>>>()?)
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_read(
    mounted: Mounted,
    opened: Opened,
    list: *mut d_sg_list_t,
    offset: u64,
    size: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    let check = || {
        let checked = check_read((mounted, opened), size)?;
        // SAFETY: STRUCT for `list`.
        Ok((checked, unsafe { vectors(list) }?))
    };
    answer_after(event, check, |(checked, vectors)| {
        // SAFETY: OUT for `size`, which is not null; BUFFER for the vectors.
        unsafe { read(checked, &[range(offset, vectors)], vectors, size) }
    })
}

/// A call without ranges changes neither the buffers nor the size.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_readx(
    mounted: Mounted,
    opened: Opened,
    described: *mut dfs_iod_t,
    list: *mut d_sg_list_t,
    size: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    let check = || {
        let checked = check_read((mounted, opened), size)?;
        // SAFETY: STRUCT for `described`.
        Ok((checked, unsafe { ranges(described) }?))
    };
    answer_after(event, check, |(checked, ranges)| {
        if ranges.is_empty() {
            return Ok(());
        }
        // SAFETY: OUT for `size`, which is not null; STRUCT for `list`, with a BUFFER in each vector.
        unsafe { read(checked, &ranges, vectors(list)?, size) }
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_write(
    mounted: Mounted,
    opened: Opened,
    list: *mut d_sg_list_t,
    offset: u64,
    event: *mut daos_event_t,
) -> c_int {
    let check = || {
        let checked = check_write((mounted, opened))?;
        // SAFETY: STRUCT for `list`.
        Ok((checked, if list.is_null() { &mut [] } else { unsafe { vectors(list) }? }))
    };
    answer_after(event, check, |(checked, vectors)| {
        // SAFETY: BYTES for the vectors.
        unsafe { write(checked, &[range(offset, vectors)], vectors) }
    })
}

/// A call without ranges reads no buffers.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_writex(
    mounted: Mounted,
    opened: Opened,
    described: *mut dfs_iod_t,
    list: *mut d_sg_list_t,
    event: *mut daos_event_t,
) -> c_int {
    let check = || {
        let checked = check_write((mounted, opened))?;
        // SAFETY: STRUCT for `described`.
        Ok((checked, unsafe { ranges(described) }?))
    };
    answer_after(event, check, |(checked, ranges)| {
        if ranges.is_empty() {
            return Ok(());
        }
        // SAFETY: STRUCT for `list`, with BYTES in each vector.
        unsafe { write(checked, &ranges, vectors(list)?) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_get_size(mounted: Mounted, opened: Opened, size: *mut u64) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        // SAFETY: OUT for `size`.
        let size = unsafe { out(size) }?;
        let file = node.file()?;
        size.set(file.array.size(&file.scope)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) extern "C" fn dfs_punch(
    mounted: Mounted,
    opened: Opened,
    offset: u64,
    length: u64,
) -> c_int {
    done(|| {
        let (system, node) = both(mounted, opened)?;
        system.punch(&node, offset, length)
    })
}
