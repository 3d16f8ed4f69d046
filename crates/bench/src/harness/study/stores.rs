//! The stores that a study measures in: pools that are named, or one in a new folder of each usual place.
//!
//! What must stay true: what is on record is found again from any folder, and a new folder is on record while it is there.

use std::{
    path::{self, Path, PathBuf},
    process,
};

use isotach_object::{PoolUri, Registry};

use super::{Place, Record};
use crate::{
    Error, Result,
    harness::{events::Clock, machine},
    workloads::suite,
};

/// Where a case is measured.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) uri: String,
    /// For people.
    pub(super) name: String,
}

/// Those that are asked for.
pub(super) fn named(pools: &[String], registry: &Registry) -> Result<Vec<Store>> {
    let store = |text: &String| {
        let uri: PoolUri = text.parse()?;
        if !registry.engine(uri.scheme())?.capabilities().multi_process {
            let what = format!("{text}: the {} engine serves one process alone", uri.scheme());
            return Err(Error::invalid(what, "an engine that several processes can use at once"));
        }
        Ok(Store { uri: absolute(text, &uri)?, name: text.clone() })
    };
    pools.iter().map(store).collect()
}

/// Puts a folder for a store on record, and makes it, in memory and here.
pub(super) fn make(record: &mut Record, registry: &Registry, folders: &mut Vec<Place>) -> Result<Vec<Store>> {
    let store = |place: PathBuf| {
        let name = format!("isotach-bench-{}-{}", process::id(), Clock::start().now());
        let (path, name) = (place.join(name), format!("posix, {}", machine::place(&place)));
        let folder = Place::Folder(path.clone());
        record.make(&folder, registry)?;
        folders.push(folder);
        Ok(Store { uri: format!("posix:{}", path.join("pool").display()), name })
    };
    suite::places(&[])?.into_iter().map(store).collect()
}

/// The URI as it is from any folder.
fn absolute(text: &str, uri: &PoolUri) -> Result<String> {
    if uri.scheme() != "posix" {
        return Ok(text.to_owned());
    }
    let path = path::absolute(uri.path()).map_err(Error::io("find", Path::new(uri.path())))?;
    let path = path.display().to_string();
    let options = uri.option_names().map(|name| format!("{name}={}", uri.option(name).unwrap_or_default()));
    let options = options.collect::<Vec<_>>().join("&");
    match (path.contains('?'), options.is_empty()) {
        // Only a path without a scheme can have a question mark.
        (true, true) => Ok(path),
        (true, false) => {
            Err(Error::invalid(format!("{text} in {path}"), "a path without ?, where there are options"))
        }
        (false, true) => Ok(format!("posix:{path}")),
        (false, false) => Ok(format!("posix:{path}?{options}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_absolute_with_its_options_and_other_engines_uris_are_left_alone() {
        let found = |text: &str| absolute(text, &text.parse().unwrap()).unwrap();
        let here = std::env::current_dir().unwrap();
        let here = here.display();
        assert_eq!(found("posix:pool"), format!("posix:{here}/pool"));
        assert_eq!(found("./pool"), format!("posix:{here}/pool"));
        assert_eq!(found("posix:pool?sync=no&a=b"), format!("posix:{here}/pool?sync=no&a=b"));
        assert_eq!(found("./what?x"), format!("{here}/what?x"));
        for text in ["posix:/data/pool?sync=no", "rados://pool?user=me"] {
            assert_eq!(found(text), text);
        }
    }
}
