//! Parameters. A number is what it is and is never rewritten; a short name is looked up in the table of `params.tsv`.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

use crate::text::{Expected, nearest};

/// Short name and identifier of the parameters that MARS knows by name, sorted by name.
const TABLE: &str = include_str!("params.tsv");

struct Names {
    by_name: Vec<(&'static str, u32)>,
    by_id: HashMap<u32, &'static str>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let rows = TABLE.lines().filter_map(|line| line.split_once('\t'));
    let by_name: Vec<(&str, u32)> = rows.filter_map(|(name, id)| Some((name, id.parse().ok()?))).collect();
    let mut by_id = HashMap::with_capacity(by_name.len());
    for (name, id) in &by_name {
        by_id.entry(*id).or_insert(*name);
    }
    Names { by_name, by_id }
});

/// The identifier of the parameter with this short name, in whatever case.
///
/// ```
/// assert_eq!(isotach_mars::param_id("2t"), Some(167));
/// ```
#[must_use]
pub fn param_id(name: &str) -> Option<u32> {
    let lower = name.to_ascii_lowercase();
    let row = NAMES.by_name.binary_search_by(|(known, _)| (*known).cmp(lower.as_str())).ok()?;
    NAMES.by_name.get(row).map(|(_, id)| *id)
}

/// The short name of the parameter with this identifier.
///
/// ```
/// assert_eq!(isotach_mars::param_name(130), Some("t"));
/// ```
#[must_use]
pub fn param_name(id: u32) -> Option<&'static str> {
    NAMES.by_id.get(&id).copied()
}

pub(super) fn canonical(text: &str, out: &mut String) -> Result<(), Expected> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits && !text.is_empty() && text.len() <= 9 {
        let bare = text.trim_start_matches('0');
        out.push_str(if bare.is_empty() { "0" } else { bare });
        return Ok(());
    }
    let id = match text.split_once('.') {
        Some((number, table)) => from_table(number, table),
        None => param_id(text),
    };
    let id = id.ok_or_else(|| expected(text))?;
    let _ = write!(out, "{id}");
    Ok(())
}

/// The identifier of a parameter given as `number.table`. Table 128 is ECMWF's own and adds nothing; 0 is no table.
fn from_table(number: &str, table: &str) -> Option<u32> {
    let number: u32 = number.parse().ok()?;
    let table: u32 = table.parse().ok()?;
    match table {
        0 => Some(number),
        _ if number >= 1000 || table >= 1000 => None,
        128 => Some(number),
        _ => Some(table * 1000 + number),
    }
}

fn expected(text: &str) -> Expected {
    let lower = text.to_ascii_lowercase();
    match nearest(&lower, NAMES.by_name.iter().map(|(name, _)| *name)).filter(|_| text.len() > 2) {
        Some(name) => format!("a parameter's number or short name, such as '{name}'").into(),
        None => "a parameter's number or short name".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyType;
    use crate::types::tests::{all_mean, all_refused, canonical};

    #[test]
    fn name_number_and_table_form_are_one_parameter() {
        all_mean(KeyType::Param, &["t", "T", "130", "0130", "130.128", "130.0"], "130");
        all_mean(KeyType::Param, &["228.140", "140228"], "140228");
        all_mean(KeyType::ParamId, &["2t", "167", "167.128"], "167");
    }

    #[test]
    fn a_number_is_never_rewritten() {
        all_mean(KeyType::Param, &["131"], "131");
        all_mean(KeyType::Param, &["228131"], "228131");
        all_mean(KeyType::Param, &["999999999"], "999999999");
    }

    #[test]
    fn common_names_have_the_ids_of_mars() {
        let meant = [
            ("z", 129),
            ("u", 131),
            ("v", 132),
            ("q", 133),
            ("sp", 134),
            ("w", 135),
            ("vo", 138),
            ("sd", 141),
            ("lsp", 142),
            ("cp", 143),
            ("msl", 151),
            ("lnsp", 152),
            ("d", 155),
            ("gh", 156),
            ("r", 157),
            ("tcc", 164),
            ("10u", 165),
            ("10v", 166),
            ("2t", 167),
            ("2d", 168),
            ("lsm", 172),
            ("tp", 228),
            ("skt", 235),
            ("swh", 140_229),
            ("mwd", 140_230),
            ("ci", 31),
            ("sst", 34),
            ("cape", 59),
            ("tcwv", 137),
        ];
        for (name, id) in meant {
            assert_eq!(param_id(name), Some(id), "{name}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_whole() {
        let lines = TABLE.lines().count();
        assert_eq!(NAMES.by_name.len(), lines);
        assert!(NAMES.by_name.is_sorted_by(|left, right| left.0 < right.0));
        assert!(lines > 4000, "{lines}");
    }

    #[test]
    fn invalid_parameters_are_refused() {
        all_refused(
            KeyType::Param,
            &["", "nosuch", "130/131", "130.128.1", "-1", "1.5x", "1000.128", "130.1000", "1e3"],
        );
        let message = canonical(KeyType::Param, "tcwvv").unwrap_err();
        assert_eq!(message, "a parameter's number or short name, such as 'tcwv'");
    }
}
