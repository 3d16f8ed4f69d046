//! Replacing entries, each only if it is what the writer saw.

use std::collections::BTreeSet;

use isotach_object::{Cell, Error, ObjectId, Precondition, Result, Transaction, Update};

use crate::{Tree, entry::Entry, path};

/// How many updates a transaction has before it is given to the engine in pieces.
const STAGED: usize = 4096;

/// How often a commit is repeated whose directories were removed meanwhile.
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
}

impl<'s> Place<'s> {
    fn of(swap: &'s Swap) -> Result<Self> {
        let (directory, name) = path::split(&swap.path)?;
        let cell = Cell::kv(path::directory(directory), name.as_bytes());
        let (old, new) = (swap.old.as_deref(), swap.new.as_deref());
        let array = old.map(Entry::decode).transpose()?.and_then(Entry::array).filter(|_| old != new);
        Ok(Self { cell, old, new, array })
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
    /// Replaces entries; all or none where the engine has transactions.
    ///
    /// # Errors
    /// `Conflict` if an entry is not the old one, or a directory was removed during the call.
    pub(crate) fn apply(&self, swaps: &[Swap]) -> Result<()> {
        self.apply_with(swaps, Vec::new())
    }

    /// The same, with the removal of markers.
    pub(crate) fn apply_with(&self, swaps: &[Swap], removals: Vec<Update<'_>>) -> Result<()> {
        let places = swaps.iter().map(Place::of).collect::<Result<Vec<_>>>()?;
        let made = swaps.iter().filter(|swap| swap.new.is_some());
        let markers: BTreeSet<(ObjectId, &str)> = made.flat_map(|swap| path::markers(&swap.path)).collect();
        let cells: Vec<Cell<'_>> =
            markers.iter().map(|(object, name)| Cell::kv(*object, name.as_bytes())).collect();
        let (mut there, mut new) = (Vec::new(), Vec::new());
        for (cell, found) in cells.iter().zip(self.container.get_many(&cells)?) {
            match found {
                Some(_) => there.push(Precondition::Present(*cell)),
                None => new.push(Update::Put { cell: *cell, value: b"" }),
            }
        }
        if self.container.capabilities().transactions {
            let conditions = there.into_iter().chain(places.iter().map(Place::condition)).collect();
            let destroyed = places.iter().filter_map(Place::destroy);
            let updates = new.into_iter().chain(places.iter().map(Place::update)).chain(destroyed);
            let updates = updates.chain(removals).collect();
            return self.commit_together(&Transaction { preconditions: conditions, updates });
        }
        self.container.update(&new)?;
        for place in &places {
            self.container.commit(&Transaction::new().require(place.condition()).update(place.update()))?;
            if let Some(destroy) = place.destroy() {
                // The new entry counts already. An array that stays loses only space, so its error must not look like the commit's.
                let _ = self.container.update(&[destroy]);
            }
        }
        self.container.update(&removals)
    }

    /// The same for entries that were seen earlier: only they can be the cause of a conflict.
    pub(crate) fn apply_as_seen(&self, swaps: &[Swap]) -> Result<()> {
        for _ in 1..ATTEMPTS {
            match self.apply(swaps) {
                Err(Error::Conflict { .. }) => self.check_as_seen(swaps)?,
                outcome => return outcome,
            }
        }
        self.apply(swaps)
    }

    fn check_as_seen(&self, swaps: &[Swap]) -> Result<()> {
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
