//! From the tree that was written to the rules that are applied: types inherited, names numbered, values canonical.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::filter::{Values, Wanted};
use super::rule::{Level, LevelKey, NameId, Presence, Rule, RuleId};
use super::tree::{Condition, Node, Predicate, Tree};
use crate::clock::Clock;
use crate::types::KeyType;

#[derive(Default)]
pub(super) struct Compiled {
    pub(super) rules: Vec<Rule>,
    /// Every name in the schema, by its number.
    pub(super) names: Vec<String>,
    /// For each name, what its values are used for.
    uses: Vec<NameUse>,
    numbers: HashMap<String, NameId, BuildHasherDefault<Fnv>>,
}

/// What the values of a name are used for, by any rule.
#[derive(Clone, Copy, Default)]
pub(super) struct NameUse {
    /// Some rules take some values only.
    pub(super) chooses_rule: bool,
    /// A value may be counted from today.
    pub(super) depends_on_day: bool,
}

/// FNV-1a. Every key of every field that is archived is looked up: the standard hasher, made to withstand hostile keys,
/// would cost more than the rest of the look-up, and the names in a schema are few and its author's own.
pub(super) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

impl Compiled {
    pub(super) fn number(&self, name: &str) -> Option<NameId> {
        self.numbers.get(name).copied()
    }

    pub(super) fn use_of(&self, name: NameId) -> Option<NameUse> {
        self.uses.get(name as usize).copied()
    }

    fn number_or_new(&mut self, name: &str) -> NameId {
        if let Some(number) = self.number(name) {
            return number;
        }
        let number = NameId::try_from(self.names.len()).unwrap_or(NameId::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// The types that hold at a place of the schema: the innermost declaration counts.
struct Types<'a> {
    outer: Option<&'a Types<'a>>,
    own: HashMap<&'a str, KeyType>,
}

impl<'a> Types<'a> {
    fn inside(outer: &'a Types<'a>, rule: &'a Node) -> Self {
        let mut own: HashMap<&str, KeyType> =
            rule.types.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        for predicate in &rule.predicates {
            let hidden = matches!(predicate.condition, Condition::Hidden(_)).then_some(KeyType::Ignore);
            if let Some(kind) = predicate.kind.or(hidden) {
                own.insert(&predicate.name, kind);
            }
        }
        Self { outer: Some(outer), own }
    }

    fn of(&self, name: &str) -> KeyType {
        let own = self.own.get(name).copied();
        own.or_else(|| self.outer.map(|outer| outer.of(name))).unwrap_or_default()
    }
}

pub(super) fn compile(tree: &Tree) -> Compiled {
    let mut compiled = Compiled::default();
    let own = tree.types.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    let file = Types { outer: None, own };
    for (group, dataset) in tree.datasets.iter().enumerate() {
        let dataset_types = Types::inside(&file, dataset);
        let dataset_level = level(&mut compiled, dataset, &dataset_types);
        for collocation in &dataset.children {
            let collocation_types = Types::inside(&dataset_types, collocation);
            let collocation_level = level(&mut compiled, collocation, &collocation_types);
            for element in &collocation.children {
                let types = Types::inside(&collocation_types, element);
                let levels =
                    [dataset_level.clone(), collocation_level.clone(), level(&mut compiled, element, &types)];
                let id = RuleId(compiled.rules.len());
                compiled.rules.push(rule(id, dataset.line, group, levels));
            }
        }
    }
    compiled.uses = uses_of(&compiled);
    compiled
}

fn uses_of(compiled: &Compiled) -> Vec<NameUse> {
    let mut uses = vec![NameUse::default(); compiled.names.len()];
    for key in compiled.rules.iter().flat_map(Rule::keys) {
        if let Some(of) = uses.get_mut(key.name_id as usize) {
            of.chooses_rule |= !matches!(key.allowed, Wanted::Any);
            of.depends_on_day |= key.kind.depends_on_day();
        }
    }
    uses
}

fn rule(id: RuleId, line: usize, group: usize, levels: [Level; 3]) -> Rule {
    let (mut uses, mut knows) = (Vec::new(), Vec::new());
    for key in levels.iter().flat_map(|level| &level.keys) {
        // Keeping only the year or month of a date does not use it up: its day would be lost.
        if key.name_id == key.kept_id {
            uses.push(key.name_id);
        }
        knows.extend([key.name_id, key.kept_id]);
    }
    for names in [&mut uses, &mut knows] {
        names.sort_unstable();
        names.dedup();
    }
    let outer = levels[..2].iter().flat_map(|level| &level.keys).map(|key| key.name_id).collect();
    let keys = levels.iter().flat_map(|level| &level.keys);
    let constrained = keys.filter(|key| !matches!(key.allowed, Wanted::Any)).cloned().collect();
    let [dataset, collocation, element] = levels;
    Rule { id, line, dataset, collocation, element, group, uses, knows, outer, constrained }
}

fn level(compiled: &mut Compiled, rule: &Node, types: &Types<'_>) -> Level {
    let keys = rule
        .predicates
        .iter()
        .map(|predicate| Arc::new(level_key(compiled, predicate, types.of(&predicate.name))));
    Level { keys: keys.collect() }
}

fn level_key(compiled: &mut Compiled, predicate: &Predicate, kind: KeyType) -> LevelKey {
    let presence = match &predicate.condition {
        Condition::Optional(default) => Presence::Optional { default: canonical(kind, default) },
        Condition::Hidden(value) => Presence::Hidden { kept: canonical(kind, value) },
        _ => Presence::Mandatory,
    };
    let listed = |values: &[String]| Values::new(values.iter().map(|value| canonical(kind, value)).collect());
    let allowed = match &predicate.condition {
        Condition::OneOf(values) => Wanted::OneOf(listed(values)),
        Condition::NoneOf(values) => Wanted::NoneOf(listed(values)),
        _ => Wanted::Any,
    };
    let left_out = match &presence {
        Presence::Hidden { kept } => vec![kept.clone()],
        Presence::Optional { default } if !default.is_empty() => vec![String::new(), default.clone()],
        _ => vec![String::new()],
    };
    let kept = kind.kept_as().unwrap_or(&predicate.name).to_owned();
    LevelKey {
        name_id: compiled.number_or_new(&predicate.name),
        kept_id: compiled.number_or_new(&kept),
        name: predicate.name.clone(),
        kept,
        kind,
        presence,
        left_out: Values::new(left_out),
        allowed,
    }
}

/// A value that stands in the schema, canonical if it is of its key's type; otherwise no field can have it.
fn canonical(kind: KeyType, value: &str) -> String {
    let mut out = String::new();
    if value.is_empty() || kind.canonical(value, Clock::system(), &mut out).is_ok() {
        return out;
    }
    value.to_ascii_lowercase()
}
