//! Facets: an engine has those that its capabilities name, and refuses each that it lacks.

use std::fmt::Debug;

use super::trial::{Trial, label, refused};
use isotach_object::{ContainerOptions, NewRights, Property, Result, Rights, RightsChange};

pub fn the_facets_are_those_that_the_capabilities_name(trial: &Trial<'_>) {
    let (can, of_pool, has) = (trial.capabilities(), trial.pool.facets(), trial.container.facets());
    assert_eq!(of_pool.access_control.is_some(), can.permissions);
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

pub fn missing_facets_are_refused(trial: &Trial<'_>) {
    let (container, pool) = (&trial.container, &trial.pool);
    let (has, of_pool) = (container.facets(), pool.facets());
    returned_or_refused(has.snapshots.is_some(), container.snapshots());
    returned_or_refused(has.staged_transactions.is_some(), container.staged_transactions());
    returned_or_refused(has.prepared_transactions.is_some(), container.prepared_transactions());
    returned_or_refused(has.lent_reads.is_some(), container.lent_reads());
    returned_or_refused(has.pending_reads.is_some(), container.pending_reads());
    assert!(has.prepared_transactions.is_none() || has.staged_transactions.is_some());
    returned_or_refused(of_pool.access_control.is_some(), pool.access_control());
    returned_or_refused(of_pool.properties.is_some(), pool.storage_properties());
    returned_or_refused(of_pool.maintenance.is_some(), pool.maintenance());
    let again = trial.fixture.engine().open_pool(&trial.uri).unwrap();
    assert_eq!(again.facets().properties.is_some(), of_pool.properties.is_some());
    assert_eq!(again.facets().maintenance.is_some(), of_pool.maintenance.is_some());
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
    let (name, none) = (label("case"), label("none"));
    let Some(properties) = trial.pool.facets().properties else {
        trial.is_for(false, "the pool has no storage properties");
        return;
    };
    let before = properties.properties(&name).unwrap();
    let wrong = [Property { name: "no such property".to_owned(), value: "x".to_owned() }];
    refused(properties.set_properties(&name, &wrong), "invalid-input");
    assert_eq!(properties.properties(&name).unwrap(), before);
    refused(properties.properties(&none), "not-found");
}
