//! Dataspaces: extents, and selections as runs of elements.

use std::ffi::c_int;

use isotach_hdf5::{Run, Space};

use crate::{
    abi::{
        Hid, RANK_MAX, SELECT_SET, SELECTION_ALL, SELECTION_NONE, SPACE_ALL, SPACE_BLOCK, SPACE_NULL,
        SPACE_PLIST, SPACE_SCALAR, SPACE_SIMPLE,
    },
    error::{Error, Result},
    id::{Id, check, yes},
    library::Library,
};

/// The extent of a space of the program's.
pub(crate) fn extent(library: &Library, space: Hid) -> Result<Space> {
    match library.H5Sget_simple_extent_type(space) {
        SPACE_NULL => Ok(Space::Null),
        SPACE_SCALAR => Ok(Space::Scalar),
        SPACE_SIMPLE => {
            let (mut dims, mut max) = ([0; RANK_MAX], [0; RANK_MAX]);
            // SAFETY: a space has at most as many dimensions as the arrays have room for.
            let rank =
                unsafe { library.H5Sget_simple_extent_dims(space, dims.as_mut_ptr(), max.as_mut_ptr()) };
            let rank = usize::try_from(check(rank, "H5Sget_simple_extent_dims")?).unwrap_or(0).min(RANK_MAX);
            Ok(Space::Simple { dims: dims[..rank].to_vec(), max: max[..rank].to_vec() })
        }
        _ => Err(Error::Library("H5Sget_simple_extent_type")),
    }
}

/// A space of this extent, with all of it selected.
pub(crate) fn create(library: &'static Library, extent: &Space) -> Result<Id> {
    match extent {
        Space::Null => Id::new(library, library.H5Screate(SPACE_NULL), "H5Screate"),
        Space::Scalar => Id::new(library, library.H5Screate(SPACE_SCALAR), "H5Screate"),
        Space::Simple { dims, max } => {
            // SAFETY: both arrays have as many numbers as the rank says.
            let space = unsafe { library.H5Screate_simple(dims.len() as c_int, dims.as_ptr(), max.as_ptr()) };
            Id::new(library, space, "H5Screate_simple")
        }
    }
}

/// The spaces and types of a transfer, as HDF5 passes them.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) memory_type: Hid,
    pub(crate) memory_space: Hid,
    pub(crate) file_space: Hid,
    pub(crate) dxpl: Hid,
}

/// Selected elements, in the order in which they are transferred.
pub(crate) struct Selection {
    pub(crate) runs: Vec<Run>,
    pub(crate) count: u64,
}

impl Selection {
    /// The first `count` elements.
    fn block(count: u64) -> Self {
        let runs = if count == 0 { Vec::new() } else { vec![Run { first: 0, count }] };
        Self { runs, count }
    }
}

/// The elements of a dataset that a transfer is about.
pub(crate) fn in_file(library: &'static Library, space: Hid, extent: &Space) -> Result<Selection> {
    match space {
        SPACE_ALL => Ok(Selection::block(extent.count()?)),
        SPACE_BLOCK => Err(Error::argument("H5S_BLOCK selects nothing in a file")),
        SPACE_PLIST => Err(Error::unsupported("selections of the transfer property list")),
        space => {
            let rank = check(library.H5Sget_simple_extent_ndims(space), "H5Sget_simple_extent_ndims")?;
            if usize::try_from(rank).unwrap_or(0) != extent.dims().len() {
                return Err(Error::argument(
                    "the selection has another number of dimensions than the dataset",
                ));
            }
            if self::extent(library, space)?.dims() == extent.dims() {
                return selected(library, space);
            }
            // The program's space is older than the extent: the places count in the extent of now.
            selected(library, within(library, space, extent)?.raw())
        }
    }
}

/// The selection of a space in another extent of as many dimensions.
pub(crate) fn within(library: &'static Library, space: Hid, extent: &Space) -> Result<Id> {
    let copy = Id::new(library, library.H5Scopy(space), "H5Scopy")?;
    if let Space::Simple { dims, max } = extent {
        // SAFETY: both arrays have as many numbers as the rank says.
        let status = unsafe {
            library.H5Sset_extent_simple(copy.raw(), dims.len() as c_int, dims.as_ptr(), max.as_ptr())
        };
        check(status, "H5Sset_extent_simple")?;
    }
    Ok(copy)
}

/// Selects a box of a space.
pub(crate) fn select_box(library: &Library, space: Hid, start: &[u64], lengths: &[u64]) -> Result<()> {
    let ones = vec![1; start.len()];
    // SAFETY: the arrays have as many numbers as the space has dimensions.
    let status = unsafe {
        let (start, lengths) = (start.as_ptr(), lengths.as_ptr());
        library.H5Sselect_hyperslab(space, SELECT_SET, start, std::ptr::null(), ones.as_ptr(), lengths)
    };
    check(status, "H5Sselect_hyperslab")?;
    Ok(())
}

/// The elements of the program's buffer that a transfer is about.
pub(crate) fn in_memory(
    library: &'static Library,
    space: Hid,
    file_space: Hid,
    in_file: &Selection,
) -> Result<Selection> {
    match space {
        // The buffer then has the extent and the selection of the file's space.
        SPACE_ALL if file_space == SPACE_ALL => Ok(Selection::block(in_file.count)),
        SPACE_ALL => selected(library, file_space),
        SPACE_BLOCK => Ok(Selection::block(in_file.count)),
        SPACE_PLIST => Err(Error::argument("H5S_PLIST selects nothing in memory")),
        space => selected(library, space),
    }
}

/// How many runs are asked for at once.
const RUNS: usize = 1024;

/// The elements that a space selects.
pub(crate) fn selected(library: &'static Library, space: Hid) -> Result<Selection> {
    let count = library.H5Sget_select_npoints(space);
    let count = u64::try_from(count).map_err(|_| Error::Library("H5Sget_select_npoints"))?;
    match library.H5Sget_select_type(space) {
        SELECTION_NONE => return Ok(Selection::block(0)),
        SELECTION_ALL => return Ok(Selection::block(count)),
        _ if count == 0 => return Ok(Selection::block(0)),
        _ => {}
    }
    if !yes(library.H5Sselect_valid(space), "H5Sselect_valid")? {
        return Err(Error::argument("the selection lies outside of the extent"));
    }
    let iterator = Id::new(library, library.H5Ssel_iter_create(space, 1, 0), "H5Ssel_iter_create")?;
    let mut runs: Vec<Run> = Vec::new();
    let mut left = count;
    let (mut first, mut length) = (vec![0_u64; RUNS], vec![0_usize; RUNS]);
    while left > 0 {
        let (mut got, mut elements) = (0, 0);
        // SAFETY: the arrays have room for as many runs as are asked for; `size_t` and `usize` are one.
        let status = unsafe {
            library.H5Ssel_iter_get_seq_list(
                iterator.raw(),
                RUNS,
                usize::try_from(left).unwrap_or(usize::MAX),
                &raw mut got,
                &raw mut elements,
                first.as_mut_ptr(),
                length.as_mut_ptr(),
            )
        };
        check(status, "H5Ssel_iter_get_seq_list")?;
        if elements == 0 {
            return Err(Error::Library("H5Ssel_iter_get_seq_list"));
        }
        for (first, count) in first.iter().zip(&length).take(got) {
            add(&mut runs, Run { first: *first, count: *count as u64 });
        }
        left = left.saturating_sub(elements as u64);
    }
    Ok(Selection { runs, count })
}

/// Adds a run, as part of the last one where it follows it.
pub(crate) fn add(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if last.first + last.count == run.first => last.count += run.count,
        _ => runs.push(run),
    }
}

/// Goes along runs in pieces.
pub(crate) struct Cursor<'a> {
    runs: &'a [Run],
    /// How much of the first run is done.
    done: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(runs: &'a [Run]) -> Self {
        Self { runs, done: 0 }
    }

    /// The next `count` elements, or what is left.
    pub(crate) fn take(&mut self, mut count: u64) -> Vec<Run> {
        let mut taken = Vec::new();
        while count > 0 {
            let Some(run) = self.runs.first() else { break };
            let part = (run.count - self.done).min(count);
            taken.push(Run { first: run.first + self.done, count: part });
            self.done += part;
            count -= part;
            if self.done == run.count {
                self.runs = &self.runs[1..];
                self.done = 0;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, Run, add};

    fn run(first: u64, count: u64) -> Run {
        Run { first, count }
    }

    #[test]
    fn runs_that_touch_become_one() {
        let mut runs = Vec::new();
        for one in [run(0, 2), run(2, 3), run(7, 1)] {
            add(&mut runs, one);
        }
        assert_eq!(runs, [run(0, 5), run(7, 1)]);
    }

    #[test]
    fn a_cursor_cuts_runs_where_a_piece_ends() {
        let runs = [run(0, 5), run(7, 2)];
        let mut cursor = Cursor::new(&runs);
        assert_eq!(cursor.take(3), [run(0, 3)]);
        assert_eq!(cursor.take(3), [run(3, 2), run(7, 1)]);
        assert_eq!(cursor.take(9), [run(8, 1)]);
        assert!(cursor.take(1).is_empty());
    }
}
