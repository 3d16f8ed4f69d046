//! Changing the extent of a dataset.

use crate::{
    Data, Error, Header, Object, Result, Space,
    chunk::{Dirty, Key, State, Target, Written, key_of, place_of},
    grid::Grid,
    layout::index,
    session::Session,
};

impl Object {
    /// Changes the extent. What is cut off is gone: growing again shows the fill value.
    ///
    /// # Errors
    /// `InvalidInput` for another number of dimensions or lengths beyond their limits; `ReadOnly`, `Object`.
    pub fn set_extent(&self, dims: &[u64]) -> Result<()> {
        self.file().check_writable()?;
        // In all cases, so that ranks that fail or have other arguments do not wait for each other; and all cut the chunks of all.
        match self.file().exchange(self.change_to(dims))? {
            None => Ok(()),
            Some((_, false)) => self.change_extent(dims),
            Some((_, true)) => self.file().exchange(self.change_extent(dims)),
        }
    }

    /// The data with this extent, and whether something is cut off. `None` if it has it.
    fn change_to(&self, dims: &[u64]) -> Result<Option<(Data, bool)>> {
        let header = self.header()?;
        let data = self.data_of(&header)?;
        let Space::Simple { dims: old, max } = &data.space else {
            return Err(Error::invalid("the extent of a scalar or of no elements", "a simple extent"));
        };
        if dims.len() != old.len() || dims.iter().zip(max).any(|(length, most)| length > most) {
            return Err(Error::invalid(format!("extent {dims:?}"), format!("at most {max:?}")));
        }
        if dims == old {
            return Ok(None);
        }
        let new = Data { space: Space::Simple { dims: dims.to_vec(), max: max.clone() }, ..data.clone() };
        new.check()?;
        let is_cut = dims.iter().zip(old).any(|(length, before)| length < before);
        Ok(Some((new, is_cut)))
    }

    fn change_extent(&self, dims: &[u64]) -> Result<()> {
        let _shared = self.file().shared();
        let header = self.header()?;
        let Some((new, is_cut)) = self.change_to(dims)? else { return Ok(()) };
        let (before, after) = (Grid::of(self.data_of(&header)?)?, Grid::of(&new)?);
        let mut session = self.file().session();
        if is_cut {
            self.cut(&mut session, &new, &before, &after)?;
        }
        session.put_header(self.number(), Header { data: Some(new), ..(*header).clone() });
        Ok(())
    }

    /// Removes the chunks that are beyond the new extent, and clears what is beyond it in those that are partly within. Of several ranks, one
    /// clears a chunk.
    fn cut(&self, session: &mut Session, new: &Data, before: &Grid, after: &Grid) -> Result<()> {
        let (number, store) = (self.number(), &self.file().store);
        let target = Target::new(number, new, after);
        let is_mine =
            |key: &Key| self.file().team().is_none_or(|team| team.owner(number, key) == team.rank());
        for key in self.stored_keys(session)? {
            let place = place_of(&key, after.rank());
            let place = place.ok_or_else(|| Error::corrupt("a damaged key of a chunk", self.to_string()))?;
            let (within, was_within) = (after.part_within(&place), before.part_within(&place));
            if !after.contains(&place) {
                session.remove_chunk(number, key)?;
            } else if within.iter().zip(&was_within).any(|(now, was)| now < was) && is_mine(&key) {
                let blank = target.blank();
                let beyond = after.ranges_beyond(&place);
                let pieces = beyond
                    .iter()
                    .map(|range| (range.start, &blank[range.start as usize..range.end as usize]));
                session.patch(store, target, &key_of(&place), pieces)?;
            }
        }
        Ok(())
    }

    /// The keys of all chunks that are stored or were changed, sorted.
    pub(crate) fn stored_keys(&self, session: &mut Session) -> Result<Vec<Key>> {
        let number = self.number();
        let base = session.base_index(number)?;
        let changed = session.chunks_of(number).map(|(key, _)| key.clone());
        let mut keys: Vec<Key> = base.iter().map(|(key, _)| key.clone()).chain(changed).collect();
        keys.sort();
        keys.dedup();
        let is_removed = |key: &Key| {
            let dirty = session.chunks.get(&(number, key.clone()));
            dirty.is_some_and(|dirty| matches!(dirty.state, State::Removed))
        };
        keys.retain(|key| !is_removed(key));
        Ok(keys)
    }
}

impl Session {
    /// The index of the chunks of a dataset in the base.
    pub(crate) fn base_index(&mut self, number: u64) -> Result<std::sync::Arc<crate::session::Listing>> {
        if self.new.contains(&number) || self.removed.contains(&number) {
            return Ok(std::sync::Arc::default());
        }
        self.base_listing(index(number))
    }

    pub(crate) fn remove_chunk(&mut self, number: u64, key: Key) -> Result<()> {
        self.forget_chunks(number, |other| *other == key)?;
        let removed = Dirty { seen: None, written: Written::All, fresh: None, state: State::Removed };
        self.chunks.insert((number, key), removed);
        Ok(())
    }
}
