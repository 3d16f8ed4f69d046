//! Containers: creating, opening, closing and destroying them.

pub(crate) mod access;
pub(crate) mod acl;
pub(crate) mod attributes;
mod container;
pub(crate) mod labels;
pub(crate) mod pools;
pub(crate) mod principals;
pub(crate) mod properties;
pub(crate) mod property_text;
pub(crate) mod redundancy;
mod uuids;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use isotach_object::{Cell, ContainerOptions, Error, Label, Update};

pub(crate) use container::{Container, commit, flush_committed, own, uuid_of};
pub(crate) use uuids::{uuid_in, uuid_of_label, uuid_text};

use crate::{
    abi::{
        constants::*,
        errors::*,
        properties::{DAOS_PROP_CO_LABEL, DAOS_PROP_CO_REDUN_FAC, DAOS_PROP_CO_ROOTS},
        stored::{self, UUID},
    },
    containers::{
        labels::resolve,
        pools::Pool,
        properties::{Properties, Value},
        uuids::random_uuid,
    },
    runtime::{
        error::{Result, invalid, refuse},
        handles, log,
    },
    transactions::epochs,
};

/// See `daos_cont_create_with_label`, and `daos_cont_create` without a label: the label is then the text of the UUID. Creates the container
/// together with its properties and `more` updates: every process that finds it finds all of them.
pub(crate) fn create(
    pool: u64,
    label: Option<&str>,
    properties: &Properties,
    more: &[Update<'_>],
) -> Result<[u8; 16]> {
    let pool = Pool::get(pool)?;
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

/// The access mode in the flags. As on DAOS an exclusive open may evict all handles, and any other open the user's own.
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

/// See `daos_cont_open`. Exclusive access is enforced within this process only.
pub(crate) fn open(pool: u64, name: &str, flags: u32) -> Result<u64> {
    let pool = Pool::get(pool)?;
    let modes = checked_modes(flags)?;
    // As on DAOS the container's own list decides, whatever the connection to the pool permits.
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
        // All handles of this process belong to the same user.
        let others = handles::containers::<Container>();
        for other in others.iter().filter(|other| other.is_same(&container)) {
            other.is_gone.store(true, Ordering::Relaxed);
        }
    }
    let blocks = |other: &Container| {
        other.uuid == uuid
            && other.check_exists().is_ok()
            && (modes == DAOS_COO_EX || other.flags == DAOS_COO_EX)
    };
    let added = handles::add_unless(DAOS_HTYPE_CO, container.clone(), Some(container), blocks);
    added.map_or_else(
        || refuse(DER_BUSY, "the container is open in this process, and one of the two wants it alone"),
        Ok,
    )
}

/// See `daos_cont_close`.
pub(crate) fn close(handle: u64) -> Result<()> {
    handles::get::<Container>(handle, DAOS_HTYPE_CO)?;
    handles::remove(handle)
}

/// See `daos_cont_destroy`. Only open handles of this process are known. Afterwards they can only be closed.
pub(crate) fn destroy(pool: u64, name: &str, force: bool) -> Result<()> {
    let pool = Pool::get(pool)?;
    pool.check_writable()?;
    let label = resolve(&pool, name)?;
    let is_it =
        |container: &Container| container.pool.label == pool.label && *container.inner.label() == label;
    if !force && handles::has(|container: &Container| is_it(container) && container.check_exists().is_ok()) {
        return refuse(DER_BUSY, "the container is open; close it, or use force");
    }
    // Listed before: a container that is created later under the label is another one.
    let open = handles::containers::<Container>();
    pool.inner.destroy_container(&label)?;
    for container in open.iter().filter(|container| is_it(container)) {
        container.is_gone.store(true, Ordering::Relaxed);
        epochs::forget(container);
    }
    labels::forget(&pool, &label);
    Ok(())
}

/// See `daos_cont_aggregate`: frees the space of replaced and removed data that no snapshot shows. A part of the history cannot be
/// aggregated, so an epoch in the past does nothing.
pub(crate) fn aggregate(container: u64, epoch: u64) -> Result<()> {
    let container = Container::get(container)?;
    if epoch == DAOS_EPOCH_MAX {
        return invalid("the highest epoch for an aggregation");
    }
    if epoch != 0 && epoch < epochs::next() {
        return Ok(());
    }
    match container.pool.inner.maintenance()?.purge(container.inner.label(), true) {
        // Another process purges it.
        Ok(_) | Err(Error::Conflict { .. }) => Ok(()),
        // Aggregation is an optimisation, so its absence is no failure.
        Err(error @ Error::Unsupported { .. }) => {
            log::line("INFO", &error.to_string());
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
