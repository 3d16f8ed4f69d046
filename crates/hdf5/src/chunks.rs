//! Stored chunks as they are: listed, read and written without their filters.

use std::ops::ControlFlow;

use crate::{
    Error, Object, Result,
    chunk::{Key, State, Target, Written, key_of, place_of},
    grid::Grid,
    records::Chunk,
    session::Session,
    store::stored_bytes,
};

/// Which chunk is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkAt<'a> {
    /// The one with this number among those that are stored, in the order of their places.
    Index(u64),
    /// The one whose first element is here.
    Offset(&'a [u64]),
}

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// The place of its first element.
    pub offset: Vec<u64>,
    /// The filters that were skipped: bit n for filter n.
    pub mask: u32,
    /// Its length as stored, in bytes.
    pub stored_length: u64,
}

impl Object {
    /// The bytes of all stored chunks, after their filters.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn storage_size(&self) -> Result<u64> {
        let mut total = 0;
        self.each_chunk(&mut |chunk| {
            total += chunk.stored_length;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(total)
    }

    /// How many chunks are stored.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn chunk_count(&self) -> Result<u64> {
        let mut session = self.file().session();
        Ok(self.stored_keys(&mut session)?.len() as u64)
    }

    /// A stored chunk.
    ///
    /// # Errors
    /// `NotFound` if it is not stored; `InvalidInput` for a place where no chunk begins; `Corrupt`, `Object`.
    pub fn chunk_info(&self, chunk: ChunkAt<'_>) -> Result<ChunkInfo> {
        let grid = self.grid()?;
        let mut session = self.file().session();
        session.spill_whole(&self.file().store, Some(self.number()))?;
        let key = match chunk {
            ChunkAt::Offset(offset) => self.key_at(&grid, offset)?,
            ChunkAt::Index(at) => {
                let keys = self.stored_keys(&mut session)?;
                let key = usize::try_from(at).ok().and_then(|at| keys.into_iter().nth(at));
                key.ok_or_else(|| Error::not_found(format!("chunk {at} of {self}")))?
            }
        };
        let (chunk, _) = self.stored(&mut session, &key)?;
        self.info(&grid, &key, &chunk)
    }

    fn grid(&self) -> Result<Grid> {
        let header = self.header()?;
        Grid::of(self.data_of(&header)?)
    }

    fn key_at(&self, grid: &Grid, offset: &[u64]) -> Result<Key> {
        let place = grid.chunk_at(offset).ok_or_else(|| {
            Error::invalid(
                format!("chunk at {offset:?}"),
                format!("where one begins within {:?}", grid.dims()),
            )
        })?;
        Ok(key_of(&place))
    }

    fn info(&self, grid: &Grid, key: &Key, chunk: &Chunk) -> Result<ChunkInfo> {
        let place = place_of(key, grid.rank());
        let place = place.ok_or_else(|| Error::corrupt("a damaged key of a chunk", self.to_string()))?;
        Ok(ChunkInfo { offset: grid.offset(&place), mask: chunk.mask, stored_length: chunk.stored_length })
    }

    /// A stored chunk, and whether this session has stored it. Of one with patches, what the base has.
    fn stored(&self, session: &mut Session, key: &Key) -> Result<(Chunk, bool)> {
        let absent = || Error::not_found(format!("the chunk of {self}"));
        match session.chunks.get(&(self.number(), key.clone())).map(|dirty| &dirty.state) {
            Some(State::Stored(chunk)) => return Ok(((**chunk).clone(), true)),
            Some(State::Removed) => return Err(absent()),
            Some(State::Whole(_) | State::Patches(_)) | None => {}
        }
        let chunk = session.base_chunk(self.number(), key)?.ok_or_else(absent)?;
        Ok(((*chunk).clone(), false))
    }

    /// The bytes of a chunk as stored, after its filters, and the mask of those that were skipped.
    ///
    /// # Errors
    /// As [`Object::chunk_info`].
    pub fn read_chunk(&self, offset: &[u64]) -> Result<(u32, Vec<u8>)> {
        let _shared = self.file().shared();
        self.file().read_again(|| self.stored_chunk(offset))
    }

    fn stored_chunk(&self, offset: &[u64]) -> Result<(u32, Vec<u8>)> {
        let grid = self.grid()?;
        let key = self.key_at(&grid, offset)?;
        let mut session = self.file().session();
        session.spill_whole(&self.file().store, Some(self.number()))?;
        let (chunk, is_own) = self.stored(&mut session, &key)?;
        let container = if is_own { self.file().store.container.clone() } else { session.base()? };
        let stored = stored_bytes(&*container, self.number(), &key, &chunk)?;
        let mut bytes =
            stored.ok_or_else(|| Error::corrupt("a chunk that is missing or short", self.to_string()))?;
        if let Some(dirty) = session.chunks.get(&(self.number(), key))
            && let State::Patches(patches) = &dirty.state
        {
            patches.apply(0, &mut bytes);
        }
        Ok((chunk.mask, bytes))
    }

    /// Stores a chunk that the caller has filtered, but for the filters of the mask.
    ///
    /// # Errors
    /// `InvalidInput` for a place where no chunk of the extent begins, or for bytes of a wrong length where there are no filters; `ReadOnly`,
    /// `Object`.
    pub fn write_chunk(&self, offset: &[u64], mask: u32, bytes: &[u8]) -> Result<()> {
        self.file().check_writable()?;
        let _shared = self.file().shared();
        let header = self.header()?;
        let data = self.data_of(&header)?;
        let grid = Grid::of(data)?;
        let key = self.key_at(&grid, offset)?;
        let target = Target::new(self.number(), data, &grid);
        let is_wrong = data.filters.is_empty() && (bytes.len() != target.length || mask != 0);
        if is_wrong || bytes.len() as u64 >= 1 << 32 {
            let expected = format!("a chunk of {} bytes", target.length);
            return Err(Error::invalid(format!("{} bytes with mask {mask:#x}", bytes.len()), expected));
        }
        let chunk = self.file().store.write_encoded(mask, bytes)?;
        self.file().session().set_stored(target, key, chunk, Written::All)
    }

    /// Calls `each` with every stored chunk in the order of their places, until it breaks.
    ///
    /// # Errors
    /// `Corrupt`, `Object`, and those of `each`.
    pub fn each_chunk(&self, each: &mut dyn FnMut(&ChunkInfo) -> Result<ControlFlow<()>>) -> Result<()> {
        for info in self.chunk_infos()? {
            if each(&info)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Every stored chunk, in the order of their places.
    pub(crate) fn chunk_infos(&self) -> Result<Vec<ChunkInfo>> {
        let grid = self.grid()?;
        let mut session = self.file().session();
        session.spill_whole(&self.file().store, Some(self.number()))?;
        let keys = self.stored_keys(&mut session)?;
        let base = session.base_index(self.number())?;
        let info = |key: &Key| {
            let dirty = session.chunks.get(&(self.number(), key.clone()));
            if let Some(State::Stored(chunk)) = dirty.map(|dirty| &dirty.state) {
                return self.info(&grid, key, chunk);
            }
            let at = base.binary_search_by(|(there, _)| there.cmp(key)).ok();
            let record = at.and_then(|at| base.get(at)).map_or(&[][..], |(_, record)| record);
            self.info(&grid, key, &Chunk::decode(record, self)?)
        };
        keys.iter().map(info).collect()
    }
}
