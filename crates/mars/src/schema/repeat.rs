//! Splitting a key like the one before. Most keys that a thread splits differ from the one before only in their element: then their rule,
//! dataset and collocation are known.

use std::fmt;
use std::sync::Arc;

use super::Schema;
use super::compile::Compiled;
use super::rule::{NameId, Rule, RuleId};
use crate::key::Key;

/// In place of a name or of a slot where there is none.
const NONE: u32 = u32::MAX;

/// The key that was split before. It is no part of what a split key says.
#[derive(Clone, Default)]
pub(super) struct Before {
    key: Key,
    /// By what it was split; `None` if the next key must be split anew.
    compiled: Option<Arc<Compiled>>,
    /// For each slot of the key, its name.
    names: Vec<NameId>,
    /// For each name of the schema, its slot in the key.
    slots: Vec<u32>,
    /// Whether the key has the dataset and the collocation of the one before it.
    pub(super) is_repeated: bool,
}

impl PartialEq for Before {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Before {}

impl fmt::Debug for Before {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Before({})", self.key)
    }
}

impl Before {
    /// The rule of a key that differs from the one before only in values of its element, which decide nothing else.
    pub(super) fn rule_of<'s>(&self, schema: &'s Schema, before: RuleId, key: &Key) -> Option<&'s Rule> {
        self.compiled.as_ref().filter(|compiled| Arc::ptr_eq(compiled, &schema.compiled))?;
        let rule = schema.rule(before)?;
        let same = self.key.slots_shared_with(key);
        let differing = self.names.get(same..)?;
        let mut pairs = self.key.slots().zip(key.slots()).skip(same).zip(differing);
        let is_like = key.slot_count() == self.key.slot_count()
            && pairs.all(|((before, now), name)| {
                before.0 == now.0
                    && (before.1 == now.1 || is_of_element(schema, rule, *name, [before.1, now.1]))
            });
        is_like.then_some(rule)
    }

    /// Notes where in the key each name of the schema is, and returns how many keys have a value.
    pub(super) fn locate(&mut self, compiled: &Compiled, key: &Key) -> usize {
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

    /// Keeps a key that was split. `uses_all` if its rule uses every value, and so says what the others of such keys are for.
    pub(super) fn keep(&mut self, schema: &Schema, key: &Key, uses_all: bool) {
        let depends_on_day = |name: NameId, value: &str| {
            schema.compiled.use_of(name).is_some_and(|of| of.depends_on_day) && !is_plain_date(value)
        };
        let is_lasting =
            uses_all && !key.slots().zip(&self.names).any(|((_, value), name)| depends_on_day(*name, value));
        self.key.copy_from(key);
        self.compiled = is_lasting.then(|| Arc::clone(&schema.compiled));
    }

    /// Keeps a key that only differs in its element from the one before.
    pub(super) fn keep_like(&mut self, key: &Key) {
        self.key.copy_from(key);
    }

    /// Has the next key split anew.
    pub(super) fn forget(&mut self) {
        self.compiled = None;
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
    use super::super::SplitKey;
    use super::*;
    use crate::clock::Clock;

    const SCHEMA: &str = "
        param: Param; step: Step; date: Date; levelist: Double;
        [ class, date, domain?g [ type=fc/pf, levtype=pl [ step, levelist, number?, param ]] [ type=fc/pf, levtype [ step, param ]] ]
        [ class, date, domain?g [ type=an, levtype [ iteration=0, levelist?, param ]] [ type=an, levtype [ iteration, levelist?, param, method ]] ]";

    /// Splits keys one after the other into one split key, and says of each whether it repeats the collocation before it.
    fn split_in_turn(schema: &Schema, keys: &[&str]) -> Vec<bool> {
        let mut out = SplitKey::default();
        let each = keys.iter().map(|text| {
            let key: Key = text.parse().unwrap();
            let in_turn = schema.split_into(&key, &mut out).map(|()| out.clone());
            assert_eq!(in_turn, schema.split(&key), "{text}");
            in_turn.is_ok() && out.repeats_collocation()
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
        let mut out = SplitKey::default();
        for (day, meant) in [(2, "20240101"), (3, "20240102")] {
            let schema = Schema::parse(SCHEMA).unwrap().with_clock(Clock::fixed(2024, 1, day).unwrap());
            schema.split_into(&key, &mut out).unwrap();
            assert_eq!(out.dataset.get("date"), Some(meant));
        }
        let schema = Schema::parse(SCHEMA).unwrap();
        let keys = ["class=od,date=-1,type=fc,levtype=pl,step=0,levelist=500,param=t"; 2];
        assert_eq!(split_in_turn(&schema, &keys), [false; 2]);
    }

    #[test]
    fn another_schema_splits_anew() {
        let key: Key = "class=od,date=20240101,type=fc,levtype=pl,step=0,param=t,levelist=1".parse().unwrap();
        let other = Schema::parse("[ class, date [ type, levtype, step [ param, levelist ]]]").unwrap();
        let mut out = SplitKey::default();
        for schema in [&Schema::parse(SCHEMA).unwrap(), &other, &other] {
            schema.split_into(&key, &mut out).unwrap();
            assert_eq!(out, schema.split(&key).unwrap());
        }
        assert!(out.repeats_collocation());
    }
}
