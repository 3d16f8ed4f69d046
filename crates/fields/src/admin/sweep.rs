//! Sweeping: destroys the containers that killed wipes and killed makers of datasets left behind. No root lists them.
//!
//! What must stay true: a container is destroyed only when it carries a mark and a lookup after that finds it in no
//! root. A maker puts the root's entry and then reads the sweep's mark, so of maker and sweeper at least one sees the
//! other. A mark on a container that is listed after all is harmless: no other incarnation of the dataset has its
//! label. A wipe's mark is a different one, which the maker ignores: a move that sets it may still leave the dataset,
//! and others have archived there.

use std::{collections::HashSet, sync::Arc, time::Duration};

use isotach_object::{Cell, Container, Error as ObjectError, Label, Pool, PoolUri, Update};

use crate::{
    Error, Result,
    catalogue::locks::Action,
    catalogue::{
        dataset::destroy,
        layout::{COLLOCATION, DATASET, ENTRY_ABANDONED, ENTRY_KEY, ENTRY_RECORD, ENTRY_WIPED, ROOT},
        record::Record,
        root::{Entry, Root, for_each},
    },
    store::Inner,
    sync::now_us,
};

/// How long the creation of a dataset may take before its containers count as abandoned.
const CREATION_MAX: Duration = Duration::from_secs(3600);

impl Inner {
    /// Destroys the containers that killed wipes and makers left. Best effort: a container that cannot be read or
    /// destroyed, because another user or another sweep has it, is no failure and is left for a later sweep.
    pub(crate) fn sweep(&self) -> Result<()> {
        let may_wipe = |root: &&Arc<Root>| !root.limits.of_any().contains(Action::Wipe);
        for root in self.roots.iter().filter(may_wipe) {
            for label in self.unlisted(root)? {
                let _ = self.sweep_container(root, &label);
            }
        }
        Ok(())
    }

    /// The containers of a root's pool that no root of this store lists.
    pub(crate) fn unlisted(&self, root: &Root) -> Result<Vec<Label>> {
        let mut labels = self.with_handles(|| Ok(root.pool.list_containers()?))?;
        let mut listed = HashSet::from([ROOT.to_owned()]);
        for lister in &self.roots {
            let entries = self.with_handles(|| lister.entries())?;
            let is_here =
                |entry: &&Arc<Entry>| lister.uri() == root.uri() || is_store_of(root, &entry.record);
            listed.extend(entries.list.iter().filter(is_here).map(|entry| entry.record.label.clone()));
        }
        labels.retain(|label| !listed.contains(label.as_str()));
        Ok(labels)
    }

    fn sweep_container(&self, root: &Root, label: &Label) -> Result<()> {
        match Unlisted::open(&*root.pool, label)? {
            Some(found) if found.is_abandoned()? && !found.is_listed(root)? => {
                self.destroy_containers(root, &found.record)
            }
            _ => Ok(()),
        }
    }

    /// Destroys the containers of a dataset that is not listed any more, the catalogue's last, because a sweep finds
    /// leftovers by it. If snapshots show the dataset, its containers stay until the last of these snapshots is
    /// removed.
    pub(crate) fn destroy_containers(&self, root: &Root, record: &Record) -> Result<()> {
        if !root.snapshots_showing(record)?.is_empty() {
            return Ok(());
        }
        let label = record.label.parse()?;
        if let Some(store) = self.store_of_record(record)? {
            destroy(&*store, &label)?;
        }
        destroy(&*root.pool, &label)
    }

    /// The pool of a dataset's store, if it exists and is not the catalogue's.
    fn store_of_record(&self, record: &Record) -> Result<Option<Arc<dyn Pool>>> {
        if record.store.is_empty() {
            return Ok(None);
        }
        match self.pool(&record.store.parse()?) {
            Err(Error::Object(ObjectError::NotFound { .. })) => Ok(None),
            pool => pool.map(Some),
        }
    }
}

/// Whether the arrays of a dataset are in this root's pool.
fn is_store_of(root: &Root, record: &Record) -> bool {
    let place = |uri: &PoolUri| (uri.scheme().to_owned(), uri.path().to_owned());
    record.store.parse::<PoolUri>().is_ok_and(|store| place(&store) == place(root.uri()))
}

/// An orphan: a container that no list of datasets names, but which may belong to a dataset.
#[derive(Debug)]
pub(crate) enum Orphan {
    /// It has fields, and no wipe has marked it: the dataset's text and record.
    Used(String, Record),
    /// It cannot be read.
    Closed(Label, Error),
}

/// Finds the orphans among these containers of a pool.
pub(crate) fn orphans(pool: &dyn Pool, labels: &[Label]) -> Result<Vec<Orphan>> {
    let used = |label: &Label| -> Result<Option<Orphan>> {
        let Some(found) = Unlisted::open(pool, label)? else { return Ok(None) };
        let is_stray = !found.is_marked && found.was_used()?;
        Ok(is_stray.then_some(Orphan::Used(found.text, found.record)))
    };
    let mut orphans = Vec::new();
    for label in labels {
        match used(label) {
            Ok(orphan) => orphans.extend(orphan),
            // It was destroyed meanwhile.
            Err(Error::Object(ObjectError::NotFound { .. })) => {}
            Err(error) if error.is_too_many_open() => return Err(error),
            Err(error) => orphans.push(Orphan::Closed(label.clone(), error)),
        }
    }
    Ok(orphans)
}

/// Marks a dataset's container as wiped, or as abandoned.
pub(crate) fn mark(container: &dyn Container, entry: &[u8]) -> Result<()> {
    container.update(&[Update::Put { cell: Cell::kv(DATASET, entry), value: &[] }])?;
    container.flush()?;
    Ok(())
}

/// A container that no root listed, and whose description is a dataset's.
struct Unlisted {
    container: Arc<dyn Container>,
    text: String,
    record: Record,
    is_marked: bool,
}

impl Unlisted {
    /// `None` for a container of another kind, for one without a description, and for a copy under another label.
    fn open(pool: &dyn Pool, label: &Label) -> Result<Option<Self>> {
        let container = pool.open_container(label)?;
        let names = [ENTRY_KEY, ENTRY_RECORD, ENTRY_WIPED, ENTRY_ABANDONED];
        let cells = names.map(|name| Cell::kv(DATASET, name));
        let mut found = container.get_many(&cells)?.into_iter();
        let mut next = || found.next().flatten();
        let (text, record) = (next().and_then(|text| String::from_utf8(text).ok()), next());
        let record = record.and_then(|record| Record::decode(&record));
        let is_marked = next().is_some() | next().is_some();
        let described = text.zip(record).filter(|(_, record)| record.label == label.as_str());
        Ok(described.map(|(text, record)| Self { container, text, record, is_marked }))
    }

    /// Whether it carries a mark. A container that is too old for a creation under way is marked now.
    fn is_abandoned(&self) -> Result<bool> {
        if self.is_marked {
            return Ok(true);
        }
        let age = Duration::from_micros(now_us().saturating_sub(self.record.created_us));
        if age < CREATION_MAX || self.was_used()? {
            return Ok(false);
        }
        mark(&*self.container, ENTRY_ABANDONED)?;
        Ok(true)
    }

    /// Whether it has fields. Then a root once listed it and has lost the entry without a wipe, so it must not be
    /// destroyed.
    fn was_used(&self) -> Result<bool> {
        let mut was_used = false;
        for_each(&*self.container, DATASET, |key, _| {
            was_used |= key.first() == Some(&COLLOCATION);
            Ok(())
        })?;
        Ok(was_used)
    }

    fn is_listed(&self, root: &Root) -> Result<bool> {
        Ok(root.lookup(&self.text)?.is_some_and(|now| now.record.label == self.record.label))
    }
}
