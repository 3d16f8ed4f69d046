//! Objects that another process has removed while this one changed them: what was changed is given up, and nothing of them comes back.

use isotach_object::Error as ObjectError;

use crate::{
    Error, Link, Result, Target,
    layout::{HEADER, LINK, is_map, is_metadata, metadata},
    session::Session,
};

impl Session {
    /// The objects of the base that the changes belong to. A commit counts only if all of them are there.
    pub(crate) fn changed_objects(&self) -> Vec<u64> {
        let entries = self.changes.keys().filter(|(object, _)| is_metadata(*object) || is_map(*object));
        let chunks = self.chunks.keys().map(|(number, _)| *number);
        let mut numbers: Vec<u64> = chunks.chain(entries.map(|(object, _)| object.lo())).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|number| !self.new.contains(number) && !self.removed.contains(number));
        numbers
    }

    /// Forgets what was changed in objects that the base does not have any more. Returns the error that says so.
    pub(crate) fn forget_gone(&mut self) -> Result<Option<Error>> {
        let mut error = None;
        for number in self.changed_objects() {
            if self.is_reset || self.base_entry(metadata(number), HEADER)?.is_some() {
                continue;
            }
            self.forget_chunks(number, |_| true)?;
            self.forget_changes(number);
            self.forget_links_to(number);
            let what = format!(
                "another process has removed object {number}: what was changed in it is given up, \
                 and other changes can be committed"
            );
            error = Some(ObjectError::Conflict { what }.into());
        }
        Ok(error)
    }

    /// Forgets links that were made to an object.
    fn forget_links_to(&mut self, number: u64) {
        let leads_there = |record: &Vec<u8>| {
            let link = Link::decode(record, "a change").ok();
            link.is_some_and(
                |link| matches!(link.target, Target::Hard { number: other, .. } if other == number),
            )
        };
        self.changes.retain(|(object, key), change| {
            let is_link = is_metadata(*object) && key.first() == Some(&LINK);
            !(is_link && change.value.as_ref().is_some_and(leads_there))
        });
    }
}
