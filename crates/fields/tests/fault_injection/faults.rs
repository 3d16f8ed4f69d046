//! Random faults in a store's files.

use std::path::{Path, PathBuf};

use isotach_engine_posix::simulation::Random;

use crate::tree::Tree;

/// The kinds of files that are cut. A kind is chosen first, so that the few logs are hit as often as the many data
/// files.
const CUT: [&str; 3] = ["log.", "run.", "data/"];
/// The kinds of files for all other faults.
const KINDS: [&str; 8] = ["flushed", "log.", "run.", "data/", "floor.", "superblock", "boot.", "reserve"];

/// Which fault is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A log, a run or a data file is cut at any byte.
    Cut,
    /// A file of any kind is swapped with another, removed, or replaced by another or by an older copy, or a container by an
    /// older copy of it.
    Other,
    /// Two to four files are cut.
    Cuts,
    /// Two to four files are cut, swapped, removed or replaced by others. The notes of flushes are kept: if they are
    /// lost together with the data that they describe, the loss cannot be detected. Superblocks are kept, too: with
    /// another container's superblock and log a container is that other one (docs/DURABILITY.md).
    Several,
}

impl Fault {
    /// Injects the fault into the files of `whole`; `older` is their earlier state. Returns a description.
    pub(crate) fn at_random(self, whole: &Tree, older: &Tree, random: &mut Random) -> (String, Tree) {
        let mut tree = whole.clone();
        let times = if matches!(self, Self::Cuts | Self::Several) { 2 + random.below(3) } else { 1 };
        let done = (0..times).map(|_| match self {
            Self::Cut | Self::Cuts => cut(&mut tree, random),
            Self::Other => other(&mut tree, older, random),
            Self::Several if random.below(2) == 0 => cut(&mut tree, random),
            // Several older copies may be a whole older container, which is sound.
            Self::Several => other(&mut tree, &Tree::default(), random),
        });
        (done.collect::<Vec<_>>().join(", "), tree)
    }
}

fn cut(tree: &mut Tree, random: &mut Random) -> String {
    let file = pick(tree, &CUT, random);
    let bytes = &tree.0[&file];
    let (from, to) = (bytes.len(), random.below(bytes.len() as u64 + 1) as usize);
    let cut = bytes[..to].to_vec();
    tree.0.insert(file.clone(), cut);
    format!("cut {} at {to} of {from}", file.display())
}

fn other(tree: &mut Tree, older: &Tree, random: &mut Random) -> String {
    let is_alone = !older.0.is_empty();
    let kinds: Vec<&str> =
        KINDS.into_iter().filter(|kind| is_alone || !["flushed", "superblock"].contains(kind)).collect();
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    let (file, other) = (pick(tree, &[kind], random), pick(tree, &[kind], random));
    let bytes = tree.0[&file].clone();
    match random.below(5) {
        0 => {
            tree.0.insert(file.clone(), tree.0[&other].clone());
            tree.0.insert(other.clone(), bytes);
            format!("swap {} and {}", file.display(), other.display())
        }
        1 => {
            tree.0.remove(&file);
            format!("remove {}", file.display())
        }
        2 if older.0.contains_key(&file) => {
            tree.0.insert(file.clone(), older.0[&file].clone());
            format!("replace {} by an older copy", file.display())
        }
        3 if !older.0.is_empty() => {
            let container = container_of(&file);
            let old = older.0.iter().filter(|(path, _)| path.starts_with(&container));
            tree.0.extend(old.map(|(path, bytes)| (path.clone(), bytes.clone())));
            format!("copy an old backup of {} over it", container.display())
        }
        _ => {
            tree.0.insert(file.clone(), tree.0[&other].clone());
            format!("copy {} over {}", other.display(), file.display())
        }
    }
}

/// A file of one of these kinds. Another kind is taken where there is none.
fn pick(tree: &Tree, kinds: &[&str], random: &mut Random) -> PathBuf {
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    let mut files: Vec<&PathBuf> = tree.0.keys().filter(|path| is_of(path, kind)).collect();
    if files.is_empty() {
        files = tree.0.keys().filter(|path| is_of(path, "log.")).collect();
    }
    files[random.below(files.len() as u64) as usize].clone()
}

/// The parts of a path below a container, if it is of one.
fn below_container(path: &Path) -> Option<PathBuf> {
    let mut parts = path.components();
    parts.find(|part| part.as_os_str() == "containers")?;
    parts.next()?;
    Some(parts.collect())
}

fn is_of(path: &Path, kind: &str) -> bool {
    below_container(path).is_some_and(|below| below.to_string_lossy().starts_with(kind))
}

fn container_of(path: &Path) -> PathBuf {
    let below = below_container(path).unwrap();
    path.ancestors().nth(below.components().count()).unwrap().to_owned()
}
