//! Wipes of collocations that have begun and not ended: still running, or killed.
//!
//! They are not damage. A verification cannot distinguish a running wipe from a killed one, so it reports them, and a
//! repair ends them.

use std::sync::Arc;

use isotach_mars::Key;

use super::report::{Cure, Damage, Level};
use crate::{
    Result, Selection,
    catalogue::{
        record::Record,
        root::{Entry, Root},
    },
    store::Inner,
};

/// A dataset with such wipes.
#[derive(Debug)]
pub(super) struct Unended {
    inner: Arc<Inner>,
    root: Arc<Root>,
    entry: Arc<Entry>,
}

/// The wipes of collocations of a dataset that a repair ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedWipes {
    /// The dataset's key.
    pub dataset: Key,
    /// How many.
    pub wipes: u16,
}

impl Unended {
    /// The wipes that the record counts now, and counted when the verification began.
    pub(super) fn of(inner: &Arc<Inner>, selection: &Selection, now: &Entry) -> Option<Self> {
        let (root, then) = (&selection.root, &selection.entry.record);
        let is_same = then.generation == now.record.generation;
        (root.snapshot.is_none() && is_same && !then.is_settled()).then(|| Self {
            inner: Arc::clone(inner),
            root: Arc::clone(root),
            entry: Arc::clone(&selection.entry),
        })
    }

    pub(super) fn wipes(&self) -> u16 {
        self.entry.record.wipes
    }

    /// Ends them. A wipe that is still running fails with `Conflict`, where the engine has transactions.
    pub(super) fn end(&self) -> Result<EndedWipes> {
        let wipes = self.inner.end_wipes(&self.root, &self.entry, Record::settled)?;
        Ok(EndedWipes { wipes, ..self.planned() })
    }

    /// What [`Unended::end`] would end.
    pub(super) fn planned(&self) -> EndedWipes {
        EndedWipes { dataset: self.entry.key.clone(), wipes: self.wipes() }
    }

    /// What a repair reports when it cannot end them.
    pub(super) fn damage(&self, place: &str) -> Damage {
        let what = "a wipe of collocations has begun and not ended".to_owned();
        let (key, place) = (self.entry.key.clone(), place.to_owned());
        Damage { level: Level::Dataset, key, what, place, byte: None, cure: Cure::Wait }
    }
}
