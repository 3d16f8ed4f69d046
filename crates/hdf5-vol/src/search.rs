//! Finds a path to an object that was opened by its number.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use isotach_hdf5::{By, File, Kind, Order, Target};

use crate::error::Result;

/// The path of hard links to an object, one of the shortest. Nothing if none leads to it.
pub(crate) fn path_to(file: &Arc<File>, wanted: u64) -> Result<Option<String>> {
    let root = file.root()?;
    let mut seen = HashSet::from([root.number()]);
    let mut queue = VecDeque::from([(root, String::new())]);
    while let Some((group, path)) = queue.pop_front() {
        for (name, link) in group.links(By::Name, Order::Native)? {
            let Target::Hard { number, kind } = link.target else { continue };
            let below = format!("{path}/{name}");
            if number == wanted {
                return Ok(Some(below));
            }
            if kind == Kind::Group && seen.insert(number) {
                queue.push_back((file.object(number)?, below));
            }
        }
    }
    Ok(None)
}
