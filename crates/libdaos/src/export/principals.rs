//! Users and groups: the system's name of a number, and the number of a name.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{answer, copied, out, text};
use crate::{
    abi::{acl::*, errors::*},
    containers::{
        acl::{GROUP, USER, is_principal},
        principals,
    },
    runtime::error::{Der, invalid},
};

/// The prefixes in the text of a principal with a name.
const PREFIXES: [(&str, u8); 2] = [("u:", USER), ("g:", GROUP)];
/// Returns the principal of a number, which the caller frees.
///
/// # Safety
/// OUT for `name`.
unsafe fn tell_name(id: u32, is_group: bool, name: *mut *mut c_char) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: OUT for `name`.
        let place = unsafe { out(name) }?;
        let found = principals::name_of(id, is_group).ok_or(Der(DER_NONEXIST))?;
        place.set(copied(format!("{found}@\0").as_bytes())?.cast());
        Ok(())
    })
}

/// Returns the number of a principal.
///
/// # Safety
/// STRING for `principal`, OUT for `id`.
unsafe fn tell_id(principal: *const c_char, is_group: bool, id: *mut u32) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRING for `principal`, OUT for `id`.
        let (principal, place) = unsafe { (text(principal)?, out(id)?) };
        place.set(principals::id_of(principal, is_group)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_uid_to_principal(id: u32, name: *mut *mut c_char) -> c_int {
    // SAFETY: OUT for `name`.
    unsafe { tell_name(id, false, name) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_gid_to_principal(id: u32, name: *mut *mut c_char) -> c_int {
    // SAFETY: OUT for `name`.
    unsafe { tell_name(id, true, name) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_principal_to_uid(principal: *const c_char, id: *mut u32) -> c_int {
    // SAFETY: STRING for `principal`, OUT for `id`.
    unsafe { tell_id(principal, false, id) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_principal_to_gid(principal: *const c_char, id: *mut u32) -> c_int {
    // SAFETY: STRING for `principal`, OUT for `id`.
    unsafe { tell_id(principal, true, id) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_principal_is_valid(name: *const c_char) -> bool {
    // SAFETY: STRING for `name`.
    unsafe { text(name) }.is_ok_and(is_principal)
}

/// Parses `OWNER@`, `u:name@`, `g:name@` and the like. The caller frees the name, which is null for a principal without one.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_acl_principal_from_str(
    principal: *const c_char,
    kind: *mut c_int,
    name: *mut *mut c_char,
) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRING for `principal`, OUT for `kind` and `name`.
        let (principal, kind, place) = unsafe { (text(principal)?, out(kind)?, out(name)?) };
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
    })
}
