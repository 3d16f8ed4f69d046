//! `isotach container create --type` and `--properties`: containers for programs that run on the libdaos of this project.
//!
//! Such a program finds in the container what that library would have written.

use std::{env, ffi::OsStr};

use isotach_daos_abi::{
    acl::{
        DAOS_ACL_EVERYONE, DAOS_ACL_GROUP, DAOS_ACL_OWNER, DAOS_ACL_OWNER_GROUP, DAOS_ACL_USER,
        PERMISSION_LETTERS,
    },
    properties::{
        DAOS_PROP_CO_ACL, DAOS_PROP_CO_LABEL, DAOS_PROP_CO_LAYOUT_POSIX, DAOS_PROP_CO_LAYOUT_TYPE,
        DAOS_PROP_CO_OWNER, DAOS_PROP_CO_OWNER_GROUP, DAOS_PROP_CO_REDUN_FAC, DAOS_PROP_CO_REDUN_LVL,
        DAOS_PROP_CO_ROOTS,
    },
    property_names::{LAYOUTS, NAMES, Named},
    stored::{
        IGNORE, ONE_COPY, OWN, REDUNDANCY, UUID, bytes_value,
        files::{self, Attributes, Inode, Time},
        list::{Entry, NEW_CONTAINER, list_bytes},
        number_value, property_key, random_uuid, roots, text_value, wrong_label,
    },
};
use isotach_engine_kit::random;
use isotach_object::{
    Acl, Cell, ContainerOptions, Label, NewRights, ObjectId, Permissions, Pool, Principal, RightsChange,
    Update,
};
use rustix::process::{getegid, geteuid};
use uzers::{Group, User, get_group_by_gid, get_group_by_name, get_user_by_name, get_user_by_uid};

use crate::failure::{Failure, Outcome};

/// Creates a container with this type and these properties.
pub(crate) fn create(
    pool: &dyn Pool,
    label: &Label,
    layout: Option<&str>,
    properties: Option<&str>,
    rights: RightsChange,
) -> Outcome {
    if pool.uri().scheme() == "daos" {
        let cure = "on DAOS, set type and properties with DAOS's own tool: daos container create";
        return Err(Failure::usage(cure));
    }
    if let Some(expected) = wrong_label(label.as_str()) {
        return Err(Failure::usage(format!("container {label}: expected {expected}")));
    }
    let layout = layout.map(layout_number).transpose()?.unwrap_or(0);
    let numbers = read(properties.unwrap_or_default())?;
    let factor = numbers.iter().find(|(number, factor)| *number == DAOS_PROP_CO_REDUN_FAC && *factor > 0);
    let is_ignored = env::var(REDUNDANCY).is_ok_and(|value| value == IGNORE);
    if layout == DAOS_PROP_CO_LAYOUT_POSIX && factor.is_some() && !is_ignored {
        return Err(Failure::usage(format!("--type POSIX with {ONE_COPY}")));
    }
    let owner = Owner::of(&rights);
    let mut stored = vec![
        (DAOS_PROP_CO_LAYOUT_TYPE, number_value(layout).to_vec()),
        (DAOS_PROP_CO_ROOTS, bytes_value(&roots(layout))),
        (DAOS_PROP_CO_OWNER, text_value(&format!("{}@", owner.user.1))),
        (DAOS_PROP_CO_OWNER_GROUP, text_value(&format!("{}@", owner.group.1))),
        (DAOS_PROP_CO_ACL, bytes_value(&list(rights.acl.as_ref()))),
    ];
    stored.extend(numbers.iter().map(|(number, value)| (*number, number_value(*value).to_vec())));
    let stored: Vec<_> = stored.iter().map(|(number, value)| (property_key(*number), value)).collect();

    let (own, uuid) = (ObjectId::from_halves(OWN.0, OWN.1)?, random_uuid(random::bytes()?));
    let put = |key, value| Update::Put { cell: Cell::kv(own, key), value };
    let mut updates = vec![put(UUID, &uuid)];
    updates.extend(stored.iter().map(|(key, value)| put(key, value)));
    // A new file system has a superblock, and the inode and the mark of its root directory.
    let now = Time::now();
    let inode = Inode::new(files::ROOT_MODE, files::ROOT, (owner.user.0, owner.group.0), now).bytes();
    let (mark, stamp) = (files::mark_key(files::ROOT), now.stamp().to_le_bytes());
    let (block, values) = (
        ObjectId::from_halves(files::SUPERBLOCK.0, files::SUPERBLOCK.1)?,
        Attributes::default().superblock(),
    );
    if layout == DAOS_PROP_CO_LAYOUT_POSIX {
        let root = Cell::general(block, files::ROOT_NAME, files::INODE);
        updates.extend([put(&mark, &stamp), Update::Write { cell: root, offset: 0, data: &inode }]);
        let value = |(akey, value)| Update::Put { cell: Cell::general(block, files::DKEY, akey), value };
        updates.extend(values.iter().map(|(akey, bytes)| value((akey, bytes))));
    }
    Ok(pool
        .create_container(label, &ContainerOptions { rights: NewRights::Asked(rights), updates: &updates })?)
}

/// The owner of a new container: numbers and names.
struct Owner {
    user: (u32, String),
    group: (u32, String),
}

impl Owner {
    /// The owner that the flags name, or this process's user and group. Without a name, the number serves as the name.
    fn of(rights: &RightsChange) -> Self {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        let name = |found: Option<&OsStr>, number: u32| {
            (number, found.and_then(OsStr::to_str).map_or_else(|| number.to_string(), str::to_owned))
        };
        let user = match &rights.owner {
            Some(asked) => (get_user_by_name(asked).map_or(user, |found| found.uid()), asked.clone()),
            None => name(get_user_by_uid(user).as_ref().map(User::name), user),
        };
        let group = match &rights.group {
            Some(asked) => (get_group_by_name(asked).map_or(group, |found| found.gid()), asked.clone()),
            None => name(get_group_by_gid(group).as_ref().map(Group::name), group),
        };
        Self { user, group }
    }
}

/// The access control list that programs find: that of the flags, or the library's default for new containers.
fn list(asked: Option<&Acl>) -> Vec<u8> {
    let Some(asked) = asked else { return list_bytes(NEW_CONTAINER.into_iter()) };
    let entries: Vec<_> =
        asked.entries().map(|(principal, letters)| (kind(principal), bits(letters))).collect();
    list_bytes(entries.iter().map(|((kind, name), bits)| Entry::allowing(*kind, name, *bits)))
}

/// DAOS's number for a kind of principals, and the principal's name in DAOS.
fn kind(principal: &Principal) -> (u8, String) {
    let (kind, name) = match principal {
        Principal::Owner => (DAOS_ACL_OWNER, String::new()),
        Principal::User(name) => (DAOS_ACL_USER, format!("{name}@")),
        Principal::Group => (DAOS_ACL_OWNER_GROUP, String::new()),
        Principal::NamedGroup(name) => (DAOS_ACL_GROUP, format!("{name}@")),
        Principal::Everyone => (DAOS_ACL_EVERYONE, String::new()),
    };
    (kind as u8, name)
}

fn bits(permissions: Permissions) -> u64 {
    let letters = permissions.to_string();
    PERMISSION_LETTERS
        .iter()
        .filter(|(letter, _)| letters.contains(*letter))
        .fold(0, |all, (_, bit)| all | bit)
}

fn layout_number(name: &str) -> Outcome<u64> {
    let found = LAYOUTS.iter().skip(1).position(|known| known.eq_ignore_ascii_case(name));
    let expected = || format!("--type {name}: expected one of {}", LAYOUTS[1..].join(", "));
    found.map(|at| at as u64 + 1).ok_or_else(|| Failure::usage(expected()))
}

/// The numbers and values of properties in text. Refuses a property that is given twice.
fn read(text: &str) -> Outcome<Vec<(u32, u64)>> {
    let mut found: Vec<(u32, u64)> = Vec::new();
    for part in text.split([',', ';']).filter(|part| !part.trim().is_empty()) {
        let (number, value) = property(part)?;
        if found.iter().any(|(known, _)| *known == number) {
            return Err(wrong(part, "each property once"));
        }
        found.push((number, value));
    }
    Ok(found)
}

fn wrong(text: &str, expected: &str) -> Failure {
    Failure::usage(format!("--properties, {text:?}: expected {expected}"))
}

fn property(text: &str) -> Outcome<(u32, u64)> {
    let (name, value) = text.split_once(':').ok_or_else(|| wrong(text, "NAME:VALUE, as in rd_fac:0"))?;
    let can_be_asked = |property: &&Named| property.is_settable || property.number == DAOS_PROP_CO_REDUN_LVL;
    let property = Named::of(&name.trim().to_ascii_lowercase()).filter(can_be_asked);
    let Some(property) = property else {
        let names = NAMES.iter().filter(can_be_asked).filter(|known| known.number != DAOS_PROP_CO_LABEL);
        let names: Vec<&str> = names.map(|known| known.name).collect();
        return Err(wrong(text, &format!("one of {}", names.join(", "))));
    };
    if property.number == DAOS_PROP_CO_LABEL {
        return Err(wrong(text, "the label as the container's name, not here"));
    }
    let number = property.values.number_of(value.trim());
    number.map(|number| (property.number, number)).ok_or_else(|| wrong(text, &property.values.expected()))
}

#[cfg(test)]
mod tests {
    use isotach_daos_abi::properties::{
        DAOS_PROP_CO_CSUM, DAOS_PROP_CO_EC_CELL_SZ, DAOS_PROP_CO_PERF_DOMAIN,
    };

    use super::*;

    #[test]
    fn properties_are_separated_by_commas_or_semicolons_and_invalid_ones_are_refused() {
        let found = read("rd_fac:0, CKSUM:crc32;rf_lvl:node,ec_cell_sz:128KiB,perf_domain:root").unwrap();
        let expected = [
            (DAOS_PROP_CO_REDUN_FAC, 0),
            (DAOS_PROP_CO_CSUM, 2),
            (DAOS_PROP_CO_REDUN_LVL, 2),
            (DAOS_PROP_CO_EC_CELL_SZ, 128 << 10),
            (DAOS_PROP_CO_PERF_DOMAIN, 255),
        ];
        assert_eq!(found, expected);
        assert!(read("").unwrap().is_empty());
        for (text, expected) in [
            ("rd_fac", "NAME:VALUE"),
            ("rd_fac:9", "one of 0, 1, 2, 3, 4"),
            ("cksum:md5", "one of off, crc16"),
            ("ec_cell_sz:7", "4096 to 1048576 bytes, a multiple of 32"),
            ("label:other", "the container's name"),
            ("status:healthy", "one of cksum, cksum_size"),
            ("what:1", "one of cksum, cksum_size"),
            ("rd_fac:0,rf:1", "each property once"),
        ] {
            let error = format!("{:?}", read(text).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_type_is_recognized_by_name_in_any_case() {
        assert_eq!(layout_number("posix").unwrap(), DAOS_PROP_CO_LAYOUT_POSIX);
        assert_eq!(layout_number("PYTHON").unwrap(), 3);
        assert!(layout_number("unknown").is_err() && layout_number("x").is_err());
    }
}
