//! The memory engine obeys the contract.

use isotach_object::{Engine, NewRights, RightsChange, conformance::MemoryFixture, memory::Memory};

isotach_object::conformance_suite! { memory => MemoryFixture::new() }
isotach_object::model_suite! { memory_model => MemoryFixture::new() }
isotach_object::history_suite! { memory_history => MemoryFixture::new() }

#[test]
fn rights_that_memory_cannot_keep_are_refused_and_nothing_is_made() {
    let engine = Memory::new();
    let uri = "memory:rights".parse().unwrap();
    engine.create_pool(&uri).unwrap();
    let pool = engine.open_pool(&uri).unwrap();
    let label = "c".parse().unwrap();
    let change = RightsChange { acl: Some("A::EVERYONE@:r".parse().unwrap()), ..RightsChange::default() };
    assert!(!pool.capabilities().permissions);
    let made = pool.create_container_with(&label, &NewRights::Asked(change.clone()), &[]);
    assert_eq!(made.unwrap_err().code(), "unsupported");
    assert!(pool.list_containers().unwrap().is_empty());
    pool.create_container_with(&label, &NewRights::default(), &[]).unwrap();
    assert_eq!(pool.rights(&label).unwrap_err().code(), "unsupported");
    assert_eq!(pool.set_rights(&label, &change).unwrap_err().code(), "unsupported");
    assert_eq!(pool.admit(&change.acl.unwrap()).unwrap_err().code(), "unsupported");
}
