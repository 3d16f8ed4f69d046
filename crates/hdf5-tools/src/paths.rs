//! [`Paths`]: the objects of a file by number.

use std::collections::{HashMap, VecDeque};

use isotach_hdf5::{Kind, Target};

use crate::{Result, Source};

/// The shortest paths of all objects that hard links lead to.
#[derive(Debug)]
pub struct Paths(HashMap<u64, String>);

impl Paths {
    /// Walks the whole file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn of(source: &dyn Source) -> Result<Self> {
        let root = source.root()?;
        let mut paths = HashMap::from([(root, String::new())]);
        let mut groups = VecDeque::from([root]);
        while let Some(group) = groups.pop_front() {
            let above = paths.get(&group).cloned().unwrap_or_default();
            for (name, link) in source.links(group)? {
                let Target::Hard { number, kind } = link.target else { continue };
                if paths.contains_key(&number) {
                    continue;
                }
                paths.insert(number, format!("{above}/{name}"));
                if kind == Kind::Group {
                    groups.push_back(number);
                }
            }
        }
        paths.insert(root, "/".to_owned());
        Ok(Self(paths))
    }

    /// The path of an object.
    pub fn get(&self, number: u64) -> Option<&str> {
        self.0.get(&number).map(String::as_str)
    }
}
