//! Opening, creating and closing stores.

use std::path::Path;

use isotach_capi_kit::{config_of, create, named_by_isotach, open};
use isotach_fields::{Config, FieldStore};

use super::{Handle, Out, Result, Text, export};

/// Threads share it.
const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<FieldStore>();

#[export]
fn isotach_open(place: Text, store: Out<Handle<FieldStore>>) -> Result<()> {
    let place = place.or_none("place")?;
    store.fill("store", || open(configuration(place)?))
}

#[export]
fn isotach_open_config(path: Text, store: Out<Handle<FieldStore>>) -> Result<()> {
    let path = Path::new(path.get("path")?);
    store.fill("store", || open(Config::read(path)?))
}

#[export]
fn isotach_create(place: Text, schema: Text, store: Out<Handle<FieldStore>>) -> Result<()> {
    let (place, schema) = (place.or_none("place")?, schema.or_none("schema")?);
    store.fill("store", || {
        let config = configuration(place)?;
        create(match schema {
            Some(text) => config.with_schema(text),
            None => config,
        })
    })
}

#[export]
fn isotach_close(store: Handle<FieldStore>) {
    store.free();
}

fn configuration(place: Option<&str>) -> Result<Config> {
    match place {
        Some(place) => config_of(place),
        None => Ok(named_by_isotach(|| Ok(None))?.config),
    }
}
