//! Facets: an engine has those that its capabilities name, and refuses each that it lacks.

use std::fmt::Debug;

use super::trial::{Trial, label, refused};
use isotach_object::{ContainerOptions, NewRights, Property, Result, Rights, RightsChange};

pub fn the_facets_are_those_that_the_capabilities_name(trial: &Trial<'_>) {
    let (place, can) = (trial.place(), trial.capabilities());
    let of_pool = place.pool.facets();
    assert_eq!(of_pool.access_control.is_some(), can.permissions);
    let has = place.container.facets();
    assert_eq!(has.snapshots.is_some(), can.snapshots);
    assert_eq!(has.staged_transactions.is_some(), can.transactions);
    assert_eq!(has.prepared_transactions.is_some(), can.prepared_transactions);
    assert_eq!(has.lent_reads.is_some(), can.lent_reads);
    assert_eq!(has.pending_reads.is_some(), can.pending_reads);
    assert_eq!(has.extents.is_some(), can.holes);
    let scheme = trial.fixture.engine().scheme();
    assert_eq!((of_pool.engine, has.engine), (scheme, scheme));
}

/// That a facet is returned where the engine has it, and refused where not.
fn returned_or_refused(has: bool, asked: Result<impl Debug>) {
    if has {
        asked.unwrap();
    } else {
        refused(asked, "unsupported");
    }
}

pub fn missing_snapshots_are_refused(trial: &Trial<'_>) {
    let container = trial.place().container;
    returned_or_refused(container.facets().snapshots.is_some(), container.snapshots());
}

pub fn missing_staged_transactions_are_refused(trial: &Trial<'_>) {
    let container = trial.place().container;
    returned_or_refused(container.facets().staged_transactions.is_some(), container.staged_transactions());
}

pub fn missing_prepared_transactions_are_refused(trial: &Trial<'_>) {
    let container = trial.place().container;
    let facets = container.facets();
    returned_or_refused(facets.prepared_transactions.is_some(), container.prepared_transactions());
    assert!(facets.prepared_transactions.is_none() || facets.staged_transactions.is_some());
}

pub fn missing_lent_reads_are_refused(trial: &Trial<'_>) {
    let container = trial.place().container;
    returned_or_refused(container.facets().lent_reads.is_some(), container.lent_reads());
}

pub fn missing_pending_reads_are_refused(trial: &Trial<'_>) {
    let container = trial.place().container;
    returned_or_refused(container.facets().pending_reads.is_some(), container.pending_reads());
}

pub fn missing_access_control_is_refused(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    returned_or_refused(pool.facets().access_control.is_some(), pool.access_control());
}

pub fn missing_storage_properties_are_refused(trial: &Trial<'_>) {
    let (engine, uri, pool) = trial.pool();
    let has = pool.facets().properties.is_some();
    returned_or_refused(has, pool.storage_properties());
    assert_eq!(engine.open_pool(&uri).unwrap().facets().properties.is_some(), has);
}

pub fn missing_maintenance_is_refused(trial: &Trial<'_>) {
    let (engine, uri, pool) = trial.pool();
    let has = pool.facets().maintenance.is_some();
    returned_or_refused(has, pool.maintenance());
    assert_eq!(engine.open_pool(&uri).unwrap().facets().maintenance.is_some(), has);
}

pub fn rights_are_refused_without_access_control(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    let lacks = pool.facets().access_control.is_none();
    if !trial.is_for(lacks, "the engine has access control") {
        return;
    }
    let acl = || "A::OWNER@:rw,A::EVERYONE@:r".parse().unwrap();
    let of = |change| NewRights::Asked(change);
    for rights in [
        of(RightsChange { owner: Some("alice".to_owned()), ..RightsChange::default() }),
        of(RightsChange { group: Some("hpc".to_owned()), ..RightsChange::default() }),
        of(RightsChange { acl: Some(acl()), ..RightsChange::default() }),
        NewRights::Inherited(Rights { owner: "alice".to_owned(), group: "hpc".to_owned(), acl: acl() }),
    ] {
        let options = ContainerOptions::with_rights(rights);
        refused(pool.create_container(&label("case"), &options), "unsupported");
        refused(pool.open_container(&label("case")), "not-found");
    }
}

pub fn unknown_properties_and_containers_are_refused(trial: &Trial<'_>) {
    let place = trial.place();
    let (name, none) = (label("case"), label("none"));
    let Some(properties) = place.pool.facets().properties else {
        trial.is_for(false, "the pool has no storage properties");
        return;
    };
    let before = properties.properties(&name).unwrap();
    let wrong = [Property { name: "no such property".to_owned(), value: "x".to_owned() }];
    refused(properties.set_properties(&name, &wrong), "invalid-input");
    assert_eq!(properties.properties(&name).unwrap(), before);
    refused(properties.properties(&none), "not-found");
}
