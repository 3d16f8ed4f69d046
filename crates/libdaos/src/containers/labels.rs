//! Resolves the name of a container: its label, or the text of its UUID, which is stored in the container itself.
//!
//! The label of a UUID is cached, so each container is opened only once to learn its UUID. A cached label is checked before it is used,
//! because another container may have it by now.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard},
};

use isotach_object::Label;

use crate::{
    abi::{
        errors::*,
        stored::{OF_POOL, is_uuid},
    },
    containers::{pools::Pool, uuid_of, uuid_of_label, uuid_text},
    runtime::{
        error::{Der, Result, refuse},
        locked,
    },
};

/// A container, as a pool lists it.
pub(crate) struct Listed {
    pub(crate) uuid: [u8; 16],
    pub(crate) label: Label,
}

/// Labels of containers, by the label of the pool and the text of the UUID.
type Known = BTreeMap<(String, String), Label>;

fn known() -> MutexGuard<'static, Known> {
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    locked(&KNOWN)
}

/// Remembers the label of a container.
pub(crate) fn remember(pool: &Pool, uuid: &[u8; 16], label: &Label) {
    known().insert((pool.label.clone(), uuid_text(uuid)), label.clone());
}

/// Forgets a container that was destroyed.
pub(crate) fn forget(pool: &Pool, label: &Label) {
    known().retain(|(pool_label, _), known| *pool_label != pool.label || known != label);
}

/// The UUID of the container with a label; `None` where this user finds none. A container that is damaged or of a newer format has the UUID
/// of its label, so it can be destroyed and does not block the search for others.
fn look(pool: &Pool, label: &Label) -> Result<Option<[u8; 16]>> {
    let opened = pool.inner.open_container(label).map_err(Der::from);
    let uuid = match opened.and_then(|container| uuid_of(&*container)) {
        Ok(uuid) => uuid,
        Err(Der(DER_NONEXIST | DER_NO_PERM)) => return Ok(None),
        Err(Der(DER_CSUM | DER_INVAL | DER_NOTSUPPORTED)) => uuid_of_label(label.as_str()),
        Err(other) => return Err(other),
    };
    remember(pool, &uuid, label);
    Ok(Some(uuid))
}

/// All containers of a pool that this user finds.
pub(crate) fn list(pool: &Pool) -> Result<Vec<Listed>> {
    let labels = pool.inner.list_containers()?.into_iter().filter(|label| label.as_str() != OF_POOL);
    let listed = labels.map(|label| Ok(look(pool, &label)?.map(|uuid| Listed { uuid, label })));
    listed.filter_map(Result::transpose).collect()
}

/// The label of the container that a name means. A UUID that no container has is its own label.
pub(crate) fn resolve(pool: &Pool, name: &str) -> Result<Label> {
    if name == OF_POOL {
        return refuse(
            DER_NONEXIST,
            "this is where a pool's attributes are, which are reached by daos_pool_get_attr",
        );
    }
    if !is_uuid(name) {
        return Ok(name.parse()?);
    }
    let text = name.to_ascii_lowercase();
    let is_it = |label: &Label| -> Result<bool> {
        Ok(look(pool, label)?.is_some_and(|uuid| uuid_text(&uuid) == text))
    };
    // A container that was given no label has this one.
    let own: Label = text.parse()?;
    let remembered = known().get(&(pool.label.clone(), text.clone())).cloned();
    for label in [Some(own), remembered].into_iter().flatten() {
        if is_it(&label)? {
            return Ok(label);
        }
    }
    let is_of_pool = |(key, label): (&(String, String), &Label)| (key.0 == pool.label).then(|| label.clone());
    let looked_into: BTreeSet<Label> = known().iter().filter_map(is_of_pool).collect();
    let (old, new): (Vec<Label>, Vec<Label>) =
        pool.inner.list_containers()?.into_iter().partition(|label| looked_into.contains(label));
    // An unreadable container may be the one, but only if no other is.
    let mut unread = None;
    for label in new.into_iter().chain(old) {
        match is_it(&label) {
            Ok(true) => return Ok(label),
            Ok(false) => {}
            Err(error) => unread = unread.or(Some(error)),
        }
    }
    unread.map_or_else(|| Ok(name.parse()?), Err)
}
