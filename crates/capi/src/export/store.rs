//! Opening, creating and closing stores.

use std::path::Path;

use isotach_fields::{Config, FieldStore};
use isotach_open::{Origin, from_environment, no_store, pool_uri, registry};

use super::{Handle, Out, Result, Text, export};

/// Threads share it.
const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<FieldStore>();

#[export]
fn isotach_open(place: Text, store: Out<Handle<FieldStore>>) -> Result<()> {
    let place = place.or_none("place")?;
    store.fill("store", || at(place, opened))
}

#[export]
fn isotach_open_config(path: Text, store: Out<Handle<FieldStore>>) -> Result<()> {
    let path = Path::new(path.get("path")?).to_path_buf();
    store.fill("store", || opened(&Origin::File { path, given_by: "the argument" }))
}

#[export]
fn isotach_create(place: Text, schema: Text, store: Out<Handle<FieldStore>>) -> Result<()> {
    let (place, schema) = (place.or_none("place")?, schema.or_none("schema")?);
    store.fill("store", || at(place, |origin| created(origin, schema)))
}

#[export]
fn isotach_close(store: Handle<FieldStore>) {
    store.free();
}

/// Opens or creates the store at a place, or else the store of the environment. A failure says what named that one.
fn at(place: Option<&str>, act: impl FnOnce(&Origin) -> Result<FieldStore>) -> Result<FieldStore> {
    if let Some(place) = place {
        return act(&Origin::Store { uri: pool_uri(place)?, given_by: "the argument" });
    }
    let origin = from_environment()?.ok_or_else(|| no_store(&[]))?;
    act(&origin).map_err(|failure| failure.about(origin.given_by()))
}

fn opened(origin: &Origin) -> Result<FieldStore> {
    let engines = registry();
    Ok(origin.open(&origin.config(&engines)?, &engines)?)
}

fn created(origin: &Origin, schema: Option<&str>) -> Result<FieldStore> {
    let engines = registry();
    let config = origin.config(&engines)?;
    let config: Config = match schema {
        Some(text) => config.with_schema(text),
        None => config,
    };
    Ok(origin.create(&config, &engines)?)
}
