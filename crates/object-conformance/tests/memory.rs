//! The memory engine obeys the contract.

use isotach_object::{ContainerOptions, Engine, NewRights, RightsChange, memory::Memory};
use isotach_object_conformance::MemoryFixture;

isotach_object_conformance::conformance_suite! { memory => MemoryFixture::new() }
isotach_object_conformance::model_suite! { memory_model => MemoryFixture::new() }
isotach_object_conformance::history_suite! { memory_history => MemoryFixture::new() }

#[test]
fn rights_that_memory_cannot_keep_are_refused_and_nothing_is_made() {
    let engine = Memory::new();
    let uri = "memory:rights".parse().unwrap();
    engine.create_pool(&uri).unwrap();
    let pool = engine.open_pool(&uri).unwrap();
    let label = "c".parse().unwrap();
    let change = RightsChange { acl: Some("A::EVERYONE@:r".parse().unwrap()), ..RightsChange::default() };
    let made = pool.create_container(&label, &ContainerOptions::with_rights(NewRights::Asked(change)));
    assert_eq!(made.unwrap_err().code(), "unsupported");
    assert!(pool.list_containers().unwrap().is_empty());
    pool.create_container(&label, &ContainerOptions::default()).unwrap();
    assert_eq!(pool.access_control().unwrap_err().code(), "unsupported");
}
