//! Filters that only the calling HDF5 has: szip, and those of the program or of a plugin.
//!
//! HDF5 offers no function that filters bytes. So a chunk goes through a dataset of one chunk in the shadow: written as elements and read
//! as it is stored, or the other way round. The model stores what comes out, and never runs these filters itself.

use std::{collections::BTreeMap, ffi::c_int, ptr, sync::Arc};

use isotach_hdf5::{Data, Error as FileError, Filter, Header, Object, Run, Space};

use crate::{
    abi::{
        ChunkRead, ChunkStorageSize, ChunkWrite, ChunkWrite114, DatasetOptionalArgs, SPACE_ALL, dataset_op,
    },
    error::{Error, Result},
    id::{Id, check},
    native_dataset::NativeDataset,
    plist,
    space::{self, Wanted},
    types::FileType,
    view::View,
};

/// The filters of one dataset.
pub(crate) struct Pipeline {
    view: Arc<View>,
    /// What a dataset of one chunk is made of.
    kind: Arc<FileType>,
    space: Id,
    list: Id,
    filters: Vec<Filter>,
    dims: Vec<u64>,
    chunk: Vec<u64>,
    element: usize,
    fill: Option<Vec<u8>>,
}

/// Elements of one chunk: where they begin in it and among those of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    within: usize,
    packed: usize,
    count: usize,
}

impl Pipeline {
    /// The pipeline of a dataset, if HDF5 must run it.
    pub(crate) fn of(
        view: &Arc<View>,
        header: &Header,
        data: &Data,
        kind: &Arc<FileType>,
    ) -> Result<Option<Self>> {
        if !data.filters.iter().any(|filter| filter.flags & Filter::FOREIGN != 0) {
            return Ok(None);
        }
        kind.check(data)?;
        let library = view.library;
        // Chunks go through the type in memory as they are.
        if kind.contents.has_blobs || library.H5Tget_size(kind.memory.raw()) != kind.size {
            let what = "filters of HDF5's own on elements that are others in memory";
            return Err(FileError::corrupt(what, "the header of a dataset").into());
        }
        let list = plist::plain_creation(library, header)?;
        let list = list.ok_or_else(|| Error::argument("filters without a property list"))?;
        let space = space::create(library, &Space::fixed(&data.chunk))?;
        Ok(Some(Self {
            view: Arc::clone(view),
            kind: Arc::clone(kind),
            space,
            list,
            filters: data.filters.clone(),
            dims: data.space.dims().to_vec(),
            chunk: data.chunk.clone(),
            element: data.element as usize,
            fill: data.fill.clone(),
        }))
    }

    /// Reads elements of the dataset: packed, in the order of the runs.
    pub(crate) fn read(&self, object: &Object, runs: &[Run], packed: &mut [u8]) -> Result<()> {
        let size = self.element;
        for (offset, pieces) in pieces(&self.dims, &self.chunk, runs) {
            let chunk = self.stored(object, &offset)?.unwrap_or_else(|| self.blank());
            for piece in pieces {
                let (from, to, length) = (piece.within * size, piece.packed * size, piece.count * size);
                packed[to..to + length].copy_from_slice(&chunk[from..from + length]);
            }
        }
        Ok(())
    }

    /// Writes elements of the dataset: packed, in the order of the runs.
    pub(crate) fn write(&self, object: &Object, runs: &[Run], packed: &[u8]) -> Result<()> {
        let size = self.element;
        for (offset, pieces) in pieces(&self.dims, &self.chunk, runs) {
            if self.view.file.is_shared() && !self.is_all_within(&offset, &pieces) {
                return Err(Error::unsupported(
                    "writing parts of chunks with filters that only HDF5 has, in a file of several ranks",
                ));
            }
            let known = if covers(&pieces, self.count()) { None } else { self.stored(object, &offset)? };
            let mut chunk = known.unwrap_or_else(|| self.blank());
            for piece in pieces {
                let (from, to, length) = (piece.packed * size, piece.within * size, piece.count * size);
                chunk[to..to + length].copy_from_slice(&packed[from..from + length]);
            }
            let (mask, stored) = self.encode(&chunk)?;
            object.write_chunk(&offset, mask, &stored)?;
        }
        Ok(())
    }

    /// Whether pieces are all of a chunk that is within the extent.
    fn is_all_within(&self, offset: &[u64], pieces: &[Piece]) -> bool {
        let sides = offset.iter().zip(&self.dims).zip(&self.chunk);
        let within: u64 = sides.map(|((at, end), side)| (end - at).min(*side)).product();
        pieces.iter().map(|piece| piece.count as u64).sum::<u64>() >= within
    }

    /// How many elements a chunk has.
    fn count(&self) -> usize {
        self.chunk.iter().product::<u64>() as usize
    }

    /// A chunk that was never written.
    fn blank(&self) -> Vec<u8> {
        blank(self.fill.as_deref(), self.element, self.count())
    }

    /// The elements of a chunk that is stored.
    fn stored(&self, object: &Object, offset: &[u64]) -> Result<Option<Vec<u8>>> {
        match object.read_chunk(offset) {
            Ok((mask, bytes)) => self.decode(mask, bytes).map(Some),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A dataset for one chunk, without the filters of the mask: HDF5 2.0 takes a mask for a chunk, but decodes without it.
    fn scratch(&self, mask: u32) -> Result<NativeDataset> {
        let library = self.view.library;
        let list = Id::new(library, library.H5Pcopy(self.list.raw()), "H5Pcopy")?;
        for (at, filter) in self.filters.iter().enumerate() {
            if is_masked(mask, at) {
                check(library.H5Premove_filter(list.raw(), filter.id.into()), "H5Premove_filter")?;
            }
        }
        self.view.shadow.scratch(self.kind.memory.raw(), self.space.raw(), list.raw())
    }

    /// All elements of the one chunk.
    fn all(&self) -> Wanted {
        let dxpl = self.view.library.H5P_LST_DATASET_XFER_ID_g();
        let memory_type = self.kind.memory.raw();
        Wanted { memory_type, memory_space: SPACE_ALL, file_space: SPACE_ALL, dxpl }
    }

    fn encode(&self, bytes: &[u8]) -> Result<(u32, Vec<u8>)> {
        let scratch = self.scratch(0)?;
        // SAFETY: the bytes are the elements of the one chunk, of the dataset's type.
        unsafe { scratch.write(self.all(), bytes.as_ptr().cast()) }?;
        let origin = vec![0; self.chunk.len()];
        let mut length = 0;
        let size = ChunkStorageSize { offset: origin.as_ptr(), size: &raw mut length };
        ask(&scratch, dataset_op::CHUNK_STORAGE_SIZE, &mut DatasetOptionalArgs { chunk_storage_size: size })?;
        let mut stored = vec![0_u8; usize::try_from(length).unwrap_or(usize::MAX)];
        let mut room = stored.len();
        let read = ChunkRead {
            offset: origin.as_ptr(),
            filters: 0,
            buf: stored.as_mut_ptr().cast(),
            buf_size: &raw mut room,
        };
        let mut given = DatasetOptionalArgs { chunk_read: read };
        ask(&scratch, dataset_op::CHUNK_READ, &mut given)?;
        // SAFETY: the member that was set above.
        Ok((unsafe { given.chunk_read.filters }, stored))
    }

    fn decode(&self, mask: u32, stored: Vec<u8>) -> Result<Vec<u8>> {
        let length = self.count() * self.element;
        if (0..self.filters.len()).all(|at| is_masked(mask, at)) {
            let corrupt = || FileError::corrupt("a chunk of another length", "a dataset with filters");
            return Some(stored).filter(|stored| stored.len() == length).ok_or_else(|| corrupt().into());
        }
        let origin = vec![0; self.chunk.len()];
        let scratch = self.scratch(mask)?;
        let (offset, filters, buf) = (origin.as_ptr(), 0, stored.as_ptr().cast());
        let mut given = if self.view.library.is_two() {
            DatasetOptionalArgs { chunk_write: ChunkWrite { offset, filters, size: stored.len(), buf } }
        } else {
            let size = u32::try_from(stored.len()).map_err(|_| Error::unsupported("chunks of 4 GiB"))?;
            DatasetOptionalArgs { chunk_write_114: ChunkWrite114 { offset, filters, size, buf } }
        };
        ask(&scratch, dataset_op::CHUNK_WRITE, &mut given)?;
        let mut bytes = vec![0; length];
        // SAFETY: the buffer has room for the elements of the one chunk, of the dataset's type.
        unsafe { scratch.read(self.all(), bytes.as_mut_ptr().cast()) }?;
        Ok(bytes)
    }
}

fn is_masked(mask: u32, at: usize) -> bool {
    at < 32 && mask >> at & 1 == 1
}

fn ask(scratch: &NativeDataset, op: c_int, given: &mut DatasetOptionalArgs) -> Result<()> {
    // SAFETY: the callers set the member of the operation, with buffers of the sizes that it says.
    unsafe { scratch.optional(op, ptr::from_mut(given).cast()) }
}

/// The bytes of elements that were never written.
pub(crate) fn blank(fill: Option<&[u8]>, element: usize, count: usize) -> Vec<u8> {
    fill.map_or_else(|| vec![0; element * count], |fill| fill.repeat(count))
}

/// The elements of runs by chunk: the place of its first element, and its pieces.
fn pieces(dims: &[u64], chunk: &[u64], runs: &[Run]) -> BTreeMap<Vec<u64>, Vec<Piece>> {
    let mut by_chunk: BTreeMap<Vec<u64>, Vec<Piece>> = BTreeMap::new();
    let mut packed = 0;
    for run in runs {
        let (mut first, mut left) = (run.first, run.count);
        while left > 0 {
            let (mut rest, mut within, mut scale, mut most) = (first, 0, 1, left);
            let mut offset = vec![0; dims.len()];
            for at in (0..dims.len()).rev() {
                let (place, side) = (rest % dims[at], chunk[at]);
                rest /= dims[at];
                if at + 1 == dims.len() {
                    most = most.min(side - place % side).min(dims[at] - place);
                }
                offset[at] = place - place % side;
                within += place % side * scale;
                scale *= side;
            }
            let piece = Piece { within: within as usize, packed, count: most as usize };
            by_chunk.entry(offset).or_default().push(piece);
            packed += most as usize;
            (first, left) = (first + most, left - most);
        }
    }
    by_chunk
}

/// Whether pieces are all of a chunk.
fn covers(pieces: &[Piece], count: usize) -> bool {
    let mut end = 0;
    for piece in pieces {
        if piece.within != end {
            return false;
        }
        end += piece.count;
    }
    end == count
}

#[cfg(test)]
mod tests {
    use super::{Piece, covers, pieces};
    use isotach_hdf5::Run;

    #[test]
    fn runs_are_cut_at_the_ends_of_rows_and_chunks() {
        let parts = pieces(&[3, 5], &[2, 3], &[Run { first: 3, count: 4 }]);
        let piece = |within, packed, count| Piece { within, packed, count };
        let expected = [(vec![0, 0], vec![piece(3, 2, 2)]), (vec![0, 3], vec![piece(0, 0, 2)])];
        assert_eq!(parts, expected.into());
    }

    #[test]
    fn only_pieces_without_a_gap_cover_a_chunk() {
        let whole = pieces(&[4, 6], &[2, 3], &[Run { first: 0, count: 12 }]);
        assert!(whole.values().all(|pieces| covers(pieces, 6)));
        let part = pieces(&[4, 6], &[2, 3], &[Run { first: 0, count: 11 }]);
        assert_eq!(part.values().filter(|pieces| covers(pieces, 6)).count(), 1);
    }
}
