//! An open container: what its handle permits, and its updates.
//!
//! Besides its objects DAOS keeps a UUID, properties, and the sizes of arrays. Here they are in an object of the container that no program
//! may open ([`own`]).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use isotach_object::{Cell, Epoch, Error, ObjectId, Precondition, Transaction, Update};

use crate::{
    abi::{
        acl::DAOS_ACL_PERM_WRITE,
        constants::DAOS_HTYPE_CO,
        errors::*,
        stored::{OWN, UUID},
    },
    containers::{pools::Pool, uuids::uuid_of_label},
    runtime::{
        error::{Der, Result, refuse},
        handles,
    },
    transactions::retry::retry_conflicts,
};

/// An open container.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) pool: Arc<Pool>,
    pub(crate) inner: Arc<dyn isotach_object::Container>,
    pub(crate) uuid: [u8; 16],
    pub(crate) flags: u32,
    /// What its access control list permits this handle.
    pub(crate) permissions: u64,
    /// The failures that its objects must survive: none here.
    pub(crate) redundancy_factor: u64,
    /// Whether this process has destroyed it, or evicted this handle.
    pub(crate) is_gone: AtomicBool,
}

/// The object that holds the library's own entries.
pub(crate) fn own() -> Result<ObjectId> {
    Ok(ObjectId::from_halves(OWN.0, OWN.1)?)
}

/// The UUID of a container. A container that this library did not create has that of its label.
pub(crate) fn uuid_of(container: &dyn isotach_object::Container) -> Result<[u8; 16]> {
    let stored = container.get_many(&[Cell::kv(own()?, UUID)])?.pop().flatten();
    match stored.map(<[u8; 16]>::try_from) {
        Some(Ok(uuid)) => Ok(uuid),
        Some(Err(_)) => refuse(DER_CSUM, "a UUID that this library did not store"),
        None => Ok(uuid_of_label(container.label().as_str())),
    }
}

impl Container {
    /// The open container behind a handle.
    ///
    /// # Errors
    /// `DER_NO_HDL`, also where this process destroyed it.
    pub(crate) fn get(handle: u64) -> Result<Arc<Self>> {
        let container: Arc<Self> = handles::get(handle, DAOS_HTYPE_CO)?;
        container.check_exists()?;
        Ok(container)
    }

    /// Hands out a handle for an open container.
    #[cfg(test)]
    pub(crate) fn add(self: &Arc<Self>) -> u64 {
        handles::add(DAOS_HTYPE_CO, Arc::clone(self) as _, Some(Arc::clone(self) as _))
    }

    /// Whether another handle is on the same container.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.uuid == other.uuid && self.pool.label == other.pool.label
    }

    /// Refuses an operation in a container that this process destroyed.
    pub(crate) fn check_exists(&self) -> Result<()> {
        if self.is_gone.load(Ordering::Relaxed) { Err(Der(DER_NO_HDL)) } else { Ok(()) }
    }

    /// Refuses an operation whose permissions this handle does not have.
    pub(crate) fn check(&self, permissions: u64) -> Result<()> {
        if self.permissions & permissions == permissions { Ok(()) } else { Err(Der(DER_NO_PERM)) }
    }

    /// Refuses a change of what is in the container where that is not permitted.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check(DAOS_ACL_PERM_WRITE)
    }

    /// Allocates `count` ids, and returns the first. No other caller gets them.
    pub(crate) fn allocate_ids(&self, count: u64) -> Result<u64> {
        self.check_writable()?;
        Ok(self.inner.allocate_ids(count)?.start)
    }

    /// Applies updates and flushes them: all or none on an engine with transactions.
    pub(crate) fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        self.check_writable()?;
        all(&*self.inner, updates)
    }

    /// As [`Container::update`], for entries of the container itself, which need these permissions.
    pub(crate) fn update_own(&self, permissions: u64, updates: &[Update<'_>]) -> Result<()> {
        self.check(permissions)?;
        all(&*self.inner, updates)
    }

    /// Applies updates if all preconditions hold. Returns the index of the first that does not.
    pub(crate) fn update_if(
        &self,
        preconditions: &[Precondition<'_>],
        updates: &[Update<'_>],
    ) -> Result<Option<usize>> {
        self.check_writable()?;
        let transaction = Transaction { preconditions: preconditions.to_vec(), updates: updates.to_vec() };
        retry_conflicts(|| match commit(&*self.inner, &transaction) {
            Ok(_) => Ok(None),
            // The conflict may be with another update than those of the preconditions.
            Err(Error::Conflict { .. }) => first_failing(&*self.inner, preconditions)?
                .map_or(Err(Der(DER_TX_RESTART)), |first| Ok(Some(first))),
            Err(error) => Err(error.into()),
        })
    }
}

/// The index of the first precondition, on the presence of cells, that does not hold in a state.
fn first_failing(
    state: &dyn isotach_object::Container,
    preconditions: &[Precondition<'_>],
) -> isotach_object::Result<Option<usize>> {
    let cells: Vec<Cell<'_>> = preconditions.iter().map(Precondition::cell).collect();
    let sizes = state.size_many(&cells)?;
    let fails = |(condition, size): (&Precondition<'_>, &Option<u64>)| {
        matches!(condition, Precondition::Absent(_)) == size.is_some()
    };
    Ok(preconditions.iter().zip(&sizes).position(fails))
}

/// Commits and flushes a transaction.
pub(crate) fn commit(
    container: &dyn isotach_object::Container,
    transaction: &Transaction<'_>,
) -> isotach_object::Result<Epoch> {
    let epoch = container.commit(transaction)?;
    flush_committed(container).map(|()| epoch)
}

/// Flushes after a change that counts already. A failure is always [`Error::Io`]: a refusal such as [`Error::NoSpace`] would say that
/// nothing was done.
pub(crate) fn flush_committed(container: &dyn isotach_object::Container) -> isotach_object::Result<()> {
    container.flush().map_err(|error| Error::Io {
        what: format!(
            "flush container {} after a change that counts and may not survive a crash",
            container.label()
        ),
        source: error.into(),
    })
}

/// Applies updates and flushes them: all or none on an engine with transactions. There even a single update is a transaction, because
/// a handle keeps an update that it could not write, and would write it with a later call although this one has failed.
fn all(container: &dyn isotach_object::Container, updates: &[Update<'_>]) -> Result<()> {
    if container.capabilities().transactions {
        let transaction = Transaction { preconditions: Vec::new(), updates: updates.to_vec() };
        return retry_conflicts(|| Ok(commit(container, &transaction).map(drop)?));
    }
    match container.update(updates).and_then(|()| container.flush()) {
        // Its outcome is uncertain, so it is not repeated; and no transaction is to be restarted.
        Err(error @ Error::Conflict { .. }) => refuse(DER_AGAIN, &error.to_string()),
        outcome => Ok(outcome?),
    }
}
