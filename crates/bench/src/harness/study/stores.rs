//! The stores of a study: the pools of the command line, or a new one in each default folder.
//!
//! What must stay true: the record has absolute paths, and a new folder is on record as long as it exists.

use std::{
    path::{self, Path, PathBuf},
    process,
};

use isotach_object::{PoolUri, Registry};

use super::{Location, Record};
use crate::{
    Error, Result,
    harness::{events::Clock, folders},
};

/// A store that cases are measured in.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) uri: String,
    pub(super) name: String,
}

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

/// Creates a folder for a store in memory and in the current folder.
pub(super) fn create(
    record: &mut Record,
    registry: &Registry,
    folders: &mut Vec<Location>,
) -> Result<Vec<Store>> {
    let store = |parent: PathBuf| {
        let name = format!("isotach-bench-{}-{}", process::id(), Clock::start().now());
        let (path, name) = (parent.join(name), format!("posix, {}", folders::title(&parent)));
        let folder = Location::Folder(path.clone());
        record.create(&folder, registry)?;
        folders.push(folder);
        Ok(Store { uri: format!("posix:{}", path.join("pool").display()), name })
    };
    folders::given_or_default(&[])?.into_iter().map(store).collect()
}

fn absolute(text: &str, uri: &PoolUri) -> Result<String> {
    if uri.scheme() != "posix" {
        return Ok(text.to_owned());
    }
    let path = path::absolute(uri.path()).map_err(Error::io("find", Path::new(uri.path())))?;
    let path = path.display().to_string();
    let options = uri.option_names().map(|name| format!("{name}={}", uri.option(name).unwrap_or_default()));
    let options = options.collect::<Vec<_>>().join("&");
    match (path.contains('?'), options.is_empty()) {
        // Only a path without a scheme can contain a question mark.
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
    fn relative_paths_become_absolute_and_uris_of_other_engines_are_unchanged() {
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
