//! What was left behind by whoever was killed while it wiped or made a dataset: containers that no root lists.
//!
//! What must stay true: a container is destroyed only when it carries a mark and, looked at after that, no root lists it.
//! Whoever makes a dataset puts the root's entry and then looks at the sweep's mark, so of maker and sweeper at least one
//! sees the other. A mark on a container that is listed after all does no harm: no other life of the dataset has its label.
//! A wipe's mark is another one, which the maker does not heed: a move that sets it may still leave the dataset, and
//! others have archived there.

use std::{collections::HashSet, sync::Arc, time::Duration};

use isotach_object::{Cell, Container, Error as ObjectError, Label, Pool, PoolUri, Update};

use crate::{
    Error, Result,
    admin::locks::Action,
    catalogue::{
        dataset::destroy,
        layout::{COLLOCATION, DATASET, ENTRY_ABANDONED, ENTRY_KEY, ENTRY_RECORD, ENTRY_WIPED, ROOT},
        record::Record,
        root::{Entry, Root, for_each},
    },
    store::Inner,
    sync::now_us,
};

/// How long the making of a dataset may take before its containers count as left behind.
const MAKING_MAX: Duration = Duration::from_secs(3600);

impl Inner {
    /// Destroys the containers that killed wipes and killed makers of datasets left. It is a courtesy: what cannot be
    /// looked into or destroyed, because it is another's, or another sweep has it, is no failure, and is left for later.
    pub(crate) fn sweep(&self) -> Result<()> {
        let may_wipe = |root: &&Arc<Root>| !root.limits.of_any().contains(Action::Wipe);
        for root in self.roots.iter().filter(may_wipe) {
            for label in self.unlisted(root)? {
                let _ = self.sweep_container(root, &label);
            }
        }
        Ok(())
    }

    /// The containers of a root's pool that it does not list. What other roots keep there is theirs.
    pub(crate) fn unlisted(&self, root: &Root) -> Result<Vec<Label>> {
        let mut labels = self.with_room(|| Ok(root.pool.list_containers()?))?;
        let mut listed = HashSet::from([ROOT.to_owned()]);
        for lister in &self.roots {
            let entries = self.with_room(|| lister.entries())?;
            let is_here =
                |entry: &&Arc<Entry>| lister.uri() == root.uri() || is_store_of(root, &entry.record);
            listed.extend(entries.list.iter().filter(is_here).map(|entry| entry.record.label.clone()));
        }
        labels.retain(|label| !listed.contains(label.as_str()));
        Ok(labels)
    }

    fn sweep_container(&self, root: &Root, label: &Label) -> Result<()> {
        match Unlisted::open(&*root.pool, label)? {
            Some(found) if found.may_go()? && !found.is_listed(root)? => {
                self.destroy_containers(root, &found.record)
            }
            _ => Ok(()),
        }
    }

    /// Destroys the containers of a dataset that is listed no more, the catalogue's last: by it what a kill leaves is
    /// found again. If snapshots show them, they stay until the last of these is removed.
    pub(crate) fn destroy_containers(&self, root: &Root, record: &Record) -> Result<()> {
        if !root.keepers(record)?.is_empty() {
            return Ok(());
        }
        let label = record.label.parse()?;
        if let Some(store) = self.store_of_record(record)? {
            destroy(&*store, &label)?;
        }
        destroy(&*root.pool, &label)
    }

    /// The pool of a dataset's store, if it is not the catalogue's and is there.
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

/// A container that a list of datasets should name, or that may be one of those.
#[derive(Debug)]
pub(crate) enum Stray {
    /// Fields were archived in it, and no wipe has it: the dataset's text and record.
    Used(String, Record),
    /// It cannot be looked into.
    Closed(Label, Error),
}

/// Looks for strays among these containers of a pool.
pub(crate) fn strays(pool: &dyn Pool, labels: &[Label]) -> Result<Vec<Stray>> {
    let used = |label: &Label| -> Result<Option<Stray>> {
        let Some(found) = Unlisted::open(pool, label)? else { return Ok(None) };
        let is_stray = !found.is_marked && found.was_used()?;
        Ok(is_stray.then_some(Stray::Used(found.text, found.record)))
    };
    let mut strays = Vec::new();
    for label in labels {
        match used(label) {
            Ok(stray) => strays.extend(stray),
            // Somebody has destroyed it meanwhile.
            Err(Error::Object(ObjectError::NotFound { .. })) => {}
            Err(error) if error.is_too_many_open() => return Err(error),
            Err(error) => strays.push(Stray::Closed(label.clone(), error)),
        }
    }
    Ok(strays)
}

/// Marks a dataset's container as wiped, or as abandoned.
pub(crate) fn mark(container: &dyn Container, entry: &[u8]) -> Result<()> {
    container.update(&[Update::Put { cell: Cell::kv(DATASET, entry), value: &[] }])?;
    container.flush()?;
    Ok(())
}

/// A container that a root did not list, and that says of itself that it is a dataset's.
struct Unlisted {
    container: Arc<dyn Container>,
    text: String,
    record: Record,
    is_marked: bool,
}

impl Unlisted {
    /// `None` for a container of another kind, one that was not described yet, and a copy of one under another label.
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

    /// Whether it carries the mark. One that was being made too long ago gets it now.
    fn may_go(&self) -> Result<bool> {
        if self.is_marked {
            return Ok(true);
        }
        let age = Duration::from_micros(now_us().saturating_sub(self.record.created_us));
        if age < MAKING_MAX || self.was_used()? {
            return Ok(false);
        }
        mark(&*self.container, ENTRY_ABANDONED)?;
        Ok(true)
    }

    /// Whether fields were archived in it. Then a root has listed it and has lost the entry, by what is no wipe: not
    /// something to destroy unasked.
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
