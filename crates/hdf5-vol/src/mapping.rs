//! One mapping of a virtual dataset: which of its elements are which elements of a source.

use std::{
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use isotach_hdf5::Space;

use crate::{
    abi::{Hid, RANK_MAX, SELECT_AND, SELECT_SET, SELECTION_ALL, SELECTION_HYPERSLABS},
    error::{Error, Result},
    hyperslab::Along,
    id::{Id, check, yes},
    library::Library,
    pairs::Numbered,
    plist,
    space::{self, Selection},
};

/// One mapping.
pub(crate) struct Mapping {
    file: String,
    dataset: String,
    in_virtual: Id,
    in_source: Id,
    pub(crate) growth: Growth,
    /// The elements of the virtual dataset, and the extent that their places are in.
    known: Mutex<Option<(Space, Arc<Numbered>)>>,
}

/// How a mapping grows.
pub(crate) enum Growth {
    /// Not at all.
    Fixed,
    /// Along with its source.
    WithSource { here: Slab, there: Slab },
    /// By one source for each block, whose names have the number of the block.
    ByBlocks(Slab),
}

/// A hyperslab without an end in one dimension.
pub(crate) struct Slab {
    pub(crate) dimension: usize,
    all: Vec<Along>,
}

impl Slab {
    /// The unlimited hyperslab that a space selects, if it does.
    fn of(library: &Library, space: Hid) -> Result<Option<Self>> {
        // What is not regular has an end.
        if library.H5Sget_select_type(space) != SELECTION_HYPERSLABS
            || !yes(library.H5Sis_regular_hyperslab(space), "H5Sis_regular_hyperslab")?
        {
            return Ok(None);
        }
        let rank = check(library.H5Sget_simple_extent_ndims(space), "H5Sget_simple_extent_ndims")?;
        let [mut start, mut stride, mut count, mut block] = [[0; RANK_MAX]; 4];
        // SAFETY: a space has at most as many dimensions as the arrays have room for.
        let status = unsafe {
            library.H5Sget_regular_hyperslab(
                space,
                start.as_mut_ptr(),
                stride.as_mut_ptr(),
                count.as_mut_ptr(),
                block.as_mut_ptr(),
            )
        };
        check(status, "H5Sget_regular_hyperslab")?;
        let all: Vec<Along> = (0..usize::try_from(rank).unwrap_or(0).min(RANK_MAX))
            .map(|at| Along { start: start[at], stride: stride[at], count: count[at], block: block[at] })
            .collect();
        let dimension = all.iter().position(Along::is_unlimited);
        Ok(dimension.map(|dimension| Self { dimension, all }))
    }

    /// The dimension without an end.
    pub(crate) fn along(&self) -> Along {
        self.all[self.dimension]
    }

    /// The selection with another one in its dimension, of which what is beyond `end` is cut off.
    fn select(
        &self,
        library: &'static Library,
        part: Option<Along>,
        end: u64,
        extent: &Space,
    ) -> Result<Selection> {
        let mut slab = self.all.clone();
        let none = Selection { runs: Vec::new(), count: 0 };
        let Some(part) = part else { return Ok(none) };
        slab[self.dimension] = part;
        let mut limits = extent.dims().to_vec();
        if limits.len() != slab.len() {
            return Err(Error::argument("a mapping of another number of dimensions than its dataset"));
        }
        limits[self.dimension] = limits[self.dimension].min(end);
        if limits.contains(&0) || slab.iter().any(|along| along.count == 0 || along.block == 0) {
            return Ok(none);
        }
        let space = space::create(library, extent)?;
        let each = |value: fn(&Along) -> u64| slab.iter().map(value).collect::<Vec<u64>>();
        let (start, stride) = (each(|along| along.start), each(|along| along.stride));
        let (count, block) = (each(|along| along.count), each(|along| along.block));
        // SAFETY: the arrays have as many numbers as the space has dimensions.
        let status = unsafe {
            library.H5Sselect_hyperslab(
                space.raw(),
                SELECT_SET,
                start.as_ptr(),
                stride.as_ptr(),
                count.as_ptr(),
                block.as_ptr(),
            )
        };
        check(status, "H5Sselect_hyperslab")?;
        let (zeros, ones) = (vec![0; limits.len()], vec![1; limits.len()]);
        // SAFETY: as above.
        let status = unsafe {
            library.H5Sselect_hyperslab(
                space.raw(),
                SELECT_AND,
                zeros.as_ptr(),
                ptr::null(),
                ones.as_ptr(),
                limits.as_ptr(),
            )
        };
        check(status, "H5Sselect_hyperslab")?;
        space::selected(library, space.raw())
    }

    /// As much of the selection as has this many places in its dimension.
    pub(crate) fn first(&self, library: &'static Library, places: u64, extent: &Space) -> Result<Numbered> {
        let end = self.along().extent_of(places, false);
        Ok(Numbered::new(&self.select(library, self.along().reaching(end), end, extent)?))
    }

    /// One block of the selection.
    pub(crate) fn nth(&self, library: &'static Library, block: u64, extent: &Space) -> Result<Numbered> {
        Ok(Numbered::new(&self.select(library, self.along().nth(block), u64::MAX, extent)?))
    }
}

impl Mapping {
    /// The mapping with this number of a creation property list.
    pub(crate) fn of(library: &'static Library, dcpl: Hid, index: usize) -> Result<Self> {
        let virtual_space = library.H5Pget_virtual_vspace(dcpl, index);
        let in_virtual = Id::new(library, virtual_space, "H5Pget_virtual_vspace")?;
        let source_space = library.H5Pget_virtual_srcspace(dcpl, index);
        let in_source = Id::new(library, source_space, "H5Pget_virtual_srcspace")?;
        let here = Slab::of(library, in_virtual.raw())?;
        let there = Slab::of(library, in_source.raw())?;
        let growth = match (here, there) {
            (None, None) => Growth::Fixed,
            (Some(here), Some(there)) => Growth::WithSource { here, there },
            (Some(here), None) => Growth::ByBlocks(here),
            (None, Some(_)) => return Err(Error::argument("a mapping without an end of a source only")),
        };
        // SAFETY: the library writes no more bytes than it is told.
        let file = plist::text("H5Pget_virtual_filename", |name, size| unsafe {
            library.H5Pget_virtual_filename(dcpl, index, name, size)
        })?;
        // SAFETY: as above.
        let dataset = plist::text("H5Pget_virtual_dsetname", |name, size| unsafe {
            library.H5Pget_virtual_dsetname(dcpl, index, name, size)
        })?;
        Ok(Self { file, dataset, in_virtual, in_source, growth, known: Mutex::default() })
    }

    /// The names of the source's file and dataset; of the one for this block.
    pub(crate) fn names(&self, block: u64) -> (String, String) {
        (name(&self.file, block), name(&self.dataset, block))
    }

    /// The elements of the virtual dataset that a mapping of fixed size is about.
    pub(crate) fn here(&self, library: &'static Library, extent: &Space) -> Result<Arc<Numbered>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, numbered)) = &*known
            && of == extent
        {
            return Ok(Arc::clone(numbered));
        }
        drop(known);
        let numbered = Arc::new(selected(library, self.in_virtual.raw(), extent)?);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((extent.clone(), Arc::clone(&numbered)));
        Ok(numbered)
    }

    /// The elements of a source of fixed size.
    pub(crate) fn there(&self, library: &'static Library, extent: &Space) -> Result<Numbered> {
        selected(library, self.in_source.raw(), extent)
    }

    /// The lengths that the virtual dataset needs for the mapping. They say nothing in the dimension in which it grows.
    pub(crate) fn needed(&self, library: &Library) -> Vec<u64> {
        let (mut first, mut last) = ([0; RANK_MAX], [0; RANK_MAX]);
        let space = self.in_virtual.raw();
        // SAFETY: a space has at most as many dimensions as the arrays have room for.
        let status = unsafe { library.H5Sget_select_bounds(space, first.as_mut_ptr(), last.as_mut_ptr()) };
        let rank = library.H5Sget_simple_extent_ndims(space);
        // Without a selected element there are no bounds.
        let rank = if status < 0 { 0 } else { usize::try_from(rank).unwrap_or(0).min(RANK_MAX) };
        last[..rank].iter().map(|last| last.saturating_add(1)).collect()
    }
}

/// The elements that a space without growth selects in the extent that its dataset has now.
fn selected(library: &'static Library, space: Hid, extent: &Space) -> Result<Numbered> {
    let then = space::extent(library, space)?;
    if then.dims().len() != extent.dims().len() {
        return Err(Error::argument("a mapping of another number of dimensions than its dataset"));
    }
    if then.dims() == extent.dims() {
        return Ok(Numbered::new(&space::selected(library, space)?));
    }
    let now = space::within(library, space, extent)?;
    if library.H5Sget_select_type(space) == SELECTION_ALL {
        // All of what there was then.
        let (zeros, ones) = (vec![0; then.dims().len()], vec![1; then.dims().len()]);
        // SAFETY: the arrays have as many numbers as the space has dimensions.
        let status = unsafe {
            library.H5Sselect_hyperslab(
                now.raw(),
                SELECT_SET,
                zeros.as_ptr(),
                ptr::null(),
                ones.as_ptr(),
                then.dims().as_ptr(),
            )
        };
        check(status, "H5Sselect_hyperslab")?;
    }
    Ok(Numbered::new(&space::selected(library, now.raw())?))
}

/// A name of a source: `%b` stands for the number of the block, `%%` for a percent sign.
fn name(pattern: &str, block: u64) -> String {
    let mut parts = pattern.split("%%").map(|part| part.replace("%b", &block.to_string()));
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |name, part| name + "%" + &part)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_of_sources_have_the_number_of_the_block() {
        assert_eq!(name("f-%b.h5", 12), "f-12.h5");
        assert_eq!(name("100%%b %b%%", 3), "100%b 3%");
        assert_eq!(name("plain", 3), "plain");
    }
}
