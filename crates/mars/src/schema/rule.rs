//! A rule as it is applied: one dataset, one collocation and one element level, every key with its type resolved.

use std::sync::Arc;

use super::filter::{Values, Wanted};
use crate::clock::Clock;
use crate::error::Mismatch;
use crate::types::KeyType;

/// Which rule of a schema: its place among [`Schema::rules`](super::Schema::rules).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub usize);

/// One way to split a key in three.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Its place among the rules of the schema.
    pub id: RuleId,
    /// The line of the schema on which its outermost bracket stands.
    pub line: usize,
    /// The keys that name a dataset.
    pub dataset: Level,
    /// The keys of what belongs together in a dataset.
    pub collocation: Level,
    /// The keys of one field.
    pub element: Level,
    /// Which of the schema's outermost rules it lies in.
    pub(super) group: usize,
    /// The names whose values the levels keep whole, or hide: a key is used up if they cover it. Each once.
    pub(super) uses: Vec<NameId>,
    /// Every name the rule knows, those it keeps a part of a date under included. Each once.
    pub(super) knows: Vec<NameId>,
    /// The names of its dataset and collocation.
    pub(super) outer: Vec<NameId>,
    /// The keys of which it takes some values only.
    pub(super) constrained: Vec<Arc<LevelKey>>,
}

/// The place of a name in the schema's list of names.
pub(super) type NameId = u32;

/// The keys of a level, in the order of the schema.
#[derive(Clone, Debug, Default)]
pub struct Level {
    pub(super) keys: Vec<Arc<LevelKey>>,
}

/// One key of a level.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LevelKey {
    /// The key's name in messages and requests.
    pub name: String,
    /// The name it has in the level key: [`LevelKey::name`], or `year` or `month` for a part of a date.
    pub kept: String,
    /// Its type.
    pub kind: KeyType,
    /// Whether it must be there.
    pub presence: Presence,
    /// The values that the rule takes.
    pub(super) allowed: Wanted,
    /// What an exact request that leaves the key out wants of it, unless the key is mandatory.
    pub(super) left_out: Values,
    pub(super) name_id: NameId,
    pub(super) kept_id: NameId,
}

/// Whether a key must be given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// A field without it does not fit the rule.
    Mandatory,
    /// It may be left out, and is then kept empty. A request without it finds fields without it and those that have
    /// this value.
    Optional {
        /// The default; empty if the schema has none.
        default: String,
    },
    /// It may be given and is used up, but every field has this value, mostly none.
    Hidden {
        /// What is kept in place of the value.
        kept: String,
    },
}

impl Level {
    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &LevelKey> {
        self.keys.iter().map(Arc::as_ref)
    }

    /// The names under which the level keeps its keys, in order: what [`Key::from_joined`](crate::Key::from_joined)
    /// asks for.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.iter().map(|key| key.kept.as_str())
    }
}

impl Rule {
    /// The three levels, outermost first.
    pub fn levels(&self) -> [&Level; 3] {
        [&self.dataset, &self.collocation, &self.element]
    }

    /// All keys, outermost level first.
    pub fn keys(&self) -> impl Iterator<Item = &LevelKey> {
        self.levels().into_iter().flat_map(Level::keys)
    }

    /// That it does not fit, with its keys as a schema has them and without a reason.
    pub(super) fn mismatch(&self) -> Mismatch {
        let named = |key: &LevelKey| match key.presence {
            Presence::Mandatory => key.name.clone(),
            Presence::Optional { .. } => format!("{}?", key.name),
            Presence::Hidden { .. } => format!("{}-", key.name),
        };
        let levels = self.levels().map(|level| level.keys().map(named).collect::<Vec<_>>().join(", "));
        Mismatch { rule: format!("[{}]]]", levels.join(" [")).into(), line: self.line, ..Mismatch::default() }
    }
}

impl LevelKey {
    /// Whether a field must have it to fit the rule.
    #[must_use]
    pub fn is_mandatory(&self) -> bool {
        self.presence == Presence::Mandatory
    }

    /// Whether its values are parameters.
    pub(super) fn is_param(&self) -> bool {
        matches!(self.kind, KeyType::Param | KeyType::ParamId)
    }

    /// Whether the rule takes this value, as given by a message or a caller.
    pub(super) fn admits_raw(&self, value: &str, clock: Clock) -> bool {
        let (values, is_negated) = match &self.allowed {
            Wanted::Any => return true,
            Wanted::OneOf(values) => (values, false),
            Wanted::NoneOf(values) => (values, true),
        };
        if self.kind == KeyType::Default {
            let value = value.trim();
            return values.as_slice().iter().any(|known| known.eq_ignore_ascii_case(value)) != is_negated;
        }
        let mut canonical = String::new();
        match self.kind.canonical(value, clock, &mut canonical) {
            Ok(()) => self.allowed.admits(&canonical),
            // A value of the wrong type is none of those listed; that it is wrong is found out when it is kept.
            Err(_) => is_negated,
        }
    }

    /// Whether this is the key `name` itself: not a part of it, and not hidden.
    pub(super) fn is_whole(&self, name: NameId) -> bool {
        let hidden = matches!(self.presence, Presence::Hidden { .. }) || self.kind == KeyType::Ignore;
        self.name_id == name && self.kept_id == name && !hidden
    }
}
