//! Following writers: polling the store until the fields of a step are available.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use isotach_fields::{FieldStore, ListOptions};

use super::{Field, Keys, Pace};
use crate::{Error, Result, harness::events::Calls};

/// Waits until at least one of some members has all its fields of a step, and returns these members. Calls `pause` between two
/// polls.
pub(crate) fn wait_for(
    store: &FieldStore,
    keys: &Keys,
    block: usize,
    pace: &Pace,
    (step, members): (u32, &BTreeSet<u32>),
    calls: &mut Calls,
    mut pause: impl FnMut() -> Result<()>,
) -> Result<BTreeSet<u32>> {
    for _ in 0..pace.poll_max_attempts {
        let found = calls.time("list", || list(store, keys, step, members))?;
        let is_whole = |(member, fields): (u32, HashSet<Field>)| (fields.len() == block).then_some(member);
        let whole: BTreeSet<u32> = found.into_iter().filter_map(is_whole).collect();
        if !whole.is_empty() {
            return Ok(whole);
        }
        calls.time("wait", &mut pause)?;
    }
    let members: Vec<String> = members.iter().map(u32::to_string).collect();
    let what = format!(
        "step {step} of members {} is not available after {} polls",
        members.join("/"),
        pace.poll_max_attempts
    );
    Err(Error::wrong(what, format!("{block} fields of each; see --poll-period and --poll-max-attempts")))
}

/// The fields of a step by member.
fn list(
    store: &FieldStore,
    keys: &Keys,
    step: u32,
    members: &BTreeSet<u32>,
) -> Result<BTreeMap<u32, HashSet<Field>>> {
    let request = keys.request(members.iter().copied(), [step])?;
    let mut found: BTreeMap<u32, HashSet<Field>> = BTreeMap::new();
    for listed in store.list(&request, ListOptions::default())? {
        if let Some(field) = keys.field(&listed?.key()).filter(|field| members.contains(&field.number)) {
            found.entry(field.number).or_default().insert(field);
        }
    }
    Ok(found)
}
