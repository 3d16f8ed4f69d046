//! Axes: the values that the fields of a request have, for each key. A hull, not a cross product.

use std::{collections::BTreeSet, sync::Arc};

use isotach_mars::{Key, LevelFilter, Plan, Request};
use isotach_object::{Anchor, Cell};

use crate::{
    Answer, Error, FieldStore, Result, Selection,
    catalogue::{
        axes::{Axes, by_size},
        collocation::Collocation,
        consistent_read::read_consistently,
        dataset_reader::DatasetReader,
        layout::{DATASET, deletions_key, element_of_kv_key, kv_key},
        location::is_deletion,
        locks::Action,
        select::Target,
    },
    store::Inner,
};

/// The values of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The key.
    pub name: String,
    /// The values of the fields, each once: numbers by size, then words. Absent values are left out.
    pub values: Vec<String>,
}

impl FieldStore {
    /// For each key in the order of the schema, the values that the fields of a request have. Not every combination of
    /// them need exist. Datasets that are locked for listing are left out.
    ///
    /// # Errors
    /// As [`FieldStore::list`]. The errors of unusable datasets are in the answer.
    pub fn axes(&self, request: &Request) -> Result<Answer<Axis>> {
        let (mut selections, gone) = self.inner.layers(self.select(request)?)?;
        selections.retain(|selection| !selection.is_locked(Action::List));
        let of_one = |selection: &Selection| {
            read_consistently(&self.inner, selection, || self.axes_in(selection)).map(Some)
        };
        let mut there = Answer::of(&selections, of_one, Error::is_of_dataset, &|_, _| ())?;
        there.unusable.extend(gone);
        let mut axes = Union::default();
        for CollocationAxes { axes: values, collocation, plans } in there.found.into_iter().flatten() {
            let filters = plans.iter().map(|plan| &plan.element);
            let mut filters = filters.filter(|filter| values.may_match(filter)).peekable();
            if filters.peek().is_none() {
                continue;
            }
            axes.add_key(&collocation.whole);
            for filter in filters {
                axes.add_wanted(filter, &values.0);
            }
        }
        Ok(Answer { found: axes.finish(), unusable: there.unusable })
    }

    /// The axes of each collocation. No container is kept open: a request may name more datasets than a process may
    /// open files.
    fn axes_in(&self, selection: &Selection) -> Result<Vec<CollocationAxes>> {
        let targets = selection.targets(&self.inner)?;
        let Some(reader) = targets.first().map(|target| Arc::clone(&target.reader)) else {
            return Ok(Vec::new());
        };
        let keys: Vec<_> = targets.iter().map(|target| deletions_key(&target.collocation.text)).collect();
        let cells: Vec<_> = keys.iter().map(|key| Cell::kv(DATASET, key)).collect();
        let marks = reader.get_many(&self.inner, &cells)?;
        let found = targets.into_iter().zip(marks).map(|(Target { collocation, plans, .. }, mark)| {
            let axes = match mark {
                None => reader.axes(&self.inner, &collocation)?,
                Some(_) => Arc::new(axes_of_fields(&self.inner, &reader, &collocation)?),
            };
            Ok(CollocationAxes { axes, collocation, plans })
        });
        found.collect()
    }
}

/// The axes of a collocation of which fields were deleted: the values of those that are there. Reads the index until each value of
/// the collocation's own axes was found.
fn axes_of_fields(inner: &Inner, reader: &DatasetReader, collocation: &Collocation) -> Result<Axes> {
    let index = collocation.objects.index;
    let mut values = FieldValues::new(&*reader.axes(inner, collocation)?);
    let mut next = Some(Anchor::start());
    while let Some(anchor) = next.filter(|_| !values.are_complete()) {
        let page = reader.page(inner, index, &anchor)?;
        let fields = page.iter().filter(|(_, record)| !is_deletion(record));
        let elements = fields.filter_map(|(key, _)| element_of_kv_key(key, collocation.names.len()));
        elements.for_each(|element| values.add(element));
        let probes = values.probes();
        let cells: Vec<_> =
            probes.iter().map(|element| Cell::kv(index, kv_key(element).as_bytes())).collect();
        for (element, record) in probes.iter().zip(reader.get_many(inner, &cells)?) {
            if record.is_some_and(|record| !is_deletion(&record)) {
                values.add(element);
            }
        }
        next = page.next().cloned();
    }
    Ok(values.into_axes(&collocation.names))
}

/// The values of a collocation's fields, as they are escaped in elements. Those of the collocation's own axes are wanted.
struct FieldValues {
    wanted: Vec<BTreeSet<String>>,
    found: Vec<BTreeSet<String>>,
    /// The element that was found last.
    last: String,
}

impl FieldValues {
    fn new(axes: &Axes) -> Self {
        let escaped = |(name, values): &(Box<str>, BTreeSet<String>)| {
            values.iter().map(|value| Key::new().with(name, value).values_joined()).collect()
        };
        let wanted: Vec<_> = axes.0.iter().map(escaped).collect();
        Self { found: vec![BTreeSet::new(); wanted.len()], wanted, last: String::new() }
    }

    fn add(&mut self, element: &str) {
        for ((value, wanted), found) in element.split(':').zip(&mut self.wanted).zip(&mut self.found) {
            if !found.contains(value) {
                found.insert(value.to_owned());
                wanted.remove(value);
            }
        }
        element.clone_into(&mut self.last);
    }

    fn are_complete(&self) -> bool {
        self.wanted.iter().all(BTreeSet::is_empty)
    }

    /// Elements that probably exist: the last one with each value that is still wanted. The index may have them on a later page.
    fn probes(&self) -> Vec<String> {
        let of_axis = |(at, values): (usize, &BTreeSet<String>)| {
            let with = |value: &String| {
                let others = self.last.split(':').enumerate();
                others.map(|(other, own)| if other == at { value } else { own }).collect::<Vec<_>>().join(":")
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        self.wanted.iter().enumerate().flat_map(of_axis).collect()
    }

    fn into_axes(self, names: &[Box<str>]) -> Axes {
        let axes = names.iter().zip(self.found).map(|(name, escaped)| {
            let values = escaped.iter().filter_map(|value| Key::from_joined([&**name], value));
            (name.clone(), values.map(|key| key.get(name).unwrap_or_default().to_owned()).collect())
        });
        Axes(axes.collect())
    }
}

struct CollocationAxes {
    axes: Arc<Axes>,
    collocation: Arc<Collocation>,
    plans: Vec<Arc<Plan>>,
}

#[derive(Default)]
struct Union(Vec<Axis>);

impl Union {
    fn add(&mut self, name: &str, value: &str) {
        let at = self.0.iter().position(|axis| axis.name == name).unwrap_or_else(|| {
            self.0.push(Axis { name: name.to_owned(), values: Vec::new() });
            self.0.len() - 1
        });
        if !value.is_empty() {
            self.0[at].values.push(value.to_owned());
        }
    }

    fn add_key(&mut self, key: &Key) {
        key.slots().for_each(|(name, value)| self.add(name, value));
    }

    fn add_wanted<'a>(
        &mut self,
        filter: &LevelFilter,
        axes: impl IntoIterator<Item = &'a (Box<str>, BTreeSet<String>)>,
    ) {
        for (name, values) in axes {
            values
                .iter()
                .filter(|value| filter.matches_value(name, value))
                .for_each(|value| self.add(name, value));
        }
    }

    fn finish(mut self) -> Vec<Axis> {
        for axis in &mut self.0 {
            axis.values.sort_by(|a, b| by_size(a, b));
            axis.values.dedup();
        }
        self.0.retain(|axis| !axis.values.is_empty());
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_once_and_numbers_by_size() {
        let mut union = Union::default();
        for step in ["12", "6", "0-24", "100", "6", "", "an"] {
            union.add("step", step);
        }
        union.add("number", "");
        let axes = union.finish();
        assert_eq!(axes.len(), 1);
        assert_eq!(axes[0].values, ["0-24", "6", "12", "100", "an"]);
    }
}
