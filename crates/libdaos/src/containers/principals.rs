//! Users and groups by number and by name. A principal is a name with an `@`.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, MutexGuard},
};

use crate::{
    abi::errors::DER_NONEXIST,
    containers::acl::is_principal,
    runtime::{
        error::{Der, Result, invalid},
        locked,
    },
};

/// The name of a user or group, if it has one.
pub(crate) fn name_of(id: u32, is_group: bool) -> Option<String> {
    let name = match is_group {
        true => uzers::get_group_by_gid(id)?.name().to_owned(),
        false => uzers::get_user_by_uid(id)?.name().to_owned(),
    };
    name.into_string().ok()
}

/// The number of the user or group that a principal names.
pub(crate) fn id_of(principal: &str, is_group: bool) -> Result<u32> {
    let Some((name, _)) = principal.split_once('@').filter(|_| is_principal(principal)) else {
        return invalid("a principal: name@ is expected");
    };
    let found = match is_group {
        true => uzers::get_group_by_name(name).map(|group| group.gid()),
        false => uzers::get_user_by_name(name).map(|user| user.uid()),
    };
    found.ok_or(Der(DER_NONEXIST))
}

/// A user or group as a principal: its name, or the number of one that has none.
pub(crate) fn principal(id: u32, is_group: bool) -> String {
    if let Some(known) = names().get(&(id, is_group)) {
        return known.clone();
    }
    match name_of(id, is_group) {
        Some(name) => names().entry((id, is_group)).or_insert(format!("{name}@")).clone(),
        // Not cached: a directory service may have failed to answer.
        None => format!("{id}@"),
    }
}

/// The principals found so far. Programs open containers often, and a name may come from a directory service. The lock is never held while
/// the system is asked.
fn names() -> MutexGuard<'static, HashMap<(u32, bool), String>> {
    static NAMES: LazyLock<Mutex<HashMap<(u32, bool), String>>> = LazyLock::new(Mutex::default);
    locked(&NAMES)
}

#[cfg(test)]
mod tests {
    use rustix::process::geteuid;

    use super::*;

    #[test]
    fn a_name_that_was_not_found_is_asked_for_again() {
        const NOBODY_HAS_IT: u32 = 4_000_000_123;
        assert_eq!(principal(NOBODY_HAS_IT, false), "4000000123@");
        assert!(!names().contains_key(&(NOBODY_HAS_IT, false)));
        let own = principal(geteuid().as_raw(), false);
        assert_eq!(principal(geteuid().as_raw(), false), own);
    }
}
