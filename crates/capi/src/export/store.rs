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
    store.fill("store", || at(place, open))
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
        at(place, |config| match schema {
            Some(text) => create(config.with_schema(text)),
            None => create(config),
        })
    })
}

#[export]
fn isotach_close(store: Handle<FieldStore>) {
    store.free();
}

/// Opens or creates the store at a place, or that of the environment: what named it is told with the reason of a failure.
fn at(place: Option<&str>, act: impl FnOnce(Config) -> Result<FieldStore>) -> Result<FieldStore> {
    if let Some(place) = place {
        return act(config_of(place)?);
    }
    let named = named_by_isotach(|| Ok(None))?;
    act(named.config).map_err(|failure| failure.about(&named.given_by))
}
