//! Containers. What DAOS keeps of one besides its objects is in an object of its own, which no program may open: its UUID, its properties,
//! and what arrays were created with.

pub(crate) mod access;
pub(crate) mod acl;
pub(crate) mod attributes;
pub(crate) mod labels;
pub(crate) mod pools;
pub(crate) mod properties;
pub(crate) mod property_text;
pub(crate) mod redundancy;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use isotach_object::{
    Cell, ContainerOptions, Epoch, Error, Label, ObjectId, Precondition, Transaction, Update,
};
use md5::{Digest, Md5};

use crate::{
    abi::{
        acl::DAOS_ACL_PERM_WRITE,
        constants::*,
        errors::*,
        properties::{DAOS_PROP_CO_LABEL, DAOS_PROP_CO_REDUN_FAC, DAOS_PROP_CO_ROOTS},
        stored::{self, OWN, UUID},
    },
    containers::{
        labels::resolve,
        pools::Pool,
        properties::{Properties, Value},
    },
    runtime::{
        error::{Der, Result, invalid, refuse},
        handles::{self, Open},
        log,
    },
    transactions::{epochs, retry::until_first},
};

/// An open container.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) pool: Arc<Pool>,
    pub(crate) inner: Arc<dyn isotach_object::Container>,
    pub(crate) uuid: [u8; 16],
    pub(crate) flags: u32,
    /// What its access control list permits whoever opened it.
    pub(crate) permissions: u64,
    /// How many failures its objects must survive, which here is none.
    pub(crate) redundancy_factor: u64,
    /// Whether this process destroyed it since, or evicted this handle.
    pub(crate) is_gone: AtomicBool,
}

/// The object that holds what is not the program's.
pub(crate) fn own() -> Result<ObjectId> {
    Ok(ObjectId::from_halves(OWN.0, OWN.1)?)
}

pub(crate) fn random_uuid() -> Result<[u8; 16]> {
    Ok(stored::random_uuid(isotach_engine_kit::random::bytes()?))
}

/// The UUID of a container; of one that this library did not make, that of its label.
pub(crate) fn uuid_of(container: &dyn isotach_object::Container) -> Result<[u8; 16]> {
    let stored = container.get_many(&[Cell::kv(own()?, UUID)])?.pop().flatten();
    match stored.map(<[u8; 16]>::try_from) {
        Some(Ok(uuid)) => Ok(uuid),
        Some(Err(_)) => refuse(DER_CSUM, "a UUID that this library did not store"),
        None => Ok(uuid_of_label(container.label().as_str())),
    }
}

/// A UUID that is the same for everybody who knows the label.
pub(crate) fn uuid_of_label(label: &str) -> [u8; 16] {
    let mut uuid: [u8; 16] = Md5::digest(label).into();
    uuid[6] = uuid[6] & 0x0f | 0x30;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// A UUID as text.
pub(crate) fn uuid_text(uuid: &[u8; 16]) -> String {
    let digits: Vec<String> = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    [&digits[..4], &digits[4..6], &digits[6..8], &digits[8..10], &digits[10..]]
        .map(<[String]>::concat)
        .join("-")
}

/// See `daos_cont_create_with_label`, and `daos_cont_create` where there is no label: then it is the UUID's text. Its properties come with the
/// container, and so do these updates: whoever finds it finds all of them.
pub(crate) fn create(
    pool: u64,
    label: Option<&str>,
    properties: &Properties,
    more: &[Update<'_>],
) -> Result<[u8; 16]> {
    let pool = handles::pool(pool)?;
    pool.check_writable()?;
    let mut properties = properties.clone();
    let own_label = properties.remove(&DAOS_PROP_CO_LABEL);
    let label = match (label, &own_label) {
        (Some(label), Some(Value::Text(other))) if label != other => {
            return invalid("two labels for a container, which differ");
        }
        (None, Some(Value::Text(other))) => Some(other.as_str()),
        (label, _) => label,
    };
    if let Some(expected) = label.and_then(stored::wrong_label) {
        return invalid(&format!("the label of a container: expected {expected}"));
    }
    access::check_owner(&properties)?;
    access::add_defaults(&mut properties);
    let roots = properties::roots(&properties);
    properties.entry(DAOS_PROP_CO_ROOTS).or_insert(roots);
    let uuid = random_uuid()?;
    let label: Label = label.map_or_else(|| uuid_text(&uuid), str::to_owned).parse()?;
    let (object, stored) = (own()?, properties::stored(&properties));
    let mut updates = vec![Update::Put { cell: Cell::kv(object, UUID), value: &uuid }];
    updates.extend(stored.iter().map(|(key, value)| Update::Put { cell: Cell::kv(object, key), value }));
    updates.extend_from_slice(more);
    pool.inner.create_container(&label, &ContainerOptions { updates: &updates, ..Default::default() })?;
    labels::remember(&pool, &uuid, &label);
    Ok(uuid)
}

/// The one way to open a container that flags say. As on DAOS who opens it for himself alone may evict all, and others their own handles.
fn checked_modes(flags: u32) -> Result<u32> {
    let modes = flags & (DAOS_COO_RO | DAOS_COO_RW | DAOS_COO_EX);
    if modes.count_ones() != 1 || flags >= 2 * DAOS_COO_NEW_LAYOUT {
        return invalid(&format!(
            "flags {flags:#x} of daos_cont_open: one of DAOS_COO_RO, DAOS_COO_RW and DAOS_COO_EX is expected, and others that there are"
        ));
    }
    let is_alone = modes == DAOS_COO_EX;
    match (flags & DAOS_COO_EVICT != 0, flags & DAOS_COO_EVICT_ALL != 0) {
        (true, true) => invalid("flags of daos_cont_open: DAOS_COO_EVICT or DAOS_COO_EVICT_ALL is expected"),
        (true, false) if is_alone => {
            invalid("flags of daos_cont_open: DAOS_COO_EVICT goes with DAOS_COO_RO or DAOS_COO_RW")
        }
        (false, true) if !is_alone => {
            invalid("flags of daos_cont_open: DAOS_COO_EVICT_ALL goes with DAOS_COO_EX")
        }
        _ => Ok(modes),
    }
}

/// See `daos_cont_open`. Of this process it is known who else has the container open, and alone.
pub(crate) fn open(pool: u64, name: &str, flags: u32) -> Result<u64> {
    let pool = handles::pool(pool)?;
    let modes = checked_modes(flags)?;
    // As on DAOS the connection to the pool does not matter: the container's own list decides.
    let inner = pool.inner.open_container(&resolve(&pool, name)?)?;
    let uuid = uuid_of(&*inner)?;
    let kept = properties::some(&*inner, &[&access::PROPERTIES[..], &[DAOS_PROP_CO_REDUN_FAC]].concat())?;
    let redundancy_factor = properties::redundancy_factor(&kept);
    let permissions = access::permissions(&kept, modes)?;
    let container = Arc::new(Container {
        pool,
        inner,
        uuid,
        flags: modes,
        permissions,
        redundancy_factor,
        is_gone: AtomicBool::new(false),
    });
    if flags & (DAOS_COO_EVICT | DAOS_COO_EVICT_ALL) != 0 {
        // All that this process has open is the same user's.
        for other in handles::containers_of(|other| other.is_same(&container)) {
            other.is_gone.store(true, Ordering::Relaxed);
        }
    }
    let hinders = |other: &Container| {
        other.uuid == uuid
            && other.check_there().is_ok()
            && (modes == DAOS_COO_EX || other.flags == DAOS_COO_EX)
    };
    let added = handles::add_unless(
        Open::Container(container),
        |open| matches!(open, Open::Container(other) if hinders(other)),
    );
    added.map_or_else(
        || refuse(DER_BUSY, "the container is open in this process, and one of the two wants it alone"),
        Ok,
    )
}

/// See `daos_cont_close`.
pub(crate) fn close(handle: u64) -> Result<()> {
    handles::container_to_close(handle)?;
    handles::remove(handle).map(drop)
}

/// See `daos_cont_destroy`. Only of this process it is known whether the container is open; what it has open there can only be closed then.
pub(crate) fn destroy(pool: u64, name: &str, force: bool) -> Result<()> {
    let pool = handles::pool(pool)?;
    pool.check_writable()?;
    let label = resolve(&pool, name)?;
    let is_it =
        |container: &Container| container.pool.label == pool.label && *container.inner.label() == label;
    if !force && handles::count_of(|container| is_it(container) && container.check_there().is_ok()) > 0 {
        return refuse(DER_BUSY, "the container is open; close it, or use force");
    }
    // Taken before: one that is made later under the label is another.
    let open = handles::containers_of(is_it);
    pool.inner.destroy_container(&label)?;
    for container in open {
        container.is_gone.store(true, Ordering::Relaxed);
        epochs::forget(&container);
    }
    labels::forget(&pool, &label);
    Ok(())
}

/// See `daos_cont_aggregate`: gives back the room of what was replaced or removed, and which no snapshot shows. That is not done for a part of
/// the history, so one that ends in the past asks for nothing.
pub(crate) fn aggregate(container: u64, epoch: u64) -> Result<()> {
    let container = handles::container(container)?;
    if epoch == DAOS_EPOCH_MAX {
        return invalid("the highest epoch for an aggregation");
    }
    if epoch != 0 && epoch < epochs::next() {
        return Ok(());
    }
    match container.pool.inner.maintenance()?.purge(container.inner.label(), true) {
        // Another is at it.
        Ok(_) | Err(Error::Conflict { .. }) => Ok(()),
        // It is a help, and never a need.
        Err(error @ Error::Unsupported { .. }) => {
            log::line("INFO", &error.to_string());
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

impl Container {
    /// Whether another handle is on the same container.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.uuid == other.uuid && self.pool.label == other.pool.label
    }

    /// Refuses what is done in a container that this process destroyed.
    pub(crate) fn check_there(&self) -> Result<()> {
        if self.is_gone.load(Ordering::Relaxed) { Err(Der(DER_NO_HDL)) } else { Ok(()) }
    }

    /// Refuses what needs permissions that whoever opened the container does not have, or not through a handle for reading.
    pub(crate) fn check(&self, permissions: u64) -> Result<()> {
        if self.permissions & permissions == permissions { Ok(()) } else { Err(Der(DER_NO_PERM)) }
    }

    /// Refuses a change of what is in the container where that is not permitted.
    pub(crate) fn check_writable(&self) -> Result<()> {
        self.check(DAOS_ACL_PERM_WRITE)
    }

    /// The first of so many ids that nobody else gets.
    pub(crate) fn allocate_ids(&self, count: u64) -> Result<u64> {
        self.check_writable()?;
        Ok(self.inner.allocate_ids(count)?.start)
    }

    /// Does updates, for all to see: all or none, where the engine can do that.
    pub(crate) fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        self.check_writable()?;
        all(&*self.inner, updates)
    }

    /// Does updates of what is kept of the container itself, for which such permissions are needed.
    pub(crate) fn update_own(&self, permissions: u64, updates: &[Update<'_>]) -> Result<()> {
        self.check(permissions)?;
        all(&*self.inner, updates)
    }

    /// Does updates if conditions hold; gives the number of the first that does not.
    pub(crate) fn update_if(
        &self,
        preconditions: &[Precondition<'_>],
        updates: &[Update<'_>],
    ) -> Result<Option<usize>> {
        self.check_writable()?;
        let transaction = Transaction { preconditions: preconditions.to_vec(), updates: updates.to_vec() };
        until_first(|| match commit(&*self.inner, &transaction) {
            Ok(_) => Ok(None),
            // Others may have been faster with something else.
            Err(Error::Conflict { .. }) => first_failing(&*self.inner, preconditions)?
                .map_or(Err(Der(DER_TX_RESTART)), |first| Ok(Some(first))),
            Err(error) => Err(error.into()),
        })
    }
}

/// The first of conditions, on whether cells hold something, that a state does not meet.
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

/// Commits, and sees to it that what counts from now on is durable.
pub(crate) fn commit(
    container: &dyn isotach_object::Container,
    transaction: &Transaction<'_>,
) -> isotach_object::Result<Epoch> {
    let epoch = container.commit(transaction)?;
    flush_committed(container).map(|()| epoch)
}

/// Makes durable what was committed. Its failure is always [`Error::Io`]: the transaction counts already, so an error that says that nothing
/// was done, as [`Error::NoSpace`] does, would be wrong.
pub(crate) fn flush_committed(container: &dyn isotach_object::Container) -> isotach_object::Result<()> {
    container.flush().map_err(|error| Error::Io {
        what: format!(
            "flush container {} after a change that counts and may not survive a crash",
            container.label()
        ),
        source: error.into(),
    })
}

/// Does updates, for all to see: all or none, where the engine can do that.
fn all(container: &dyn isotach_object::Container, updates: &[Update<'_>]) -> Result<()> {
    if updates.len() > 1 && container.capabilities().transactions {
        let transaction = Transaction { preconditions: Vec::new(), updates: updates.to_vec() };
        return until_first(|| Ok(commit(container, &transaction).map(drop)?));
    }
    match container.update(updates).and_then(|()| container.flush()) {
        // What came of it nobody knows, so it is not done again here; and no transaction is to begin anew.
        Err(error @ Error::Conflict { .. }) => refuse(DER_AGAIN, &error.to_string()),
        outcome => Ok(outcome?),
    }
}
