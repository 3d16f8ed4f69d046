//! Properties of containers: kept with the container, and told again. They change nothing but what is said of them, and which objects may be
//! opened (the redundancy factor).

use std::collections::BTreeMap;

use isotach_object::{Cell, Update};

use crate::{
    abi::{errors::*, properties::*},
    containers::{Container, own},
    error::{Result, invalid, refuse},
};

/// What a property is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    Text(String),
}

/// Properties by DAOS's numbers of them.
pub(crate) type Properties = BTreeMap<u32, Value>;

/// What holds where nothing else was asked for.
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

/// Whether the value of a property is a text, a number, or (`None`) something that is not kept.
pub(crate) fn is_text(number: u32) -> Option<bool> {
    match number {
        DAOS_PROP_CO_LABEL | DAOS_PROP_CO_OWNER | DAOS_PROP_CO_OWNER_GROUP => Some(true),
        DAOS_PROP_CO_ACL | DAOS_PROP_CO_ROOTS => None,
        number if number > DAOS_PROP_CO_MIN && number < DAOS_PROP_CO_MAX => Some(false),
        _ => None,
    }
}

/// Refuses what no container can have.
pub(crate) fn check(properties: &Properties) -> Result<()> {
    for (number, value) in properties {
        let is_wrong = match (*number, value) {
            (DAOS_PROP_CO_REDUN_FAC, Value::Number(factor)) => *factor > 4,
            (DAOS_PROP_CO_CSUM, Value::Number(kind)) => *kind > 7,
            (DAOS_PROP_CO_CSUM_SERVER_VERIFY, Value::Number(verify)) => *verify > 1,
            _ => false,
        };
        if is_wrong {
            return invalid(&format!("property {number:#x} with the value {value:?}"));
        }
    }
    Ok(())
}

fn key(number: u32) -> [u8; 5] {
    let [a, b, c, d] = number.to_le_bytes();
    [b'p', a, b, c, d]
}

/// Properties as they are stored: keys and values of entries.
pub(crate) fn stored(properties: &Properties) -> Vec<([u8; 5], Vec<u8>)> {
    properties
        .iter()
        .map(|(number, value)| match value {
            Value::Number(value) => (key(*number), [&[0][..], &value.to_le_bytes()].concat()),
            Value::Text(text) => (key(*number), [&[1][..], text.as_bytes()].concat()),
        })
        .collect()
}

/// Keeps properties with a container.
pub(crate) fn keep(container: &Container, properties: &Properties) -> Result<()> {
    let (object, stored) = (own()?, stored(properties));
    let updates: Vec<Update<'_>> =
        stored.iter().map(|(key, value)| Update::Put { cell: Cell::kv(object, key), value }).collect();
    container.update(&updates)
}

/// How many failures a container's objects must survive.
pub(crate) fn redundancy_factor(container: &dyn isotach_object::Container) -> Result<u64> {
    let key = key(DAOS_PROP_CO_REDUN_FAC);
    let stored = container.get_many(&[Cell::kv(own()?, &key)])?.pop().flatten();
    Ok(stored.and_then(|stored| stored.get(1..)?.try_into().ok()).map_or(0, u64::from_le_bytes))
}

/// The properties of a container.
pub(crate) fn of(container: &Container) -> Result<Properties> {
    let mut properties = defaults();
    properties.insert(DAOS_PROP_CO_LABEL, Value::Text(container.inner.label().to_string()));
    let numbers: Vec<u32> = (DAOS_PROP_CO_MIN + 1..DAOS_PROP_CO_MAX).collect();
    let keys: Vec<[u8; 5]> = numbers.iter().map(|number| key(*number)).collect();
    let object = own()?;
    let cells: Vec<Cell<'_>> = keys.iter().map(|key| Cell::kv(object, key)).collect();
    for (number, stored) in numbers.into_iter().zip(container.inner.get_many(&cells)?) {
        let value = match stored.as_deref() {
            None => continue,
            Some([0, value @ ..]) => {
                value.try_into().ok().map(|value| Value::Number(u64::from_le_bytes(value)))
            }
            Some([1, text @ ..]) => std::str::from_utf8(text).ok().map(|text| Value::Text(text.to_owned())),
            Some(_) => None,
        };
        let Some(value) = value else { return refuse(DER_IO, "a property that this library did not store") };
        properties.insert(number, value);
    }
    Ok(properties)
}
