//! How tests that need ecCodes get it, and say so where it is not.

use isotach_needs::{Need, skip};

use crate::eccodes::{Eccodes, EccodesError};

/// ecCodes, or `None` after saying that the test is skipped.
pub(crate) fn eccodes() -> Option<&'static Eccodes> {
    match Eccodes::load() {
        Ok(eccodes) => Some(eccodes),
        Err(error @ EccodesError::NotInstalled { .. }) => {
            skip(Need::Eccodes, &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}
