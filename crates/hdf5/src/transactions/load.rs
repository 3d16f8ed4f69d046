//! Puts a part into a session, over what the parts before it have changed.

use super::part::{Content, Part};
use crate::{
    Result,
    chunk::{Key, Target, Written, array_of},
    gone::hard_target,
    layout::{is_map, is_metadata, map, metadata, name_in},
    session::Session,
    store::Store,
};

impl Session {
    /// Puts a part over what was changed. Returns why it cannot be put there, if the version below has taken what it needs; the session is not to be
    /// committed then.
    pub(super) fn load(&mut self, store: &Store, part: Part) -> Result<Option<String>> {
        self.stored += i128::from(part.stored);
        self.prepared.extend(part.arrays()?);
        self.new.extend(&part.new);
        if let Some(clash) = self.clash(&part)? {
            return Ok(Some(clash));
        }
        self.removed.extend(&part.removed);
        self.destroyed.extend(&part.destroyed);
        for (object, key, change) in part.changes {
            let Some(value) = change.value else {
                self.remove(object, &key);
                continue;
            };
            self.put(object, key.clone(), value);
            if let Some(there) = self.changes.get_mut(object, &key) {
                there.is_new |= change.is_new;
            }
        }
        for (number, key, content) in part.chunks {
            self.with_target(number, |session, target| session.load_chunk(store, target, key, content))?;
        }
        Ok(None)
    }

    /// What a part needs and is gone, or creates and is there.
    fn clash(&mut self, part: &Part) -> Result<Option<String>> {
        let of_changes = part.changes.iter().map(|(object, ..)| *object);
        let of_changes =
            of_changes.filter(|object| is_metadata(*object) || is_map(*object)).map(|object| object.lo());
        let targets = part.changes.iter().filter(|(object, ..)| is_metadata(*object));
        let targets = targets.filter_map(|(_, key, change)| hard_target(key, change.value.as_ref()?));
        let mut numbers: Vec<u64> =
            of_changes.chain(part.chunks.iter().map(|(number, ..)| *number)).chain(targets).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if !part.new.contains(&number) && self.header(number)?.is_none() {
                return Ok(Some(format!("object {number} was removed before")));
            }
        }
        // What is changed here is of the other participants: which of them comes first means nothing.
        let is_written = |number: &u64| {
            let objects = [metadata(*number), map(*number)];
            objects.into_iter().any(|object| self.changes.of(object).next().is_some())
                || self.chunks_of(*number).next().is_some()
        };
        if let Some(number) = part.removed.iter().find(|number| is_written(number)) {
            return Ok(Some(format!("object {number} is removed by one participant and changed by another")));
        }
        for (object, key, change) in &part.changes {
            let creates = change.is_new && change.value.is_some();
            if creates && self.get(*object, key)?.is_some() {
                let name = name_in(key, "a part of a transaction")?;
                return Ok(Some(format!("{name:?} in group {} was created before", object.lo())));
            }
        }
        Ok(None)
    }

    fn load_chunk(&mut self, store: &Store, target: Target<'_>, key: Key, content: Content) -> Result<()> {
        match content {
            Content::Removed => self.remove_chunk(target.number, key),
            Content::Whole(chunk) => self.set_stored(target, key, chunk, Written::All),
            Content::Ranges(chunk, ranges) => {
                let patches = target.stored_ranges(&*store.container, &key, &chunk, &ranges)?;
                self.unused.extend(array_of(&chunk));
                self.patch(store, target, &key, patches.iter())
            }
            Content::Patches(patches) => self.patch(store, target, &key, patches.iter()),
        }
    }
}
