//! Replacing entries, each only if it is what the writer saw.

use std::{collections::BTreeSet, iter};

use isotach_object::{Cell, Error, ObjectId, Precondition, Result, Transaction, Update};

use crate::{Tree, entry::Entry, fence::Fence, path};

/// How many updates a transaction has before it is given to the engine in pieces.
const STAGED: usize = 4096;

/// The marker of a directory that nobody is removing. Another value is the number of a removal that may have died.
const OPEN: &[u8] = b"";

/// How often a commit is tried if others keep removing the directories above it.
const ATTEMPTS: usize = 32;

/// The replacement of an entry. At least one of both is there.
#[derive(Debug)]
pub(crate) struct Swap {
    pub(crate) path: String,
    pub(crate) old: Option<Vec<u8>>,
    pub(crate) new: Option<Vec<u8>>,
}

/// A swap, with what the updates borrow.
struct Place<'s> {
    cell: Cell<'s>,
    old: Option<&'s [u8]>,
    new: Option<&'s [u8]>,
    /// The array that nobody refers to afterwards.
    array: Option<ObjectId>,
    /// Whether the new entry names an array.
    has_new_array: bool,
}

impl<'s> Place<'s> {
    fn of(swap: &'s Swap) -> Result<Self> {
        let (directory, name) = path::split(&swap.path)?;
        let cell = Cell::kv(path::directory(directory), name.as_bytes());
        let (old, new) = (swap.old.as_deref(), swap.new.as_deref());
        let array = old.map(Entry::decode).transpose()?.and_then(Entry::array).filter(|_| old != new);
        let has_new_array = new.map(Entry::decode).transpose()?.and_then(Entry::array).is_some();
        Ok(Self { cell, old, new, array, has_new_array })
    }

    fn condition(&self) -> Precondition<'s> {
        self.old.map_or(Precondition::Absent(self.cell), |old| Precondition::Equals(self.cell, old))
    }

    fn update(&self) -> Update<'s> {
        let cell = self.cell;
        self.new.map_or(Update::Remove { cell }, |value| Update::Put { cell, value })
    }

    fn destroy(&self) -> Option<Update<'s>> {
        self.array.map(|object| Update::Destroy { object })
    }
}

impl Tree {
    /// Replaces entries; all or none where the engine has transactions. The fence was read before the arrays of new entries were
    /// written.
    ///
    /// # Errors
    /// `Conflict` if an entry is not the old one, a directory was removed during the call, or the fence has changed and there is
    /// a new array.
    pub(crate) fn apply(&self, swaps: &[Swap], fence: &Fence) -> Result<()> {
        let places = swaps.iter().map(Place::of).collect::<Result<Vec<_>>>()?;
        let (open, missing) = self.markers_above(swaps.iter().filter(|swap| swap.new.is_some()))?;
        let opened = missing.into_iter().map(|cell| Update::Put { cell, value: OPEN });
        if !self.container.capabilities().transactions {
            self.container.update(&opened.collect::<Vec<_>>())?;
            return swaps.iter().zip(&places).try_for_each(|(swap, place)| self.apply_alone(swap, place));
        }
        let stay_open = open.into_iter().map(|cell| Precondition::Equals(cell, OPEN));
        let unswept = places.iter().any(|place| place.has_new_array).then(|| fence.condition());
        let preconditions = unswept.into_iter().chain(stay_open).chain(places.iter().map(Place::condition));
        let preconditions = preconditions.collect();
        let destroyed = places.iter().filter_map(Place::destroy);
        let updates = opened.chain(places.iter().map(Place::update)).chain(destroyed).collect();
        self.commit_together(&Transaction { preconditions, updates })
    }

    /// Replaces one entry, on an engine that changes one cell at a time.
    fn apply_alone(&self, swap: &Swap, place: &Place<'_>) -> Result<()> {
        self.container.commit(&Transaction::new().require(place.condition()).update(place.update()))?;
        if let Some(destroy) = place.destroy() {
            // The new entry counts already. An array that stays loses only space, so its error must not look like the commit's.
            let _ = self.container.update(&[destroy]);
        }
        let reopened = if swap.new.is_some() { self.open_markers_above(swap) } else { Ok(()) };
        reopened.map_err(|error| error.after_decision(format!("open the directories of {:?}", swap.path)))
    }

    /// Opens the markers that others removed or closed while the entry was committed. It is done when all of them are found open: a
    /// removal that closes one from now on finds the entry.
    fn open_markers_above(&self, swap: &Swap) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let (_, missing) = self.markers_above(iter::once(swap))?;
            if missing.is_empty() {
                return Ok(());
            }
            for cell in missing {
                self.container.commit(&Transaction::new().update(Update::Put { cell, value: OPEN }))?;
            }
        }
        Err(Error::Conflict {
            what: format!("others remove the directories of {:?} without a pause", swap.path),
        })
    }

    /// The markers above the entries: those that are open, and those that are absent or closed.
    fn markers_above<'s>(
        &self,
        swaps: impl Iterator<Item = &'s Swap>,
    ) -> Result<(Vec<Cell<'s>>, Vec<Cell<'s>>)> {
        let markers: BTreeSet<(ObjectId, &str)> = swaps.flat_map(|swap| path::markers(&swap.path)).collect();
        if markers.is_empty() {
            return Ok(Default::default());
        }
        let cells: Vec<Cell<'_>> =
            markers.into_iter().map(|(object, name)| Cell::kv(object, name.as_bytes())).collect();
        let found = self.container.get_many(&cells)?;
        let (open, missing): (Vec<_>, Vec<_>) =
            cells.into_iter().zip(found).partition(|(_, found)| found.as_deref() == Some(OPEN));
        let cell = |(cell, _)| cell;
        Ok((open.into_iter().map(cell).collect(), missing.into_iter().map(cell).collect()))
    }

    /// Replaces entries that were read earlier. Reports a `Conflict` only if one of them has changed since; one that is caused by a
    /// removed directory is tried again.
    pub(crate) fn apply_as_seen(&self, swaps: &[Swap], fence: &Fence) -> Result<()> {
        for _ in 1..ATTEMPTS {
            match self.apply(swaps, fence) {
                Err(Error::Conflict { .. }) => self.check_as_seen(swaps, fence)?,
                outcome => return outcome,
            }
        }
        self.apply(swaps, fence)
    }

    fn check_as_seen(&self, swaps: &[Swap], fence: &Fence) -> Result<()> {
        if self.renewed_fence()? != *fence {
            let what = "a sweep began during the transaction, and its new values may be gone: begin again";
            return Err(Error::Conflict { what: what.to_owned() });
        }
        for swap in swaps {
            if self.stored(&swap.path)? != swap.old {
                let what = format!("another writer changed {:?} during the transaction", swap.path);
                return Err(Error::Conflict { what });
            }
        }
        Ok(())
    }

    /// Commits one transaction of any size.
    fn commit_together(&self, transaction: &Transaction<'_>) -> Result<()> {
        if transaction.updates.is_empty() {
            return Ok(());
        }
        if transaction.updates.len() <= STAGED {
            return self.container.commit(transaction).map(drop);
        }
        let mut staging = self.container.staged_transactions()?.stage()?;
        for updates in transaction.updates.chunks(STAGED) {
            staging.update(updates)?;
        }
        staging.commit(&transaction.preconditions).map(drop)
    }
}
