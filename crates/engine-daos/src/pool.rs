//! A connection to a pool: creating, finding, measuring and removing its containers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use isotach_daos_abi::{
    errors::{DER_BUSY, DER_NO_HDL, DER_NONEXIST},
    properties::{
        DAOS_PROP_CO_CSUM, DAOS_PROP_CO_LAYOUT_METEO, DAOS_PROP_CO_LAYOUT_TYPE, DAOS_PROP_CO_REDUN_FAC,
    },
};
use isotach_engine_kit::context::Context;
use isotach_object::{
    AccessControl, Capabilities, Container, ContainerOptions, Error, Finding, Label, Maintenance, Pool,
    PoolFacets, PoolUri, PoolUsage, Property, Purged, Result, Rights, RightsChange, SetAside,
    StorageProperties, Verified, Verify, VerifyProgress,
};

use crate::{
    container::DaosContainer,
    failure::{failed, forked},
    ffi::{self, Cont, Der, Health, NewContainer, Session},
    keys::OWN,
    options::{CAPABILITIES, Options, SCHEME},
    properties, rights,
    space::Space,
    walk,
};

/// A connection. Opened containers stay open until it is dropped, because opening is expensive for servers.
#[derive(Debug)]
pub(crate) struct DaosPool {
    uri: PoolUri,
    options: Arc<Options>,
    connection: Mutex<Arc<ffi::Pool>>,
    session: Arc<Session>,
    open: Mutex<HashMap<Label, Arc<Cont>>>,
}

impl DaosPool {
    pub(crate) fn new(uri: &PoolUri, options: Options, session: Arc<Session>, pool: Arc<ffi::Pool>) -> Self {
        let (uri, options, connection) = (uri.clone(), Arc::new(options), Mutex::new(pool));
        Self { uri, options, connection, session, open: Mutex::default() }
    }

    /// Runs an operation on the pool. Reconnects once if the connection was evicted.
    fn with_pool<T>(&self, act: impl Fn(&Arc<ffi::Pool>) -> Result<T, Der>) -> Result<T, Der> {
        let connection = || self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let before = Arc::clone(&connection());
        match act(&before) {
            Err(Der(DER_NO_HDL)) => {
                let mut kept = connection();
                // Another thread may have reconnected.
                if Arc::ptr_eq(&before, &kept) {
                    let Options { pool, system, .. } = &*self.options;
                    let connected = ffi::Pool::connect(&self.session, pool, system.as_deref());
                    // The loss of the pool is no answer to the operation.
                    let gone = |der: Der| if der.is_absence() { Der(DER_NO_HDL) } else { der };
                    *kept = Arc::new(connected.map_err(gone)?);
                }
                let now = Arc::clone(&kept);
                drop(kept);
                act(&now)
            }
            result => result,
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Label, Arc<Cont>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_process(&self) -> Result<()> {
        match self.session.is_of_this_process() {
            true => Ok(()),
            false => Err(forked(&format!("use pool {} after a fork", self.uri))),
        }
    }

    fn naming(&self, label: &Label) -> String {
        format!("container {label} in pool {}", self.uri)
    }

    /// The present container with this label.
    fn cont(&self, label: &Label) -> Result<Arc<Cont>> {
        self.check_process()?;
        let kept = self.open().get(label).cloned();
        // The open container may have been destroyed, and its label reused.
        if let Some(cont) = kept.filter(|cont| cont.ping().is_ok()) {
            return Ok(cont);
        }
        let open = self.with_pool(|pool| Cont::open(pool, label.as_str(), Health::Whole));
        let cont = Arc::new(open.context(|| self.naming(label))?);
        self.open().insert(label.clone(), Arc::clone(&cont));
        Ok(cont)
    }

    /// As above, for reading and changing its properties, also for a container with lost data.
    fn cont_of_any_health(&self, label: &Label) -> Result<Cont> {
        self.check_process()?;
        let open = self.with_pool(|pool| Cont::open(pool, label.as_str(), Health::Any));
        open.context(|| self.naming(label))
    }

    fn space(&self, label: &Label) -> Result<Space> {
        Space::open(self.cont(label)?, label, &self.options)
    }
}

impl Pool for DaosPool {
    fn uri(&self) -> &PoolUri {
        &self.uri
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn facets(&self) -> PoolFacets<'_> {
        PoolFacets {
            access_control: Some(self),
            properties: Some(self),
            maintenance: Some(self),
            ..PoolFacets::none(SCHEME)
        }
    }

    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()> {
        if !options.updates.is_empty() {
            let what = format!("making container {label} with something in it: DAOS makes empty ones");
            return Err(Error::Unsupported { engine: SCHEME, what });
        }
        self.check_process()?;
        // The request names every relevant property, since the defaults of pools differ between releases.
        let properties = [
            (DAOS_PROP_CO_LAYOUT_TYPE, DAOS_PROP_CO_LAYOUT_METEO),
            // Objects of one copy are allowed, whatever the pool's own factor is; those of classes with more have more.
            (DAOS_PROP_CO_REDUN_FAC, 0),
            (DAOS_PROP_CO_CSUM, self.options.checksum),
        ];
        let targets = self
            .with_pool(|pool| pool.targets())
            .context(|| format!("ask for the targets of pool {}", self.uri))?;
        let roots = Space::roots(&self.options, targets);
        let (list, gift) = rights::of_new(&options.rights, &self.naming(label))?;
        let new = NewContainer { numbers: &properties, roots, list: &list };
        let made = self.with_pool(|pool| pool.create_container(label.as_str(), &new));
        made.context(|| self.naming(label))?;
        if gift == RightsChange::default() {
            return Ok(());
        }
        self.set_rights(label, &gift).map(drop).inspect_err(|_| {
            // The container differs from the request.
            let _ = self.destroy_container(label);
        })
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok(Arc::new(DaosContainer::new(Arc::new(self.space(label)?))))
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        self.check_process()?;
        self.open().remove(label);
        self.with_pool(|pool| pool.destroy_container(label.as_str())).context(|| self.naming(label))
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        self.check_process()?;
        let labels = self.with_pool(|pool| pool.labels());
        let labels = labels.context(|| format!("list the containers of pool {}", self.uri))?;
        let mut labels: Vec<Label> = labels.iter().filter_map(|label| label.parse().ok()).collect();
        labels.sort_unstable();
        Ok(labels)
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        walk::size(&self.space(label)?)
    }

    fn usage(&self) -> Result<PoolUsage> {
        self.check_process()?;
        let space = self.with_pool(|pool| pool.space());
        let (total, free) = space.context(|| format!("ask for the space of pool {}", self.uri))?;
        Ok(PoolUsage { total, free: free.min(total), used: total.saturating_sub(free) })
    }
}

impl AccessControl for DaosPool {
    fn rights(&self, label: &Label) -> Result<Rights> {
        rights::of(&self.cont_of_any_health(label)?, &self.naming(label))
    }

    fn set_rights(&self, label: &Label, change: &RightsChange) -> Result<Rights> {
        let (cont, naming) = (self.cont_of_any_health(label)?, self.naming(label));
        // A handle keeps the permissions of its opening, so this one can still read after a change of owner. The next opening is checked
        // again.
        let changed = rights::change(&cont, change, &naming);
        self.open().remove(label);
        changed?;
        rights::of(&cont, &naming)
    }
}

impl StorageProperties for DaosPool {
    fn properties(&self, label: &Label) -> Result<Vec<Property>> {
        let what =
            || format!("see the properties of {}, which takes the permissions t and a", self.naming(label));
        let found = self.cont_of_any_health(label)?.properties().context(what)?;
        Ok(found.into_iter().filter_map(properties::from_daos).collect())
    }

    fn set_properties(&self, label: &Label, given: &[Property]) -> Result<()> {
        let given = given.iter().map(properties::read).collect::<Result<Vec<_>>>()?;
        let set = self.cont_of_any_health(label)?.set_properties(&given);
        set.context(|| format!("set properties of {}, which takes the permission T", self.naming(label)))
    }
}

impl Maintenance for DaosPool {
    fn verify(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
        walk::verify(&self.space(label)?, how, progress)
    }

    /// Nothing here is derived from other data, so nothing moves, and only the note is stored.
    fn quarantine(&self, label: &Label, _: &[Finding], note: &str) -> Result<SetAside> {
        let space = self.space(label)?;
        let key = space.keep_note(note)?;
        let place =
            format!("entry {key:?} of the map {:016x}{:016x} in {}", OWN.0, OWN.1, self.naming(label));
        Ok(SetAside { place, ..SetAside::default() })
    }

    fn purge(&self, label: &Label, carry_out: bool) -> Result<Purged> {
        let space = self.space(label)?;
        let before = walk::size(&space)?;
        if carry_out {
            let what = || format!("aggregate {}", self.naming(label));
            match space.cont.aggregate() {
                Err(Der(DER_BUSY)) => return Err(Error::Conflict { what: what() }),
                outcome => outcome.context(what)?,
            }
        }
        // DAOS reports neither how much space it frees nor when.
        Ok(Purged { before, ..Purged::default() })
    }
}

/// A failure to connect.
pub(crate) fn not_connected(der: Der, uri: &PoolUri) -> Error {
    match der.0 {
        DER_NONEXIST => Error::not_found(format!("pool {uri}")),
        _ => failed(der, &format!("connect to pool {uri}")),
    }
}
