//! A connection to a pool, which creates, finds, measures and removes containers.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use isotach_engine_kit::context::Context;
use isotach_object::{
    Capabilities, Container, ContainerOptions, Error, Finding, Label, Maintenance, NewRights, Pool,
    PoolFacets, PoolUri, PoolUsage, Purged, Result, SetAside, Verified, Verify, VerifyProgress,
};

use crate::{
    CAPABILITIES,
    container::RadosContainer,
    ffi::{Cluster, Errno, IfFound, Io, Names, Pending, WriteOp},
    keys::HEADER,
    listing,
    options::{Options, SCHEME},
    purge,
    registry::Registry,
    space::{self, Space},
    verify,
};

/// The time between two heartbeats of a process that removes a container.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// A connection.
#[derive(Debug)]
pub(crate) struct RadosPool {
    uri: PoolUri,
    cluster: Arc<Cluster>,
    options: Arc<Options>,
    registry: Registry,
}

impl RadosPool {
    /// A connection to the place of a pool, which need not exist.
    pub(crate) fn at(uri: &PoolUri, cluster: Arc<Cluster>, options: Options) -> Result<Self> {
        let io = space::open_io(&cluster, &options, &options.pool, &space::namespace(&options, None))?;
        let registry = Registry::new(io, &options);
        Ok(Self { uri: uri.clone(), cluster, options: Arc::new(options), registry })
    }

    pub(crate) fn create(&self) -> Result<()> {
        self.registry.create()
    }

    pub(crate) fn check(&self) -> Result<()> {
        self.registry.check()
    }

    /// Removes all containers and the remains of others, and then the pool.
    pub(crate) fn destroy(&self) -> Result<()> {
        self.registry.leave()?;
        for label in self.registry.labels()? {
            match self.destroy_container(&label) {
                // Another removes the pool, too.
                Ok(()) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        for (uid, _) in self.registry.dying(false)? {
            self.remove_namespace(&uid)?;
        }
        self.registry.remove_notes()?;
        self.registry.remove()
    }

    fn not_found(&self, label: &Label) -> Error {
        Error::not_found(format!("container {label} in pool {}", self.uri))
    }

    fn space(&self, label: &Label) -> Result<Space> {
        let uid = self.registry.find(label)?.ok_or_else(|| self.not_found(label))?;
        let space = Space::open(&self.cluster, &self.options, label, &uid)?;
        space.check_header()?;
        Ok(space)
    }

    /// Removes what others began to make or remove and did not end.
    fn remove_abandoned(&self) -> Result<()> {
        for (uid, since) in self.registry.dying(true)? {
            if self.registry.touch(&uid, &since)? {
                self.remove_namespace(&uid)?;
            }
        }
        Ok(())
    }

    /// Removes everything in a namespace that belongs to no container, and forgets it.
    fn remove_namespace(&self, uid: &str) -> Result<()> {
        let namespace = space::namespace(&self.options, Some(uid));
        let mut pools = vec![&self.options.pool];
        if self.options.data != self.options.pool {
            pools.push(&self.options.data);
        }
        for pool in pools {
            let io = space::open_io(&self.cluster, &self.options, pool, &namespace)?;
            self.remove_objects(&io, uid)?;
        }
        self.registry.forget(uid)
    }

    fn remove_objects(&self, io: &Io, uid: &str) -> Result<()> {
        let what = || format!("remove the RADOS objects of namespace {uid}");
        // The header goes first, so that no process opens the remains.
        let mut begun = VecDeque::from([begin_removal(io, HEADER).context(what)?]);
        let mut beat = Instant::now();
        for name in Names::of(io).context(what)? {
            if begun.len() >= io.depth()
                && let Some(first) = begun.pop_front()
            {
                removed(first).context(what)?;
            }
            begun.push_back(begin_removal(io, &name.context(what)?).context(what)?);
            if beat.elapsed() > HEARTBEAT {
                self.registry.beat(uid)?;
                beat = Instant::now();
            }
        }
        begun.into_iter().try_for_each(removed).context(what)
    }
}

fn begin_removal(io: &Io, name: &str) -> Result<Pending, Errno> {
    let mut op = WriteOp::new()?;
    op.remove();
    io.begin(name, &op)
}

fn removed(pending: Pending) -> Result<(), Errno> {
    pending.wait().if_found().map(drop)
}

impl Pool for RadosPool {
    fn uri(&self) -> &PoolUri {
        &self.uri
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> PoolFacets<'_> {
        PoolFacets { maintenance: Some(self), ..PoolFacets::none(SCHEME) }
    }

    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()> {
        if options.rights != NewRights::default() {
            let what =
                "rights of containers: Ceph's users are allowed pools and namespaces (`ceph auth caps`)";
            return Err(Error::Unsupported { engine: SCHEME, what: what.to_owned() });
        }
        if self.registry.find(label)?.is_some() {
            return Err(Error::AlreadyExists { what: format!("container {label} in pool {}", self.uri) });
        }
        let (uid, since) = self.registry.begin()?;
        let space = Space::open(&self.cluster, &self.options, label, &uid)?;
        space.make_header()?;
        if !options.updates.is_empty() {
            // What fails here is removed as what others began.
            let container = RadosContainer::new(Arc::new(space))?;
            container.update(options.updates)?;
            container.flush()?;
        }
        if self.registry.enter(label, &uid, &since)? {
            return Ok(());
        }
        self.remove_namespace(&uid)?;
        Err(Error::AlreadyExists { what: format!("container {label} in pool {}", self.uri) })
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok(Arc::new(RadosContainer::new(Arc::new(self.space(label)?))?))
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        let uid = self.registry.find(label)?;
        let is_taken_out = match &uid {
            Some(uid) => self.registry.take_out(label, uid)?,
            None => false,
        };
        if let Some(uid) = uid.filter(|_| is_taken_out) {
            self.remove_namespace(&uid)?;
        }
        self.remove_abandoned()?;
        if is_taken_out { Ok(()) } else { Err(self.not_found(label)) }
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        self.registry.labels()
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        listing::size(&self.space(label)?)
    }

    /// Without a manager daemon Ceph does not report its space.
    fn usage(&self) -> Result<PoolUsage> {
        let space = self.cluster.space().context(|| format!("read the space of pool {}", self.uri))?;
        let mut used = 0;
        for label in self.registry.labels()? {
            match self.container_size(&label) {
                Ok(size) => used += size,
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        match space.total {
            0 => Ok(PoolUsage { total: u64::MAX, free: u64::MAX - used, used }),
            total => Ok(PoolUsage { total: total.max(used), free: space.free.min(total), used }),
        }
    }
}

impl Maintenance for RadosPool {
    fn verify(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
        verify::container(&Arc::new(self.space(label)?), how, progress)
    }

    /// The engine derives no data, so nothing moves, and only the note is stored.
    fn quarantine(&self, label: &Label, _: &[Finding], note: &str) -> Result<SetAside> {
        self.space(label)?;
        let object = self.registry.keep_note(label, note)?;
        let namespace = space::namespace(&self.options, None);
        let place = format!("object {object} in namespace {namespace} of Ceph pool {}", self.options.pool);
        Ok(SetAside { place, ..SetAside::default() })
    }

    fn purge(&self, label: &Label, carry_out: bool) -> Result<Purged> {
        if carry_out {
            self.remove_abandoned()?;
        }
        purge::container(&self.space(label)?, carry_out)
    }
}
