//! Finds objects by their paths.

use isotach_hdf5::{Error as FileError, Kind, Target};

use crate::{Result, Source};

/// How many soft links a path may lead through.
const LINKS_MAX: usize = 64;

/// The names in a path.
pub fn parse_path(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".")
}

/// The number of the object at a path from the root. Soft links are followed.
///
/// # Errors
/// `NotFound` names the first name of the path that leads nowhere; `Unsupported` for a link that leads out of the file.
pub fn find(source: &dyn Source, path: &str) -> Result<u64> {
    let root = source.root()?;
    // The names that are left, the next one last, and the groups on the way.
    let mut left: Vec<String> = reversed(path);
    let (mut at, mut shown, mut followed) = (root, String::new(), 0);
    let mut is_group = true;
    while let Some(name) = left.pop() {
        let absent = || FileError::not_found(format!("{shown}/{name} in {}", source.name()));
        if !is_group {
            return Err(absent().into());
        }
        let links = source.links(at)?;
        let (_, link) = links.into_iter().find(|(there, _)| *there == name).ok_or_else(absent)?;
        match link.target {
            Target::Hard { number, kind } => {
                (at, is_group) = (number, kind == Kind::Group);
                shown = format!("{shown}/{name}");
            }
            Target::Soft(target) => {
                followed += 1;
                if followed > LINKS_MAX {
                    let what =
                        format!("{shown}/{name}, which leads through more than {LINKS_MAX} soft links");
                    return Err(FileError::unsupported(what).into());
                }
                if target.starts_with('/') {
                    (at, shown) = (root, String::new());
                }
                left.extend(reversed(&target));
            }
            Target::External { file, .. } => {
                let what = format!("{shown}/{name}, which leads to the file {file}: name that file");
                return Err(FileError::unsupported(what).into());
            }
            Target::User { class, .. } => {
                let what = format!("{shown}/{name}, a link of the user-defined class {class}");
                return Err(FileError::unsupported(what).into());
            }
        }
    }
    Ok(at)
}

fn reversed(path: &str) -> Vec<String> {
    let mut names: Vec<String> = parse_path(path).map(str::to_owned).collect();
    names.reverse();
    names
}
