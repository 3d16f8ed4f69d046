//! Reading the axes of a collocation.
//!
//! All values are read once for each epoch of the catalogue and kept. For the first request of an epoch, only the values that it
//! names are looked up, where they are few: a program that reads one field of thousands of steps does not read all steps.

use std::{collections::BTreeSet, sync::Arc};

use isotach_mars::{Key, Plan};
use isotach_object::{Cell, Epoch, Error as ObjectError, MAX_KEY, ObjectId};

use crate::{
    Result,
    catalogue::{
        axes::Axes,
        collocation::{Cached, Collocation},
        dataset_reader::DatasetReader,
        layout::{kv_key, value_of_axis_key},
        root::for_each,
    },
    store::Inner,
    sync::lock,
};

/// So few values of an axis, or elements, are looked up one by one whatever else there is.
pub(crate) const FEW: usize = 16;

/// The values that these plans name for an axis, if they are few.
fn few_values<'p>(plans: &'p [Arc<Plan>], name: &str) -> Option<BTreeSet<&'p str>> {
    let mut values = BTreeSet::new();
    for plan in plans {
        values.extend(plan.element.named_values(name)?);
    }
    (values.len() <= FEW).then_some(values)
}

impl DatasetReader {
    /// The axes of a collocation, as they are now.
    pub(crate) fn axes(&self, inner: &Inner, collocation: &Collocation) -> Result<Arc<Axes>> {
        inner.with_handles(|| self.cached(&collocation.axes, |_| self.read_axes(collocation, &[])))
    }

    /// The axes of a collocation, as they are now: of each axis, all values that these plans want, if not all values.
    pub(crate) fn axes_for(
        &self,
        inner: &Inner,
        collocation: &Collocation,
        plans: &[Arc<Plan>],
    ) -> Result<Arc<Axes>> {
        inner.with_handles(|| {
            let epoch = self.dataset.catalogue.epoch()?;
            if let Some((at, axes)) = &*lock(&collocation.axes)
                && *at >= epoch
            {
                return Ok(Arc::clone(axes));
            }
            let few: Vec<_> = collocation.names.iter().map(|name| few_values(plans, name)).collect();
            if few.iter().all(Option::is_none) || is_of(&collocation.axes_in_part, epoch) {
                let axes = self.read_axes(collocation, &[])?;
                *lock(&collocation.axes) = Some((epoch, Arc::clone(&axes)));
                return Ok(axes);
            }
            let axes = self.read_axes(collocation, &few)?;
            *lock(&collocation.axes_in_part) = Some((epoch, ()));
            Ok(axes)
        })
    }

    /// Looks up the few values that are wanted of an axis, and reads the other axes.
    fn read_axes(&self, collocation: &Collocation, few: &[Option<BTreeSet<&str>>]) -> Result<Arc<Axes>> {
        let axes = collocation.names.iter().zip(&collocation.objects.axes).enumerate();
        let axes = axes.map(|(at, (name, object))| {
            let values = match few.get(at) {
                Some(Some(few)) => self.look_up_axis(*object, name, few)?,
                _ => self.read_axis(*object, name)?,
            };
            Ok((name.clone(), values))
        });
        Ok(Arc::new(Axes(axes.collect::<Result<_>>()?)))
    }

    fn read_axis(&self, object: ObjectId, name: &str) -> Result<BTreeSet<String>> {
        let mut values = BTreeSet::new();
        for_each(&*self.dataset.catalogue, object, |key, _| {
            let value = value_of_axis_key(key).and_then(|value| Key::from_joined([name], value));
            let value = value.ok_or_else(|| ObjectError::corrupt(format!("axis {name}"), self.place()))?;
            values.insert(value.get(name).unwrap_or_default().to_owned());
            Ok(())
        })?;
        Ok(values)
    }

    /// Those of these values that an axis has.
    fn look_up_axis(
        &self,
        object: ObjectId,
        name: &str,
        values: &BTreeSet<&str>,
    ) -> Result<BTreeSet<String>> {
        let escaped = values.iter().map(|value| (*value, Key::new().with(name, value).values_joined()));
        // No field has a longer one.
        let escaped: Vec<_> = escaped.filter(|(_, text)| text.len() <= MAX_KEY).collect();
        let cells: Vec<_> =
            escaped.iter().map(|(_, text)| Cell::kv(object, kv_key(text).as_bytes())).collect();
        let found = self.dataset.catalogue.get_many(&cells)?;
        let there = escaped.iter().zip(found).filter(|(_, found)| found.is_some());
        Ok(there.map(|((value, _), _)| (*value).to_owned()).collect())
    }
}

/// Whether a cached value is of this epoch or a later one.
fn is_of<T>(cache: &Cached<T>, epoch: Epoch) -> bool {
    lock(cache).as_ref().is_some_and(|(at, _)| *at >= epoch)
}
