//! Writing: a field's key is split by the first rule that takes it, and made canonical, before anything is stored.

use super::rule::{Level, LevelKey, NameId, Presence, Rule, RuleId};
use super::splitter::{PreviousKey, Splitter, has_value};
use super::{Schema, plan};
use crate::clock::Clock;
use crate::error::{KeyError, Mismatch, Refused};
use crate::key::Key;
use crate::request::keywords;

/// A key split in three by a rule. Values are canonical; each level has a place for every key of the schema's level, in
/// its order, empty where the field lacks an optional key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SplitKey {
    /// The rule that took the key.
    pub rule: RuleId,
    /// Names the dataset.
    pub dataset: Key,
    /// Names the collocation within the dataset.
    pub collocation: Key,
    /// Names the field within the collocation.
    pub element: Key,
}

impl SplitKey {
    /// All three levels in one key; absent values are left out.
    #[must_use]
    pub fn whole(&self) -> Key {
        let mut whole = Key::new();
        for (name, value) in [&self.dataset, &self.collocation, &self.element].into_iter().flat_map(Key::iter)
        {
            whole.set(name, value);
        }
        whole
    }
}

/// A field's key as rules read it.
pub(super) struct Given<'a> {
    key: &'a Key,
    located: &'a PreviousKey,
    clock: Clock,
    /// How many keys have a value.
    count: usize,
}

impl Schema {
    /// Splits a field's key by the first rule that takes it. Every key given must be used by that rule. A [`Splitter`] is faster for many
    /// keys.
    ///
    /// # Errors
    /// [`KeyError::NoRule`] with the rule that came nearest, [`KeyError::BadValue`] for a value that is not of its
    /// key's type.
    pub fn split(&self, key: &Key) -> Result<SplitKey, KeyError> {
        let mut splitter = Splitter::default();
        splitter.split(self, key)?;
        Ok(splitter.into_last())
    }

    /// Splits a key, and returns whether its rule uses all of it.
    pub(super) fn split_given(&self, given: &Given<'_>, out: &mut SplitKey) -> Result<bool, KeyError> {
        let Some(rule) = self.first_rule(given) else { return Err(self.no_rule(given)) };
        out.rule = rule.id;
        for (level, key) in [
            (&rule.dataset, &mut out.dataset),
            (&rule.collocation, &mut out.collocation),
            (&rule.element, &mut out.element),
        ] {
            given.write(level, key)?;
        }
        let used = rule.uses.iter().filter(|name| given.has(**name)).count();
        if used == given.count {
            return Ok(true);
        }
        self.check_unused(rule, given, out).map(|()| false)
    }

    fn first_rule(&self, given: &Given<'_>) -> Option<&Rule> {
        let mut refused_group = None;
        self.compiled.rules.iter().find(|rule| {
            if refused_group == Some(rule.group) {
                return false;
            }
            if !given.fits(&rule.dataset) {
                refused_group = Some(rule.group);
                return false;
            }
            given.fits(&rule.collocation) && given.fits(&rule.element)
        })
    }

    /// Keys that the rule does not use are an error, unless they repeat what it keeps: a split key whose date was kept
    /// in parts, put together again, has `year` and `month` beside `date`.
    fn check_unused(&self, rule: &Rule, given: &Given<'_>, out: &SplitKey) -> Result<(), KeyError> {
        let mut unused = Vec::new();
        for (name, value) in given.key.iter().filter(|(_, value)| has_value(value)) {
            let number = self.compiled.number(name);
            if number.is_some_and(|number| rule.uses.binary_search(&number).is_ok()) {
                continue;
            }
            let kept_part = rule.keys().find(|key| key.kept != key.name && key.kept == name);
            let Some(part) = kept_part else {
                unused.push(name.to_owned());
                continue;
            };
            let kept =
                [&out.dataset, &out.collocation, &out.element].into_iter().find_map(|level| level.get(name));
            if kept != Some(given.canonical(part, value)?.as_str()) {
                let expected = format!("the {name} of {}, {}", part.name, kept.unwrap_or("none"));
                return Err(bad_value(name, part, value, expected));
            }
        }
        if unused.is_empty() {
            return Ok(());
        }
        let nearest = Mismatch { unused, ..rule.mismatch() };
        Err(KeyError::NoRule { key: given.key.to_string(), nearest: Some(nearest) })
    }

    fn no_rule(&self, given: &Given<'_>) -> KeyError {
        let mismatches = self.compiled.rules.iter().map(|rule| self.mismatch(rule, given));
        let nearest = mismatches.min_by_key(plan::badness);
        KeyError::NoRule { key: given.key.to_string(), nearest }
    }

    fn mismatch(&self, rule: &Rule, given: &Given<'_>) -> Mismatch {
        let mut mismatch = rule.mismatch();
        for key in rule.keys() {
            match given.value(key.name_id) {
                None if key.is_mandatory() && !mismatch.missing.contains(&key.name) => {
                    mismatch.missing.push(key.name.clone());
                }
                Some(value) if !key.admits_raw(value, given.clock) => {
                    mismatch.refused.push(Refused {
                        name: key.name.clone(),
                        value: value.trim().to_owned(),
                        allowed: key.allowed.text(),
                    });
                }
                _ => {}
            }
        }
        let unused = given.key.iter().map(|(name, _)| name).filter(|name| {
            self.compiled.number(name).is_none_or(|number| rule.knows.binary_search(&number).is_err())
        });
        mismatch.unused = unused.map(str::to_owned).collect();
        mismatch
    }
}

impl<'a> Given<'a> {
    /// A key that was located, with `count` values.
    pub(super) fn new(schema: &Schema, key: &'a Key, located: &'a PreviousKey, count: usize) -> Self {
        Self { key, located, clock: schema.clock, count }
    }

    fn has(&self, name: NameId) -> bool {
        self.located.slot_of(name).is_some()
    }

    fn value(&self, name: NameId) -> Option<&'a str> {
        self.key.slot(self.located.slot_of(name)?).map(|(_, value)| value)
    }

    /// Whether every mandatory key is present with a value that the rule takes.
    fn fits(&self, level: &Level) -> bool {
        level.keys.iter().all(|key| match self.value(key.name_id) {
            Some(value) => key.admits_raw(value, self.clock),
            None => !key.is_mandatory(),
        })
    }

    pub(super) fn write(&self, level: &Level, out: &mut Key) -> Result<(), KeyError> {
        out.clear();
        for key in &level.keys {
            let mut result = Ok(());
            out.push_with(&key.kept, |text| match (&key.presence, self.value(key.name_id)) {
                (Presence::Hidden { kept }, _) => text.push_str(kept),
                (_, Some(value)) => result = self.write_value(key, value, text),
                (_, None) => {}
            });
            result?;
        }
        Ok(())
    }

    fn write_value(&self, key: &LevelKey, value: &str, out: &mut String) -> Result<(), KeyError> {
        let start = out.len();
        // As in a request, or the field would not be found by the word that it was given.
        let meant = keywords::number_of_month(&key.name, value);
        key.kind
            .canonical(meant.as_deref().unwrap_or(value), self.clock, out)
            .map_err(|expected| bad_value(&key.name, key, value, expected.into_owned()))?;
        // Neither spelling may be a word that a request takes for something else: the field could not be asked for.
        if plan::is_reserved(value) || plan::is_reserved(&out[start..]) {
            let expected = "a value; requests use this word for something else";
            return Err(bad_value(&key.name, key, value, expected.to_owned()));
        }
        Ok(())
    }

    fn canonical(&self, key: &LevelKey, value: &str) -> Result<String, KeyError> {
        let mut out = String::new();
        self.write_value(key, value, &mut out).map(|()| out)
    }
}

fn bad_value(name: &str, key: &LevelKey, value: &str, expected: String) -> KeyError {
    KeyError::BadValue { name: name.to_owned(), value: value.to_owned(), kind: key.kind, expected }
}
