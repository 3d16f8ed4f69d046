//! The seam: what an engine implements. Every method, no default bodies, so that a wrapper that forgets
//! one does not compile.
//!
//! Promises that hold for every engine:
//! - An update is seen whole or not at all, by every reader, at every moment.
//! - A handle sees its own updates at once. Others see them when [`Container::flush`] has returned, and
//!   perhaps before; they see them in the order of the handle, where the engine has
//!   [`crate::Capabilities::ordered_updates`].
//! - [`Container::commit`] decides at once: when it returns, the transaction counts for everybody, and so
//!   does everything that its handle updated before.
//! - One call of [`Container::get_many`], [`Container::size_many`], [`Container::read_many`] or a list
//!   answers from one state of the container, where the engine has [`crate::Capabilities::transactions`]: of
//!   what a transaction changed it shows all or nothing.
//! - What is flushed is durable, as far as the engine is [`crate::Capabilities::persistent`].
//! - Every stored byte is checked against its checksum when it is read: wrong bytes are
//!   [`crate::Error::Corrupt`], never an answer.
//! - After a failed sync a handle takes no more writes ([`crate::Error::Poisoned`]).
//! - A snapshot shows the container at one place of its history, and the same for ever.
//!
//! All traits may be used from several threads at once. No call blocks another process.
//!
//! Arguments are checked before anything is done: [`Update::check_for`] and [`Transaction::check_for`] for
//! changes, [`Cell::check_value`] and [`Cell::check_extent`] for reads, [`ObjectId::expect_type`] for lists.
//! A batch with one wrong part does nothing.

use std::{fmt::Debug, ops::Range, sync::Arc};

use crate::{
    Acl, Anchor, Capabilities, Cell, Epoch, Finding, IdRange, Label, NewRights, ObjectId, Page, PoolUri,
    Precondition, Purged, Result, Rights, RightsChange, SetAside, SharedBytes, Snapshot, Transaction, Update,
    Verified, Verify, VerifyProgress,
};

/// A kind of storage, named by the scheme of its URIs.
pub trait Engine: Debug + Send + Sync {
    /// The scheme of this engine's URIs: `posix`, `memory`, ...
    fn scheme(&self) -> &'static str;

    /// What this engine can do beyond the core.
    fn capabilities(&self) -> Capabilities;

    /// Makes an empty pool.
    ///
    /// # Errors
    /// `AlreadyExists`, `InvalidInput` for a URI the engine cannot read, `PermissionDenied`, `Io`;
    /// `Unsupported` where the place cannot keep the engine's promises.
    fn create_pool(&self, uri: &PoolUri) -> Result<()>;

    /// Connects to a pool.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` when what is there is not a pool, `Unsupported` when it has a newer format.
    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>>;

    /// Removes a pool with everything in it.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput` when what is there is not a pool.
    fn destroy_pool(&self, uri: &PoolUri) -> Result<()>;
}

/// Room of a pool, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUsage {
    /// What the storage under the pool holds in all.
    pub total: u64,
    /// What is free there.
    pub free: u64,
    /// What this pool's containers take.
    pub used: u64,
}

/// A property of a container that its storage knows and the model does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name, as the storage's own tools have it.
    pub name: String,
    /// Its value in text.
    pub value: String,
}

/// A connection to a pool.
pub trait Pool: Debug + Send + Sync {
    /// Where it is.
    fn uri(&self) -> &PoolUri;

    /// What its engine can do beyond the core.
    fn capabilities(&self) -> Capabilities;

    /// Makes an empty container. Of several that race, one succeeds.
    ///
    /// # Errors
    /// `AlreadyExists`, `PermissionDenied`, `NoSpace`, `Io`.
    fn create_container(&self, label: &Label) -> Result<()>;

    /// Makes a container that has these rights and holds these updates, applied in order. Atomic: a crash leaves either the
    /// whole container under the label or none, and nobody finds it with other rights.
    ///
    /// # Errors
    /// As `create_container`, [`Pool::set_rights`] and [`Container::update`]; `Unsupported` for updates where containers can
    /// only be made empty.
    fn create_container_with(&self, label: &Label, rights: &NewRights, updates: &[Update<'_>]) -> Result<()>;

    /// Whose a container is, and who may do what with it, as far as the engine enforces it.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`; `Unsupported` without [`Capabilities::permissions`].
    fn rights(&self, label: &Label) -> Result<Rights>;

    /// Changes whose a container is, and who may do what with it; gives what holds then. Handles that are open keep what
    /// they have.
    ///
    /// # Errors
    /// `Unsupported` without [`Capabilities::permissions`], and for a list that the storage cannot enforce, saying what
    /// of it; `InvalidInput` for a user or group that nobody knows; `NotFound`, `PermissionDenied`, `Io`.
    fn set_rights(&self, label: &Label, change: &RightsChange) -> Result<Rights>;

    /// Lets those who may write by this list make containers in the pool, and nobody else but the pool's owner. They own what
    /// they make. Where an administrator says who may do so, by the storage's own tools (DAOS), nothing is changed.
    ///
    /// # Errors
    /// As [`Pool::set_rights`].
    fn admit(&self, acl: &Acl) -> Result<()>;

    /// What the storage's own tools say of a container beyond the model, by their names for it. Most engines have nothing to say.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`.
    fn properties(&self, label: &Label) -> Result<Vec<Property>>;

    /// Changes properties of a container, all or none.
    ///
    /// # Errors
    /// `InvalidInput` for a name or value that there is not, and what the storage says of what cannot be changed; `Unsupported` where
    /// there are none; `NotFound`, `PermissionDenied`, `Io`.
    fn set_properties(&self, label: &Label, properties: &[Property]) -> Result<()>;

    /// Opens a handle on a container. Handles are independent: each has its own view of the history.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Unsupported` for a newer format.
    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>>;

    /// Takes a container out of the name space at once, and gives its space back. Handles that are open on
    /// it may go on with what they saw or fail with `NotFound`; they never reach a container made later
    /// under the same label.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`.
    fn destroy_container(&self, label: &Label) -> Result<()>;

    /// The labels of all containers, sorted.
    ///
    /// # Errors
    /// `Io`.
    fn list_containers(&self) -> Result<Vec<Label>>;

    /// The bytes that one container takes.
    ///
    /// # Errors
    /// `NotFound`, `Io`.
    fn container_size(&self, label: &Label) -> Result<u64>;

    /// Looks whether everything stored of a container is as it was written, and goes on after damage. Reads all and
    /// changes nothing; others may write meanwhile. An engine that can find nothing wrong says what it has.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `Io`: what cannot be read is not the same as damaged.
    fn verify_container(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified>;

    /// Moves aside what `findings` name of a container's [`crate::Part::Derived`], which is made anew when it is missed,
    /// and keeps `note` beside it for people to read. Passes over all other findings. Nothing is deleted. The note is
    /// durable when this returns.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `NoSpace`, `Io`; `Unsupported` where nothing outlives the process.
    fn set_aside(&self, label: &Label, findings: &[Finding], note: &str) -> Result<SetAside>;

    /// Gives back the room of what was replaced or removed in a container and of which no snapshot needs anything; only tells how
    /// much that is unless `carry_out`. Others may read and write meanwhile: what they see does not change. A handle whose
    /// process was stopped for long in a commit may find that it can no more learn the outcome, and fails with `Io`.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, `NoSpace` for what must be copied first, `Corrupt`, `Io`; `Conflict` while another
    /// purge of the container is under way; `Unsupported` where it cannot be known who else writes.
    fn purge_container(&self, label: &Label, carry_out: bool) -> Result<Purged>;

    /// The room there is.
    ///
    /// # Errors
    /// `Io`.
    fn usage(&self) -> Result<PoolUsage>;
}

/// A read that is under way; see [`Container::begin_read`].
pub trait PendingRead: Debug + Send + Sync {
    /// Waits for the bytes that are there: the buffer, cut off where the array ends.
    ///
    /// # Errors
    /// As [`Container::read_many`].
    fn wait(self: Box<Self>) -> Result<Vec<u8>>;
}

/// One read of a batch; see [`Container::read_many`].
#[derive(Debug)]
pub struct ArrayRead<'a> {
    /// The array, or the records of an attribute key.
    pub cell: Cell<'a>,
    /// The first byte wanted.
    pub offset: u64,
    /// Where the bytes go.
    pub buffer: &'a mut [u8],
    /// How many bytes were there; fewer than the buffer holds when the read goes past the end.
    pub filled: usize,
}

/// The updates of a transaction that is being put together; see [`Container::stage`]. Nobody sees them, nor does the
/// handle itself, before they are committed. Dropped, or left by a process that dies, they never count.
///
/// ```
/// # use isotach_object::{Cell, Container, Engine, KeyValue, Pool, memory::Memory};
/// # use isotach_object::{ObjectClass, ObjectId, ObjectType, Precondition, Update};
/// # let engine = Memory::new();
/// # engine.create_pool(&"memory:doc".parse()?)?;
/// # let pool = engine.open_pool(&"memory:doc".parse()?)?;
/// # pool.create_container(&"c".parse()?)?;
/// # let container = pool.open_container(&"c".parse()?)?;
/// let steps = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
/// let mut staging = container.stage()?;
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
    /// Adds updates behind those that were given before.
    ///
    /// # Errors
    /// `InvalidInput` and `Unsupported` before any of these is added. After `NoSpace` or `Io` the staging cannot be
    /// committed any more (`Poisoned`).
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()>;

    /// Applies all updates at one epoch, if the preconditions hold there. Whatever comes of it, the staging has ended.
    ///
    /// # Errors
    /// As [`Container::commit`]. After `Conflict`, `InvalidInput` or `NoSpace` nothing counts; after `Io` or `Corrupt` it
    /// is not known whether all or nothing does.
    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch>;

    /// Keeps all updates under a name, if the preconditions hold, for whoever commits them by [`Container::commit_parked`]. Nobody
    /// sees anything of them before that. They outlive the handle and its process, and no purge takes them. It decides at once, as
    /// [`Container::commit`] does, and is durable as that is. Whatever comes of it, the staging has ended.
    ///
    /// # Errors
    /// `AlreadyExists` when something else is parked under the name; `Unsupported` without [`Capabilities::parking`]; else as
    /// [`Staging::commit`].
    fn park(self: Box<Self>, name: &Label, preconditions: &[Precondition<'_>]) -> Result<Epoch>;
}

/// A handle on a container.
pub trait Container: Debug + Send + Sync {
    /// Its name in the pool.
    fn label(&self) -> &Label;

    /// What its engine can do beyond the core.
    fn capabilities(&self) -> Capabilities;

    /// Hands out `count` ids (the low halves of object ids) that no one else gets, ever. `count` is at
    /// least 1.
    ///
    /// # Errors
    /// `InvalidInput` for zero, `NoSpace`, `Io`.
    fn allocate_ids(&self, count: u64) -> Result<IdRange>;

    /// Applies updates in order, each atomic by itself, without condition. Returns when the engine has
    /// taken a copy; [`Container::flush`] makes them durable and visible to all.
    ///
    /// # Errors
    /// `InvalidInput` and `Unsupported` before anything is applied; `NoSpace`, `Io`, `Poisoned`.
    fn update(&self, updates: &[Update<'_>]) -> Result<()>;

    /// Writes the first bytes, from offset 0 on, of an array that nobody has written, and that nobody but this handle writes
    /// before its next flush; what this handle gives afterwards comes after it. Else it is as [`Container::update`]. Who knows
    /// this, as of ids from [`Container::allocate_ids`] that it keeps to itself, spares an engine the copy of the bytes that
    /// only an array that is there would ask for.
    ///
    /// # Errors
    /// As `update`. If the array is there all the same, the engine may do the write, or refuse it with `Conflict`, at the
    /// latest when it is flushed; the handle may be poisoned then.
    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<()>;

    /// Applies all updates of a transaction at one epoch, if all its preconditions hold there.
    ///
    /// # Errors
    /// `Conflict` names the precondition that failed. An engine without
    /// [`Capabilities::transactions`] refuses more than one cell with `Unsupported`. Else as `update`.
    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch>;

    /// Begins a transaction whose updates are given in pieces, and which may be larger than memory. For few updates
    /// [`Container::commit`] costs less.
    ///
    /// # Errors
    /// `Unsupported` without [`Capabilities::transactions`].
    fn stage(&self) -> Result<Box<dyn Staging + '_>>;

    /// The names of what is parked and begins with `prefix`, sorted. A handle on the past lists what was parked then.
    ///
    /// # Errors
    /// `Unsupported` without [`Capabilities::parking`]; `Corrupt`, `Io`.
    fn list_parked(&self, prefix: &str) -> Result<Vec<Label>>;

    /// Applies at one epoch the updates of what is parked under these names, in this order, and then those of the transaction,
    /// if its preconditions hold there; nothing is parked under the names then.
    ///
    /// # Errors
    /// `NotFound` when nothing is parked under one of the names, `Conflict` when it was committed or discarded just then;
    /// `InvalidInput` for a name given twice; `Corrupt` when what is parked is damaged; `Unsupported` without
    /// [`Capabilities::parking`]; else as `commit`. What is parked stays so.
    fn commit_parked(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch>;

    /// Gives up what is parked under a name: it never counts.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` without [`Capabilities::parking`]; else as `commit`.
    fn discard_parked(&self, name: &Label) -> Result<()>;

    /// Makes everything this handle updated durable and visible to every reader.
    ///
    /// # Errors
    /// `NoSpace`, `Io`: what was not flushed may be lost; the handle is then poisoned if it was a sync.
    fn flush(&self) -> Result<()>;

    /// The newest epoch this handle can see now, after looking. It is not before any update that was flushed. The handle's own
    /// updates count as seen: an engine that holds some back hands them over first. So what is read after this call and not changed by
    /// others passes [`crate::Precondition::Unchanged`] with this epoch.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    fn epoch(&self) -> Result<Epoch>;

    /// The values of KV entries or single values; `None` for one that is not there, and for records.
    ///
    /// # Errors
    /// `InvalidInput`, `Corrupt`, `Io`.
    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>>;

    /// The sizes of values, arrays or records, in bytes; `None` for what is not there.
    ///
    /// # Errors
    /// `InvalidInput`, `Corrupt`, `Io`.
    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>>;

    /// Reads ranges of arrays or records. A hole reads as zeros, a read past the end is short, and an array
    /// that is not there has no bytes, nor has a single value. What lies in a buffer past
    /// [`ArrayRead::filled`] is left alone.
    ///
    /// # Errors
    /// `InvalidInput`, `Corrupt` (naming file and object), `Io`.
    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()>;

    /// Where the bytes are, of an array or of records, that were written and not punched or cut off since, within `length`
    /// bytes from `offset` on: in ascending order, with those that touch made one. Zeros that were written are written; what
    /// lies between is a hole. An array that is not there has none, nor has a single value. Without [`Capabilities::holes`]
    /// there is one extent, up to the size.
    ///
    /// # Errors
    /// As `size_many`; `InvalidInput` also for a cell that cannot have bytes at an offset.
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>>;

    /// Begins to read bytes of an array into the front of `buffer`, as many as it is long, and returns while they are on
    /// their way. The answer is that of [`Container::read_many`] at some moment between the two calls.
    ///
    /// # Errors
    /// `InvalidInput`; `Unsupported` without [`Capabilities::reads_ahead`]. What fails later is told by [`PendingRead::wait`].
    fn begin_read(&self, cell: Cell<'_>, offset: u64, buffer: Vec<u8>) -> Result<Box<dyn PendingRead>>;

    /// Lends bytes of an array without a copy, where the engine can; it may gather a range that has holes or
    /// was written in pieces. Short past the end. Lent bytes never change, whatever is written later.
    ///
    /// # Errors
    /// `NoSpace` when gathering needs more memory than there is; `Unsupported` without
    /// [`Capabilities::shared_reads`]; else as `read_many`.
    fn share(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes>;

    /// A page of at most `limit` entries of a KV object, from `anchor` on; with or without the values.
    /// The pages together hold everything that was there throughout, and nothing twice. A page may be short,
    /// even empty; only a page without [`Page::next`] is the last.
    ///
    /// # Errors
    /// `InvalidInput`, also for a limit of 0; `Corrupt`, `Io`.
    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page>;

    /// A page of the distribution keys of a general object.
    ///
    /// # Errors
    /// As `list_entries`.
    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page>;

    /// A page of the attribute keys under a distribution key.
    ///
    /// # Errors
    /// As `list_entries`.
    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page>;

    /// A page of the objects that hold something, if only an empty array.
    ///
    /// # Errors
    /// `InvalidInput` for a limit of 0; `Corrupt`, `Io`.
    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)>;

    /// Names the present state, so that it stays readable: everything that this handle updated, and of the others all
    /// that counts before. It decides at once, as [`Container::commit`] does, and is durable as that is.
    ///
    /// # Errors
    /// `AlreadyExists`; `Unsupported` without [`Capabilities::snapshots`]; else as `commit`.
    fn create_snapshot(&self, name: &Label) -> Result<Epoch>;

    /// All snapshots, oldest first. A handle on the past lists those that there were then, its own included.
    ///
    /// # Errors
    /// `Unsupported` without [`Capabilities::snapshots`]; `Corrupt`, `Io`.
    fn list_snapshots(&self) -> Result<Vec<Snapshot>>;

    /// A read-only handle on the state that a snapshot names. It never changes, and refuses every write with
    /// `PermissionDenied`. Open, it may outlive its snapshot.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` without [`Capabilities::snapshots`].
    fn open_snapshot(&self, name: &Label) -> Result<Arc<dyn Container>>;

    /// A read-only handle, as [`Container::open_snapshot`] gives one, on the state at an epoch: what counted up to and with
    /// it. The present epoch and those of the snapshots are kept; an engine may keep others.
    ///
    /// # Errors
    /// `NotFound` for an epoch that is not kept or has not come yet, saying which are kept; `Unsupported` without
    /// [`Capabilities::snapshots`].
    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>>;

    /// Forgets a snapshot.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` without [`Capabilities::snapshots`]; else as `commit`.
    fn destroy_snapshot(&self, name: &Label) -> Result<()>;
}
