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
    abi::stored::{IGNORE, REDUNDANCY},
    log,
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

/// Whether classes with this redundancy number ask for copies or parity, and that is ignored.
pub(crate) fn is_ignored_for(redundancy: u8) -> bool {
    let class = ObjectClass::from_parts(redundancy, 1);
    class.is_redundant() && class.is_known() && is_ignored()
}

/// Says, once for each, what of a request is ignored.
pub(crate) fn tell_ignored(what: &str) {
    static TOLD: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(what.to_owned()) {
        log::line("WARN", &format!("{what}: {REDUNDANCY}={IGNORE}, so there is one copy of what is stored"));
    }
}
