//! All files of a folder, in memory, to be put back after each fault.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Files by their paths below the folder, and the folders, which stay though what is in them may be gone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree(pub(crate) BTreeMap<PathBuf, Vec<u8>>, Vec<PathBuf>);

impl Tree {
    pub(crate) fn read(folder: &Path) -> Self {
        let mut tree = Self::default();
        tree.read_below(folder, Path::new(""));
        tree
    }

    fn read_below(&mut self, folder: &Path, below: &Path) {
        self.1.push(below.to_owned());
        for entry in fs::read_dir(folder.join(below)).unwrap() {
            let entry = entry.unwrap();
            let name = below.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                self.read_below(folder, &name);
            } else {
                self.0.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }

    /// Makes a folder hold these files and no others.
    pub(crate) fn write(&self, folder: &Path) {
        fs::remove_dir_all(folder).unwrap();
        for name in &self.1 {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        for (name, bytes) in &self.0 {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}
