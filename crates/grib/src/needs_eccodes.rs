//! How tests that need ecCodes get it, and say so where it is not.

use std::io::Write;

use crate::eccodes::{Eccodes, EccodesError};

/// ecCodes, or `None` after saying that the test is skipped. With `ISOTACH_REQUIRE_ECCODES=1` there is no skipping.
pub(crate) fn eccodes() -> Option<&'static Eccodes> {
    match Eccodes::load() {
        Ok(eccodes) => Some(eccodes),
        Err(EccodesError::NotInstalled { .. })
            if std::env::var_os("ISOTACH_REQUIRE_ECCODES").is_none_or(|value| value != "1") =>
        {
            let test = std::thread::current();
            // Written past the test harness, which would show it only if the test failed.
            let line = format!("{}: skipped: ecCodes not installed\n", test.name().unwrap_or("a test"));
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            None
        }
        Err(error) => panic!("{error}"),
    }
}
