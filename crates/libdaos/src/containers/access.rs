//! Access control of containers. Owner, group and access control list are properties of the container, and are checked when it is opened.
//!
//! The identity is the effective user of this process and its groups. Only this library enforces these lists: the operating system
//! enforces the owner and mode of the pool's files instead.

use isotach_object::{Cell, Precondition, Transaction, Update};
use rustix::process::{getegid, geteuid, getgroups};

use crate::{
    abi::{acl::*, constants::DAOS_COO_RO, errors::*, properties::*, stored::property_key},
    containers::{
        self, Container,
        acl::{ALL, Entry, List, Owners, TO_READ, has_name, is_principal},
        own,
        principals::principal,
        properties::{self, Properties, Value},
    },
    runtime::error::{Der, Result, invalid, refuse},
    transactions::retry::retry_conflicts,
};

/// The properties that hold owner, group and list.
pub(crate) const PROPERTIES: [u32; 3] = [DAOS_PROP_CO_ACL, DAOS_PROP_CO_OWNER, DAOS_PROP_CO_OWNER_GROUP];

fn is_member(group: &str) -> bool {
    let others = getgroups().unwrap_or_default();
    let mut all = std::iter::once(getegid()).chain(others);
    all.any(|id| principal(id.as_raw(), true) == group)
}

/// Refuses to create a container that belongs to another user.
pub(crate) fn check_owner(properties: &Properties) -> Result<()> {
    match properties.get(&DAOS_PROP_CO_OWNER) {
        Some(Value::Text(owner)) if *owner != principal(geteuid().as_raw(), false) => invalid(&format!(
            "a new container of {owner}: it belongs to who makes it; daos_cont_set_owner gives it away"
        )),
        _ => Ok(()),
    }
}

/// Adds the defaults of a new container: this user and group, and the default list.
pub(crate) fn add_defaults(properties: &mut Properties) {
    let defaults = [
        (DAOS_PROP_CO_OWNER, Value::Text(principal(geteuid().as_raw(), false))),
        (DAOS_PROP_CO_OWNER_GROUP, Value::Text(principal(getegid().as_raw(), true))),
        (DAOS_PROP_CO_ACL, Value::Bytes(List::of_container().bytes())),
    ];
    for (number, value) in defaults {
        properties.entry(number).or_insert(value);
    }
}

/// The permissions that a container with these properties grants this process for an open with these flags. A container that this library
/// did not create, and that was given neither owner, group nor list since, permits everything.
pub(crate) fn permissions(properties: &Properties, flags: u32) -> Result<u64> {
    let name = |number| match properties.get(&number) {
        Some(Value::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let permitted = if PROPERTIES.iter().any(|number| properties.contains_key(number)) {
        let list = match properties.get(&DAOS_PROP_CO_ACL) {
            Some(Value::Bytes(bytes)) => List::read(bytes)?,
            _ => List::of_container(),
        };
        // A missing owner or group matches nobody.
        let owners = Owners { user: name(DAOS_PROP_CO_OWNER), group: name(DAOS_PROP_CO_OWNER_GROUP) };
        list.permissions(&owners, &principal(geteuid().as_raw(), false), is_member)
    } else {
        ALL
    };
    match permitted & if flags == DAOS_COO_RO { TO_READ } else { ALL } {
        0 => refuse(DER_NO_PERM, "the container's access control list does not permit this user to open it"),
        permitted => Ok(permitted),
    }
}

/// Refuses to report properties that the container does not permit this handle to see.
pub(crate) fn check_told(container: &Container, numbers: impl Iterator<Item = u32>) -> Result<()> {
    let permitted = |permissions| container.permissions & permissions != 0;
    let (properties, list) = (DAOS_ACL_PERM_GET_PROP, DAOS_ACL_PERM_GET_ACL);
    for number in numbers {
        let is_permitted = match number {
            DAOS_PROP_CO_ACL => permitted(list),
            DAOS_PROP_CO_OWNER | DAOS_PROP_CO_OWNER_GROUP => permitted(properties | list),
            _ => permitted(properties),
        };
        if !is_permitted {
            return refuse(DER_NO_PERM, "the container's access control list does not permit to see this");
        }
    }
    Ok(())
}

/// The permission that changing a property needs.
pub(crate) fn to_set(number: u32) -> u64 {
    match number {
        DAOS_PROP_CO_ACL => DAOS_ACL_PERM_SET_ACL,
        DAOS_PROP_CO_OWNER | DAOS_PROP_CO_OWNER_GROUP => DAOS_ACL_PERM_SET_OWNER,
        _ => DAOS_ACL_PERM_SET_PROP,
    }
}

/// See `daos_cont_get_acl`: owner, group and list.
pub(crate) fn get(container: u64) -> Result<Properties> {
    let container = Container::get(container)?;
    container.check(DAOS_ACL_PERM_GET_ACL)?;
    properties::some(&*container.inner, &PROPERTIES)
}

/// See `daos_cont_overwrite_acl`.
pub(crate) fn overwrite(container: u64, list: &List) -> Result<()> {
    change(container, |kept| {
        *kept = list.clone();
        Ok(())
    })
}

/// See `daos_cont_update_acl`.
pub(crate) fn update(container: u64, list: &List) -> Result<()> {
    list.check(DAOS_ACL_PERM_CONT_ALL)?;
    change(container, |kept| {
        list.entries().iter().for_each(|entry: &Entry| kept.put(entry.clone()));
        Ok(())
    })
}

/// See `daos_cont_delete_acl`.
pub(crate) fn delete(container: u64, kind: u8, name: &str) -> Result<()> {
    let name = if has_name(kind) { name } else { "" };
    change(container, |kept| kept.remove(kind, name))
}

/// Changes a container's list. No concurrent change is lost.
fn change(container: u64, change: impl Fn(&mut List) -> Result<()>) -> Result<()> {
    let container = Container::get(container)?;
    container.check(DAOS_ACL_PERM_SET_ACL)?;
    let key = property_key(DAOS_PROP_CO_ACL);
    let cell = Cell::kv(own()?, &key);
    retry_conflicts(|| {
        let Some(stored) = container.inner.get_many(&[cell])?.pop().flatten() else {
            return refuse(
                DER_NONEXIST,
                "a container without an access control list; daos_cont_set_owner first",
            );
        };
        let Some(Value::Bytes(bytes)) = properties::value_of(&stored) else {
            return refuse(DER_IO, "an access control list that this library did not store");
        };
        let mut list = List::read(&bytes)?;
        change(&mut list)?;
        list.check(DAOS_ACL_PERM_CONT_ALL)?;
        let value = properties::stored_value(&Value::Bytes(list.bytes()));
        let transaction = Transaction {
            preconditions: vec![Precondition::Equals(cell, &stored)],
            updates: vec![Update::Put { cell, value: &value }],
        };
        containers::commit(&*container.inner, &transaction)?;
        Ok(())
    })
}

/// See `daos_cont_set_owner`: another user, another group, or both.
pub(crate) fn set_owner(container: u64, user: Option<&str>, group: Option<&str>) -> Result<()> {
    let container = Container::get(container)?;
    container.check(DAOS_ACL_PERM_SET_OWNER)?;
    let given = [(DAOS_PROP_CO_OWNER, user), (DAOS_PROP_CO_OWNER_GROUP, group)];
    retry_conflicts(|| {
        let kept = properties::some(&*container.inner, &PROPERTIES)?;
        let mut changed = Properties::new();
        for (number, name) in given {
            match name {
                Some(name) if is_principal(name) => {
                    drop(changed.insert(number, Value::Text(name.to_owned())));
                }
                None if kept.contains_key(&number) => {}
                _ => {
                    return invalid(
                        "an owner: name@ is expected, and both names where the container has none",
                    );
                }
            }
        }
        if changed.is_empty() {
            return Err(Der(DER_INVAL));
        }
        if kept.contains_key(&DAOS_PROP_CO_ACL) {
            return properties::keep(&container, &changed);
        }
        changed.insert(DAOS_PROP_CO_ACL, Value::Bytes(List::of_container().bytes()));
        if !container.inner.capabilities().transactions {
            return properties::keep(&container, &changed);
        }
        // A list that another process sets at the same time is not replaced.
        let (object, stored) = (own()?, properties::stored(&changed));
        let key = property_key(DAOS_PROP_CO_ACL);
        let updates =
            stored.iter().map(|(key, value)| Update::Put { cell: Cell::kv(object, key), value }).collect();
        let preconditions = vec![Precondition::Absent(Cell::kv(object, &key))];
        containers::commit(&*container.inner, &Transaction { preconditions, updates })?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_without_a_group_does_not_open_a_container_to_all() {
        let owner = |name: String| Properties::from([(DAOS_PROP_CO_OWNER, Value::Text(name))]);
        assert_eq!(permissions(&owner("no such user@".to_owned()), 0), Err(Der(DER_NO_PERM)));
        assert_eq!(
            permissions(&owner(principal(geteuid().as_raw(), false)), 0),
            Ok(DAOS_ACL_PERM_CONT_ALL & ALL)
        );
        let group = Properties::from([(DAOS_PROP_CO_OWNER_GROUP, Value::Text("no such group@".to_owned()))]);
        assert_eq!(permissions(&group, 0), Err(Der(DER_NO_PERM)));
        assert_eq!(permissions(&Properties::new(), 0), Ok(ALL), "nobody has said anything");
    }
}
