//! Finds objects of a file by their names, attributes and elements.

use std::collections::HashSet;

use isotach_hdf5_types::Stored;

use super::{
    bound::{Bound, Formula, Source},
    condition::Condition,
    selection::Selection,
};
use crate::{By, Error, Kind, Object, Order, Result, Target, value_index::datatype_of};

/// An object that a query has found.
#[derive(Debug)]
pub struct Found {
    /// The path from the group that was searched; `.` for the group itself.
    pub path: String,
    /// The object.
    pub object: Object,
    /// The elements that pass, if the condition is one on elements, too.
    pub selection: Option<Selection>,
}

/// A dataset whose elements a query could not look at.
#[derive(Debug)]
pub struct Unsearched {
    /// The path from the group that was searched.
    pub path: String,
    /// The dataset.
    pub object: Object,
    /// Why: it is virtual, or has a filter that is not known.
    pub why: String,
}

/// What a query of a group has found.
#[derive(Debug, Default)]
pub struct Findings {
    /// The objects that pass.
    pub found: Vec<Found>,
    /// The datasets of which nobody knows: their elements cannot be read, and the condition depends on them.
    pub unsearched: Vec<Unsearched>,
}

impl Object {
    /// Finds the objects in and below a group, and the group itself, that pass a condition. Hard links are followed, each as a path of its own;
    /// what is below a group is looked at once.
    ///
    /// Each test is asked of each object: one of a value is asked of datasets whose elements it fits, and no other object has elements that pass.
    /// A dataset is found if one of its elements passes or, where the condition does not depend on elements, if it passes.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn find(&self, condition: &Condition) -> Result<Findings> {
        let (mut findings, mut seen) = (Findings::default(), HashSet::new());
        // The path, the name in it, and the object.
        let mut left = vec![(".".to_owned(), String::new(), self.clone())];
        while let Some((path, name, object)) = left.pop() {
            match object.passes(condition, &name) {
                Ok(None) => {}
                Ok(Some(selection)) => {
                    findings.found.push(Found { path: path.clone(), object: object.clone(), selection });
                }
                Err(Error::Unsupported { what }) => {
                    let (path, object) = (path.clone(), object.clone());
                    findings.unsearched.push(Unsearched {
                        path,
                        object,
                        why: format!("no support for {what}"),
                    });
                }
                Err(error) => return Err(error),
            }
            if object.kind() == Kind::Group && seen.insert(object.number()) {
                let links = object.links(By::Name, Order::Decreasing)?;
                left.extend(links.into_iter().filter_map(|(name, link)| {
                    let Target::Hard { number, kind } = link.target else { return None };
                    let path = if path == "." { name.clone() } else { format!("{path}/{name}") };
                    Some((path, name, Self::open(object.file().clone(), number, kind)))
                }));
            }
        }
        Ok(findings)
    }

    /// `None` if the object does not pass; the elements that pass where the condition is on elements.
    #[expect(clippy::option_option, reason = "an object is found with or without elements")]
    fn passes(&self, condition: &Condition, name: &str) -> Result<Option<Option<Selection>>> {
        let header = self.header()?;
        let datatype = if self.kind() == Kind::Dataset { datatype_of(&header) } else { None };
        let bound = Bound::leniently(condition, datatype.as_ref(), &mut |condition| match condition {
            Condition::Name(test) => Ok(super::bound::TextTest::of(test)
                .is_some_and(|(test, is_negated)| !name.is_empty() && test.passes(name) != is_negated)),
            _ => self.has_attribute_like(condition),
        })?;
        match bound.formula {
            Formula::Constant(passes) => Ok(passes.then_some(None)),
            _ => {
                let selection = self.select_bound(&bound)?;
                Ok((!selection.is_empty()).then_some(Some(selection)))
            }
        }
    }

    /// Whether a condition on an attribute holds.
    pub(super) fn has_attribute_like(&self, condition: &Condition) -> Result<bool> {
        let (name, test) = match condition {
            Condition::Attribute { name, test } => (name, Some(test)),
            Condition::HasAttribute(name) => (name, None),
            _ => return Ok(false),
        };
        let Some(attribute) = self.attribute(name)? else { return Ok(false) };
        let Some(test) = test else { return Ok(true) };
        let stored = Stored::parse(&attribute.datatype).and_then(|stored| stored.datatype()?.file_form());
        let Ok(datatype) = stored else { return Ok(false) };
        let of_value = Condition::Value { member: Vec::new(), test: test.clone() };
        let bound = Bound::leniently(&of_value, Some(&datatype), &mut |_| Ok(false))?;
        let place = |at| format!("element {at} of attribute {name} of {self}");
        let source = Source { file: self.file(), place: &place };
        Ok(!bound.scan(&bound.formula, &attribute.value, &source)?.is_empty())
    }
}
