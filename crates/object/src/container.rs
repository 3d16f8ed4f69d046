//! A handle on a container: the core that every engine has, and the way to its facets.

use std::fmt::Debug;

use crate::{
    Anchor, Capabilities, Cell, ContainerFacets, Epoch, IdRange, Label, ObjectId, Page, Result, Transaction,
    Update,
};

/// One read of a batch; see [`Container::read_many`].
#[derive(Debug)]
pub struct ArrayRead<'a> {
    /// The array, or the records of an attribute key.
    pub cell: Cell<'a>,
    /// The first byte wanted.
    pub offset: u64,
    /// Receives the bytes.
    pub buffer: &'a mut [u8],
    /// The number of bytes read: fewer than the buffer holds when the read reaches past the end.
    pub filled: usize,
}

/// A handle on a container.
///
/// **Required**: every method. [`Container::facets`] of a minimal engine is `ContainerFacets::none(SCHEME)`.
///
/// **What an engine may assume**: nothing of the arguments, which it checks before it does anything
/// ([`Update::check_for`], [`Transaction::check_for`], [`Cell::check_value`], [`Cell::check_extent`],
/// [`ObjectId::expect_type`]); a batch with one wrong part does nothing. Threads call one handle at the same time. Other
/// handles, of this and of other processes, change the container at any moment. Ids given to [`Container::write_new`] belong
/// to this handle alone.
///
/// **Durability**: [`Container::update`] is durable and visible to others when [`Container::flush`] has returned.
/// [`Container::commit`] decides before it returns: the transaction then counts for every reader, with everything that its
/// handle updated before. It is durable after the next flush; an engine may make it durable at once. After a failed sync the
/// handle refuses further writes with [`crate::Error::Poisoned`].
pub trait Container: Debug + Send + Sync {
    /// The label of the container in its pool.
    fn label(&self) -> &Label;

    /// The guarantees of its engine beyond the core.
    fn capabilities(&self) -> Capabilities;

    /// The optional parts of the contract that this handle has.
    fn facets(&self) -> ContainerFacets<'_>;

    /// Allocates `count` ids (the low halves of object ids). No other caller ever gets them.
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

    /// Writes a new array from offset 0: no handle has written it before. Only this handle may write the array before its next
    /// flush, and later writes of this handle are applied after this one. Otherwise as [`Container::update`]. An engine that
    /// knows that the array is new can save a copy of the bytes. Returns the CRC-32C of `data` if the engine has computed it, so
    /// that the caller need not.
    ///
    /// # Errors
    /// As `update`. If the array exists, the engine either writes it or refuses with `Conflict`, at the latest when it is
    /// flushed; the handle may be poisoned then.
    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<Option<u32>>;

    /// Applies all updates of a transaction at one epoch, if all its preconditions hold there.
    ///
    /// # Errors
    /// `Conflict` names the precondition that failed. An engine without
    /// [`Capabilities::transactions`] refuses more than one cell with `Unsupported`. Otherwise as `update`. After a refusal
    /// ([`Error::is_refusal`](crate::Error::is_refusal)) nothing counts; after any other error the outcome is uncertain: all or
    /// nothing. An engine that fails after its decision reports
    /// [`Error::after_decision`](crate::Error::after_decision).
    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch>;

    /// Makes everything this handle updated durable and visible to every reader.
    ///
    /// # Errors
    /// `NoSpace`, `Io`: what was not flushed may be lost; after a failed sync the handle is poisoned.
    fn flush(&self) -> Result<()>;

    /// Looks for the newest epoch that this handle can see now. It is not before any update that was flushed. The handle's own
    /// updates count as seen: an engine that holds some back writes them first. A value read after this call and not changed
    /// by others passes [`crate::Precondition::Unchanged`] with this epoch.
    ///
    /// # Errors
    /// `Corrupt`, `Io`.
    fn epoch(&self) -> Result<Epoch>;

    /// The values of key-value entries or single values; `None` for absent cells, and for records.
    ///
    /// # Errors
    /// `InvalidInput`, `Corrupt`, `Io`.
    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>>;

    /// The sizes of values, arrays or records, in bytes; `None` for absent cells.
    ///
    /// # Errors
    /// `InvalidInput`, `Corrupt`, `Io`.
    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>>;

    /// Reads ranges of arrays or records. A hole reads as zeros and a read past the end is short. An absent array has no
    /// bytes, nor has a single value. The bytes of a buffer past [`ArrayRead::filled`] do not change.
    ///
    /// # Errors
    /// `InvalidInput`, `Corrupt` (naming file and object), `Io`.
    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()>;

    /// A page of at most `limit` entries of a key-value object, from `anchor` on, with or without the values.
    /// The pages together hold every entry that was there throughout, and none twice. A page may be short or
    /// empty; only a page without [`Page::next`] is the last.
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

    /// A page of the objects that hold something; an empty array counts.
    ///
    /// # Errors
    /// `InvalidInput` for a limit of 0; `Corrupt`, `Io`.
    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)>;
}
