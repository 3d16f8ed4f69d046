//! A connection to a pool: the core that every engine has, and the way to its facets.

use std::{fmt::Debug, sync::Arc};

use crate::{Capabilities, Container, Label, NewRights, PoolFacets, PoolUri, Result, Update};

/// Space in a pool, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUsage {
    /// The size of the storage under the pool.
    pub total: u64,
    /// The free part of it.
    pub free: u64,
    /// What this pool's containers take.
    pub used: u64,
}

/// How a container is created: its rights and its first updates. The default is an empty container with the engine's default
/// rights.
///
/// ```
/// # use isotach_object::{Cell, ContainerOptions, Engine, ObjectClass, ObjectId, ObjectType, Update, memory::Memory};
/// # let engine = Memory::new();
/// # engine.create_pool(&"memory:doc".parse()?)?;
/// # let pool = engine.open_pool(&"memory:doc".parse()?)?;
/// let settings = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
/// let layout = Update::Put { cell: Cell::kv(settings, b"layout"), value: b"2" };
/// pool.create_container(&"forecast".parse()?, &ContainerOptions { updates: &[layout], ..Default::default() })?;
/// # Ok::<(), isotach_object::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ContainerOptions<'a> {
    /// Owner, group and access control list.
    pub rights: NewRights,
    /// Updates that the container holds when it appears, applied in order.
    pub updates: &'a [Update<'a>],
}

impl ContainerOptions<'_> {
    /// An empty container with these rights.
    pub fn with_rights(rights: NewRights) -> Self {
        Self { rights, updates: &[] }
    }
}

/// A connection to a pool.
///
/// **Required**: every method. [`Pool::facets`] of a minimal engine is `PoolFacets::none(SCHEME)`.
///
/// **What an engine may assume**: labels are well formed ([`Label`] checks them). Other processes create, open and destroy
/// containers of the same pool at the same time, where the engine has [`Capabilities::multi_process`].
///
/// **Durability**: a container that was created or destroyed stays so after a crash once the call has returned, where the
/// engine is [`Capabilities::persistent`].
pub trait Pool: Debug + Send + Sync {
    /// The URI that it was opened with.
    fn uri(&self) -> &PoolUri;

    /// The guarantees of its engine beyond the core.
    fn capabilities(&self) -> Capabilities;

    /// The optional parts of the contract that this pool has.
    fn facets(&self) -> PoolFacets<'_>;

    /// Creates a container. Atomic: a crash leaves either the whole container under the label or none, and no reader ever
    /// finds it with other rights. Of several callers that race, one succeeds.
    ///
    /// # Errors
    /// `AlreadyExists`, `PermissionDenied`, `NoSpace`, `Io`; as [`Container::update`] for the updates. `Unsupported` for
    /// rights that the engine cannot keep ([`Capabilities::permissions`]), and for updates where it can only make empty
    /// containers.
    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()>;

    /// Opens a handle on a container. Handles are independent: each has its own view of the history.
    ///
    /// # Errors
    /// `NotFound`, `Corrupt`, `Unsupported` for a newer format.
    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>>;

    /// Takes a container out of the name space at once and frees its space. Open handles either keep what they saw or fail
    /// with `NotFound`; they never reach a later container of the same label.
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

    /// The space in the pool.
    ///
    /// # Errors
    /// `Io`.
    fn usage(&self) -> Result<PoolUsage>;
}
