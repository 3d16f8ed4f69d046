//! Wipes of collocations that have begun and not ended: under way, or killed.
//!
//! Where the engine has transactions they are no damage: whoever comes next ends them. Elsewhere nobody may, for a wipe that
//! lives cannot be stopped, and an operator says that there is none.

use std::sync::Arc;

use isotach_mars::Key;

use super::{Cure, Damage, Level};
use crate::{
    Result, Selection,
    fence::end_wipes_unfenced,
    root::{Entry, Root},
    store::Inner,
};

/// A dataset that counts such wipes.
#[derive(Debug)]
pub(super) struct Unended {
    inner: Arc<Inner>,
    root: Arc<Root>,
    entry: Arc<Entry>,
    /// Whether whoever comes next ends them.
    is_fenced: bool,
}

impl Unended {
    pub(super) fn of(inner: &Arc<Inner>, selection: &Selection) -> Option<Self> {
        let Selection { root, entry, .. } = selection;
        let is_counted = root.past.is_none() && !entry.record.is_settled();
        is_counted.then(|| Self {
            inner: Arc::clone(inner),
            root: Arc::clone(root),
            entry: Arc::clone(entry),
            is_fenced: root.pool.capabilities().transactions,
        })
    }

    /// What is told of them, unless that is nobody's concern.
    pub(super) fn damage(&self, place: &str) -> Option<Damage> {
        let what = "a wipe of collocations has begun and not ended: if none is running, it was killed, and a \
                    repair ends it; until then each flush publishes twice, and one that is repeated may drop fields";
        (!self.is_fenced).then(|| self.told(place, what, Cure::EndWipes))
    }

    /// Ends them. Gives what is to be told of a failure.
    pub(super) fn end(&self) -> Result<()> {
        self.inner.with_room(|| end_wipes_unfenced(&self.root, &self.entry))?;
        self.inner.finish_wipes(&self.root, &self.entry)
    }

    /// Ends them where a verification tells nothing of them. Gives what is to be told if that fails.
    pub(super) fn end_untold(&self, place: &str) -> Option<(Damage, String)> {
        let error = self.is_fenced.then(|| self.end())?.err()?;
        let what = "a wipe of collocations has begun and not ended";
        Some((self.told(place, what, Cure::EndWipes), error.to_string()))
    }

    fn told(&self, place: &str, what: &str, cure: Cure) -> Damage {
        let (key, what, place): (Key, _, _) = (self.entry.key.clone(), what.to_owned(), place.to_owned());
        Damage { level: Level::Dataset, key, what, place, byte: None, cure }
    }
}
