//! The layers of an overlay: a dataset and those below it, which are shown together.

use std::{
    collections::HashSet,
    error::Error as StdError,
    fmt,
    sync::{Arc, OnceLock},
};

use isotach_mars::Key;

use crate::catalogue::root::Entry;

/// A dataset in the stack of datasets that an overlay shows together.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// The dataset under whose key its fields are shown.
    pub(crate) shown: Arc<Entry>,
    /// The number of layers above it: 0 for the upper dataset.
    pub(crate) depth: usize,
    /// The keys that its messages carry with other values, with the values to set.
    pub(crate) relabel: Option<Arc<Key>>,
}

/// The elements that the layers above have shown, one set for each layer.
#[derive(Debug, Default)]
pub(crate) struct Seen(Vec<HashSet<String>>);

impl Seen {
    /// Starts a layer. Call this before a dataset is read, or read again.
    pub(crate) fn begin(&mut self, layer: Option<&Layer>) {
        self.0.truncate(layer.map_or(0, |layer| layer.depth));
        if layer.is_some() {
            self.0.push(HashSet::new());
        }
    }

    /// Whether a layer above has shown this element of this collocation. If not, this layer shows it.
    pub(crate) fn hides(&mut self, collocation: &str, element: &str) -> bool {
        let Some((own, above)) = self.0.split_last_mut() else { return false };
        let field = format!("{collocation}\n{element}");
        if above.iter().any(|shown| shown.contains(&field)) {
            return true;
        }
        own.insert(field);
        false
    }
}

/// Sets keys in a message.
pub(crate) type SetKeys =
    dyn Fn(&[u8], &Key) -> Result<Vec<u8>, Box<dyn StdError + Send + Sync>> + Send + Sync;

/// The function that relabels messages, once the program has set it.
#[derive(Clone, Default)]
pub(crate) struct Relabeller(pub(crate) Arc<OnceLock<Box<SetKeys>>>);

impl fmt::Debug for Relabeller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relabeller({})", self.0.get().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(depth: usize) -> Layer {
        let entry = Entry {
            text: "".into(),
            key: Key::new(),
            record: crate::catalogue::record::Record::default(),
            locks: crate::Locks::default(),
            forbidden: crate::Forbidden::default(),
        };
        Layer { shown: Arc::new(entry), depth, relabel: None }
    }

    #[test]
    fn an_element_is_shown_by_the_uppermost_dataset_that_has_it() {
        let mut seen = Seen::default();
        seen.begin(Some(&layer(0)));
        assert!(!seen.hides("pl", "0"));
        seen.begin(Some(&layer(1)));
        assert!(seen.hides("pl", "0") && !seen.hides("pl", "6") && !seen.hides("sfc", "0"));
        seen.begin(Some(&layer(2)));
        assert!(seen.hides("pl", "0") && seen.hides("pl", "6") && !seen.hides("pl", "12"));
    }

    #[test]
    fn a_dataset_that_is_read_again_hides_nothing_from_itself() {
        let mut seen = Seen::default();
        for _ in 0..2 {
            seen.begin(Some(&layer(0)));
            assert!(!seen.hides("pl", "0"));
        }
        seen.begin(Some(&layer(1)));
        assert!(seen.hides("pl", "0"));
        seen.begin(None);
        assert!(!seen.hides("pl", "0"), "a dataset without an overlay");
    }
}
