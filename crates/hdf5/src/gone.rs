//! Objects that another process has removed while this one changed them: what was changed is given up, and nothing of them comes back.

use isotach_object::{Error as ObjectError, ObjectId};

use crate::{
    Error, Link, Result, Target,
    layout::{HEADER, LINK, is_map, is_metadata, is_value_index, metadata},
    session::Session,
};

/// The object that a link leads to, if it is in the same file.
pub(crate) fn hard_target(key: &[u8], record: &[u8]) -> Option<u64> {
    if key.first() != Some(&LINK) {
        return None;
    }
    let link = Link::decode(record, "a change").ok()?;
    if let Target::Hard { number, .. } = link.target { Some(number) } else { None }
}

impl Session {
    /// The objects of the base that the changes belong to, or lead to. A commit counts only if all of them are there.
    pub(crate) fn changed_objects(&self) -> Vec<u64> {
        let belongs = |object: ObjectId| is_metadata(object) || is_map(object) || is_value_index(object);
        let entries = self.changes.objects().filter(|object| belongs(*object));
        let targets = self.changes.iter().filter(|(object, ..)| is_metadata(*object));
        let targets = targets.filter_map(|(_, key, change)| hard_target(key, change.value.as_ref()?));
        let chunks = self.chunks.keys().map(|(number, _)| *number);
        let mut numbers: Vec<u64> = chunks.chain(entries.map(|object| object.lo())).chain(targets).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|number| !self.new.contains(number) && !self.removed.contains(number));
        numbers
    }

    /// Forgets what was changed in objects that the base does not have any more. Returns the error that says so, but for objects that this
    /// process has removed, too. Objects that were put only in a group that is gone stay, and no link leads to them.
    pub(crate) fn forget_gone(&mut self) -> Result<Option<Error>> {
        let mut error = None;
        for number in self.changed_objects() {
            if self.is_reset || self.base_entry(metadata(number), HEADER)?.is_some() {
                continue;
            }
            let is_removed_here = self.header(number)?.is_some_and(|header| header.references == 0);
            self.forget_chunks(number, |_| true)?;
            self.forget_changes(number);
            self.forget_links_to(number)?;
            let what = format!(
                "another process has removed object {number}: what was changed in it is given up, \
                 and other changes can be committed"
            );
            if !is_removed_here {
                error = Some(ObjectError::Conflict { what }.into());
            }
        }
        Ok(error)
    }

    /// Forgets links that were made to an object. One that took the place of another stays removed.
    fn forget_links_to(&mut self, number: u64) -> Result<()> {
        let links = self.changes.iter().filter(|(object, ..)| is_metadata(*object));
        let links = links.filter(|(_, key, change)| {
            change.value.as_ref().and_then(|record| hard_target(key, record)) == Some(number)
        });
        let links: Vec<_> = links.map(|(object, key, change)| (object, key.clone(), change.is_new)).collect();
        for (object, key, is_new) in links {
            if !is_new && self.base_entry(object, &key)?.is_some() {
                self.remove(object, &key);
            } else {
                self.changes.remove(object, &key);
            }
        }
        Ok(())
    }
}
