//! Wiping: removes whole datasets, or whole collocations of them.
//!
//! Removing a dataset means destroying its containers. Their label is never used again, so a late wiper destroys
//! nothing else. The order keeps leftovers of a kill findable: first the container is marked, then the root's entry is
//! removed, and only the process that removed it destroys the containers, the marked one last. The next wipe destroys
//! containers that are marked and not listed.

use std::sync::Arc;

use isotach_mars::{Key, KeyType, LevelFilter, LevelKey, Plan, Presence, Request, Wanted};
use isotach_object::{Error as ObjectError, Label};

use crate::{
    ContainerUri, Counts, Error, FieldStore, ListOptions, Listing, Result, Selection,
    admin::sweep::mark,
    catalogue::{
        collocation::Collocation,
        layout::ENTRY_WIPED,
        locks::Action,
        record::MoveMark,
        root::{Entry, Root},
        select::Target,
    },
    store::Inner,
};

/// What a wipe removes, or has removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WipeReport {
    /// False for a dry run.
    pub done: bool,
    /// The datasets that lose something.
    pub datasets: Vec<WipedDataset>,
}

impl WipeReport {
    /// The fields and bytes of all datasets.
    pub fn counts(&self) -> Counts {
        self.datasets.iter().fold(Counts::default(), |sum, dataset| sum.plus(dataset.counts))
    }
}

/// What a dataset loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WipedDataset {
    /// The dataset.
    pub key: Key,
    /// Whether the whole dataset is removed.
    pub is_whole: bool,
    /// The collocations that are removed.
    pub collocations: Vec<Key>,
    /// The fields that are removed. Adopted files stay unchanged.
    pub counts: Counts,
    /// The snapshots that still show a whole dataset. Its space is freed when they are removed.
    pub kept_by: Vec<String>,
    /// Why there may be more fields than were counted: the dataset is damaged or lost.
    pub uncounted: Option<String>,
    /// Its container of the catalogue.
    pub catalogue: ContainerUri,
    /// Its container of the store.
    pub store: ContainerUri,
}

/// A dataset, or some of its collocations, to be wiped.
pub(crate) struct PlannedWipe {
    pub(crate) selection: Selection,
    is_whole: bool,
    pub(super) chosen: Vec<PlannedCollocation>,
    /// Why the collocations of a whole dataset could not be read.
    unusable: Option<Error>,
}

/// A collocation to be wiped. No container is kept open for it: a request may name more datasets than a process may
/// open files.
pub(crate) struct PlannedCollocation {
    pub(crate) collocation: Arc<Collocation>,
    plans: Vec<Arc<Plan>>,
}

impl FieldStore {
    /// Removes the datasets or collocations that a request names. A key left out is a wildcard. With `doit` false, only
    /// reports what would be removed. A request that names keys of the dataset level only removes whole datasets. One
    /// that names keys of the collocation level removes collocations. Snapshots do not change: a dataset keeps its
    /// containers until the last snapshot that shows it is removed. Also destroys what killed wipes of any dataset
    /// left, and what killed makers of datasets left more than an hour ago.
    ///
    /// # Errors
    /// [`Error::BelowCollocation`] when the request names keys that select single fields; [`Error::Invalid`] when it
    /// names none at all; [`Error::LostDataset`] or [`Error::DamagedDataset`] when it names collocations of such a
    /// dataset (the whole dataset can be wiped); [`Error::Locked`] when a dataset is locked for wiping: nothing is
    /// removed then. Else as [`FieldStore::list`].
    pub fn wipe(&self, request: &Request, doit: bool) -> Result<WipeReport> {
        let plans = self.plan_wipe(request)?;
        let mut report = WipeReport { done: doit, datasets: Vec::new() };
        for plan in &plans {
            report.datasets.push(self.report_on(plan)?);
        }
        if doit {
            plans.iter().try_for_each(|plan| self.inner.remove(plan, None))?;
            self.inner.sweep()?;
        }
        Ok(report)
    }

    /// Checks that a request may be wiped, and returns what it would remove.
    pub(crate) fn plan_wipe(&self, request: &Request) -> Result<Vec<PlannedWipe>> {
        self.inner.check_present("wipe")?;
        if request.is_empty() {
            let expected = "at least one key; without any it means the whole store";
            return Err(Error::invalid("a request without keys", expected));
        }
        self.check_effect(request)?;
        let mut plans = Vec::new();
        for selection in self.select(request)? {
            selection.entry.check(Action::Wipe)?;
            let mut is_whole = true;
            for plan in &selection.plans {
                is_whole &= covers_dataset(request, plan)?;
            }
            let planned = |Target { collocation, plans, .. }| PlannedCollocation { collocation, plans };
            let (chosen, unusable) = match selection.targets(&self.inner) {
                // The rest of the dataset can still be removed.
                Err(error) if is_whole && error.is_of_dataset() => (Vec::new(), Some(error)),
                targets => (targets?.into_iter().map(planned).collect(), None),
            };
            if is_whole || !chosen.is_empty() {
                plans.push(PlannedWipe { selection, is_whole, chosen, unusable });
            }
        }
        Ok(plans)
    }

    fn report_on(&self, plan: &PlannedWipe) -> Result<WipedDataset> {
        let PlannedWipe { selection, is_whole, chosen, unusable } = plan;
        let (mut counts, mut uncounted) = (Counts::default(), unusable.as_ref().map(ToString::to_string));
        let targets = match plan.targets(&self.inner) {
            Err(error) if *is_whole && error.is_of_dataset() => {
                uncounted.get_or_insert_with(|| error.to_string());
                Vec::new()
            }
            targets => targets?,
        };
        for listed in Listing::of_targets(&self.inner, targets, ListOptions { duplicates: true }) {
            match listed {
                Ok(listed) => counts.add(&listed),
                // An unreadable field is removed with the rest.
                Err(error)
                    if matches!(error, Error::Corrupt { .. }) || *is_whole && error.is_of_dataset() =>
                {
                    uncounted.get_or_insert_with(|| error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        let status = selection.status()?;
        let kept_by = match is_whole {
            true => selection.root.snapshots_showing(&selection.entry.record)?,
            false => Vec::new(),
        };
        Ok(WipedDataset {
            kept_by,
            key: status.key,
            is_whole: *is_whole,
            collocations: chosen.iter().map(|chosen| chosen.collocation.key.clone()).collect(),
            counts,
            uncounted,
            catalogue: status.catalogue,
            store: status.store,
        })
    }
}

/// Whether a request names all of a dataset under this plan. An error if it names single fields.
pub(crate) fn covers_dataset(request: &Request, plan: &Plan) -> Result<bool> {
    let mut below = narrowed(request, &plan.element);
    let knows = |name: &str| {
        let mut keys = plan.levels().into_iter().flat_map(LevelFilter::keys);
        keys.any(|(key, _)| key.name == name || key.kept == name)
    };
    // An alias of a key. All keys with aliases select single fields.
    below.extend(request.iter().map(|(name, _)| name).filter(|name| !knows(name)));
    if below.is_empty() {
        return Ok(narrowed(request, &plan.collocation).is_empty());
    }
    Err(Error::BelowCollocation { names: below.join(", ") })
}

/// The keys of a level for which a request names values.
fn narrowed<'a>(request: &Request, level: &'a LevelFilter) -> Vec<&'a str> {
    let named = |key: &LevelKey| request.contains(&key.name) || request.contains(&key.kept);
    let chosen =
        |key: &LevelKey| key.kind != KeyType::Ignore && !matches!(key.presence, Presence::Hidden { .. });
    let keys =
        level.keys().filter(|(key, wanted)| named(key) && chosen(key) && !matches!(wanted, Wanted::Any));
    keys.map(|(key, _)| key.name.as_str()).collect()
}

impl PlannedWipe {
    /// The collocations to be wiped, for a listing. Empty if the dataset was wiped meanwhile.
    fn targets(&self, inner: &Inner) -> Result<Vec<Target>> {
        if self.chosen.is_empty() {
            return Ok(Vec::new());
        }
        let Some(reader) = inner.reader(&self.selection.root, &self.selection.entry)? else {
            return Ok(Vec::new());
        };
        let target = |PlannedCollocation { collocation, plans }: &PlannedCollocation| Target {
            layer: None,
            reader: Arc::clone(&reader),
            collocation: Arc::clone(collocation),
            plans: plans.clone(),
        };
        Ok(self.chosen.iter().map(target).collect())
    }
}

impl Inner {
    /// Removes what is planned. With the mark of a move, only as long as that has the dataset.
    pub(crate) fn remove(&self, plan: &PlannedWipe, of_move: Option<MoveMark>) -> Result<()> {
        let Selection { root, entry, .. } = &plan.selection;
        match plan.is_whole {
            true => self.remove_dataset(root, entry, of_move),
            false => self.remove_collocations(plan, of_move),
        }
    }

    fn remove_dataset(&self, root: &Root, entry: &Arc<Entry>, of_move: Option<MoveMark>) -> Result<()> {
        let record = &entry.record;
        let label: Label = record.label.parse()?;
        let marked = self.with_handles(|| mark(&*root.pool.open_container(&label)?, ENTRY_WIPED));
        let is_marked = match marked {
            Err(error) if error.is_too_many_open() => return Err(error),
            marked => marked.is_ok(),
        };
        if !is_marked {
            // Without an entry, another process removed it first and destroys the containers.
            let Some(now) = root.same_incarnation(entry)? else { return Ok(()) };
            now.check_move(of_move)?;
            // The disk is full, or the dataset is lost or damaged. The root's entry goes last, because leftovers are
            // found by it.
            self.with_handles(|| self.destroy_containers(root, record))?;
        }
        let is_removed = match self.with_handles(|| root.remove(entry, of_move)) {
            Err(Error::Object(ObjectError::NoSpace { .. })) => {
                self.with_handles(|| self.destroy_containers(root, record))?;
                root.remove(entry, of_move)?
            }
            removed => removed?,
        };
        if is_removed {
            // A lock belongs to the dataset and ends with it.
            let unlocked = root.set_locks(&entry.text, false, &Action::ALL);
            self.with_handles(|| self.destroy_containers(root, record))?;
            unlocked?;
        }
        Ok(())
    }
}
