//! Virtual datasets: their elements are those of other datasets, in the same file or in others.
//!
//! The property list that a dataset was created with has the mappings; the dataset has no chunks of its own. Elements whose source is
//! not there, or that no mapping is about, read as the fill value and cannot be written. Where mappings overlap, the last one counts.

use std::{
    collections::BTreeMap,
    ffi::{c_char, c_int, c_void},
    sync::{Arc, Mutex, PoisonError},
};

use isotach_hdf5::{Kind, Object, Space};

use crate::{
    abi::{DEFAULT, Hid, LAYOUT_VIRTUAL, VIEW_FIRST_MISSING},
    beside,
    crossing::Crossing,
    error::{Error, Result},
    handle::{Node, OpenDataset},
    id::{Id, check},
    library::Library,
    mapping::{Growth, Mapping},
    native_dataset::NativeDataset,
    pairs::{self, Numbered, Pair},
    place::Place,
    plist,
    transfer::Transfer,
    view::{Beside, View},
};

/// How many virtual datasets may be sources of each other.
const DEPTH_MAX: usize = 32;

/// What a virtual dataset is mapped from.
pub(crate) struct Virtual {
    mappings: Vec<Mapping>,
    /// The extent ends at the first element that is missing, instead of the last one that is there.
    ends_at_gap: bool,
    /// How many sources in a row may be missing before one that is looked for.
    gap: u64,
    /// The folder of the sources' files.
    prefix: Option<String>,
    depth: usize,
    /// The open sources, by mapping and block.
    sources: Mutex<BTreeMap<(usize, u64), Arc<Source>>>,
}

/// An open source.
enum Source {
    /// A dataset of one of our files, and what it is mapped from.
    Ours(Place, Option<Virtual>),
    /// A dataset of a native file, which maps its own sources.
    Native(NativeDataset),
}

/// Elements by source, with their places in it.
type Parts = Vec<(Arc<Source>, Vec<Pair>)>;

/// What is the same for all parts of a transfer.
#[derive(Clone, Copy)]
struct Memory {
    kind: Hid,
    dxpl: Hid,
    buffer: *mut c_void,
}

/// What an open dataset is mapped from, if it is virtual. It is kept with the dataset.
pub(crate) fn of_dataset<'a>(view: &Arc<View>, dataset: &'a OpenDataset) -> Result<Option<&'a Virtual>> {
    if dataset.kept.get().is_none() {
        let found = Virtual::of(view, &dataset.node.object, dataset.dapl.as_ref().map(Id::raw), 0)?;
        // Another thread that was faster found the same.
        drop(dataset.kept.set(Box::new(found)));
    }
    let kept = dataset.kept.get().and_then(|kept| kept.downcast_ref::<Option<Virtual>>());
    Ok(kept.and_then(Option::as_ref))
}

impl Virtual {
    /// What a dataset is mapped from; nothing if it is not virtual.
    fn of(view: &View, object: &Object, dapl: Option<Hid>, depth: usize) -> Result<Option<Self>> {
        let library = view.library;
        let header = object.header()?;
        let may_be = header.data.as_ref().is_some_and(|data| {
            !data.is_chunked && data.filters.is_empty() && matches!(data.space, Space::Simple { .. })
        });
        if !may_be {
            return Ok(None);
        }
        let Some(dcpl) = plist::plain_creation(library, &header)? else { return Ok(None) };
        if check(library.H5Pget_layout(dcpl.raw()), "H5Pget_layout")? != LAYOUT_VIRTUAL {
            return Ok(None);
        }
        if depth > DEPTH_MAX {
            return Err(Error::argument("too many virtual datasets that are sources of each other"));
        }
        let mut count = 0;
        // SAFETY: the library sets one number.
        check(unsafe { library.H5Pget_virtual_count(dcpl.raw(), &raw mut count) }, "H5Pget_virtual_count")?;
        let mappings =
            (0..count).map(|index| Mapping::of(library, dcpl.raw(), index)).collect::<Result<_>>()?;
        let dapl = dapl.filter(|dapl| *dapl != DEFAULT);
        let (ends_at_gap, gap) = dapl.map_or(Ok((false, 0)), |dapl| ending(library, dapl))?;
        let prefix = |dapl| {
            // SAFETY: the library writes no more bytes than it is told.
            let get = |text: *mut c_char, size| unsafe { library.H5Pget_virtual_prefix(dapl, text, size) };
            plist::text("H5Pget_virtual_prefix", get)
        };
        let prefix = dapl.map(prefix).transpose()?.filter(|prefix| !prefix.is_empty());
        Ok(Some(Self { mappings, ends_at_gap, gap, prefix, depth, sources: Mutex::default() }))
    }

    /// The extent of now: it follows the sources where mappings have no end.
    pub(crate) fn extent(&self, view: &Arc<View>, object: &Object) -> Result<Space> {
        let header = object.header()?;
        let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
        let Space::Simple { dims, max } = &data.space else { return Ok(data.space.clone()) };
        let mut new: Vec<Option<u64>> = vec![None; dims.len()];
        let mut needed = vec![0; dims.len()];
        for (index, mapping) in self.mappings.iter().enumerate() {
            let mut lengths = mapping.needed(view.library);
            if let Growth::WithSource { here, .. } | Growth::ByBlocks(here) = &mapping.growth {
                let length = self.length(view, index)?;
                let known = new.get_mut(here.dimension);
                let known =
                    known.ok_or_else(|| Error::argument("a mapping of more dimensions than its dataset"))?;
                let better = if self.ends_at_gap { u64::min } else { u64::max };
                *known = Some(known.map_or(length, |known| better(known, length)));
                if let Some(unknown) = lengths.get_mut(here.dimension) {
                    *unknown = 0;
                }
            }
            for (needed, length) in needed.iter_mut().zip(lengths) {
                *needed = length.max(*needed);
            }
        }
        let lengths = dims.iter().zip(max).zip(new.into_iter().zip(needed));
        let dims = lengths
            .map(|((now, most), (new, needed))| new.map_or(*now, |new| new.max(needed).min(*most)))
            .collect();
        Ok(Space::Simple { dims, max: max.clone() })
    }

    /// The length that a mapping without an end gives its dimension.
    fn length(&self, view: &Arc<View>, index: usize) -> Result<u64> {
        match &self.mappings[index].growth {
            Growth::Fixed => Ok(0),
            Growth::WithSource { here, there } => {
                let Some(source) = self.source(view, index, 0)? else { return Ok(0) };
                let extent = source.extent()?;
                let length = extent.dims().get(there.dimension).copied().unwrap_or(0);
                Ok(here.along().extent_of(there.along().within(length), self.ends_at_gap))
            }
            Growth::ByBlocks(here) => {
                let (mut block, mut count) = (0, 0);
                while block <= count + self.gap {
                    if self.source(view, index, block)?.is_some() {
                        count = block + 1;
                    }
                    block += 1;
                }
                let along = here.along();
                Ok(match count.checked_sub(1) {
                    None => 0,
                    Some(_) if self.ends_at_gap => along.nth(count).map_or(u64::MAX, |next| next.start),
                    Some(last) => along.nth(last).map_or(u64::MAX, |last| last.start + last.block),
                })
            }
        }
    }

    /// A source; nothing if its file or dataset is not there.
    fn source(&self, view: &Arc<View>, index: usize, block: u64) -> Result<Option<Arc<Source>>> {
        let known = self.sources.lock().unwrap_or_else(PoisonError::into_inner).get(&(index, block)).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let (file, path) = self.mappings[index].names(block);
        match Source::open(view, &file, &path, self.prefix.clone(), self.depth + 1) {
            Ok(source) => {
                #[expect(
                    clippy::arc_with_non_send_sync,
                    reason = "HDF5 lets one thread at a time in, but not always the same"
                )]
                let source = Arc::new(source);
                let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
                sources.insert((index, block), Arc::clone(&source));
                Ok(Some(source))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads into the program's buffer.
    ///
    /// # Safety
    /// As [`Transfer::read`].
    pub(crate) unsafe fn read(&self, transfer: &Transfer, buffer: *mut c_void) -> Result<()> {
        let wanted = pairs::of(&transfer.in_file.runs, &transfer.in_memory.runs);
        let memory = Memory { kind: transfer.memory_type, dxpl: transfer.dxpl, buffer };
        // SAFETY: the caller's promise.
        unsafe { self.read_pairs(&transfer.view, &transfer.object, wanted, memory) }
    }

    /// # Safety
    /// The buffer holds the elements of the pairs.
    unsafe fn read_pairs(
        &self,
        view: &Arc<View>,
        object: &Object,
        wanted: Vec<Pair>,
        memory: Memory,
    ) -> Result<()> {
        let (parts, rest) = self.parts(view, object, wanted)?;
        for (source, wanted) in parts {
            // SAFETY: the caller's promise, since the parts are of the pairs.
            unsafe {
                match &*source {
                    Source::Ours(Place { view, node }, Some(inner)) => {
                        inner.read_pairs(view, &node.object, wanted, memory)?;
                    }
                    Source::Ours(Place { view, node }, None) => {
                        plain(view, &node.object, &wanted, memory)?.read(memory.buffer)?;
                    }
                    Source::Native(dataset) => {
                        dataset.boxes(&wanted, (memory.kind, memory.dxpl), |part, at| {
                            dataset.read(part, memory.buffer.byte_add(at))
                        })?;
                    }
                }
            }
        }
        // What is left was never written, since the dataset has no chunks.
        // SAFETY: as above.
        unsafe { plain(view, object, &rest, memory)?.of_nothing()?.read(memory.buffer) }
    }

    /// Writes from the program's buffer.
    ///
    /// # Safety
    /// As [`Transfer::write`].
    pub(crate) unsafe fn write(&self, transfer: &Transfer, buffer: *const c_void) -> Result<()> {
        let wanted = pairs::of(&transfer.in_file.runs, &transfer.in_memory.runs);
        let memory = Memory { kind: transfer.memory_type, dxpl: transfer.dxpl, buffer: buffer.cast_mut() };
        // SAFETY: the caller's promise.
        unsafe { self.write_pairs(&transfer.view, &transfer.object, wanted, memory) }
    }

    /// # Safety
    /// As [`Self::read_pairs`].
    unsafe fn write_pairs(
        &self,
        view: &Arc<View>,
        object: &Object,
        wanted: Vec<Pair>,
        memory: Memory,
    ) -> Result<()> {
        let (parts, rest) = self.parts(view, object, wanted)?;
        if !rest.is_empty() {
            return Err(Error::argument("elements of a virtual dataset without a source cannot be written"));
        }
        for (source, wanted) in parts {
            // SAFETY: the caller's promise.
            let there = unsafe {
                match &*source {
                    Source::Ours(Place { view, node }, Some(inner)) => {
                        inner.write_pairs(view, &node.object, wanted, memory)?;
                        view
                    }
                    Source::Ours(Place { view, node }, None) => {
                        plain(view, &node.object, &wanted, memory)?.write(memory.buffer.cast_const())?;
                        view
                    }
                    Source::Native(dataset) => {
                        dataset.boxes(&wanted, (memory.kind, memory.dxpl), |part, at| {
                            dataset.write(part, memory.buffer.byte_add(at).cast_const())
                        })?;
                        continue;
                    }
                }
            };
            if there.file.number() != view.file.number() {
                there.settle()?;
            }
        }
        Ok(())
    }

    /// Parts elements by their sources, from the last mapping on; and those without one.
    fn parts(&self, view: &Arc<View>, object: &Object, wanted: Vec<Pair>) -> Result<(Parts, Vec<Pair>)> {
        let extent = self.extent(view, object)?;
        let (mut parts, mut left) = (Vec::new(), wanted);
        for (index, mapping) in self.mappings.iter().enumerate().rev() {
            let blocks = match &mapping.growth {
                Growth::ByBlocks(here) => {
                    let length = extent.dims().get(here.dimension).copied().unwrap_or(0);
                    here.along().reaching(length).map_or(0, |part| part.count)
                }
                Growth::Fixed | Growth::WithSource { .. } => 1,
            };
            for block in (0..blocks).rev() {
                if left.is_empty() {
                    return Ok((parts, left));
                }
                if let Some((source, taken, rest)) = self.part(view, (index, block), &extent, &left)? {
                    parts.push((source, taken));
                    left = rest;
                }
            }
        }
        Ok((parts, left))
    }

    /// What one source has of the elements: their places in it, and the elements that it does not have.
    #[expect(clippy::type_complexity, reason = "a triple that is taken apart at once")]
    fn part(
        &self,
        view: &Arc<View>,
        (index, block): (usize, u64),
        extent: &Space,
        left: &[Pair],
    ) -> Result<Option<(Arc<Source>, Vec<Pair>, Vec<Pair>)>> {
        let (library, mapping) = (view.library, &self.mappings[index]);
        let take = |here: &Numbered, there: &dyn Fn(&Space) -> Result<Numbered>| {
            let (hits, rest) = here.part(left);
            if hits.is_empty() {
                return Ok(None);
            }
            let Some(source) = self.source(view, index, block)? else { return Ok(None) };
            let there = there(&source.extent()?)?;
            if here.count != there.count {
                return Err(Error::argument(format!(
                    "a mapping of {} elements of {} to {}",
                    there.count,
                    mapping.names(block).1,
                    here.count
                )));
            }
            Ok(Some((source, there.place(&hits), rest)))
        };
        match &mapping.growth {
            Growth::Fixed => take(&*mapping.here(library, extent)?, &|extent| mapping.there(library, extent)),
            Growth::ByBlocks(slab) => {
                take(&slab.nth(library, block, extent)?, &|extent| mapping.there(library, extent))
            }
            Growth::WithSource { here, there } => {
                let Some(source) = self.source(view, index, block)? else { return Ok(None) };
                let length = |space: &Space, at: usize| space.dims().get(at).copied().unwrap_or(0);
                let places = there
                    .along()
                    .within(length(&source.extent()?, there.dimension))
                    .min(here.along().within(length(extent, here.dimension)));
                take(&here.first(library, places, extent)?, &|extent| there.first(library, places, extent))
            }
        }
    }
}

impl Source {
    fn open(view: &Arc<View>, file: &str, path: &str, prefix: Option<String>, depth: usize) -> Result<Self> {
        let beside = if file == "." {
            Beside::Ours(Arc::clone(view))
        } else {
            beside::open_source(view, file, prefix)?
        };
        let view = match beside {
            Beside::Ours(view) => view,
            Beside::Native(file) => return Self::native(&*Crossing::new(view.library, file, path)?),
        };
        let object = view.file.root()?;
        let root = Place { view, node: Node { object, path: Some("/".to_owned()) } };
        let place = match root.follow(path, DEFAULT) {
            Err(Error::Elsewhere { there, .. }) => return Self::native(&*Crossing::of(there)?),
            place => place?,
        };
        if place.object().kind() != Kind::Dataset {
            return Err(Error::argument(format!("the source {path} in {file} is no dataset")));
        }
        let inner = Virtual::of(&place.view, place.object(), None, depth)?;
        Ok(Self::Ours(place, inner))
    }

    fn native(there: &Crossing) -> Result<Self> {
        NativeDataset::open(there).map(Self::Native)
    }

    fn extent(&self) -> Result<Space> {
        let header = match self {
            Self::Native(dataset) => return dataset.extent(),
            Self::Ours(Place { view, node }, Some(inner)) => return inner.extent(view, &node.object),
            Self::Ours(Place { node, .. }, None) => node.object.header()?,
        };
        let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
        Ok(data.space.clone())
    }
}

/// Whether the extent ends at the first gap, and how many sources may be missing before one that is there.
fn ending(library: &Library, dapl: Hid) -> Result<(bool, u64)> {
    let (mut ending, mut gap): (c_int, u64) = (0, 0);
    // SAFETY: the library sets one number.
    check(unsafe { library.H5Pget_virtual_view(dapl, &raw mut ending) }, "H5Pget_virtual_view")?;
    // SAFETY: as above.
    check(unsafe { library.H5Pget_virtual_printf_gap(dapl, &raw mut gap) }, "H5Pget_virtual_printf_gap")?;
    Ok(if ending == VIEW_FIRST_MISSING { (true, 0) } else { (false, gap) })
}

/// The transfer of elements that are in the dataset itself.
fn plain(view: &Arc<View>, object: &Object, wanted: &[Pair], memory: Memory) -> Result<Transfer> {
    Transfer::of(view, object, pairs::selections(wanted), memory.kind, memory.dxpl)
}
