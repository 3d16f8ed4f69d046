//! What to say of a message that this ecCodes cannot take apart: it stops at the first template of GRIB 2 that it does
//! not know, and gives the keys before it as if there were no more.

use std::ffi::CStr;
use std::fmt;
use std::ops::RangeInclusive;

use super::{Eccodes, EccodesError};
use crate::ffi::Handle;

/// The newest release that is known here, whose templates are listed.
pub(super) const NEWER: i64 = 25_000;

/// A part of a message of GRIB 2 that follows a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TemplatedSection {
    /// What it describes, in a user's words.
    name: &'static str,
    section: u8,
    /// The key of its template's number, and a key that comes right behind it.
    number: &'static CStr,
    next: &'static CStr,
    /// The templates that [`NEWER`] knows.
    known: &'static [RangeInclusive<i64>],
}

const PARTS: [TemplatedSection; 3] = [
    TemplatedSection {
        name: "grid",
        section: 3,
        number: c"gridDefinitionTemplateNumber",
        next: c"productDefinitionTemplateNumber",
        known: &[
            0..=5,
            10..=10,
            12..=13,
            20..=20,
            23..=23,
            30..=31,
            33..=33,
            40..=43,
            50..=53,
            61..=63,
            90..=90,
            100..=101,
            110..=110,
            140..=140,
            150..=150,
            1000..=1000,
            1100..=1100,
            1200..=1200,
        ],
    },
    TemplatedSection {
        name: "kind of product",
        section: 4,
        number: c"productDefinitionTemplateNumber",
        next: c"dataRepresentationTemplateNumber",
        known: &[
            0..=15,
            20..=20,
            32..=35,
            40..=51,
            55..=63,
            67..=68,
            70..=73,
            76..=87,
            89..=91,
            94..=98,
            102..=140,
            143..=202,
            204..=207,
            224..=228,
            254..=254,
            1000..=1000,
            1002..=1002,
            1100..=1101,
            40_033..=40_034,
        ],
    },
    TemplatedSection {
        name: "packing",
        section: 5,
        number: c"dataRepresentationTemplateNumber",
        next: c"section7Length",
        known: &[0..=4, 40..=42, 50..=51, 53..=53, 61..=61, 200..=200, 40_000..=40_000, 50_000..=50_002],
    },
];

/// The template at which ecCodes stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unknown {
    part: TemplatedSection,
    template: i64,
    /// The version of the ecCodes that stopped there.
    version: i64,
}

impl Unknown {
    /// The first template of a message that this ecCodes does not know. Only for messages whose keys are not all there:
    /// it costs a few look-ups.
    pub(super) fn of(eccodes: &Eccodes, handle: &Handle<'_>) -> Option<Self> {
        let is_grib_2 = handle.long(c"edition").is_ok_and(|edition| edition == 2);
        let stops_in = |part: &&TemplatedSection| handle.long(part.next).is_err();
        let part = PARTS.iter().find(stops_in).filter(|_| is_grib_2)?;
        let template = handle.long(part.number).ok()?;
        Some(Self { part: *part, template, version: eccodes.api.version() })
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part: TemplatedSection { name, section, known, .. }, template, version } = self;
        let [own, newer] = [*version, NEWER].map(super::version_text);
        write!(out, "ecCodes {own} does not know this {name} (template {section}.{template} of GRIB 2); ")?;
        match *version < NEWER && known.iter().any(|range| range.contains(template)) {
            true => {
                write!(out, "{newer} does: install it with `pip install eccodeslib` in an active environment")
            }
            false => write!(out, "a newer one may"),
        }
    }
}

impl From<Unknown> for EccodesError {
    fn from(unknown: Unknown) -> Self {
        Self::TooOld { reason: unknown.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(part: usize, template: i64, version: i64) -> String {
        Unknown { part: PARTS[part], template, version }.to_string()
    }

    #[test]
    fn a_template_that_a_newer_release_knows_names_that_release() {
        assert_eq!(
            said(0, 150, 22_800),
            "ecCodes 2.28.0 does not know this grid (template 3.150 of GRIB 2); 2.50.0 does: install it with `pip \
             install eccodeslib` in an active environment"
        );
    }

    #[test]
    fn of_a_template_that_no_release_is_known_for_nothing_is_promised() {
        for (part, version) in [(1, 22_800), (1, 25_000), (2, 26_000)] {
            assert!(said(part, 999, version).ends_with("999 of GRIB 2); a newer one may"));
        }
        assert!(said(0, 150, 25_000).ends_with("a newer one may"), "it is no older than the one that does");
    }

    #[test]
    fn the_newest_release_that_is_known_is_the_one_that_tests_run_with() {
        let pins = include_str!("../../../../tests/parity/requirements.txt");
        let pinned = pins.lines().find_map(|line| line.strip_prefix("eccodeslib==")).unwrap();
        let newest = super::super::version_text(NEWER);
        assert!(pinned.starts_with(&format!("{newest}.")), "{pinned} is not {newest}: list its templates");
    }
}
