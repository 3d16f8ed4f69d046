//! General objects: single values and records under a distribution key and an attribute key.
//!
//! Records are bytes at offsets. `record_sizes` holds their size.

use std::{borrow::Cow, collections::BTreeSet, sync::Arc};

use isotach_object::{Anchor, Cell, ObjectType, Page, PageBuilder, Precondition, Update, extents_of};

use crate::{
    abi::{constants::*, errors::*},
    objects::{
        Object,
        array_keys::{self, ArrayKeys},
        integer_keys,
        kv::in_program_form,
        record_sizes,
        records::{Fetched, Records},
        requests::{AkeyRequest, ONLY_AKEY},
        turned,
    },
    runtime::error::{Der, Result, invalid, refuse},
    transactions::{own_updates::Content, scope::Scope},
};

impl Object {
    /// The stored form of a distribution key.
    fn stored_dkey<'k>(&self, dkey: &'k [u8]) -> Result<Cow<'k, [u8]>> {
        turned(dkey, integer_keys(self.id).0)
    }

    /// The stored form of an attribute key.
    fn stored_akey<'k>(&self, akey: &'k [u8]) -> Result<Cow<'k, [u8]>> {
        turned(akey, integer_keys(self.id).1)
    }

    /// A page of its distribution keys, or of the attribute keys under one, as stored.
    fn page(&self, scope: &Scope, dkey: Option<&[u8]>, anchor: &Anchor, limit: usize) -> Result<Page> {
        scope.read(&[], |state| match (dkey, self.id.otype()) {
            (Some(dkey), _) => state.list_akeys(self.id, dkey, anchor, limit),
            (None, ObjectType::KeyValue) => state.list_entries(self.id, anchor, limit, false),
            (None, _) => state.list_dkeys(self.id, anchor, limit),
        })
    }

    /// The cell of two stored keys. A map is an object whose values are all under the attribute key "0".
    pub(crate) fn cell<'k>(&self, dkey: &'k [u8], akey: &'k [u8]) -> Result<Cell<'k>> {
        match self.id.otype() {
            _ if dkey.is_empty() || akey.is_empty() => invalid("an empty distribution or attribute key"),
            ObjectType::KeyValue if akey == ONLY_AKEY => Ok(Cell::kv(self.id, dkey)),
            ObjectType::KeyValue => refuse(DER_NOSYS, "an attribute key other than \"0\" of a map"),
            _ => Ok(Cell::general(self.id, dkey, akey)),
        }
    }

    /// Whether a distribution key holds something.
    fn has_dkey(&self, scope: &Scope, dkey: &[u8]) -> Result<bool> {
        self.has_dkey_without(scope, dkey, &BTreeSet::new())
    }

    /// As [`Object::has_dkey`], after the waiting updates of the same transaction.
    fn will_have_dkey(&self, scope: &Scope, dkey: &[u8]) -> Result<bool> {
        let own = scope.own(|own| own.dkey(self.id, dkey))?;
        own.exists.map_or_else(|| self.has_dkey_without(scope, dkey, &own.removed), Ok)
    }

    /// Whether a distribution key holds something besides these attribute keys.
    fn has_dkey_without(&self, scope: &Scope, dkey: &[u8], removed: &BTreeSet<Vec<u8>>) -> Result<bool> {
        if self.id.otype() == ObjectType::KeyValue {
            return Ok(removed.is_empty() && scope.size(Cell::kv(self.id, dkey))?.is_some());
        }
        let mut anchor = Anchor::start();
        loop {
            let page = self.page(scope, Some(dkey), &anchor, removed.len() + 1)?;
            let left = page.keys().find(|akey| !removed.contains(*akey));
            match (left, page.next()) {
                (Some(akey), _) => {
                    scope.expect_present(&Cell::general(self.id, dkey, akey))?;
                    return Ok(true);
                }
                (None, None) => return Ok(false),
                (None, Some(next)) => anchor = next.clone(),
            }
        }
    }

    /// Whether the object holds something.
    fn holds_something(&self, scope: &Scope) -> Result<bool> {
        if self.is_array() {
            return ArrayKeys::of(self, scope).has_any();
        }
        let mut anchor = Anchor::start();
        loop {
            let page = self.page(scope, None, &anchor, 1)?;
            match (page.keys().next(), page.next()) {
                (Some(dkey), _) => return self.has_dkey(scope, dkey),
                (None, None) => return Ok(false),
                (None, Some(next)) => anchor = next.clone(),
            }
        }
    }
}

/// See `daos_obj_fetch`.
pub(crate) fn fetch(
    object: &Object,
    scope: &Scope,
    flags: u64,
    dkey: &[u8],
    parts: &[AkeyRequest<'_>],
) -> Result<Vec<Fetched>> {
    if object.is_array() {
        return ArrayKeys::of(object, scope).fetch(flags, dkey, parts);
    }
    let dkey = &*object.stored_dkey(dkey)?;
    // One existing value needs one read.
    if let [part @ AkeyRequest { ranges: None, .. }] = parts
        && flags & DAOS_COND_DKEY_FETCH == 0
        && let akey = object.stored_akey(part.akey)?
        && let Some(value) = scope.get(object.cell(dkey, &akey)?)?
    {
        return Ok(vec![Fetched::value(value, part.capacity)]);
    }
    scope.consistent_read(|scope| {
        if flags & DAOS_COND_DKEY_FETCH != 0 && !object.has_dkey(scope, dkey)? {
            return Err(Der(DER_NONEXIST));
        }
        parts.iter().map(|part| fetch_part(object, scope, flags, dkey, part)).collect()
    })
}

fn fetch_part(
    object: &Object,
    scope: &Scope,
    flags: u64,
    dkey: &[u8],
    part: &AkeyRequest<'_>,
) -> Result<Fetched> {
    let akey = object.stored_akey(part.akey)?;
    let cell = object.cell(dkey, &akey)?;
    let flags = if flags & DAOS_COND_PER_AKEY != 0 { part.flags } else { flags };
    if scope.size(cell)?.is_none() {
        return if flags & DAOS_COND_AKEY_FETCH != 0 {
            Err(Der(DER_NONEXIST))
        } else {
            Ok(Fetched::default())
        };
    }
    let ranges = match (&part.ranges, scope.get(cell)?) {
        (None, Some(value)) => return Ok(Fetched::value(value, part.capacity)),
        (Some(ranges), None) => ranges,
        // Content of the other kind is not found.
        _ if flags & DAOS_COND_AKEY_FETCH != 0 => return Err(Der(DER_NONEXIST)),
        _ => return Ok(Fetched::default()),
    };
    Records::of(cell, record_sizes::of(scope, cell)?).fetch(scope, ranges, part.capacity)
}

/// What `act` finds of the records under two keys; `None` in a map, which has none.
pub(crate) fn with_records<T>(
    object: &Object,
    scope: &Scope,
    dkey: &[u8],
    akey: &[u8],
    act: impl FnOnce(&Records<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let (dkey, akey) = (object.stored_dkey(dkey)?, object.stored_akey(akey)?);
    let cell = object.cell(&dkey, &akey)?;
    match object.id.otype() {
        ObjectType::KeyValue => Ok(None),
        _ => act(&Records::of(cell, record_sizes::of(scope, cell)?)).map(Some),
    }
}

/// Refuses a single value where records are, and records where a single value is. This is no condition of a transaction, so writers of the same
/// kind do not conflict. One read looks only for the other kind, so concurrent changes cannot cause a wrong refusal.
fn check_kind(object: &Object, scope: &Scope, cell: Cell<'_>, has_ranges: bool) -> Result<()> {
    if object.id.otype() == ObjectType::KeyValue {
        return Ok(());
    }
    let now = Scope::present(Arc::clone(&scope.container));
    let is_other = match (scope.own(|own| own.content(&cell))?, has_ranges) {
        (Some(content), true) => content == Content::Value,
        (Some(content), false) => content == Content::Records,
        (None, true) => match now.get(cell) {
            // A damaged value is a value.
            Err(Der(DER_CSUM)) => true,
            found => found?.is_some(),
        },
        (None, false) => !now.read(&[cell], |state| extents_of(state, cell, 0, u64::MAX))?.is_empty(),
    };
    if is_other { mixed() } else { Ok(()) }
}

fn mixed<T>() -> Result<T> {
    refuse(DER_NO_PERM, "a single value and records under one attribute key")
}

/// See `daos_obj_update`: the bytes of each part, one after the other.
pub(crate) fn update(
    object: &Object,
    scope: &Scope,
    flags: u64,
    dkey: &[u8],
    parts: &[(AkeyRequest<'_>, Vec<u8>)],
) -> Result<()> {
    object.check_writable()?;
    if object.is_array() {
        return ArrayKeys::of(object, scope).update(flags, dkey, parts);
    }
    let dkey = &*object.stored_dkey(dkey)?;
    let is_conditional = flags & (DAOS_COND_DKEY_INSERT | DAOS_COND_DKEY_UPDATE) != 0;
    if !is_conditional && parts.iter().all(|(part, _)| part.ranges.is_none()) {
        return update_parts(object, scope, flags, dkey, parts);
    }
    // The offsets of records depend on their size, which must not change before they are written or punched.
    scope.atomic(|scope| {
        if is_conditional {
            match (object.will_have_dkey(scope, dkey)?, flags & DAOS_COND_DKEY_INSERT != 0) {
                (true, true) => return Err(Der(DER_EXIST)),
                (false, false) => return Err(Der(DER_NONEXIST)),
                _ => {}
            }
        }
        update_parts(object, scope, flags, dkey, parts)
    })
}

fn update_parts(
    object: &Object,
    scope: &Scope,
    flags: u64,
    dkey: &[u8],
    parts: &[(AkeyRequest<'_>, Vec<u8>)],
) -> Result<()> {
    let akeys = parts.iter().map(|(part, _)| object.stored_akey(part.akey)).collect::<Result<Vec<_>>>()?;
    let of_kind = |has_ranges| {
        let parts =
            parts.iter().zip(&akeys).filter(move |((part, _), _)| part.ranges.is_some() == has_ranges);
        parts.map(|(_, akey)| &**akey)
    };
    let with_ranges: BTreeSet<&[u8]> = of_kind(true).collect();
    if of_kind(false).any(|akey| with_ranges.contains(akey)) {
        return mixed();
    }
    let sizes: Vec<[u8; 8]> = parts.iter().map(|(part, _)| part.size.to_le_bytes()).collect();
    let (mut updates, mut conditions) = (Vec::new(), Vec::new());
    for (((part, bytes), akey), size) in parts.iter().zip(&akeys).zip(&sizes) {
        let cell = object.cell(dkey, akey)?;
        check_kind(object, scope, cell, part.ranges.is_some())?;
        conditions.extend(condition(flags, part, cell));
        match (&part.ranges, part.size) {
            (None, _) => updates.push(Update::Put { cell, value: bytes }),
            (Some(ranges), 0) => {
                Records::of(cell, record_sizes::next(scope, cell)?).punch(ranges, &mut updates)?;
            }
            (Some(ranges), record) => {
                updates.extend(record_sizes::change(scope, cell, size)?);
                Records::of(cell, record).write(ranges, bytes, &mut updates)?;
            }
        }
    }
    if conditions.is_empty() {
        return scope.update(&updates);
    }
    scope.update_if(&conditions, &updates)
}

fn condition<'c>(whole: u64, part: &AkeyRequest<'_>, cell: Cell<'c>) -> Option<Precondition<'c>> {
    let flags = if whole & DAOS_COND_PER_AKEY != 0 { part.flags } else { whole };
    if flags & DAOS_COND_AKEY_UPDATE != 0 {
        return Some(Precondition::Present(cell));
    }
    // An absent distribution key holds no attribute key, so only one of two inserts of the same keys succeeds.
    let inserts = flags & DAOS_COND_AKEY_INSERT != 0 || whole & DAOS_COND_DKEY_INSERT != 0;
    inserts.then_some(Precondition::Absent(cell))
}

/// See `daos_obj_punch`.
pub(crate) fn punch(object: &Object, scope: &Scope, flags: u64) -> Result<()> {
    object.check_writable()?;
    remove_if(
        scope,
        flags,
        |scope| object.holds_something(scope),
        |scope| match object.is_array() {
            true => array_keys::destroy(scope, object.id),
            false => scope.update(&record_sizes::with_sizes(scope, Update::Destroy { object: object.id })?),
        },
    )
}

/// See `daos_obj_punch_dkeys`.
pub(crate) fn punch_dkey(object: &Object, scope: &Scope, flags: u64, dkey: &[u8]) -> Result<()> {
    object.check_writable()?;
    if object.is_array() {
        return ArrayKeys::of(object, scope).punch(flags, dkey, &[]);
    }
    let dkey = &*object.stored_dkey(dkey)?;
    let update = match object.id.otype() {
        ObjectType::KeyValue => Update::Remove { cell: Cell::kv(object.id, dkey) },
        _ => Update::RemoveDkey { object: object.id, dkey },
    };
    let updates = record_sizes::with_sizes(scope, update)?;
    remove_if(scope, flags, |scope| object.will_have_dkey(scope, dkey), |scope| scope.update(&updates))
}

/// Removes something, which must exist if the flags say so.
fn remove_if(
    scope: &Scope,
    flags: u64,
    exists: impl Fn(&Scope) -> Result<bool>,
    remove: impl Fn(&Scope) -> Result<()>,
) -> Result<()> {
    if flags & DAOS_COND_PUNCH == 0 {
        return remove(scope);
    }
    scope.atomic(|scope| match exists(scope)? {
        true => remove(scope),
        false => Err(Der(DER_NONEXIST)),
    })
}

/// See `daos_obj_punch_akeys`.
pub(crate) fn punch_akeys(
    object: &Object,
    scope: &Scope,
    flags: u64,
    dkey: &[u8],
    akeys: &[&[u8]],
) -> Result<()> {
    object.check_writable()?;
    if object.is_array() {
        return ArrayKeys::of(object, scope).punch(flags, dkey, akeys);
    }
    let dkey = &*object.stored_dkey(dkey)?;
    let akeys = akeys.iter().map(|akey| object.stored_akey(akey)).collect::<Result<Vec<_>>>()?;
    let cells: Vec<Cell<'_>> = akeys.iter().map(|akey| object.cell(dkey, akey)).collect::<Result<_>>()?;
    let mut updates = Vec::with_capacity(2 * cells.len());
    for cell in &cells {
        updates.extend(record_sizes::with_sizes(scope, Update::Remove { cell: *cell })?);
    }
    if flags & DAOS_COND_PUNCH == 0 {
        return scope.update(&updates);
    }
    let conditions: Vec<Precondition<'_>> = cells.iter().map(|cell| Precondition::Present(*cell)).collect();
    scope.update_if(&conditions, &updates)
}

/// A page of distribution keys, or of the attribute keys under one.
pub(crate) fn list(
    object: &Object,
    scope: &Scope,
    dkey: Option<&[u8]>,
    anchor: &Anchor,
    limit: usize,
) -> Result<Page> {
    if object.is_array() {
        let keys = ArrayKeys::of(object, scope);
        return dkey.map_or_else(|| keys.list_dkeys(anchor, limit), |dkey| keys.list_akeys(dkey));
    }
    let (dkeys_are_integers, akeys_are_integers) = integer_keys(object.id);
    let Some(dkey) = dkey else {
        return in_program_form(object.page(scope, None, anchor, limit)?, dkeys_are_integers);
    };
    let dkey = object.stored_dkey(dkey)?;
    if object.id.otype() != ObjectType::KeyValue {
        return in_program_form(object.page(scope, Some(&dkey), anchor, limit)?, akeys_are_integers);
    }
    let mut page = PageBuilder::new();
    if object.has_dkey(scope, &dkey)? {
        page.push(ONLY_AKEY, b"");
    }
    Ok(page.finish(None))
}
