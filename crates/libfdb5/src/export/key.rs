//! Keys of fields.

use isotach_mars::Key;

use super::{Handle, Out, Result, Text, export};

#[export]
fn fdb_new_key(key: Out<Handle<Key>>) -> Result<()> {
    key.fill("key", || Ok(Key::new()))
}

#[export]
fn fdb_key_add(mut key: Handle<Key>, param: Text, value: Text) -> Result<()> {
    let (key, name, value) = (key.get_mut("key")?, param.get("param")?, value.get("value")?);
    key.set(name, value);
    Ok(())
}

#[export]
fn fdb_delete_key(key: Handle<Key>) -> Result<()> {
    key.take("key").map(drop)
}
