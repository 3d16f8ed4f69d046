//! Verifying a list of datasets: its container, and whether it names every container in which there are fields.
//!
//! What must stay true: a container that a list does not name is told of, or is none of a dataset's, or was wiped. None is
//! passed over because it cannot be looked into.

use std::sync::{Arc, atomic::AtomicU64};

use isotach_mars::Key;
use isotach_object::{Cell, Error as ObjectError, Label, Pool};

use super::{Cure, Damage, Level, Looked, Meter, VerifiedPart, VerifyOptions, look, of_container};
use crate::{
    Error, Forbidden, Result,
    admin::{
        forbidden::Limits,
        sweep::{Stray, strays},
    },
    catalogue::{
        layout::{DATASET, DATASETS, ENTRY_KEY, ENTRY_SCHEMA, ROOT, SETTINGS, VERSION, parse_named_text},
        record::Record,
        root::{Root, SETTING_SCHEMA, SETTING_VERSION},
    },
    store::Inner,
};

/// Looks at the list of datasets of an open store.
pub(super) fn verify(
    inner: &Inner,
    root: &Root,
    options: VerifyOptions,
    meter: &Meter<'_>,
) -> Result<VerifiedPart> {
    let mut part = inner.with_room(|| verify_container(&root.pool, options, meter))?;
    part.forbidden = root.limits.of_any();
    if root.past.is_none() {
        let found = inner.unlisted(root).and_then(|labels| inner.with_room(|| strays(&*root.pool, &labels)));
        match found {
            Ok(found) => part.strays(root, found, options, meter)?,
            Err(error) if error.code() != "corrupt" => return Err(error),
            Err(error) if part.damage.is_empty() => part.damaged_list(&error),
            // A list that cannot be read was told of already.
            Err(_) => {}
        }
    }
    Ok(part)
}

/// Looks at a list of datasets whose store cannot be opened.
pub(super) fn verify_unopened(
    pool: &Arc<dyn Pool>,
    forbidden: Forbidden,
    options: VerifyOptions,
    meter: &Meter<'_>,
) -> Result<VerifiedPart> {
    let mut part = verify_container(pool, options, meter)?;
    part.forbidden = forbidden;
    let found = strays(&**pool, &all_but_root(&**pool)?)?;
    if part.damage.is_empty() {
        part.damage = settings(&**pool, &found)?;
    }
    // Which containers it names is known when it can be read; those that cannot be looked into are known now.
    for stray in found {
        part.stray(None, stray, options, meter)?;
    }
    Ok(part)
}

/// Looks at the container of a list of datasets.
fn verify_container(pool: &Arc<dyn Pool>, options: VerifyOptions, meter: &Meter<'_>) -> Result<VerifiedPart> {
    let label: Label = ROOT.parse()?;
    let verified = look(&**pool, &label, options, meter, &AtomicU64::new(0))?;
    let of_list = |finding| of_container(Level::Store, &Key::new(), finding, 0);
    Ok(VerifiedPart {
        key: Key::new(),
        place: place_of(&**pool),
        fields: 0,
        replaced_fields: 0,
        damage: verified.findings.iter().map(of_list).collect(),
        more_damage: verified.more_findings,
        unnamed: verified.unnamed,
        unnamed_fields: None,
        apart: None,
        unended: None,
        containers: vec![Looked { pool: Arc::clone(pool), label, findings: verified.findings }],
        forbidden: Forbidden::default(),
    })
}

pub(super) fn place_of(pool: &dyn Pool) -> String {
    format!("container {ROOT} of {}", pool.uri())
}

fn all_but_root(pool: &dyn Pool) -> Result<Vec<Label>> {
    let mut labels = pool.list_containers()?;
    labels.retain(|label| label.as_str() != ROOT);
    Ok(labels)
}

/// The datasets whose containers can be looked into, by what these say. A list that has just been brought back is compared
/// with them.
pub(super) fn described(pool: &dyn Pool) -> Result<Vec<Stray>> {
    let mut found = strays(pool, &all_but_root(pool)?)?;
    found.retain(|stray| matches!(stray, Stray::Used(..)));
    Ok(found)
}

/// What a store lacks that is known by its datasets: its version and its schema, by the newest of them.
pub(super) fn settings(pool: &dyn Pool, described: &[Stray]) -> Result<Vec<Damage>> {
    let root = pool.open_container(&ROOT.parse()?)?;
    let damage = |what: String, cure: Cure| Damage {
        level: Level::Store,
        key: Key::new(),
        what,
        place: place_of(pool),
        byte: None,
        cure,
    };
    if root.get_many(&[Cell::kv(DATASET, ENTRY_KEY)])? != [None] {
        let what = "the container of a dataset is in the place of the list of datasets".to_owned();
        return Ok(vec![damage(what, Cure::None)]);
    }
    let cells = [SETTING_SCHEMA, SETTING_VERSION].map(|name| Cell::kv(SETTINGS, name));
    let known = root.get_many(&cells)?;
    let used = described.iter().filter_map(|stray| match stray {
        Stray::Used(_, record) => Some(record),
        Stray::Closed(..) => None,
    });
    let Some(newest) = used.max_by_key(|record| record.created_us).filter(|_| known.contains(&None)) else {
        return Ok(Vec::new());
    };
    let container = pool.open_container(&newest.label.parse()?)?;
    let schema = container.get_many(&[Cell::kv(DATASET, ENTRY_SCHEMA)])?.pop().flatten();
    // The version comes last: where it is, there is a store.
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

/// What is wrong with a list that does not name these.
pub(super) fn unlisted(pool: &Arc<dyn Pool>, described: Vec<Stray>) -> Result<Vec<Damage>> {
    let root = Root::open(Arc::clone(pool), Limits::default())?;
    let mut damage = Vec::new();
    for stray in described {
        if let Stray::Used(text, record) = stray {
            damage.extend(compare(&root, &text, &record)?);
        }
    }
    Ok(damage)
}

/// What is wrong with a list that does not name this container.
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
    Ok(Some(Damage {
        level: Level::Store,
        key: parse_named_text(text).unwrap_or_default(),
        what,
        place: format!("container {} of {}", record.label, root.pool.uri()),
        byte: None,
        cure,
    }))
}

impl VerifiedPart {
    /// Tells of a list that cannot be read, though its container can.
    fn damaged_list(&mut self, error: &Error) {
        let (key, what, place) = (Key::new(), error.to_string(), self.place.clone());
        self.damage.push(Damage { level: Level::Store, key, what, place, byte: None, cure: Cure::None });
    }

    fn strays(
        &mut self,
        root: &Root,
        found: Vec<Stray>,
        options: VerifyOptions,
        meter: &Meter<'_>,
    ) -> Result<()> {
        found.into_iter().try_for_each(|stray| self.stray(Some(root), stray, options, meter))
    }

    /// Tells of a container that the list does not name, or that may be one of those.
    fn stray(
        &mut self,
        root: Option<&Root>,
        stray: Stray,
        options: VerifyOptions,
        meter: &Meter<'_>,
    ) -> Result<()> {
        match (stray, root) {
            (Stray::Used(text, record), Some(root)) => self.damage.extend(compare(root, &text, &record)?),
            (Stray::Used(..), None) => {}
            (Stray::Closed(label, error), _) => self.closed(label, &error, root.is_some(), options, meter)?,
        }
        Ok(())
    }

    /// Tells what is wrong with a container that cannot be looked into, and that the list does not name, if that is known.
    fn closed(
        &mut self,
        label: Label,
        error: &Error,
        is_unlisted: bool,
        options: VerifyOptions,
        meter: &Meter<'_>,
    ) -> Result<()> {
        let pool = Arc::clone(&self.containers[0].pool);
        let unlisted = if is_unlisted { ", and no list of datasets names it" } else { "" };
        let what = |why: &str| format!("container {label} cannot be opened{unlisted}: {why}");
        let told = |error: &Error| Damage {
            level: Level::Store,
            key: Key::new(),
            what: what(&error.to_string()),
            place: format!("container {label} of {}", pool.uri()),
            byte: None,
            cure: match error {
                Error::Object(error) if error.is_damage() => Cure::None,
                _ => Cure::Wait,
            },
        };
        match look(&*pool, &label, options, meter, &AtomicU64::new(0)) {
            Ok(verified) if verified.findings.is_empty() => self.damage.push(told(error)),
            Ok(verified) => {
                let at = self.containers.len();
                self.damage.extend(verified.findings.iter().map(|finding| {
                    let damage = of_container(Level::Store, &Key::new(), finding, at);
                    Damage { what: what(&damage.what), ..damage }
                }));
                self.more_damage += verified.more_findings;
                self.unnamed.extend(verified.unnamed);
                self.containers.push(Looked { pool, label, findings: verified.findings });
            }
            Err(Error::Object(ObjectError::NotFound { .. })) => {}
            Err(error) if error.is_too_many_open() => return Err(error),
            Err(error) => self.damage.push(told(&error)),
        }
        Ok(())
    }
}
