//! Statuses: the numbers of `isotach.h`, and the stable codes that they stand for.

use std::ffi::{CStr, c_int};

/// Success.
pub(crate) const OK: c_int = 0;
/// Nothing, or nothing more.
pub(crate) const NONE: c_int = 1;
/// The code of a buffer that is too small.
pub(crate) const CODE_TOO_SMALL: &str = "too-small";

/// Each number with its code. The two of success are no failures, and have names only.
const STATUSES: [(c_int, &CStr); 32] = [
    (OK, c"ok"),
    (NONE, c"none"),
    (2, c"too-small"),
    (3, c"internal"),
    (10, c"invalid-input"),
    (11, c"key"),
    (12, c"request"),
    (13, c"schema"),
    (14, c"message"),
    (15, c"not-a-store"),
    (16, c"other-schema"),
    (17, c"newer-format"),
    (18, c"read-only"),
    (19, c"below-collocation"),
    (20, c"locked"),
    (21, c"forbidden"),
    (22, c"moving"),
    (23, c"wiped"),
    (24, c"lost"),
    (25, c"corrupt"),
    (26, c"nothing-below"),
    (27, c"not-relabelled"),
    (28, c"copy-differs"),
    (40, c"not-found"),
    (41, c"already-exists"),
    (42, c"conflict"),
    (43, c"unsupported"),
    (44, c"permission-denied"),
    (45, c"no-space"),
    (46, c"too-many-open"),
    (47, c"io"),
    (48, c"poisoned"),
];

/// The number of a code.
pub(crate) fn number(code: &str) -> c_int {
    let known = STATUSES.iter().find(|(_, known)| known.to_bytes() == code.as_bytes());
    known.map_or(3, |(number, _)| *number)
}

/// The code of a number.
pub(crate) fn name(number: c_int) -> &'static CStr {
    STATUSES.iter().find(|(known, _)| *known == number).map_or(c"unknown", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = include_str!("../include/isotach.h");

    /// The statuses of the header: each name with its number.
    fn of_header() -> Vec<(String, c_int)> {
        let lines = HEADER.lines().filter_map(|line| line.trim().strip_prefix("ISOTACH_")?.split_once(" = "));
        let parsed = lines.map(|(name, number)| {
            (name.to_lowercase().replace('_', "-"), number.trim_end_matches(',').parse().unwrap())
        });
        parsed.collect()
    }

    #[test]
    fn the_header_has_every_status_by_its_code_and_number() {
        let header = of_header();
        let here: Vec<(String, c_int)> =
            STATUSES.iter().map(|(number, name)| (name.to_str().unwrap().to_owned(), *number)).collect();
        assert_eq!(header, here);
    }

    #[test]
    fn every_code_of_both_layers_has_a_status() {
        for code in [&isotach_fields::Error::CODES[..], &isotach_object::Error::CODES[..]].concat() {
            assert!(number(code) >= 10, "{code}");
            assert_eq!(name(number(code)).to_str(), Ok(code));
        }
        assert_eq!(number(isotach_capi_kit::CODE_INTERNAL), 3);
        assert_eq!(number(CODE_TOO_SMALL), 2);
    }
}
