//! Opening and creating field stores with every engine.

use std::{path::Path, sync::Arc};

use isotach_engine_daos::Daos;
use isotach_engine_posix::Posix;
use isotach_engine_rados::Rados;
use isotach_fields::{Config, FieldStore};
use isotach_grib::Eccodes;
use isotach_mars::Clock;
use isotach_object::{PoolUri, Registry, memory::Memory};

use crate::{Failure, Result, environment::text_variable};

/// The engines.
fn engines() -> Registry {
    Registry::new()
        .with(Arc::new(Posix))
        .with(Arc::new(Rados::new()))
        .with(Arc::new(Daos::new()))
        .with(Arc::new(Memory::new()))
}

/// Opens an existing store.
///
/// # Errors
/// As [`FieldStore::open`].
pub fn open(config: Config) -> Result<FieldStore> {
    Ok(relabelling(FieldStore::open(&with_clock(config)?, &engines())?))
}

/// Creates a store, or opens it if it exists.
///
/// # Errors
/// As [`FieldStore::create`].
pub fn create(config: Config) -> Result<FieldStore> {
    Ok(relabelling(FieldStore::create(&with_clock(config)?, &engines())?))
}

/// Everything in one pool. The text is its URI, or a path that begins with `/`, `./` or `../`, which is of the posix engine.
///
/// # Errors
/// Text that is neither.
pub fn config_of(text: &str) -> Result<Config> {
    let uri: PoolUri = text.parse()?;
    if uri.scheme() != "posix" || uri.path().is_empty() || uri.path().starts_with('/') {
        return Ok(Config::single(&uri));
    }
    // After a scheme a question mark begins the options, and a path alone has none.
    let (path, options) = match text.split_once('?') {
        Some((_, options)) if !uri.path().contains('?') => (uri.path(), format!("?{options}")),
        _ => (uri.path(), String::new()),
    };
    let absolute = std::path::absolute(Path::new(path))
        .map_err(|error| isotach_object::Error::from_io(error, format!("find {path}")))?;
    if options.is_empty() {
        return Ok(Config::single(&absolute.display().to_string().parse()?));
    }
    Ok(Config::single(&format!("posix:{}{options}", absolute.display()).parse()?))
}

/// With the day that `ISOTACH_TODAY` names, if it does.
fn with_clock(config: Config) -> Result<Config> {
    let Some(day) = text_variable("ISOTACH_TODAY")? else { return Ok(config) };
    match Clock::at(&day) {
        Some(clock) => Ok(config.with_clock(clock)),
        None => Err(Failure::invalid(format!("ISOTACH_TODAY={day:?}: expected a day as 2024-01-31"))),
    }
}

/// Lets a store set the key of an overlay in the messages below it.
fn relabelling(store: FieldStore) -> FieldStore {
    store.relabel_with(|message, keys| Ok(Eccodes::load()?.relabel_message(message, keys.slots())?));
    store
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_place_is_of_the_working_folder_and_keeps_its_options() {
        let pool = |text: &str| config_of(text).map(|config| config.spaces[0].store.to_string());
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            pool("./fields"),
            Ok(here.join("fields").display().to_string()).map(|path| format!("posix:{path}"))
        );
        assert_eq!(pool("posix:fields?sync=no"), Ok(format!("posix:{}/fields?sync=no", here.display())));
        assert_eq!(pool("/data/fields"), Ok("posix:/data/fields".to_owned()));
        assert_eq!(pool("memory:x"), Ok("memory:x".to_owned()));
        assert!(pool("fields").unwrap_err().text.contains("expected a URI"));
    }

    #[test]
    fn a_store_is_opened_only_where_it_was_created() {
        let folder = tempfile::tempdir().unwrap();
        let config = config_of(&folder.path().join("store").display().to_string()).unwrap();
        assert_eq!(open(config.clone()).unwrap_err().code, "not-found");
        assert!(create(config.clone()).is_ok());
        assert!(open(config).is_ok());
    }
}
