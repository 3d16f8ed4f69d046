//! The schema as it was written: declarations and nested rules. Compared without regard to layout.

use crate::types::KeyType;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) types: Vec<(String, KeyType)>,
    pub(super) datasets: Vec<Node>,
}

/// A rule in square brackets with the rules inside it.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) types: Vec<(String, KeyType)>,
    pub(super) predicates: Vec<Predicate>,
    pub(super) children: Vec<Node>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.types == other.types && self.predicates == other.predicates && self.children == other.children
    }
}

impl Eq for Node {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Predicate {
    pub(super) name: String,
    /// The type given with the key in the rule itself.
    pub(super) kind: Option<KeyType>,
    pub(super) condition: Condition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Present,
    OneOf(Vec<String>),
    NoneOf(Vec<String>),
    Optional(String),
    Hidden(String),
}
