//! Keywords of the MARS language that do not say which fields are meant.
//!
//! What must stay true: a keyword stands here only if it never narrows what a request finds, in MARS and in FDB alike.

use std::borrow::Cow;

use crate::types::named_month;

/// What becomes of the fields after they are found: interpolation, packing, format.
const POST_PROCESSING: [&str; 17] = [
    "accuracy",
    "area",
    "bitmap",
    "compatibility",
    "filter",
    "format",
    "frame",
    "gaussian",
    "grid",
    "interpolation",
    "intgrid",
    "packing",
    "process",
    "resol",
    "rotation",
    "truncation",
    "units",
];

/// How the request is carried out and where its answer goes.
const EXECUTION: [&str; 25] = [
    "database",
    "dbase",
    "decache",
    "disp",
    "duplicates",
    "expect",
    "field",
    "fieldset",
    "filename",
    "formula",
    "optimise",
    "option",
    "output",
    "padding",
    "priority",
    "pseudodate",
    "repres",
    "requirements",
    "source",
    "sourcebase",
    "style",
    "tape",
    "target",
    "use",
    "wait",
];

/// Other names that MARS has for a key.
const SYNONYMS: [(&str, &str); 6] = [
    ("leve", "levelist"),
    ("level", "levelist"),
    ("levellist", "levelist"),
    ("levtyp", "levtype"),
    ("parameter", "param"),
    ("parameters", "param"),
];

/// A value of a key as fields carry it, where MARS has a word for it: a month by its number.
pub(crate) fn number_of_month(name: &str, value: &str) -> Option<String> {
    let month = if name == "month" { named_month(value.trim()) } else { None };
    month.map(|month| month.to_string())
}

/// The values of a key, each as fields carry it.
pub(crate) fn with_numbered_months<'a>(name: &str, values: &'a [String]) -> Cow<'a, [String]> {
    if values.iter().all(|value| number_of_month(name, value).is_none()) {
        return Cow::Borrowed(values);
    }
    values.iter().map(|value| number_of_month(name, value).unwrap_or_else(|| value.clone())).collect()
}

/// Whether a name is a keyword that says nothing about which fields are meant.
pub(crate) fn has_no_effect(name: &str) -> bool {
    POST_PROCESSING.contains(&name) || EXECUTION.contains(&name)
}

/// The usual name of a key that MARS knows by several.
pub(crate) fn usual_name(name: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(other, _)| *other == name).map(|(_, usual)| *usual)
}

/// Words that stand for all values of a key.
pub(crate) fn is_wildcard(value: &str) -> bool {
    let value = value.trim();
    value == "*" || value.eq_ignore_ascii_case("all") || value.eq_ignore_ascii_case("any")
}

/// The word that takes a key out of a request.
pub(crate) fn is_off(value: &str) -> bool {
    value.trim().eq_ignore_ascii_case("off")
}

/// Whether a value of a request leaves its key open.
pub(crate) fn means_all(value: &str) -> bool {
    is_wildcard(value) || is_off(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_stands_in_one_list_and_once() {
        let mut all: Vec<&str> = POST_PROCESSING.into_iter().chain(EXECUTION).collect();
        all.extend(SYNONYMS.map(|(other, _)| other));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn months_have_names_and_other_keys_words_of_their_own() {
        let values = ["nov", "January", "3", "mayor2"].map(str::to_owned);
        assert_eq!(*with_numbered_months("month", &values), ["11", "1", "3", "mayor2"]);
        assert_eq!(*with_numbered_months("origin", &values), values);
    }
}
