//! Attributes of containers: names with bytes, which a program keeps there for itself. They are entries of the container's own object.

use isotach_object::{Anchor, Cell, Update};

use crate::{
    abi::{acl::*, errors::*},
    containers::own,
    error::{Der, Result, invalid},
    handles,
};

/// What the key of an attribute begins with; then comes its name.
const PREFIX: u8 = b'x';
/// How many bytes a name has at most.
const MOST_NAME: usize = 511;
/// Names that are asked for at once.
const PER_PAGE: usize = 1000;

fn keys(names: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
    if names.is_empty() || names.iter().any(|name| !(1..=MOST_NAME).contains(&name.len())) {
        return invalid("names of attributes: one at least, each of 1 to 511 bytes, are expected");
    }
    Ok(names.iter().map(|name| [&[PREFIX][..], name].concat()).collect())
}

/// See `daos_cont_set_attr`: names and values.
pub(crate) fn set(container: u64, names: &[&[u8]], values: &[&[u8]]) -> Result<()> {
    let container = handles::container(container)?;
    let (object, keys) = (own()?, keys(names)?);
    if values.iter().any(|value| value.is_empty()) {
        return invalid("an attribute without a value");
    }
    let pairs = keys.iter().zip(values);
    let updates: Vec<Update<'_>> =
        pairs.map(|(key, value)| Update::Put { cell: Cell::kv(object, key), value }).collect();
    container.update(&updates)
}

/// See `daos_cont_get_attr`: the values of names, all of which must be there.
pub(crate) fn get(container: u64, names: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
    let container = handles::container(container)?;
    container.check(DAOS_ACL_PERM_READ)?;
    let (object, keys) = (own()?, keys(names)?);
    let cells: Vec<Cell<'_>> = keys.iter().map(|key| Cell::kv(object, key)).collect();
    container.inner.get_many(&cells)?.into_iter().map(|value| value.ok_or(Der(DER_NONEXIST))).collect()
}

/// See `daos_cont_del_attr`. What is not there is gone already.
pub(crate) fn delete(container: u64, names: &[&[u8]]) -> Result<()> {
    let container = handles::container(container)?;
    let (object, keys) = (own()?, keys(names)?);
    let updates: Vec<Update<'_>> =
        keys.iter().map(|key| Update::Remove { cell: Cell::kv(object, key) }).collect();
    container.update(&updates)
}

/// See `daos_cont_list_attr`: all names.
pub(crate) fn list(container: u64) -> Result<Vec<Vec<u8>>> {
    let container = handles::container(container)?;
    container.check(DAOS_ACL_PERM_READ)?;
    let object = own()?;
    let (mut names, mut anchor) = (Vec::new(), Some(Anchor::start()));
    while let Some(from) = anchor {
        let page = container.inner.list_entries(object, &from, PER_PAGE, false)?;
        names.extend(page.keys().filter_map(|key| key.strip_prefix(&[PREFIX])).map(<[u8]>::to_vec));
        anchor = page.next().cloned();
    }
    Ok(names)
}
