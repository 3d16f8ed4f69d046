//! Users and groups: what the system calls a number, and which number has a name.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{answer, copied, out, text};
use crate::{
    abi::{acl::*, errors::*},
    containers::{
        access,
        acl::{GROUP, USER, is_principal},
    },
    runtime::error::{Der, invalid},
};

/// What prefixes say in the text of a principal that has a name.
const PREFIXES: [(&str, u8); 2] = [("u:", USER), ("g:", GROUP)];
/// Gives the principal of a number, which the caller frees.
///
/// # Safety
/// OUT for `name`.
unsafe fn tell_name(id: u32, is_group: bool, name: *mut *mut c_char) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: OUT for `name`.
        let place = unsafe { out(name) }?;
        let found = access::name_of(id, is_group).ok_or(Der(DER_NONEXIST))?;
        place.set(copied(format!("{found}@\0").as_bytes())?.cast());
        Ok(())
    })
}

/// Gives the number of a principal.
///
/// # Safety
/// STRING for `principal`, OUT for `id`.
unsafe fn tell_id(principal: *const c_char, is_group: bool, id: *mut u32) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: STRING for `principal`, OUT for `id`.
        let (principal, place) = unsafe { (text(principal)?, out(id)?) };
        place.set(access::id_of(principal, is_group)?);
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

/// Reads `OWNER@`, `u:name@`, `g:name@` and the like; the caller frees the name, which is null where there is none.
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
