//! [`Splitter`]: splitting keys one after the other. Most keys differ from the one before only in their element: then rule, dataset and
//! collocation are known.

use std::fmt;
use std::sync::Arc;

use super::Schema;
use super::compile::Compiled;
use super::rule::{NameId, Rule, RuleId};
use super::split::{Given, SplitKey};
use crate::error::KeyError;
use crate::key::Key;

/// In place of a name or of a slot where there is none.
const NONE: u32 = u32::MAX;

/// Splits keys one after the other, in memory that it keeps.
///
/// ```
/// use isotach_mars::{Key, Schema, Splitter};
///
/// let schema = Schema::parse("step: Step; [ class [ type [ step ]]]")?;
/// let mut splitter = Splitter::default();
/// splitter.split(&schema, &"class=od,type=fc,step=6".parse::<Key>()?)?;
/// let split = splitter.split(&schema, &"class=od,type=fc,step=720m".parse::<Key>()?)?;
/// assert_eq!(split.element.get("step"), Some("12"));
/// assert!(splitter.repeats_collocation());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    split: SplitKey,
    previous: PreviousKey,
    repeats_collocation: bool,
}

impl Splitter {
    /// Splits a key as [`Schema::split`] does.
    ///
    /// # Errors
    /// As [`Schema::split`]. [`Splitter::last`] is unspecified then.
    pub fn split(&mut self, schema: &Schema, key: &Key) -> Result<&SplitKey, KeyError> {
        let like = self.previous.rule_of(schema, self.split.rule, key);
        self.repeats_collocation = like.is_some();
        let split = match like {
            Some(rule) => self.split_element(schema, rule, key),
            None => self.split_anew(schema, key),
        };
        split.inspect_err(|_| self.previous.compiled = None)?;
        self.previous.key.copy_from(key);
        Ok(&self.split)
    }

    fn split_element(&mut self, schema: &Schema, rule: &Rule, key: &Key) -> Result<(), KeyError> {
        Given::new(schema, key, &self.previous, 0).write(&rule.element, &mut self.split.element)
    }

    fn split_anew(&mut self, schema: &Schema, key: &Key) -> Result<(), KeyError> {
        let count = self.previous.locate(&schema.compiled, key);
        let given = Given::new(schema, key, &self.previous, count);
        let uses_all = schema.split_given(&given, &mut self.split)?;
        self.previous.note(schema, key, uses_all);
        Ok(())
    }

    /// The key that was split last.
    #[must_use]
    pub fn last(&self) -> &SplitKey {
        &self.split
    }

    /// Whether the last key is known to have the dataset and collocation of the one before it.
    #[must_use]
    pub fn repeats_collocation(&self) -> bool {
        self.repeats_collocation
    }

    /// Takes a key that was split by other means.
    pub fn set(&mut self, split: SplitKey) {
        *self = Self { split, ..Self::default() };
    }

    pub(super) fn into_last(self) -> SplitKey {
        self.split
    }
}

/// The key that was split before.
#[derive(Clone, Default)]
pub(super) struct PreviousKey {
    key: Key,
    /// By what it was split; `None` if the next key must be split anew.
    compiled: Option<Arc<Compiled>>,
    /// For each slot of the key, its name.
    names: Vec<NameId>,
    /// For each name of the schema, its slot in the key.
    slots: Vec<u32>,
}

impl fmt::Debug for PreviousKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PreviousKey({})", self.key)
    }
}

impl PreviousKey {
    /// The rule of a key that differs from this one only in values of its element, which decide nothing else.
    fn rule_of<'s>(&self, schema: &'s Schema, rule: RuleId, key: &Key) -> Option<&'s Rule> {
        self.compiled.as_ref().filter(|compiled| Arc::ptr_eq(compiled, &schema.compiled))?;
        let rule = schema.rule(rule)?;
        let same = self.key.slots_shared_with(key);
        let names = self.names.get(same..)?;
        let mut pairs = self.key.slots().zip(key.slots()).skip(same).zip(names);
        let is_like = key.slot_count() == self.key.slot_count()
            && pairs.all(|((own, other), name)| {
                own.0 == other.0 && (own.1 == other.1 || is_of_element(schema, rule, *name, [own.1, other.1]))
            });
        is_like.then_some(rule)
    }

    /// Notes where in the key each name of the schema is, and returns how many keys have a value.
    fn locate(&mut self, compiled: &Compiled, key: &Key) -> usize {
        self.slots.clear();
        self.slots.resize(compiled.names.len(), NONE);
        self.names.clear();
        let mut count = 0;
        for ((name, value), slot) in key.slots().zip(0..) {
            let number = compiled.number(name).filter(|_| has_value(value));
            self.names.push(number.unwrap_or(NONE));
            count += usize::from(has_value(value));
            if let Some(known) = number.and_then(|number| self.slots.get_mut(number as usize)) {
                *known = slot;
            }
        }
        count
    }

    /// Where in the key a name of the schema is, if it has a value there.
    pub(super) fn slot_of(&self, name: NameId) -> Option<usize> {
        self.slots.get(name as usize).filter(|slot| **slot != NONE).map(|slot| *slot as usize)
    }

    /// Notes whether the next key may be split like this one. `uses_all`: the rule uses every value of the key.
    fn note(&mut self, schema: &Schema, key: &Key, uses_all: bool) {
        let depends_on_day = |name: NameId, value: &str| {
            schema.compiled.use_of(name).is_some_and(|of| of.depends_on_day) && !is_plain_date(value)
        };
        let is_lasting =
            uses_all && !key.slots().zip(&self.names).any(|((_, value), name)| depends_on_day(*name, value));
        self.compiled = is_lasting.then(|| Arc::clone(&schema.compiled));
    }
}

/// Whether a name is of a rule's element alone, and neither of these values of it decides which rule takes a key.
fn is_of_element(schema: &Schema, rule: &Rule, name: NameId, values: [&str; 2]) -> bool {
    let decides_nothing =
        schema.compiled.use_of(name).is_some_and(|of| !of.chooses_rule && !of.depends_on_day);
    decides_nothing && !rule.outer.contains(&name) && values.into_iter().all(has_value)
}

pub(super) fn has_value(value: &str) -> bool {
    !value.is_empty() && !value.trim().is_empty()
}

/// Whether a date is the same on each day that it is read: not `-1`.
fn is_plain_date(value: &str) -> bool {
    value.len() == 8 && value.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    const SCHEMA: &str = "
        param: Param; step: Step; date: Date; levelist: Double;
        [ class, date, domain?g [ type=fc/pf, levtype=pl [ step, levelist, number?, param ]] [ type=fc/pf, levtype [ step, param ]] ]
        [ class, date, domain?g [ type=an, levtype [ iteration=0, levelist?, param ]] [ type=an, levtype [ iteration, levelist?, param, method ]] ]";

    /// Splits keys one after the other, and says of each whether it repeats the collocation before it.
    fn split_in_turn(schema: &Schema, keys: &[&str]) -> Vec<bool> {
        let mut splitter = Splitter::default();
        let each = keys.iter().map(|text| {
            let key: Key = text.parse().unwrap();
            let in_turn = splitter.split(schema, &key).cloned();
            assert_eq!(in_turn, schema.split(&key), "{text}");
            in_turn.is_ok() && splitter.repeats_collocation()
        });
        each.collect()
    }

    #[test]
    fn only_keys_that_differ_in_values_of_the_element_repeat_the_collocation() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let keys = [
            ("class=od,date=20240101,type=fc,levtype=pl,step=0,levelist=500,param=t", false),
            ("class=od,date=20240101,type=fc,levtype=pl,step=6,levelist=500,param=t", true),
            ("class=od,date=20240101,type=fc,levtype=pl,step=6h,levelist=1000,param=130", true),
            // Another dataset, another collocation, another order, another name, and an absent value.
            ("class=rd,date=20240101,type=fc,levtype=pl,step=6,levelist=500,param=t", false),
            ("class=rd,date=20240101,type=pf,levtype=pl,step=6,levelist=500,param=t", false),
            ("class=rd,date=20240101,type=pf,step=6,levtype=pl,levelist=500,param=t", false),
            ("class=rd,date=20240101,type=pf,step=6,levtype=pl,levelist=500,param=t,number=1", false),
            ("class=rd,date=20240101,type=pf,step=6,levtype=pl,levelist=500,param=t,number=2", true),
            ("class=rd,date=20240101,type=pf,step=6,levtype=pl,levelist=500,param=t,number=", false),
            ("class=rd,date=20240101,type=pf,step=6,levtype=pl,levelist=500,param=t,number=2", false),
        ];
        let repeated = split_in_turn(&schema, &keys.map(|(text, _)| text));
        assert_eq!(repeated, keys.map(|(_, repeats)| repeats));
    }

    #[test]
    fn a_value_that_chooses_the_rule_or_is_wrong_has_the_key_split_anew() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let keys = [
            "class=od,date=20240101,type=an,levtype=sfc,iteration=0,param=t",
            // The second rule of analyses wants a method.
            "class=od,date=20240101,type=an,levtype=sfc,iteration=6,param=t",
            "class=od,date=20240101,type=an,levtype=sfc,iteration=0,param=t",
            "class=od,date=20240101,type=an,levtype=sfc,iteration=0,param=no such thing",
            "class=od,date=20240101,type=an,levtype=sfc,iteration=0,param=2t",
            "class=od,date=20240101,type=an,levtype=sfc,iteration=0,param=all",
        ];
        assert_eq!(split_in_turn(&schema, &keys), [false; 6]);
    }

    #[test]
    fn a_key_with_a_day_counted_from_today_is_split_anew_each_time() {
        let key: Key = "class=od,date=-1,type=fc,levtype=pl,step=0,levelist=500,param=t".parse().unwrap();
        let mut splitter = Splitter::default();
        for (day, meant) in [(2, "20240101"), (3, "20240102")] {
            let schema = Schema::parse(SCHEMA).unwrap().with_clock(Clock::fixed(2024, 1, day).unwrap());
            let split = splitter.split(&schema, &key).unwrap();
            assert_eq!(split.dataset.get("date"), Some(meant));
        }
        let schema = Schema::parse(SCHEMA).unwrap();
        let keys = ["class=od,date=-1,type=fc,levtype=pl,step=0,levelist=500,param=t"; 2];
        assert_eq!(split_in_turn(&schema, &keys), [false; 2]);
    }

    #[test]
    fn another_schema_splits_anew() {
        let key: Key = "class=od,date=20240101,type=fc,levtype=pl,step=0,param=t,levelist=1".parse().unwrap();
        let other = Schema::parse("[ class, date [ type, levtype, step [ param, levelist ]]]").unwrap();
        let mut splitter = Splitter::default();
        for schema in [&Schema::parse(SCHEMA).unwrap(), &other, &other] {
            assert_eq!(*splitter.split(schema, &key).unwrap(), schema.split(&key).unwrap());
        }
        assert!(splitter.repeats_collocation());
    }

    #[test]
    fn a_key_that_was_split_by_other_means_is_not_taken_for_the_one_before() {
        let schema = Schema::parse(SCHEMA).unwrap();
        let key = |step: u32| -> Key {
            format!("class=od,date=20240101,type=fc,levtype=pl,step={step},levelist=500,param=t")
                .parse()
                .unwrap()
        };
        let mut splitter = Splitter::default();
        splitter.split(&schema, &key(0)).unwrap();
        splitter.set(SplitKey::default());
        assert_eq!(*splitter.split(&schema, &key(6)).unwrap(), schema.split(&key(6)).unwrap());
        assert!(!splitter.repeats_collocation());
    }
}
