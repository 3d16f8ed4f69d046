//! User attributes of containers and of pools: named bytes. They are entries in the container's own object. An engine stores nothing of a
//! pool but its containers, so a pool's attributes are those of a container that is created for them.

use std::sync::Arc;

use isotach_object::{Cell, ContainerOptions, Error, Update};

use crate::{
    abi::{acl::*, constants::DAOS_COO_RW, errors::*, stored::OF_POOL},
    containers::{
        Container,
        acl::{ALL, TO_READ},
        own,
        pools::Pool,
    },
    objects::pages::all_keys,
    runtime::error::{Der, Result, invalid},
};

/// What the key of an attribute begins with; then comes its name.
const PREFIX: u8 = b'x';
/// The number of bytes a name has at most.
const NAME_MAX: usize = 511;

/// Refuses invalid names and values.
pub(crate) fn check(names: &[&[u8]], values: &[&[u8]]) -> Result<()> {
    if names.is_empty() || names.iter().any(|name| !(1..=NAME_MAX).contains(&name.len())) {
        return invalid("names of attributes: one at least, each of 1 to 511 bytes, are expected");
    }
    if values.iter().any(|value| value.is_empty()) {
        return invalid("an attribute without a value");
    }
    Ok(())
}

fn keys(names: &[&[u8]]) -> Vec<Vec<u8>> {
    names.iter().map(|name| [&[PREFIX][..], name].concat()).collect()
}

/// What is done with attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Delete,
    Set,
}

/// The container with its own attributes: whether it may be changed is checked when it is.
pub(crate) fn of_container(container: u64, _: Access) -> Result<Arc<Container>> {
    Container::get(container)
}

/// The container with the attributes of a pool. It is created for the first attribute that is set.
pub(crate) fn of_pool(pool: u64, access: Access) -> Result<Arc<Container>> {
    let pool = Pool::get(pool)?;
    let label = OF_POOL.parse()?;
    if access != Access::Read {
        pool.check_writable()?;
    }
    let inner = match pool.inner.open_container(&label) {
        Err(Error::NotFound { .. }) if access == Access::Set => {
            match pool.inner.create_container(&label, &ContainerOptions::default()) {
                // Another was faster.
                Ok(()) | Err(Error::AlreadyExists { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            pool.inner.open_container(&label)?
        }
        opened => opened?,
    };
    let permissions = if pool.check_writable().is_ok() { ALL } else { TO_READ };
    Ok(Arc::new(Container {
        pool,
        inner,
        uuid: [0; 16],
        flags: DAOS_COO_RW,
        permissions,
        redundancy_factor: 0,
        is_gone: false.into(),
    }))
}

/// See `daos_cont_set_attr`: names and values that [`check`] passes.
pub(crate) fn set(container: &Container, names: &[&[u8]], values: &[&[u8]]) -> Result<()> {
    let (object, keys) = (own()?, keys(names));
    let pairs = keys.iter().zip(values);
    let updates: Vec<Update<'_>> =
        pairs.map(|(key, value)| Update::Put { cell: Cell::kv(object, key), value }).collect();
    container.update(&updates)
}

/// See `daos_cont_get_attr`: the values of names, all of which must exist.
pub(crate) fn get(container: &Container, names: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
    container.check(DAOS_ACL_PERM_READ)?;
    let (object, keys) = (own()?, keys(names));
    let cells: Vec<Cell<'_>> = keys.iter().map(|key| Cell::kv(object, key)).collect();
    container.inner.get_many(&cells)?.into_iter().map(|value| value.ok_or(Der(DER_NONEXIST))).collect()
}

/// See `daos_cont_del_attr`. Removing an absent attribute succeeds.
pub(crate) fn delete(container: &Container, names: &[&[u8]]) -> Result<()> {
    let (object, keys) = (own()?, keys(names));
    let updates: Vec<Update<'_>> =
        keys.iter().map(|key| Update::Remove { cell: Cell::kv(object, key) }).collect();
    container.update(&updates)
}

/// See `daos_cont_list_attr`: all names.
pub(crate) fn list(container: &Container) -> Result<Vec<Vec<u8>>> {
    container.check(DAOS_ACL_PERM_READ)?;
    let object = own()?;
    let keys = all_keys(|from, limit| container.inner.list_entries(object, from, limit, false))?;
    Ok(keys.iter().filter_map(|key| key.strip_prefix(&[PREFIX])).map(<[u8]>::to_vec).collect())
}
