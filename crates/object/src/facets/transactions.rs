//! Transactions that are given in pieces, and those that one process prepares and another commits.

use std::fmt::Debug;

use crate::{Epoch, Label, Precondition, Result, Transaction, Update};

/// Staged transactions: their updates are given in pieces and may be larger than memory. For few updates
/// [`Container::commit`](crate::Container::commit) costs less.
///
/// **Required**: the method, and both of [`Staging`]. An engine with [`Capabilities::transactions`](crate::Capabilities) has this
/// facet, and no other engine has it.
///
/// **What an engine may assume**: nothing of the updates, which it checks as [`Container::update`](crate::Container::update) does.
/// Several stagings of one handle may be open at the same time.
///
/// **Durability**: as [`Container::commit`](crate::Container::commit). Before its commit a staging need not be durable.
pub trait StagedTransactions: Debug + Send + Sync {
    /// Begins a transaction.
    ///
    /// # Errors
    /// `PermissionDenied` on the past; `Io`.
    fn stage(&self) -> Result<Box<dyn Staging + '_>>;
}

/// The updates of a transaction that is being put together; see [`StagedTransactions::stage`]. No reader sees them before
/// they are committed, not even the handle itself. If the staging is dropped or its process dies, they never count.
///
/// ```
/// # use isotach_object::{Cell, ContainerOptions, Engine, KeyValue, memory::Memory};
/// # use isotach_object::{ObjectClass, ObjectId, ObjectType, Precondition, Update};
/// # let engine = Memory::new();
/// # engine.create_pool(&"memory:doc".parse()?)?;
/// # let pool = engine.open_pool(&"memory:doc".parse()?)?;
/// # pool.create_container(&"c".parse()?, &ContainerOptions::default())?;
/// # let container = pool.open_container(&"c".parse()?)?;
/// let steps = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
/// let mut staging = container.staged_transactions()?.stage()?;
/// for step in 0..10_000_u32 {
///     let key = step.to_string();
///     staging.update(&[Update::Put { cell: Cell::kv(steps, key.as_bytes()), value: b"here" }])?;
/// }
/// assert_eq!(KeyValue::new(&*container, steps)?.get(b"6")?, None);
/// staging.commit(&[Precondition::Absent(Cell::kv(steps, b"0"))])?;
/// assert_eq!(KeyValue::new(&*container, steps)?.get(b"6")?, Some(b"here".to_vec()));
/// # Ok::<(), isotach_object::Error>(())
/// ```
pub trait Staging: Debug + Send {
    /// Adds updates, to be applied after those that were given before.
    ///
    /// # Errors
    /// `InvalidInput` and `Unsupported` before any of these is added. After `NoSpace` or `Io` the staging cannot be
    /// committed any more (`Poisoned`).
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()>;

    /// Applies all updates at one epoch, if the preconditions hold there. The staging ends, whatever the outcome.
    ///
    /// # Errors
    /// As [`Container::commit`](crate::Container::commit), also in which of them leave the outcome uncertain.
    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch>;
}

/// A staging that can be prepared instead of committed; see [`PreparedTransactions::begin_prepared`].
pub trait PreparableStaging: Staging {
    /// Keeps all updates under a name, if the preconditions hold, for [`PreparedTransactions::commit_prepared`] by any process.
    /// No reader sees any of them before that. The staging ends, whatever the outcome.
    ///
    /// # Errors
    /// `AlreadyExists` when another transaction is prepared under the name; otherwise as [`Staging::commit`].
    fn prepare(self: Box<Self>, name: &Label, preconditions: &[Precondition<'_>]) -> Result<Epoch>;
}

/// Prepared transactions: a staged transaction is kept under a name and committed later by any process.
///
/// **Required**: every method, and [`PreparableStaging::prepare`]. An engine with this facet has [`StagedTransactions`], too.
///
/// **What an engine may assume**: names are well formed. Any process may commit or abort any prepared transaction at any time, and
/// several may try at once: one succeeds. [`Versions`](crate::Versions) builds numbered transactions on this facet.
///
/// **Durability**: preparing, committing and aborting decide before they return, and are durable after the next
/// [`Container::flush`](crate::Container::flush). What is prepared outlives its handle and its process, and no purge takes it.
pub trait PreparedTransactions: Debug + Send + Sync {
    /// Begins a transaction that can be prepared.
    ///
    /// # Errors
    /// `PermissionDenied` on the past; `Io`.
    fn begin_prepared(&self) -> Result<Box<dyn PreparableStaging + '_>>;

    /// The names of the prepared transactions that begin with `prefix`, sorted. A handle on the past lists those of its epoch.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    fn list_prepared(&self, prefix: &str) -> Result<Vec<Label>>;

    /// Applies at one epoch the updates of the prepared transactions with these names, in this order, and then those of
    /// `transaction`, if its preconditions hold there. The names are free afterwards.
    ///
    /// # Errors
    /// `NotFound` when nothing is prepared under one of the names, `Conflict` when another process committed or aborted it during the call;
    /// `InvalidInput` for a name given twice; `Corrupt` when a prepared transaction is damaged; otherwise as `commit`. After an
    /// error all stay prepared.
    fn commit_prepared(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch>;

    /// Aborts a prepared transaction: it never counts.
    ///
    /// # Errors
    /// `NotFound`; otherwise as `commit`.
    fn abort_prepared(&self, name: &Label) -> Result<()>;
}
