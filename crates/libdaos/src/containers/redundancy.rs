//! Whether redundancy that a program asks for is refused or ignored: the engines here have one copy of everything.
//!
//! By default it is refused, since a program that asks for copies relies on them. `ISOTACH_DAOS_REDUNDANCY=ignore` is for trying such a program
//! on one machine.

use std::{
    collections::HashSet,
    env,
    sync::{LazyLock, Mutex, OnceLock, PoisonError},
};

use isotach_object::ObjectClass;

use crate::{
    abi::{
        classes::OC_RP_XSF,
        stored::{IGNORE, REDUNDANCY},
    },
    runtime::log,
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

/// The name of the class that has as many copies as there can be, in one group. DAOS's number of it has no parts.
pub(crate) const MOST_COPIES: &str = "RP_XSF";

/// How many groups a class has that asks for copies or parity, where that is ignored.
pub(crate) fn groups_of_ignored(class: u32) -> Option<u16> {
    let parts = ObjectClass::from_parts((class >> 24) as u8, class as u16);
    let (name, groups) = match class {
        OC_RP_XSF => (MOST_COPIES.to_owned(), 1),
        _ if parts.is_redundant() && parts.is_known() => (parts.to_string(), parts.groups()),
        _ => return None,
    };
    if !is_ignored() {
        return None;
    }
    tell_ignored(&format!("object class {name}"));
    Some(groups)
}

/// Says, once for each, what of a request is ignored.
pub(crate) fn tell_ignored(what: &str) {
    static TOLD: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned()) {
        log::line("WARN", &format!("{what}: {REDUNDANCY}={IGNORE}, so there is one copy of what is stored"));
    }
}
