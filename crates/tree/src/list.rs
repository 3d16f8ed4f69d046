//! Listing values and directories.

use std::collections::{BTreeMap, BTreeSet};

use isotach_object::{Anchor, Error, Result};

use crate::{
    Tree,
    entry::Entry,
    path::{self, Name},
};

/// How many entries are listed at once, with the values of the small ones.
const PAGE: usize = 1024;

/// A value of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its path.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
}

impl Tree {
    /// The values whose paths begin with `prefix`, in any order. It need not end at a slash.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    pub fn list(&self, prefix: &str) -> Result<Vec<Listed>> {
        let mut listed = Vec::new();
        self.each_stored(prefix, |path, entry| {
            listed.push(Listed { path, size: Entry::decode(entry)?.length() });
            Ok(())
        })?;
        self.with_changes(prefix, listed)
    }

    /// The names of the values and directories in a directory, sorted. A directory is there as long as a value is below it.
    ///
    /// # Errors
    /// `InvalidInput` for a path with a slash at either end, or another that no directory has; `Corrupt`, `Io`.
    pub fn children(&self, directory: &str) -> Result<Vec<String>> {
        let slashed = path::slashed(directory)?;
        if self.is_changed_below(&slashed) {
            let name = |listed: Listed| listed.path[slashed.len()..].split('/').next().map(str::to_owned);
            let names: BTreeSet<String> = self.list(&slashed)?.into_iter().filter_map(name).collect();
            return Ok(names.into_iter().collect());
        }
        let (mut names, mut directories) = (BTreeSet::new(), Vec::new());
        self.entries(directory, false, |name, _| {
            match name {
                Name::Value(name) => drop(names.insert(name.to_owned())),
                Name::Directory(name) => directories.push(name.to_owned()),
            }
            Ok(true)
        })?;
        for name in directories {
            if self.has_stored_values(&path::join(directory, &name))? {
                names.insert(name);
            }
        }
        Ok(names.into_iter().collect())
    }

    /// Whether a directory, the top being the empty path, has no value below it.
    ///
    /// # Errors
    /// As [`Tree::children`].
    pub fn is_empty(&self, directory: &str) -> Result<bool> {
        let slashed = path::slashed(directory)?;
        match self.is_changed_below(&slashed) {
            true => Ok(self.list(&slashed)?.is_empty()),
            false => Ok(!self.has_stored_values(directory)?),
        }
    }

    /// Calls `each` with the path and the entry of each stored value whose path begins with `prefix`. Returns the paths of the
    /// directories that begin with it, with a slash behind each. A directory follows the one that holds it.
    pub(crate) fn each_stored(
        &self,
        prefix: &str,
        mut each: impl FnMut(String, &[u8]) -> Result<()>,
    ) -> Result<Vec<String>> {
        let mut directories = Vec::new();
        let Some((directory, start)) = path::split_prefix(prefix) else { return Ok(directories) };
        let mut visit = |directory: &str, start: &str, directories: &mut Vec<String>| {
            self.entries(directory, true, |name, entry| {
                if name.text().starts_with(start) {
                    let path = path::join(directory, name.text());
                    match name {
                        Name::Directory(_) => directories.push(path + "/"),
                        Name::Value(_) => each(path, entry)?,
                    }
                }
                Ok(true)
            })
        };
        visit(directory, start, &mut directories)?;
        let mut at = 0;
        while let Some(below) = directories.get(at).cloned() {
            visit(below.trim_end_matches('/'), "", &mut directories)?;
            at += 1;
        }
        Ok(directories)
    }

    /// Whether a directory holds a value, or the marker of another directory.
    pub(crate) fn has_entries(&self, directory: &str) -> Result<bool> {
        let mut found = false;
        self.entries(directory, false, |_, _| {
            found = true;
            Ok(false)
        })?;
        Ok(found)
    }

    /// Whether a value is below a directory: removed values leave markers.
    fn has_stored_values(&self, directory: &str) -> Result<bool> {
        let (mut found, mut unseen) = (false, vec![directory.to_owned()]);
        while !found && let Some(directory) = unseen.pop() {
            self.entries(&directory, false, |name, _| {
                match name {
                    Name::Directory(name) => unseen.push(path::join(&directory, name)),
                    Name::Value(_) => found = true,
                }
                Ok(!found)
            })?;
        }
        Ok(found)
    }

    /// Calls `each` with the names in a directory and, if they are wanted, the entries, until it returns false.
    fn entries(
        &self,
        directory: &str,
        values: bool,
        mut each: impl FnMut(Name<'_>, &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let (object, mut anchor) = (path::directory(directory), Anchor::start());
        loop {
            let page = self.container.list_entries(object, &anchor, PAGE, values)?;
            for (stored, entry) in page.iter() {
                let Some(name) = Name::decode(stored) else {
                    let what = format!("the name \"{}\" in directory {directory:?}", stored.escape_ascii());
                    return Err(Error::corrupt(what, format!("container {}", self.container.label())));
                };
                if !each(name, entry)? {
                    return Ok(());
                }
            }
            match page.next() {
                Some(next) => anchor = next.clone(),
                None => return Ok(()),
            }
        }
    }

    fn is_changed_below(&self, slashed: &str) -> bool {
        self.changes().as_ref().is_some_and(|changes| changes.below(slashed).next().is_some())
    }

    /// A listing with the changes of the open transaction.
    fn with_changes(&self, prefix: &str, listed: Vec<Listed>) -> Result<Vec<Listed>> {
        let changes = self.changes();
        let Some(changes) = changes.as_ref() else { return Ok(listed) };
        let mut sizes: BTreeMap<String, u64> =
            listed.into_iter().map(|listed| (listed.path, listed.size)).collect();
        for (path, entry) in changes.below(prefix) {
            match entry {
                Some(entry) => drop(sizes.insert(path.to_owned(), Entry::decode(entry)?.length())),
                None => drop(sizes.remove(path)),
            }
        }
        Ok(sizes.into_iter().map(|(path, size)| Listed { path, size }).collect())
    }
}
