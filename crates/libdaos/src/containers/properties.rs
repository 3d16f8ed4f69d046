//! Properties of containers, stored with the container. Two kinds have an effect: the redundancy factor decides which objects may be
//! opened, and owner, group and list decide who may do what (`access`).

use std::{collections::BTreeMap, fs, os::unix::fs::MetadataExt};

use isotach_object::{Cell, Update};

use crate::{
    abi::{
        acl::DAOS_ACL_PERM_CONT_ALL,
        errors::*,
        properties::*,
        property_names::Named,
        stored::{self, bytes_value, number_value, property_key, text_value},
    },
    containers::{
        Container, access,
        acl::{List, is_principal},
        own,
        pools::Pool,
        principals::principal,
    },
    runtime::error::{Result, invalid, refuse},
};

/// The value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    Text(String),
    /// An access control list or the roots, as they lie in memory.
    Bytes(Vec<u8>),
}

/// The type of a property's value in the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Text,
    List,
    Roots,
}

/// Properties by DAOS's numbers of them.
pub(crate) type Properties = BTreeMap<u32, Value>;

/// The default properties.
fn defaults() -> Properties {
    let numbers = [
        (DAOS_PROP_CO_LAYOUT_TYPE, 0),
        (DAOS_PROP_CO_LAYOUT_VER, 1),
        (DAOS_PROP_CO_CSUM, 0),
        (DAOS_PROP_CO_CSUM_CHUNK_SIZE, 32 << 10),
        (DAOS_PROP_CO_CSUM_SERVER_VERIFY, 0),
        (DAOS_PROP_CO_REDUN_FAC, 0),
        (DAOS_PROP_CO_REDUN_LVL, 2),
        (DAOS_PROP_CO_SNAPSHOT_MAX, 0),
        (DAOS_PROP_CO_COMPRESS, 0),
        (DAOS_PROP_CO_ENCRYPT, 0),
        (DAOS_PROP_CO_DEDUP, 0),
        (DAOS_PROP_CO_DEDUP_THRESHOLD, 4096),
        (DAOS_PROP_CO_STATUS, 0),
        (DAOS_PROP_CO_EC_CELL_SZ, 64 << 10),
        (DAOS_PROP_CO_SCRUBBER_DISABLED, 0),
    ];
    numbers.into_iter().map(|(number, value)| (number, Value::Number(value))).collect()
}

/// The type of a property of a container; `None` for a number that is no property.
pub(crate) fn kind(number: u32) -> Option<Kind> {
    match number {
        DAOS_PROP_CO_LABEL | DAOS_PROP_CO_OWNER | DAOS_PROP_CO_OWNER_GROUP => Some(Kind::Text),
        DAOS_PROP_CO_ACL => Some(Kind::List),
        DAOS_PROP_CO_ROOTS => Some(Kind::Roots),
        number if number > DAOS_PROP_CO_MIN && number < DAOS_PROP_CO_MAX => Some(Kind::Number),
        _ => None,
    }
}

/// Refuses values that no container can have.
pub(crate) fn check(properties: &Properties) -> Result<()> {
    for (number, value) in properties {
        let is_wrong = match (*number, value) {
            (number, Value::Number(value)) => !Named::can_be(number, *value),
            (DAOS_PROP_CO_OWNER | DAOS_PROP_CO_OWNER_GROUP, Value::Text(name)) => !is_principal(name),
            (DAOS_PROP_CO_ACL, Value::Bytes(list)) => {
                List::read(list)?.check(DAOS_ACL_PERM_CONT_ALL)?;
                false
            }
            _ => false,
        };
        if is_wrong {
            return invalid(&format!("property {number:#x} with the value {value:?}"));
        }
    }
    Ok(())
}

/// Refuses to change properties that are fixed at creation.
pub(crate) fn check_changeable(properties: &Properties) -> Result<()> {
    let fixed = [
        DAOS_PROP_CO_ALLOCED_OID,
        DAOS_PROP_CO_EC_CELL_SZ,
        DAOS_PROP_CO_EC_PDA,
        DAOS_PROP_CO_RP_PDA,
        DAOS_PROP_CO_PERF_DOMAIN,
    ];
    match fixed.iter().find(|number| properties.contains_key(number)) {
        Some(number) => {
            refuse(DER_NO_PERM, &format!("property {number:#x} of a container that is there already"))
        }
        None => Ok(()),
    }
}

/// Properties as they are stored: keys and values of entries.
pub(crate) fn stored(properties: &Properties) -> Vec<([u8; 5], Vec<u8>)> {
    properties.iter().map(|(number, value)| (property_key(*number), stored_value(value))).collect()
}

/// A value as it is stored: a byte that says what it is comes first.
pub(crate) fn stored_value(value: &Value) -> Vec<u8> {
    match value {
        Value::Number(value) => number_value(*value).to_vec(),
        Value::Text(text) => text_value(text),
        Value::Bytes(bytes) => bytes_value(bytes),
    }
}

/// The value of stored bytes.
pub(crate) fn value_of(stored: &[u8]) -> Option<Value> {
    match stored {
        [0, value @ ..] => value.try_into().ok().map(|value| Value::Number(u64::from_le_bytes(value))),
        [1, text @ ..] => std::str::from_utf8(text).ok().map(|text| Value::Text(text.to_owned())),
        [2, bytes @ ..] => Some(Value::Bytes(bytes.to_vec())),
        _ => None,
    }
}

/// Stores properties with a container.
pub(crate) fn keep(container: &Container, properties: &Properties) -> Result<()> {
    let permissions = properties.keys().fold(0, |all, number| all | access::to_set(*number));
    let (object, stored) = (own()?, stored(properties));
    let updates: Vec<Update<'_>> =
        stored.iter().map(|(key, value)| Update::Put { cell: Cell::kv(object, key), value }).collect();
    container.update_own(permissions, &updates)
}

/// The stored ones of some properties of a container.
pub(crate) fn some(container: &dyn isotach_object::Container, numbers: &[u32]) -> Result<Properties> {
    let keys: Vec<[u8; 5]> = numbers.iter().map(|number| property_key(*number)).collect();
    let object = own()?;
    let cells: Vec<Cell<'_>> = keys.iter().map(|key| Cell::kv(object, key)).collect();
    let mut properties = Properties::new();
    for (number, stored) in numbers.iter().zip(container.get_many(&cells)?) {
        let Some(stored) = stored else { continue };
        let Some(value) = value_of(&stored) else {
            return refuse(DER_IO, "a property that this library did not store");
        };
        properties.insert(*number, value);
    }
    Ok(properties)
}

/// A property that is a number; 0 if it is absent.
fn number_in(properties: &Properties, number: u32) -> u64 {
    match properties.get(&number) {
        Some(Value::Number(value)) => *value,
        _ => 0,
    }
}

/// The redundancy factor in properties.
pub(crate) fn redundancy_factor(properties: &Properties) -> u64 {
    number_in(properties, DAOS_PROP_CO_REDUN_FAC)
}

/// The objects that the layout of a container with these properties starts from.
pub(crate) fn roots(properties: &Properties) -> Value {
    Value::Bytes(stored::roots(number_in(properties, DAOS_PROP_CO_LAYOUT_TYPE)))
}

/// The properties of a container.
pub(crate) fn of(container: &Container) -> Result<Properties> {
    let mut properties = defaults();
    properties.insert(DAOS_PROP_CO_LABEL, Value::Text(container.inner.label().to_string()));
    let numbers: Vec<u32> = (DAOS_PROP_CO_MIN + 1..DAOS_PROP_CO_MAX).collect();
    properties.extend(some(&*container.inner, &numbers)?);
    // A container that this library did not create has none.
    let roots = roots(&properties);
    properties.entry(DAOS_PROP_CO_ROOTS).or_insert(roots);
    Ok(properties)
}

/// The properties of a pool: its label, and for a pool in a folder the owner, the group, and what the mode permits.
pub(crate) fn of_pool(pool: &Pool) -> Properties {
    let mut properties = Properties::from([(DAOS_PROP_PO_LABEL, Value::Text(pool.label.clone()))]);
    let uri = pool.inner.uri();
    if let Some(folder) = fs::metadata(uri.path()).ok().filter(|_| uri.scheme() == "posix") {
        let list = List::of_mode(folder.mode()).bytes();
        properties.insert(DAOS_PROP_PO_ACL, Value::Bytes(list));
        properties.insert(DAOS_PROP_PO_OWNER, Value::Text(principal(folder.uid(), false)));
        properties.insert(DAOS_PROP_PO_OWNER_GROUP, Value::Text(principal(folder.gid(), true)));
    }
    properties
}
