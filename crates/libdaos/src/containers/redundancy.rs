//! Requests for redundancy: the engines here store one copy of everything.
//!
//! By default a request is refused, since a program that asks for copies relies on them. `ISOTACH_DAOS_REDUNDANCY=ignore` is for trying such
//! a program on one machine.

use std::{
    collections::HashSet,
    env,
    sync::{LazyLock, Mutex, OnceLock},
};

use isotach_object::ObjectClass;

use crate::{
    abi::{
        classes::OC_RP_XSF,
        stored::{IGNORE, REDUNDANCY},
    },
    runtime::{locked, log},
};

/// Whether requests for redundancy are ignored.
pub(crate) fn is_ignored() -> bool {
    static IGNORED: OnceLock<bool> = OnceLock::new();
    *IGNORED.get_or_init(|| match env::var(REDUNDANCY).as_deref() {
        Ok(IGNORE) => true,
        Err(_) | Ok("" | "refuse") => false,
        Ok(other) => {
            log::line(
                "DER_INVAL",
                &format!("{REDUNDANCY}={other}: {IGNORE} or refuse is expected; redundancy is refused"),
            );
            false
        }
    })
}

/// The name of the class with as many copies as possible, in one group. DAOS's number of it is not composed of parts.
pub(crate) const COPIES_MAX: &str = "RP_XSF";

/// The number of groups of a class with copies or parity, where redundancy is ignored.
pub(crate) fn groups_of_ignored(class: u32) -> Option<u16> {
    let parts = ObjectClass::from_parts((class >> 24) as u8, class as u16);
    let (name, groups) = match class {
        OC_RP_XSF => (COPIES_MAX.to_owned(), 1),
        _ if parts.is_redundant() && parts.is_known() => (parts.to_string(), parts.groups()),
        _ => return None,
    };
    if !is_ignored() {
        return None;
    }
    tell_ignored(&format!("object class {name}"));
    Some(groups)
}

/// Logs, once for each request, that it is ignored.
pub(crate) fn tell_ignored(what: &str) {
    static LOGGED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    if locked(&LOGGED).insert(what.to_owned()) {
        log::line("WARN", &format!("{what}: {REDUNDANCY}={IGNORE}, so there is one copy of what is stored"));
    }
}
