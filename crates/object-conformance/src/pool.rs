//! Pools of an engine: created, opened, destroyed.

use super::trial::{Trial, create, kv, label, refused};
use isotach_object::{PoolUri, Registry};

pub fn a_pool_is_created_once_and_opened_by_its_uri(trial: &Trial<'_>) {
    let (engine, uri) = (trial.fixture.engine(), trial.fixture.fresh_pool());
    assert_eq!(engine.scheme(), uri.scheme());
    refused(engine.open_pool(&uri), "not-found");
    engine.create_pool(&uri).unwrap();
    refused(engine.create_pool(&uri), "already-exists");
    let pool = engine.open_pool(&uri).unwrap();
    assert!(pool.list_containers().unwrap().is_empty());
}

pub fn a_destroyed_pool_is_gone_and_can_be_created_again_empty(trial: &Trial<'_>) {
    let (engine, uri, pool) = trial.pool();
    kv(&create(&*pool, "c"), 1).put(b"k", b"x").unwrap();
    drop(pool);
    engine.destroy_pool(&uri).unwrap();
    refused(engine.open_pool(&uri), "not-found");
    refused(engine.destroy_pool(&uri), "not-found");
    engine.create_pool(&uri).unwrap();
    assert!(engine.open_pool(&uri).unwrap().list_containers().unwrap().is_empty());
}

pub fn pools_have_their_own_containers(trial: &Trial<'_>) {
    let ((_, _, one), (_, _, two)) = (trial.pool(), trial.pool());
    create(&*one, "c");
    assert!(two.list_containers().unwrap().is_empty());
    refused(two.open_container(&label("c")), "not-found");
}

pub fn unknown_options_and_schemes_are_refused(trial: &Trial<'_>) {
    let (engine, uri, _pool) = trial.pool();
    let join = if uri.to_string().contains('?') { '&' } else { '?' };
    let option: PoolUri = format!("{uri}{join}no-such-option=1").parse().unwrap();
    refused(engine.open_pool(&option), "invalid-input");
    let scheme: PoolUri = format!("no-such-scheme:{}", uri.path()).parse().unwrap();
    refused(engine.open_pool(&scheme), "invalid-input");
    refused(engine.create_pool(&scheme), "invalid-input");
    refused(engine.destroy_pool(&scheme), "invalid-input");
    engine.open_pool(&uri).unwrap();
}

pub fn a_registry_finds_the_engine_by_its_scheme(trial: &Trial<'_>) {
    let (engine, uri, _pool) = trial.pool();
    assert!(Registry::new().with(engine).open_pool(&uri).is_ok());
    refused(Registry::new().open_pool(&uri), "invalid-input");
}
