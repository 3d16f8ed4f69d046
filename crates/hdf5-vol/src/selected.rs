//! Dataspaces that select what a query has found.

use std::ffi::c_int;

use isotach_hdf5::{Run, Selection, Space};

use crate::{
    abi::Hsize,
    error::Result,
    id::{Id, check},
    library::Library,
    space,
};

/// `H5S_SELECT_SET` and `H5S_SELECT_OR`.
const SET: c_int = 0;
const OR: c_int = 1;
/// How many blocks are added to a space one by one. Each of them is compared with those that are there.
const ONE_BY_ONE: usize = 8;
/// Elements are selected as blocks if they are at least so many times as many.
const IN_BLOCK: u64 = 4;

/// A block of elements: where it starts and how long it is, along each dimension.
struct Block {
    start: Vec<Hsize>,
    count: Vec<Hsize>,
}

/// A space with the extent of the dataset, in which these elements are selected.
pub(crate) fn space(library: &'static Library, selection: &Selection) -> Result<Id> {
    let dims = selection.dims();
    let extent = if dims.is_empty() { Space::Scalar } else { Space::fixed(dims) };
    let empty = || -> Result<Id> {
        let space = space::create(library, &extent)?;
        check(library.H5Sselect_none(space.raw()), "H5Sselect_none")?;
        Ok(space)
    };
    if selection.is_empty() {
        return empty();
    }
    if dims.is_empty() {
        return space::create(library, &extent);
    }
    let blocks: Vec<Block> = selection.runs().iter().flat_map(|run| blocks(dims, *run)).collect();
    if blocks.len() as u64 * IN_BLOCK <= selection.count() || blocks.len() <= ONE_BY_ONE {
        return joined(library, &empty, &blocks);
    }
    let space = empty()?;
    let places = places(selection);
    let count = places.len() / dims.len();
    // SAFETY: there are as many places as said, each with a number for each dimension.
    let status = unsafe { library.H5Sselect_elements(space.raw(), SET, count, places.as_ptr()) };
    check(status, "H5Sselect_elements")?;
    Ok(space)
}

/// The places of all elements, one after the other.
fn places(selection: &Selection) -> Vec<Hsize> {
    let dims = selection.dims();
    let mut places = Vec::with_capacity(selection.count() as usize * dims.len());
    for run in selection.runs() {
        let mut place = selection.place(run.first);
        for _ in 0..run.count {
            places.extend_from_slice(&place);
            for (at, length) in place.iter_mut().zip(dims).rev() {
                *at += 1;
                if *at < *length {
                    break;
                }
                *at = 0;
            }
        }
    }
    places
}

/// A space in which blocks are selected: halves are joined, so that few blocks are compared with many.
fn joined(library: &'static Library, empty: &dyn Fn() -> Result<Id>, blocks: &[Block]) -> Result<Id> {
    if blocks.len() > ONE_BY_ONE {
        let (one, other) = blocks.split_at(blocks.len() / 2);
        let (one, other) = (joined(library, empty, one)?, joined(library, empty, other)?);
        let both = library.H5Scombine_select(one.raw(), OR, other.raw());
        return Id::new(library, both, "H5Scombine_select");
    }
    let space = empty()?;
    for block in blocks {
        let ones = vec![1; block.start.len()];
        // SAFETY: all arrays have a number for each dimension.
        let status = unsafe {
            library.H5Sselect_hyperslab(
                space.raw(),
                OR,
                block.start.as_ptr(),
                ones.as_ptr(),
                ones.as_ptr(),
                block.count.as_ptr(),
            )
        };
        check(status, "H5Sselect_hyperslab")?;
    }
    Ok(space)
}

/// A run as blocks of whole rows, planes and so on, and of parts of them at its ends.
fn blocks(dims: &[Hsize], run: Run) -> Vec<Block> {
    let (mut first, mut left, mut blocks) = (run.first, run.count, Vec::new());
    while left > 0 {
        // The largest whole that begins here.
        let (mut at, mut size) = (dims.len().saturating_sub(1), 1);
        while at > 0 && first % (size * dims[at]) == 0 && left >= size * dims[at] {
            size *= dims[at];
            at -= 1;
        }
        let place = first / size % dims[at];
        let count = (left / size).min(dims[at] - place);
        let (mut start, mut rest) = (vec![0; dims.len()], first / size);
        for (start, length) in start.iter_mut().zip(dims).take(at + 1).rev() {
            (*start, rest) = (rest % length, rest / length);
        }
        let lengths = dims.iter().enumerate().map(|(dimension, length)| {
            if dimension < at {
                1
            } else if dimension == at {
                count
            } else {
                *length
            }
        });
        blocks.push(Block { count: lengths.collect(), start });
        (first, left) = (first + count * size, left - count * size);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_a_run_hold_its_elements_once() {
        let dims = [3, 4, 5];
        for first in 0..60 {
            for count in 1..=60 - first {
                let mut found = Vec::new();
                for block in blocks(&dims, Run { first, count }) {
                    let along = |at: usize| block.start[at]..block.start[at] + block.count[at];
                    for (plane, row) in along(0).flat_map(|plane| along(1).map(move |row| (plane, row))) {
                        found.extend(along(2).map(|column| (plane * 4 + row) * 5 + column));
                    }
                }
                assert_eq!(found, (first..first + count).collect::<Vec<_>>());
            }
        }
        assert_eq!(blocks(&dims, Run { first: 0, count: 60 }).len(), 1);
    }
}
