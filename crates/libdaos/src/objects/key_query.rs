//! The highest or lowest integer key of an object, and the records under it.

use crate::{
    abi::constants::*,
    objects::{
        Object,
        array_keys::ArrayKeys,
        general, integer_keys,
        pages::all_keys,
        records::{Range, Records},
    },
    runtime::error::{Result, invalid},
    transactions::scope::Scope,
};

/// A query.
#[derive(Debug)]
pub(crate) struct Query<'q> {
    /// DAOS's flags: highest or lowest, and which keys.
    pub(crate) flags: u64,
    /// Given unless the distribution key is wanted.
    pub(crate) dkey: Option<&'q [u8]>,
    /// Given where records are wanted, and the attribute key is not.
    pub(crate) akey: Option<&'q [u8]>,
}

/// The result of a query. Fields that are not wanted are 0.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) dkey: u64,
    pub(crate) akey: u64,
    pub(crate) records: Range,
}

impl Query<'_> {
    fn wants(&self, what: u64) -> bool {
        self.flags & what != 0
    }

    fn check(&self, object: &Object) -> Result<()> {
        const WHAT: u64 = DAOS_GET_DKEY | DAOS_GET_AKEY | DAOS_GET_RECX;
        let (dkeys_are_integers, akeys_are_integers) = integer_keys(object.id);
        if self.wants(DAOS_GET_MAX) == self.wants(DAOS_GET_MIN) || !self.wants(WHAT) {
            return invalid("flags of a query of keys: one of DAOS_GET_MAX and DAOS_GET_MIN, and of what");
        }
        if self.wants(DAOS_GET_DKEY) && !dkeys_are_integers
            || self.wants(DAOS_GET_AKEY) && !akeys_are_integers
        {
            return invalid("a query of keys that are no integers");
        }
        Ok(())
    }
}

/// See `daos_obj_query_key`: searches from the highest or lowest distribution key for the first that holds what is wanted.
pub(crate) fn find(object: &Object, scope: &Scope, query: &Query<'_>) -> Result<Option<Answer>> {
    query.check(object)?;
    scope.consistent_read(|scope| {
        if let Some(dkey) = query.dkey {
            return under(object, scope, query, dkey);
        }
        let dkeys = match object.is_array() {
            true => ArrayKeys::of(object, scope).outermost_dkeys(query.wants(DAOS_GET_MAX))?,
            false => integers(object, scope, query, None)?,
        };
        for dkey in dkeys {
            if let Some(found) = under(object, scope, query, &dkey.to_le_bytes())? {
                return Ok(Some(Answer { dkey, ..found }));
            }
        }
        Ok(None)
    })
}

/// The result under a distribution key.
fn under(object: &Object, scope: &Scope, query: &Query<'_>, dkey: &[u8]) -> Result<Option<Answer>> {
    if let Some(akey) = query.akey {
        let records = records(object, scope, query, dkey, akey)?;
        return Ok(records.map(|records| Answer { records, ..Answer::default() }));
    }
    if !query.wants(DAOS_GET_AKEY) {
        return Ok(Some(Answer::default()));
    }
    for akey in integers(object, scope, query, Some(dkey))? {
        if !query.wants(DAOS_GET_RECX) {
            return Ok(Some(Answer { akey, ..Answer::default() }));
        }
        if let Some(records) = records(object, scope, query, dkey, &akey.to_le_bytes())? {
            return Ok(Some(Answer { akey, records, ..Answer::default() }));
        }
    }
    Ok(None)
}

/// All distribution keys, or the attribute keys under one, in the order of the search.
fn integers(object: &Object, scope: &Scope, query: &Query<'_>, dkey: Option<&[u8]>) -> Result<Vec<u64>> {
    let keys = all_keys(|from, limit| general::list(object, scope, dkey, from, limit))?;
    let mut keys: Vec<u64> =
        keys.into_iter().filter_map(|key| key.try_into().ok().map(u64::from_le_bytes)).collect();
    keys.sort_unstable();
    if query.wants(DAOS_GET_MAX) {
        keys.reverse();
    }
    Ok(keys)
}

/// The first or the last run of adjacent records under two keys.
fn records(
    object: &Object,
    scope: &Scope,
    query: &Query<'_>,
    dkey: &[u8],
    akey: &[u8],
) -> Result<Option<Range>> {
    let outermost = |records: &Records<'_>| records.outermost(scope, query.wants(DAOS_GET_MAX));
    let found = match object.is_array() {
        true => ArrayKeys::of(object, scope).with_cells(dkey, akey, outermost)?,
        false => general::with_records(object, scope, dkey, akey, outermost)?,
    };
    Ok(found.flatten())
}
