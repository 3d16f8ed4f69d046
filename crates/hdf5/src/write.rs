//! Writing elements of datasets.
//!
//! A chunk that is written whole goes to the store at once: without filters, straight from the caller's buffer where its bytes follow each
//! other there. Parts of chunks are gathered ([`crate::chunk`]).

use crate::{
    Object, Result, Run,
    chunk::{Target, Written, key_of, with_bytes},
    grid::{Grid, Piece},
    parallel,
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
            self.write_pieces(target, &grid, &pieces, packed)
        })
    }

    /// Stores the chunks that sorted pieces cover, and gathers the pieces of others.
    fn write_pieces(&self, target: Target<'_>, grid: &Grid, pieces: &[Piece], packed: &[u8]) -> Result<()> {
        let groups: Vec<&[Piece]> = groups(pieces).map(|range| &pieces[range]).collect();
        let bytes = pieces.iter().map(|piece| piece.length).sum();
        let (store, is_shared) = (&self.file().store, self.file().is_shared());
        let indexing = self.file().session().indexing_of_writes(target)?;
        let stored = parallel::map(groups.len(), bytes, |at, buffer| {
            let group = groups[at];
            let place = grid.coordinates(group.first().map_or(0, |piece| piece.chunk));
            let found = whole(target, grid, &place, group, packed, buffer);
            // Of a chunk at the edge other ranks may have a part: it is stored when they are put together.
            let is_stored = |written: &Written| !is_shared || matches!(written, Written::All);
            let Some((whole, written)) = found.filter(|(_, written)| is_stored(written)) else {
                return Ok((place, None));
            };
            let chunk = store.write_chunk(&target.data.filters, whole)?;
            let entry = match &indexing {
                Some(indexing) => {
                    indexing.record(&|bytes| store.write_array(bytes), grid, &place, whole, &chunk)?
                }
                None => None,
            };
            Ok((place, Some((chunk, written, entry))))
        })?;
        let mut session = self.file().session();
        for ((place, stored), group) in stored.into_iter().zip(groups) {
            let key = key_of(&place);
            match stored {
                Some((chunk, written, entry)) => {
                    if let Some(entry) = entry {
                        session.put_index_entry(target.number, key.clone(), entry)?;
                    }
                    session.set_stored(target, key, chunk, written)?;
                }
                None => session.patch(store, target, &key, with_bytes(group, packed))?,
            }
        }
        Ok(())
    }
}

/// All bytes of a chunk and which of them the pieces are, if these are all that the extent has of it. The bytes are in the caller's buffer
/// where they follow each other there, and otherwise in ours.
fn whole<'b>(
    target: Target<'_>,
    grid: &Grid,
    place: &[u64],
    pieces: &[Piece],
    packed: &'b [u8],
    buffer: &'b mut Vec<u8>,
) -> Option<(&'b [u8], Written)> {
    if let [piece] = pieces
        && piece.length == target.length
    {
        return Some((&packed[piece.packed..piece.packed + piece.length], Written::All));
    }
    let within = grid.bytes_within(place);
    let written = covering(pieces, within)?;
    let is_at_edge = within < target.length as u64;
    if is_at_edge {
        *buffer = target.blank();
    } else {
        buffer.resize(target.length, 0);
    }
    for (offset, bytes) in with_bytes(pieces, packed) {
        buffer[offset as usize..offset as usize + bytes.len()].copy_from_slice(bytes);
    }
    // Of a chunk at the edge another process may write what is beyond the extent that this one knows.
    Some((buffer, if is_at_edge { Written::Some(written) } else { Written::All }))
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
