//! Verifying a list of datasets: its container, and whether it names every container with fields.
//!
//! What must stay true: a container that the list does not name is reported, is not a dataset's, or was wiped. An
//! unreadable container is never silently skipped.

use std::sync::{Arc, atomic::AtomicU64};

use isotach_mars::Key;
use isotach_object::{Cell, Error as ObjectError, Label, Pool};

use super::report::{Cure, Damage, Level, Run, VerifiedPart, look};
use crate::{
    Error, Forbidden, Result,
    admin::sweep::{Orphan, orphans},
    catalogue::{
        layout::{DATASET, DATASETS, ENTRY_KEY, ENTRY_SCHEMA, ROOT, SETTINGS, VERSION, parse_named_text},
        record::Record,
        root::{Root, SETTING_SCHEMA, SETTING_VERSION},
    },
    config::forbidden::Limits,
    store::Inner,
};

/// Verifies the list of datasets of an open store.
pub(super) fn verify(inner: &Inner, root: &Root, run: &Run<'_>) -> Result<VerifiedPart> {
    let mut part = inner.with_handles(|| verify_container(&root.pool, run))?;
    part.forbidden = root.limits.of_any();
    if root.snapshot.is_none() {
        let found =
            inner.unlisted(root).and_then(|labels| inner.with_handles(|| orphans(&*root.pool, &labels)));
        match found {
            Ok(found) => {
                for orphan in found {
                    part.orphan(Some(root), orphan, run)?;
                }
            }
            Err(error) if error.code() != "corrupt" => return Err(error),
            // The container of the list is intact.
            Err(error) if part.damage.is_empty() => part.damaged(&error.to_string()),
            // An unreadable list was reported already.
            Err(_) => {}
        }
    }
    Ok(part)
}

/// Verifies a list of datasets whose store cannot be opened.
pub(super) fn verify_unopened(
    pool: &Arc<dyn Pool>,
    forbidden: Forbidden,
    run: &Run<'_>,
) -> Result<VerifiedPart> {
    let mut part = verify_container(pool, run)?;
    part.forbidden = forbidden;
    let found = orphans(&**pool, &all_but_root(&**pool)?)?;
    if part.damage.is_empty() {
        part.damage = settings(&**pool, &found)?;
    }
    // The containers that the list names are unknown until it can be read. Unreadable containers are known now.
    for orphan in found {
        part.orphan(None, orphan, run)?;
    }
    Ok(part)
}

/// Verifies the container of a list of datasets.
fn verify_container(pool: &Arc<dyn Pool>, run: &Run<'_>) -> Result<VerifiedPart> {
    let label: Label = ROOT.parse()?;
    let verified = look(&**pool, &label, run, &AtomicU64::new(0))?;
    let mut part = VerifiedPart { place: place_of(&**pool), ..VerifiedPart::default() };
    part.add_container(Arc::clone(pool), label, verified, |_, damage| Some(damage));
    Ok(part)
}

pub(super) fn place_of(pool: &dyn Pool) -> String {
    format!("container {ROOT} of {}", pool.uri())
}

fn all_but_root(pool: &dyn Pool) -> Result<Vec<Label>> {
    let mut labels = pool.list_containers()?;
    labels.retain(|label| label.as_str() != ROOT);
    Ok(labels)
}

/// The datasets of readable containers, from their descriptions. A restored list is compared with them.
pub(super) fn described(pool: &dyn Pool) -> Result<Vec<Orphan>> {
    let mut found = orphans(pool, &all_but_root(pool)?)?;
    found.retain(|orphan| matches!(orphan, Orphan::Used(..)));
    Ok(found)
}

/// The missing settings of a store that its newest dataset can supply: the version and the schema.
pub(super) fn settings(pool: &dyn Pool, described: &[Orphan]) -> Result<Vec<Damage>> {
    let root = pool.open_container(&ROOT.parse()?)?;
    let damage = |what: String, cure| Damage::new(Level::Store, &Key::new(), what, &place_of(pool), cure);
    if root.get_many(&[Cell::kv(DATASET, ENTRY_KEY)])? != [None] {
        let what = "the container of a dataset is in the place of the list of datasets".to_owned();
        return Ok(vec![damage(what, Cure::None)]);
    }
    let cells = [SETTING_SCHEMA, SETTING_VERSION].map(|name| Cell::kv(SETTINGS, name));
    let known = root.get_many(&cells)?;
    let used = described.iter().filter_map(|orphan| match orphan {
        Orphan::Used(_, record) => Some(record),
        Orphan::Closed(..) => None,
    });
    let Some(newest) = used.max_by_key(|record| record.created_us).filter(|_| known.contains(&None)) else {
        return Ok(Vec::new());
    };
    let container = pool.open_container(&newest.label.parse()?)?;
    let schema = container.get_many(&[Cell::kv(DATASET, ENTRY_SCHEMA)])?.pop().flatten();
    // The version comes last: if it exists, the store does.
    let values = [(SETTING_SCHEMA, schema), (SETTING_VERSION, Some(VERSION.to_le_bytes().to_vec()))];
    let lost = values.into_iter().zip(known).filter(|(_, known)| known.is_none());
    let put_back = lost.filter_map(|((name, value), _)| {
        let what = format!(
            "the store has lost its {}, which container {} has",
            String::from_utf8_lossy(name),
            newest.label
        );
        let cure = Cure::PutBack { object: SETTINGS, key: name.to_vec(), value: value? };
        Some(damage(what, cure))
    });
    Ok(put_back.collect())
}

/// The damage of a list that lacks these datasets.
pub(super) fn unlisted(pool: &Arc<dyn Pool>, described: Vec<Orphan>) -> Result<Vec<Damage>> {
    let root = Root::open(Arc::clone(pool), Limits::default())?;
    let mut damage = Vec::new();
    for orphan in described {
        if let Orphan::Used(text, record) = orphan {
            damage.extend(compare(&root, &text, &record)?);
        }
    }
    Ok(damage)
}

/// The damage of a list that lacks this container.
fn compare(root: &Root, text: &str, record: &Record) -> Result<Option<Damage>> {
    let (what, cure) = match root.lookup(text)? {
        Some(listed) if listed.record.label == record.label => return Ok(None),
        Some(listed) => {
            let what = format!(
                "it has fields of a dataset that is listed with container {}, and nobody sees them; \
                 \"two containers of one dataset\" in docs/cli.md says how to bring them together",
                listed.record.label
            );
            (what, Cure::None)
        }
        None => {
            let (key, value) = (text.as_bytes().to_vec(), record.encode());
            let what = "the list of datasets does not name this one, which has fields".to_owned();
            (what, Cure::PutBack { object: DATASETS, key, value })
        }
    };
    let place = format!("container {} of {}", record.label, root.pool.uri());
    let key = parse_named_text(text).unwrap_or_default();
    Ok(Some(Damage::new(Level::Store, &key, what, &place, cure)))
}

impl VerifiedPart {
    /// Reports a container that the list does not name, or may not name.
    fn orphan(&mut self, root: Option<&Root>, orphan: Orphan, run: &Run<'_>) -> Result<()> {
        match (orphan, root) {
            (Orphan::Used(text, record), Some(root)) => self.damage.extend(compare(root, &text, &record)?),
            (Orphan::Used(..), None) => {}
            (Orphan::Closed(label, error), _) => self.closed(&label, &error, root.is_some(), run)?,
        }
        Ok(())
    }

    /// Reports the damage of an unreadable container that the list does not name.
    fn closed(&mut self, label: &Label, error: &Error, is_unlisted: bool, run: &Run<'_>) -> Result<()> {
        let pool = Arc::clone(&self.containers[0].pool);
        let unlisted = if is_unlisted { ", and no list of datasets names it" } else { "" };
        let what = |why: &str| format!("container {label} cannot be opened{unlisted}: {why}");
        let damage_of = |error: &Error| {
            let cure = match error {
                Error::Object(error) if error.is_damage() => Cure::None,
                _ => Cure::Wait,
            };
            let place = format!("container {label} of {}", pool.uri());
            Damage::new(Level::Store, &Key::new(), what(&error.to_string()), &place, cure)
        };
        match look(&*pool, label, run, &AtomicU64::new(0)) {
            Ok(verified) if verified.findings.is_empty() => self.damage.push(damage_of(error)),
            Ok(verified) => {
                let reported = |_: &_, damage: Damage| Some(Damage { what: what(&damage.what), ..damage });
                self.add_container(Arc::clone(&pool), label.clone(), verified, reported);
            }
            Err(Error::Object(ObjectError::NotFound { .. })) => {}
            Err(error) if error.is_too_many_open() => return Err(error),
            Err(error) => self.damage.push(damage_of(&error)),
        }
        Ok(())
    }
}
