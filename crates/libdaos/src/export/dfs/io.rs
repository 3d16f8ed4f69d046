//! Reading and writing files.

use std::{ffi::c_int, ptr, sync::Arc};

use super::{Event, InOut, Mounted, Opened, Out, both, export, system};
use crate::{
    abi::{dfs::*, types::*},
    dfs::{Errno, FileSystem, Node, Result},
    export::{answer, bytes_of, fill, many},
    objects::arrays::Range,
};

/// An open file and its file system.
type Checked = (Arc<FileSystem>, Arc<Node>);

/// Checks the arguments of a function, then calls it. The call itself reports wrong arguments, and the event does not begin.
fn answer_after<T>(
    event: Event,
    check: impl FnOnce() -> Result<T>,
    act: impl FnOnce(T) -> Result<()>,
) -> c_int {
    let mut checked = None;
    let number = answer(ptr::null_mut(), || -> Result<()> {
        checked = Some(check()?);
        Ok(())
    });
    checked.map_or(number, |checked| answer(event, || act(checked)))
}

fn check_read((mounted, opened): (Mounted, Opened), has_size: bool) -> Result<Checked> {
    let (system, node) = both(mounted, opened)?;
    if !has_size {
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

impl InOut<'_, dfs_iod_t> {
    /// The ranges of a description.
    fn ranges(self) -> Result<Vec<Range>> {
        let described = self.get()?;
        // SAFETY: STRUCT for the description by the type of the parameter, so LIST for `iod_rgs`, of `iod_nr`.
        let ranges = unsafe { many(described.iod_rgs.cast_const(), described.iod_nr) }?;
        Ok(ranges.iter().map(|range| (range.rg_idx, range.rg_len)).collect())
    }
}

/// The range that vectors cover from an offset on.
fn range(offset: u64, vectors: &[d_iov_t]) -> Range {
    (offset, vectors.iter().fold(0, |sum, vector| sum.saturating_add(vector.iov_len)))
}

/// Reads ranges and reports the number of bytes.
///
/// # Safety
/// BUFFER for each vector.
unsafe fn read((system, node): Checked, ranges: &[Range], vectors: &[d_iov_t], size: Out<u64>) -> Result<()> {
    // SAFETY: BUFFER for each vector.
    size.fill(|| unsafe { fill(vectors, |buffers| system.read(&node, ranges, buffers)) })
}

/// Writes ranges.
///
/// # Safety
/// BYTES for each vector.
unsafe fn write((system, node): Checked, ranges: &[Range], vectors: &[d_iov_t]) -> Result<()> {
    // SAFETY: BYTES for each vector.
    system.write(&node, ranges, &unsafe { bytes_of(vectors) }?)
}

#[export]
pub(super) unsafe fn dfs_read(
    mounted: Mounted,
    opened: Opened,
    list: InOut<d_sg_list_t>,
    offset: u64,
    size: Out<u64>,
    event: Event,
) -> c_int {
    let has_size = !size.is_null();
    let check = || Ok((check_read((mounted, opened), has_size)?, list.vectors()?));
    answer_after(event, check, |(checked, vectors)| {
        // SAFETY: BUFFER for the vectors.
        unsafe { read(checked, &[range(offset, vectors)], vectors, size) }
    })
}

/// A call without ranges changes neither the buffers nor the size.
#[export]
unsafe fn dfs_readx(
    mounted: Mounted,
    opened: Opened,
    described: InOut<dfs_iod_t>,
    list: InOut<d_sg_list_t>,
    size: Out<u64>,
    event: Event,
) -> c_int {
    let has_size = !size.is_null();
    let check = || Ok((check_read((mounted, opened), has_size)?, described.ranges()?));
    answer_after(event, check, |(checked, ranges)| match ranges.is_empty() {
        true => Ok(()),
        // SAFETY: BUFFER for the vectors of `list`.
        false => unsafe { read(checked, &ranges, list.vectors()?, size) },
    })
}

#[export]
pub(super) unsafe fn dfs_write(
    mounted: Mounted,
    opened: Opened,
    list: InOut<d_sg_list_t>,
    offset: u64,
    event: Event,
) -> c_int {
    let check = || {
        let checked = check_write((mounted, opened))?;
        Ok((checked, if list.is_null() { &mut [] } else { list.vectors()? }))
    };
    answer_after(event, check, |(checked, vectors)| {
        // SAFETY: BYTES for the vectors.
        unsafe { write(checked, &[range(offset, vectors)], vectors) }
    })
}

/// A call without ranges reads no buffers.
#[export]
unsafe fn dfs_writex(
    mounted: Mounted,
    opened: Opened,
    described: InOut<dfs_iod_t>,
    list: InOut<d_sg_list_t>,
    event: Event,
) -> c_int {
    let check = || Ok((check_write((mounted, opened))?, described.ranges()?));
    answer_after(event, check, |(checked, ranges)| match ranges.is_empty() {
        true => Ok(()),
        // SAFETY: BYTES for the vectors of `list`.
        false => unsafe { write(checked, &ranges, list.vectors()?) },
    })
}

#[export]
fn dfs_get_size(mounted: Mounted, opened: Opened, size: Out<u64>) -> Result<()> {
    let (_, node) = both(mounted, opened)?;
    size.fill(|| {
        let file = node.file()?;
        Ok(file.array.size(&file.scope)?)
    })
}

#[export]
fn dfs_punch(mounted: Mounted, opened: Opened, offset: u64, length: u64) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    system.punch(&node, offset, length)
}
