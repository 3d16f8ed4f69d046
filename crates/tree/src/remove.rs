//! Removing directories with everything below them.

use std::collections::BTreeSet;

use isotach_object::{Cell, Error, Result, Update};

use crate::{
    Tree,
    commit::Swap,
    list::{Content, slashed},
    path,
};

/// How often a removal begins again because others write into the directory.
const ATTEMPTS: usize = 32;

impl Tree {
    /// Removes all values below a directory, the top being the empty path. Readers see all or none removed, where the engine has
    /// transactions.
    ///
    /// # Errors
    /// `Conflict` if others write into the directory without a pause.
    pub fn remove_below(&self, directory: &str) -> Result<()> {
        let slashed = slashed(directory);
        if self.is_in_transaction() {
            return self.list(&slashed)?.iter().try_for_each(|listed| self.remove(&listed.path));
        }
        let mut known = BTreeSet::from([slashed]);
        for _ in 0..ATTEMPTS {
            let content = self.content(&known)?;
            if content.values.is_empty() && content.directories.is_empty() {
                return Ok(());
            }
            known.extend(content.directories.iter().cloned());
            match self.remove_content(content, &known) {
                Ok(()) | Err(Error::Conflict { .. }) => {}
                outcome => return outcome,
            }
        }
        Err(Error::Conflict { what: format!("others write into {directory:?} while it is removed") })
    }

    /// The content of directories, and of those below them. A value may have been put into a directory whose marker was removed
    /// since, so those that are known are always looked at.
    fn content(&self, known: &BTreeSet<String>) -> Result<Content> {
        let (mut content, mut at) = (Content::default(), 0);
        for directory in known {
            self.list_directory(directory.trim_end_matches('/'), "", &mut content)?;
        }
        while let Some(below) = content.directories.get(at).cloned() {
            if !known.contains(&below) {
                self.list_directory(below.trim_end_matches('/'), "", &mut content)?;
            }
            at += 1;
        }
        Ok(content)
    }

    /// Removes values, and the markers of all these directories.
    fn remove_content(&self, content: Content, known: &BTreeSet<String>) -> Result<()> {
        let swap = |(path, entry)| Swap { path, old: Some(entry), new: None };
        let swaps: Vec<Swap> = content.values.into_iter().map(swap).collect();
        let markers = known.iter().filter_map(|directory| path::marker_of(directory));
        let markers: Vec<Update<'_>> = markers
            .map(|(object, name)| Update::Remove { cell: Cell::kv(object, name.as_bytes()) })
            .collect();
        self.apply_with(&swaps, markers)
    }
}
