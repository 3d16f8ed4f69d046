//! Objects: their ids, and handles on them.

pub(crate) mod array_keys;
pub(crate) mod arrays;
pub(crate) mod extents;
pub(crate) mod general;
pub(crate) mod hashes;
pub(crate) mod key_query;
pub(crate) mod kv;
pub(crate) mod pages;
pub(crate) mod record_sizes;
pub(crate) mod records;
pub(crate) mod requests;
pub(crate) mod table;

use std::{borrow::Cow, sync::Arc};

use isotach_object::{ObjectClass, ObjectId, ObjectType};

use crate::{
    abi::{
        acl::DAOS_ACL_PERM_READ,
        constants::{DAOS_HTYPE_KV, DAOS_HTYPE_OBJ, DAOS_OO_RO},
        errors::{DER_INVAL, DER_NO_PERM},
        stored::{IGNORE, REDUNDANCY},
    },
    containers::{Container, own, redundancy},
    objects::record_sizes::has_sizes,
    runtime::{
        error::{Der, Result, invalid},
        handles,
    },
    transactions::scope::Scope,
};

/// The targets that a pool reports, on one machine: as many as the largest common class without redundancy needs.
pub(crate) const TARGETS: u32 = 32;

/// An open object: a map, a general object, or an array that is accessed by two keys.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) container: Arc<Container>,
    pub(crate) id: ObjectId,
    pub(crate) mode: u32,
}

/// See `daos_obj_generate_oid`. The low 32 bits of the high half and the low half belong to the caller. Class 0 is chosen as on a system of one
/// engine without redundancy: all targets for maps and arrays, one for others.
pub(crate) fn generate(user: (u64, u64), number: u8, class: u32) -> Result<(u64, u64)> {
    let kind = ObjectId::from_halves(u64::from(number) << 56, 0).map_err(|_| Der(DER_INVAL))?.otype();
    if kind == ObjectType::System {
        return invalid("a type of objects that DAOS does not have");
    }
    let class = match class {
        0 if kind == ObjectType::General => ObjectClass::S1.id(),
        0 => ObjectClass::SX.id(),
        given => given,
    };
    // Where redundancy is ignored, a class with copies becomes one with a single copy and as many groups as possible.
    let (redundancy, groups) = match redundancy::groups_of_ignored(class) {
        Some(u16::MAX) => (1, u16::MAX),
        Some(groups) => (1, groups.min(TARGETS as u16)),
        None => ((class >> 24) as u8, class as u16),
    };
    // X stands for all targets, and is stored as their number.
    let groups = if groups == u16::MAX { TARGETS as u16 } else { groups };
    if redundancy != 1 || groups == 0 || u32::from(groups) > TARGETS {
        return invalid(&format!(
            "object class {class:#x}: one machine of {TARGETS} targets has S1 to S{TARGETS}, and SX; with {REDUNDANCY}={IGNORE} one with copies gets one"
        ));
    }
    let high = u64::from(number) << 56 | u64::from(redundancy) << 48 | u64::from(groups) << 32;
    Ok((high | user.0 & 0xffff_ffff, user.1))
}

/// Checks the id of an object: its kind, its class, and the permission to read the container.
pub(crate) fn checked(container: &Container, id: (u64, u64), kinds: &[ObjectType]) -> Result<ObjectId> {
    container.check(DAOS_ACL_PERM_READ)?;
    let id = ObjectId::from_halves(id.0, id.1)?;
    if !is_programs(id)? {
        return invalid("the id of an object in which this library keeps what is its own");
    }
    if !kinds.contains(&id.otype()) {
        return invalid(&format!("object {id} is of another type than the function is for"));
    }
    if id.class().is_redundant() {
        return invalid(&format!(
            "object {id} asks for redundancy, which is not there; use a class such as S1 or SX"
        ));
    }
    let factor = container.redundancy_factor;
    if factor > 0 && redundancy::is_ignored() {
        redundancy::tell_ignored(&format!("redundancy factor {factor}"));
    } else if factor > 0 {
        let why = format!(
            "the container's redundancy factor is {factor}, and object {id} has one copy: create it with rd_fac:0, or set {REDUNDANCY}={IGNORE}"
        );
        return invalid(&why);
    }
    Ok(id)
}

/// Whether programs may open an object.
pub(crate) fn is_programs(id: ObjectId) -> Result<bool> {
    Ok(id != own()? && !has_sizes(id))
}

/// DAOS's number of the object type in an id.
pub(crate) fn type_number(id: ObjectId) -> u8 {
    (id.hi() >> 56) as u8
}

/// See `daos_kv_open`.
pub(crate) fn open_map(container: u64, id: (u64, u64), mode: u32) -> Result<u64> {
    let container = Container::get(container)?;
    let id = checked(&container, id, &[ObjectType::KeyValue])?;
    Ok(Object { container, id, mode }.add(DAOS_HTYPE_KV))
}

/// See `daos_obj_open`.
pub(crate) fn open(container: u64, id: (u64, u64), mode: u32) -> Result<u64> {
    let container = Container::get(container)?;
    let id = checked(&container, id, &[ObjectType::General, ObjectType::KeyValue, ObjectType::Array])?;
    Ok(Object { container, id, mode }.add(DAOS_HTYPE_OBJ))
}

/// The object behind a handle of a kind, and the scope of the transaction behind another.
pub(crate) fn object_in(handle: u64, kind: u64, transaction: u64) -> Result<(Arc<Object>, Scope)> {
    let object = handles::get::<Object>(handle, kind)?;
    let scope = Scope::of(Arc::clone(&object.container), transaction)?;
    Ok((object, scope))
}

impl Object {
    fn add(self, kind: u64) -> u64 {
        let container = Arc::clone(&self.container);
        handles::add(kind, Arc::new(self), Some(container))
    }

    pub(crate) fn is_array(&self) -> bool {
        self.id.otype() == ObjectType::Array
    }

    /// Refuses a change through a read-only handle.
    pub(crate) fn check_writable(&self) -> Result<()> {
        check_mode(self.mode)?;
        self.container.check_writable()
    }
}

/// Whether the distribution keys and the attribute keys of an object are integers of eight bytes.
pub(crate) fn integer_keys(id: ObjectId) -> (bool, bool) {
    match type_number(id) {
        9 | 2 | 11..=13 => (true, false),
        3 => (false, true),
        4 => (true, true),
        _ => (false, false),
    }
}

/// Converts a key between its stored form and the program's. An integer is stored with its highest byte first, so bytes sort as numbers.
pub(crate) fn turned(key: &[u8], is_integer: bool) -> Result<Cow<'_, [u8]>> {
    match is_integer {
        false => Ok(Cow::Borrowed(key)),
        true if key.len() == 8 => Ok(Cow::Owned(key.iter().rev().copied().collect())),
        true => invalid(&format!("a key of {} bytes where they are integers of 8", key.len())),
    }
}

/// Refuses a change in a read-only mode.
pub(crate) fn check_mode(mode: u32) -> Result<()> {
    if mode & DAOS_OO_RO != 0 { Err(Der(DER_NO_PERM)) } else { Ok(()) }
}
