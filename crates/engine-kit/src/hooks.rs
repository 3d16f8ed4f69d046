//! A wrapper for tests of faults and races: a container that does what the inner one does, except where its hooks differ.
//!
//! A test implements [`Hooks`] with the few methods that it changes, and opens its containers through [`hook_engine`].

use std::{fmt::Debug, ops::Range, sync::Arc};

use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, ContainerOptions, Engine, Epoch,
    Extents, Finding, IdRange, Label, LentReads, Maintenance, ObjectId, Page, PendingRead, PendingReads,
    Pool, PoolFacets, PoolUri, PoolUsage, PreparableStaging, PreparedTransactions, Purged, Result, SetAside,
    SharedBytes, Snapshot, Snapshots, StagedTransactions, Staging, Transaction, Update, Verified, Verify,
    VerifyProgress,
};

/// Declares [`Hooks`] with a method for each method of a container's core, and forwards the core of [`Hooked`] to it.
macro_rules! hooks {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// What a wrapped container does. Each method does what the inner container does unless it is overridden.
        #[expect(missing_docs, reason = "each is named after the method of the container that it stands for")]
        pub trait Hooks: Debug + Send + Sync {
            fn capabilities(&self, inner: &dyn Container) -> Capabilities {
                inner.capabilities()
            }

            /// The facets that are shown: of `all`, by default those that the inner container has.
            fn facets<'c>(&self, inner: &dyn Container, all: ContainerFacets<'c>) -> ContainerFacets<'c> {
                let has = inner.facets();
                ContainerFacets {
                    engine: has.engine,
                    snapshots: all.snapshots.filter(|_| has.snapshots.is_some()),
                    staged_transactions: all.staged_transactions.filter(|_| has.staged_transactions.is_some()),
                    prepared_transactions: all.prepared_transactions.filter(|_| has.prepared_transactions.is_some()),
                    lent_reads: all.lent_reads.filter(|_| has.lent_reads.is_some()),
                    pending_reads: all.pending_reads.filter(|_| has.pending_reads.is_some()),
                    extents: all.extents.filter(|_| has.extents.is_some()),
                }
            }

            $(fn $name(&self, inner: &dyn Container $(, $argument: $type)*) -> $result {
                inner.$name($($argument),*)
            })*

            fn create_snapshot(&self, inner: &dyn Container, name: &Label) -> Result<Epoch> {
                inner.snapshots()?.create(name)
            }

            fn open_snapshot(&self, inner: &Arc<dyn Container>, name: &Label) -> Result<Arc<dyn Container>> {
                inner.snapshots()?.open(name)
            }

            fn open_at(&self, inner: &dyn Container, epoch: Epoch) -> Result<Arc<dyn Container>> {
                inner.snapshots()?.open_at(epoch)
            }

            fn destroy_snapshot(&self, inner: &dyn Container, name: &Label) -> Result<()> {
                inner.snapshots()?.destroy(name)
            }

            fn stage<'c>(&'c self, inner: &'c dyn Container) -> Result<Box<dyn Staging + 'c>> {
                inner.staged_transactions()?.stage()
            }

            fn commit_prepared(
                &self,
                inner: &dyn Container,
                names: &[Label],
                transaction: &Transaction<'_>,
            ) -> Result<Epoch> {
                inner.prepared_transactions()?.commit_prepared(names, transaction)
            }

            fn depth(&self, inner: &dyn Container) -> usize {
                inner.facets().pending_reads.map_or(1, PendingReads::depth)
            }

            fn begin_read(
                &self,
                inner: &Arc<dyn Container>,
                cell: Cell<'_>,
                offset: u64,
                buffer: Vec<u8>,
            ) -> Result<Box<dyn PendingRead>> {
                inner.pending_reads()?.begin_read(cell, offset, buffer)
            }

            fn list_extents(
                &self,
                inner: &dyn Container,
                cell: Cell<'_>,
                offset: u64,
                length: u64,
            ) -> Result<Vec<Range<u64>>> {
                isotach_object::extents_of(inner, cell, offset, length)
            }
        }

        impl<H: Hooks> Container for Hooked<H> {
            fn label(&self) -> &Label {
                self.inner.label()
            }

            fn capabilities(&self) -> Capabilities {
                self.hooks.capabilities(&*self.inner)
            }

            fn facets(&self) -> ContainerFacets<'_> {
                let all = ContainerFacets {
                    engine: self.inner.facets().engine,
                    snapshots: Some(self),
                    staged_transactions: Some(self),
                    prepared_transactions: Some(self),
                    lent_reads: Some(self),
                    pending_reads: Some(self),
                    extents: Some(self),
                };
                self.hooks.facets(&*self.inner, all)
            }

            $(fn $name(&self $(, $argument: $type)*) -> $result {
                self.hooks.$name(&*self.inner $(, $argument)*)
            })*
        }
    };
}

hooks! {
    fn allocate_ids(count: u64) -> Result<IdRange>;
    fn update(updates: &[Update<'_>]) -> Result<()>;
    fn write_new(object: ObjectId, data: &[u8]) -> Result<Option<u32>>;
    fn commit(transaction: &Transaction<'_>) -> Result<Epoch>;
    fn flush() -> Result<()>;
    fn epoch() -> Result<Epoch>;
    fn get_many(cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>>;
    fn size_many(cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>>;
    fn read_many(reads: &mut [ArrayRead<'_>]) -> Result<()>;
    fn list_entries(object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page>;
    fn list_dkeys(object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page>;
    fn list_akeys(object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page>;
    fn list_objects(anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)>;
}

/// A container with hooks.
#[derive(Debug)]
pub struct Hooked<H> {
    inner: Arc<dyn Container>,
    hooks: H,
}

impl<H: Hooks> Hooked<H> {
    /// Wraps a container.
    pub fn new(inner: Arc<dyn Container>, hooks: H) -> Self {
        Self { inner, hooks }
    }

    /// The hooks.
    pub fn hooks(&self) -> &H {
        &self.hooks
    }
}

impl<H: Hooks> Snapshots for Hooked<H> {
    fn create(&self, name: &Label) -> Result<Epoch> {
        self.hooks.create_snapshot(&*self.inner, name)
    }

    fn list(&self) -> Result<Vec<Snapshot>> {
        self.inner.snapshots()?.list()
    }

    fn open(&self, name: &Label) -> Result<Arc<dyn Container>> {
        self.hooks.open_snapshot(&self.inner, name)
    }

    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        self.hooks.open_at(&*self.inner, epoch)
    }

    fn destroy(&self, name: &Label) -> Result<()> {
        self.hooks.destroy_snapshot(&*self.inner, name)
    }
}

impl<H: Hooks> StagedTransactions for Hooked<H> {
    fn stage(&self) -> Result<Box<dyn Staging + '_>> {
        self.hooks.stage(&*self.inner)
    }
}

impl<H: Hooks> PreparedTransactions for Hooked<H> {
    fn begin_prepared(&self) -> Result<Box<dyn PreparableStaging + '_>> {
        self.inner.prepared_transactions()?.begin_prepared()
    }

    fn list_prepared(&self, prefix: &str) -> Result<Vec<Label>> {
        self.inner.prepared_transactions()?.list_prepared(prefix)
    }

    fn commit_prepared(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch> {
        self.hooks.commit_prepared(&*self.inner, names, transaction)
    }

    fn abort_prepared(&self, name: &Label) -> Result<()> {
        self.inner.prepared_transactions()?.abort_prepared(name)
    }
}

impl<H: Hooks> LentReads for Hooked<H> {
    fn lend(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        self.inner.lent_reads()?.lend(cell, offset, length)
    }
}

impl<H: Hooks> PendingReads for Hooked<H> {
    fn depth(&self) -> usize {
        self.hooks.depth(&*self.inner)
    }

    fn begin_read(&self, cell: Cell<'_>, offset: u64, buffer: Vec<u8>) -> Result<Box<dyn PendingRead>> {
        self.hooks.begin_read(&self.inner, cell, offset, buffer)
    }
}

impl<H: Hooks> Extents for Hooked<H> {
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>> {
        self.hooks.list_extents(&*self.inner, cell, offset, length)
    }
}

/// A call of a pool that a test can observe or fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolCall<'a> {
    /// A container is destroyed.
    Destroy(&'a Label),
    /// A container is purged.
    Purge(&'a Label),
}

/// An engine that does what `inner` does, and wraps each container that is opened. `before` runs before the calls of its
/// pools; if it fails, the call fails with its error.
pub fn hook_engine(
    inner: Arc<dyn Engine>,
    before: impl Fn(PoolCall<'_>) -> Result<()> + Send + Sync + 'static,
    wrap: impl Fn(Arc<dyn Container>) -> Arc<dyn Container> + Send + Sync + 'static,
) -> Arc<dyn Engine> {
    Arc::new(Outer { inner, before: Arc::new(before), wrap: Arc::new(wrap) })
}

/// An engine or a pool, and what it does differently.
struct Outer<T: ?Sized> {
    inner: Arc<T>,
    before: Arc<dyn Fn(PoolCall<'_>) -> Result<()> + Send + Sync>,
    wrap: Arc<Wrap>,
}

type Wrap = dyn Fn(Arc<dyn Container>) -> Arc<dyn Container> + Send + Sync;

impl<T: Debug + ?Sized> Debug for Outer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooked({:?})", self.inner)
    }
}

impl Engine for Outer<dyn Engine> {
    fn scheme(&self) -> &'static str {
        self.inner.scheme()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        self.inner.create_pool(uri)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        let inner = self.inner.open_pool(uri)?;
        let (before, wrap) = (Arc::clone(&self.before), Arc::clone(&self.wrap));
        Ok(Arc::new(Outer { inner, before, wrap }))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        self.inner.destroy_pool(uri)
    }
}

impl Pool for Outer<dyn Pool> {
    fn uri(&self) -> &PoolUri {
        self.inner.uri()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn facets(&self) -> PoolFacets<'_> {
        let has = self.inner.facets();
        PoolFacets { maintenance: has.maintenance.map(|_| self as &dyn Maintenance), ..has }
    }

    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()> {
        self.inner.create_container(label, options)
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok((self.wrap)(self.inner.open_container(label)?))
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        (self.before)(PoolCall::Destroy(label))?;
        self.inner.destroy_container(label)
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        self.inner.list_containers()
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        self.inner.container_size(label)
    }

    fn usage(&self) -> Result<PoolUsage> {
        self.inner.usage()
    }
}

impl Maintenance for Outer<dyn Pool> {
    fn verify(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
        self.inner.maintenance()?.verify(label, how, progress)
    }

    fn quarantine(&self, label: &Label, findings: &[Finding], note: &str) -> Result<SetAside> {
        self.inner.maintenance()?.quarantine(label, findings, note)
    }

    fn purge(&self, label: &Label, carry_out: bool) -> Result<Purged> {
        (self.before)(PoolCall::Purge(label))?;
        self.inner.maintenance()?.purge(label, carry_out)
    }
}
