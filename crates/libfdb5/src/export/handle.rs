//! Handles: opening and closing a store.

use super::{Handle, Out, Result, Text, export};
use crate::handle::Fdb;

#[export]
fn fdb_new_handle(fdb: Out<Handle<Fdb>>) -> Result<()> {
    fdb.fill("fdb", Fdb::of_environment)
}

#[export]
fn fdb_new_handle_from_yaml(fdb: Out<Handle<Fdb>>, system_config: Text, user_config: Text) -> Result<()> {
    let system = system_config.or_none("system_config")?.unwrap_or_default();
    let user = user_config.or_none("user_config")?.unwrap_or_default();
    fdb.fill("fdb", || Fdb::of_text(system, user))
}

#[export]
fn fdb_flush(fdb: Handle<Fdb>) -> Result<()> {
    fdb.get("fdb")?.flush()
}

#[export]
fn fdb_delete_handle(fdb: Handle<Fdb>) -> Result<()> {
    fdb.take("fdb")?.flush()
}
