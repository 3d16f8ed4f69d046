//! Users and groups: the system's name of a number, and the number of a name.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{Out, Text, copied, export};
use crate::{
    abi::{acl::*, errors::*},
    containers::{
        acl::{GROUP, USER, is_principal},
        principals,
    },
    runtime::error::{Der, Result, invalid},
};

/// The prefixes in the text of a principal with a name.
const PREFIXES: [(&str, u8); 2] = [("u:", USER), ("g:", GROUP)];

/// Returns the principal of a number, which the caller frees.
fn tell_name(id: u32, is_group: bool, name: Out<*mut c_char>) -> Result<()> {
    name.fill(|| {
        let found = principals::name_of(id, is_group).ok_or(Der(DER_NONEXIST))?;
        Ok(copied(format!("{found}@\0").as_bytes())?.cast())
    })
}

#[export]
fn daos_acl_uid_to_principal(id: u32, name: Out<*mut c_char>) -> Result<()> {
    tell_name(id, false, name)
}

#[export]
fn daos_acl_gid_to_principal(id: u32, name: Out<*mut c_char>) -> Result<()> {
    tell_name(id, true, name)
}

#[export]
fn daos_acl_principal_to_uid(principal: Text, id: Out<u32>) -> Result<()> {
    id.fill(|| principals::id_of(principal.text()?, false))
}

#[export]
fn daos_acl_principal_to_gid(principal: Text, id: Out<u32>) -> Result<()> {
    id.fill(|| principals::id_of(principal.text()?, true))
}

#[export]
fn daos_acl_principal_is_valid(name: Text) -> bool {
    name.text().is_ok_and(is_principal)
}

/// Parses `OWNER@`, `u:name@`, `g:name@` and the like. The caller frees the name, which is null for a principal without one.
#[export]
fn daos_acl_principal_from_str(principal: Text, kind: Out<c_int>, name: Out<*mut c_char>) -> Result<()> {
    let (principal, kind, place) = (principal.text()?, kind.place()?, name.place()?);
    let special = match principal {
        DAOS_ACL_PRINCIPAL_OWNER => Some(DAOS_ACL_OWNER),
        DAOS_ACL_PRINCIPAL_OWNER_GRP => Some(DAOS_ACL_OWNER_GROUP),
        DAOS_ACL_PRINCIPAL_EVERYONE => Some(DAOS_ACL_EVERYONE),
        _ => None,
    };
    if let Some(special) = special {
        kind.set(special);
        place.set(ptr::null_mut());
        return Ok(());
    }
    let named = PREFIXES.iter().find_map(|(prefix, kind)| Some((principal.strip_prefix(prefix)?, *kind)));
    match named.filter(|(name, _)| is_principal(name)) {
        Some((name, found)) => {
            place.set(copied(format!("{name}\0").as_bytes())?.cast());
            kind.set(found.into());
            Ok(())
        }
        None => invalid("a principal: OWNER@, GROUP@, EVERYONE@, u:name@ or g:name@ is expected"),
    }
}
