//! A collocation as a reader knows it: its key, its objects, and what is cached of it.

use std::sync::{Arc, Mutex};

use isotach_mars::{Key, LevelFilter};
use isotach_object::{Epoch, ObjectId};

use crate::catalogue::{axes::Axes, layout::kv_of};

/// A value with the epoch at which it was read.
pub(crate) type Cached<T> = Mutex<Option<(Epoch, T)>>;

/// The objects of a collocation.
#[derive(Debug, Clone)]
pub(crate) struct CollocationObjects {
    pub(crate) index: ObjectId,
    pub(crate) history: ObjectId,
    /// The jump indexes of its fields, replaced ones included.
    pub(crate) jump: ObjectId,
    /// One for each key of the elements, in their order.
    pub(crate) axes: Vec<ObjectId>,
}

impl CollocationObjects {
    /// The objects of the collocation with this text, whose elements have these names.
    pub(crate) fn new<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Self {
        Self {
            index: kv_of(text, ""),
            history: kv_of(text, "history"),
            jump: kv_of(text, "jump"),
            axes: names.map(|name| kv_of(text, &format!("axis:{name}"))).collect(),
        }
    }
}

/// A collocation of a dataset.
#[derive(Debug)]
pub(crate) struct Collocation {
    pub(crate) text: Box<str>,
    pub(crate) key: Key,
    /// The names of its elements' keys.
    pub(crate) names: Arc<[Box<str>]>,
    pub(crate) objects: CollocationObjects,
    /// Its key with the dataset's in front; shared by all its fields.
    pub(crate) whole: Arc<Key>,
    /// Whether `whole` has a name of its elements' keys, as when a schema keeps the year of a date at one level and the date at another.
    pub(crate) repeats_names: bool,
    pub(crate) axes: Cached<Arc<Axes>>,
    /// When its axes were read in part last.
    pub(crate) axes_in_part: Cached<()>,
}

/// See [`Collocation::repeats_names`].
pub(crate) fn repeats_names(whole: &Key, names: &[Box<str>]) -> bool {
    whole.slots().any(|(name, _)| names.iter().any(|own| **own == *name))
}

impl Collocation {
    /// The same collocation as a part of another dataset.
    pub(crate) fn shown_in(&self, dataset: &Key) -> Self {
        let mut whole = dataset.clone();
        whole.extend_from(&self.key);
        Self {
            text: self.text.clone(),
            key: self.key.clone(),
            names: Arc::clone(&self.names),
            objects: self.objects.clone(),
            repeats_names: repeats_names(&whole, &self.names),
            whole: Arc::new(whole),
            axes: Mutex::default(),
            axes_in_part: Mutex::default(),
        }
    }

    /// Whether its elements have the keys of a filter.
    pub(crate) fn has_elements(&self, filter: &LevelFilter) -> bool {
        filter.names().eq(self.names.iter().map(|name| &**name))
    }

    /// The whole key of the field with this element text.
    pub(crate) fn field_key(&self, element: &str) -> Option<Key> {
        let names = self.names.iter().map(|name| &**name);
        if !self.repeats_names {
            return self.whole.followed_by(names, element);
        }
        let mut key = (*self.whole).clone();
        key.extend_from(&Key::from_joined(names, element)?);
        Some(key)
    }
}
