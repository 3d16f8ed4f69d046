//! Writing elements of datasets.
//!
//! A chunk that is written whole goes to the store at once: without filters, straight from the caller's buffer where its bytes follow each
//! other there. Parts of chunks are gathered ([`crate::chunk`]).

use crate::{
    Object, Result, Run,
    chunk::{Target, Written, key_of, with_bytes},
    grid::{Grid, Piece},
    ranges::Ranges,
    read::groups,
};

impl Object {
    /// Writes elements of a dataset: packed, in the order of the runs. Runs that cover whole chunks go to the store without a copy.
    ///
    /// # Errors
    /// As [`Object::read`]; `ReadOnly`.
    pub fn write(&self, runs: &[Run], packed: &[u8]) -> Result<()> {
        self.file().check_writable()?;
        let _shared = self.file().shared();
        let header = self.header()?;
        let data = self.data_of(&header)?;
        let grid = Grid::of(data)?;
        grid.check(runs, packed.len())?;
        let target = Target::new(self.number(), data, &grid);
        grid.pieces(runs, |mut pieces| {
            // Stable, so that of two writes of one element the later one wins.
            pieces.sort_by_key(|piece| piece.chunk);
            groups(&pieces)
                .try_for_each(|range| self.write_chunk_pieces(target, &grid, &pieces[range], packed))
        })
    }

    fn write_chunk_pieces(
        &self,
        target: Target<'_>,
        grid: &Grid,
        pieces: &[Piece],
        packed: &[u8],
    ) -> Result<()> {
        let Some(first) = pieces.first() else { return Ok(()) };
        let place = grid.coordinates(first.chunk);
        let (key, store) = (key_of(&place), &self.file().store);
        if let ([piece], true) = (pieces, first.length == target.length) {
            let bytes = &packed[piece.packed..piece.packed + piece.length];
            let chunk = store.write_chunk(&target.data.filters, bytes)?;
            return self.file().session().set_stored(target, key, chunk, Written::All);
        }
        let within = grid.bytes_within(&place);
        if let Some(written) = covering(pieces, within) {
            let mut whole = target.blank();
            for (offset, bytes) in with_bytes(pieces, packed) {
                whole[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
            }
            let chunk = store.write_chunk(&target.data.filters, &whole)?;
            // Of a chunk at the edge another process may write what is beyond the extent that this one knows.
            let written = if within == target.length as u64 { Written::All } else { Written::Some(written) };
            return self.file().session().set_stored(target, key, chunk, written);
        }
        self.file().session().patch(store, target, &key, with_bytes(pieces, packed))
    }
}

/// The bytes of the pieces, if they are all that there is of the chunk.
fn covering(pieces: &[Piece], within: u64) -> Option<Ranges> {
    let total: u64 = pieces.iter().map(|piece| piece.length as u64).sum();
    if total < within {
        return None;
    }
    let mut ranges = Ranges::default();
    pieces.iter().for_each(|piece| ranges.add(piece.offset..piece.end()));
    (ranges.measure() == within).then_some(ranges)
}
