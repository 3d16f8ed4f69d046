//! Containers of a pool: created, listed, measured, destroyed and created again.

use super::{
    bytes::noise,
    trial::{Trial, all_objects, array, kv, label, refused},
};
use isotach_object::{
    Acl, Cell, ContainerOptions, NewRights, ObjectClass, ObjectId, ObjectType, RightsChange, Update,
};

pub fn a_container_is_created_once_and_opened_by_its_label(trial: &Trial<'_>) {
    let (_, uri, pool) = trial.pool();
    let name = label("od:0001:oper:20240101");
    refused(pool.open_container(&name), "not-found");
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    refused(pool.create_container(&name, &ContainerOptions::default()), "already-exists");
    let container = pool.open_container(&name).unwrap();
    assert_eq!((container.label(), container.capabilities()), (&name, pool.capabilities()));
    assert_eq!((pool.uri(), pool.capabilities()), (&uri, trial.capabilities()));
    assert!(all_objects(&*container, 10).is_empty());
}

/// The options of a container with these updates.
fn holding<'a>(updates: &'a [Update<'a>]) -> ContainerOptions<'a> {
    ContainerOptions { updates, ..ContainerOptions::default() }
}

pub fn a_new_container_holds_its_first_updates_at_once(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    let name = label("made");
    let id = |kind| ObjectId::new(kind, ObjectClass::S1, 0, 1);
    let (entry, value) =
        (Cell::kv(id(ObjectType::KeyValue), b"k"), Cell::general(id(ObjectType::General), b"d", b"a"));
    let updates = [Update::Put { cell: entry, value: b"old" }, Update::Put { cell: entry, value: b"new" }];
    let updates = [&updates[..], &[Update::Put { cell: value, value: b"value" }]].concat();
    let made = pool.create_container(&name, &holding(&updates));
    if made.as_ref().is_err_and(|error| error.code() == "unsupported") {
        refused(pool.open_container(&name), "not-found");
        return;
    }
    made.unwrap();
    let found = pool.open_container(&name).unwrap().get_many(&[entry, value]).unwrap();
    assert_eq!(found, [Some(b"new".to_vec()), Some(b"value".to_vec())]);
    // An existing container stays as it is.
    let other = [Update::Put { cell: entry, value: b"other" }];
    refused(pool.create_container(&name, &holding(&other)), "already-exists");
    pool.create_container(&label("empty"), &ContainerOptions::default()).unwrap();
    refused(pool.create_container(&label("empty"), &holding(&other)), "already-exists");
    let container = pool.open_container(&name).unwrap();
    assert_eq!(container.get_many(&[entry]).unwrap(), [Some(b"new".to_vec())]);
    assert!(all_objects(&*pool.open_container(&label("empty")).unwrap(), 10).is_empty());
    container.update(&other).unwrap();
    container.flush().unwrap();
    assert_eq!(pool.open_container(&name).unwrap().get_many(&[entry]).unwrap(), [Some(b"other".to_vec())]);
    if let Some(access) = pool.facets().access_control {
        let acl: Acl = "A:G:GROUP@:rta,A::EVERYONE@:rta".parse().unwrap();
        let rights = RightsChange { acl: Some(acl.clone()), ..RightsChange::default() };
        let listed = ContainerOptions { rights: NewRights::Asked(rights), updates: &updates };
        pool.create_container(&label("listed"), &listed).unwrap();
        assert_eq!(access.rights(&label("listed")).unwrap().acl, acl);
        let found = pool.open_container(&label("listed")).unwrap().get_many(&[entry, value]).unwrap();
        assert_eq!(found, [Some(b"new".to_vec()), Some(b"value".to_vec())]);
        let unknown =
            RightsChange { owner: Some("nobody of this name".to_owned()), ..RightsChange::default() };
        let unknown = ContainerOptions { rights: NewRights::Asked(unknown), updates: &updates };
        assert!(pool.create_container(&label("unknown"), &unknown).is_err());
        refused(pool.open_container(&label("unknown")), "not-found");
    }
}

pub fn similar_labels_name_different_containers(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    let longest = "x".repeat(127);
    let labels = ["a", "A", "a.b", "a-b", "a_b", "a:b", "-", "_", "0", "con", "a..b", &longest].map(label);
    for (at, name) in (0_u8..).zip(&labels) {
        pool.create_container(name, &ContainerOptions::default()).unwrap();
        let container = pool.open_container(name).unwrap();
        kv(&container, 1).put(b"k", &[at]).unwrap();
        container.flush().unwrap();
    }
    for (at, name) in (0_u8..).zip(&labels) {
        let container = pool.open_container(name).unwrap();
        assert_eq!(kv(&container, 1).get(b"k").unwrap().unwrap(), [at], "{name}");
    }
    let mut sorted = labels.to_vec();
    sorted.sort();
    assert_eq!(pool.list_containers().unwrap(), sorted);
}

pub fn the_listing_is_sorted_and_follows(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    assert!(pool.list_containers().unwrap().is_empty());
    for name in ["c", "a", "b"] {
        pool.create_container(&label(name), &ContainerOptions::default()).unwrap();
    }
    assert_eq!(pool.list_containers().unwrap(), ["a", "b", "c"].map(label));
    pool.destroy_container(&label("b")).unwrap();
    assert_eq!(pool.list_containers().unwrap(), ["a", "c"].map(label));
}

pub fn a_destroyed_container_is_gone_and_can_be_created_again_empty(trial: &Trial<'_>) {
    let place = trial.place();
    let name = label("case");
    place.kv(1).put(b"k", b"old").unwrap();
    place.array(1).write(0, b"old").unwrap();
    place.container.flush().unwrap();
    place.pool.destroy_container(&name).unwrap();
    refused(place.pool.open_container(&name), "not-found");
    refused(place.pool.destroy_container(&name), "not-found");
    refused(place.pool.container_size(&name), "not-found");
    place.pool.create_container(&name, &ContainerOptions::default()).unwrap();
    let again = place.another();
    assert!(all_objects(&*again, 10).is_empty());
    kv(&again, 1).put(b"k", b"new").unwrap();
    assert_eq!(kv(&again, 1).get(b"k").unwrap().unwrap(), b"new");
}

pub fn a_handle_never_reaches_a_later_container_of_its_label(trial: &Trial<'_>) {
    let place = trial.place();
    let name = label("case");
    place.kv(1).put(b"k", b"old").unwrap();
    place.pool.destroy_container(&name).unwrap();
    place.pool.create_container(&name, &ContainerOptions::default()).unwrap();
    let again = place.another();
    kv(&again, 1).put(b"new", b"x").unwrap();
    again.flush().unwrap();
    // The old handle may fail or may work on, but only on what it was opened on.
    let _ = place.kv(1).put(b"stray", b"x");
    let _ = place.kv(1).put_if_absent(b"stray too", b"x");
    let _ = place.array(1).write(0, b"stray");
    let _ = place.container.flush();
    let seen = place.kv(1).get(b"new");
    assert!(!matches!(seen, Ok(Some(_))), "the old handle sees the new container");
    for handle in [&again, &place.another()] {
        assert_eq!(all_objects(&**handle, 10).len(), 1);
        assert_eq!(kv(handle, 1).list(&isotach_object::Anchor::start(), 9, false).unwrap().len(), 1);
    }
}

pub fn containers_have_their_own_objects_and_ids(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    let names = ["one", "two"].map(label);
    for name in &names {
        pool.create_container(name, &ContainerOptions::default()).unwrap();
    }
    let containers = names.map(|name| pool.open_container(&name).unwrap());
    kv(&containers[0], 1).put(b"k", b"x").unwrap();
    containers[0].flush().unwrap();
    assert_eq!(kv(&containers[1], 1).get(b"k").unwrap(), None);
}

pub fn sizes_follow_the_stored_bytes(trial: &Trial<'_>) {
    let place = trial.place();
    let name = label("case");
    let empty = place.pool.container_size(&name).unwrap();
    array(&place.container, 1).write(0, &noise(1, 4 << 20)).unwrap();
    place.container.flush().unwrap();
    let full = place.pool.container_size(&name).unwrap();
    assert!((4 << 20..64 << 20).contains(&(full - empty)), "{empty} bytes before, {full} after 4 MiB");
    let usage = place.pool.usage().unwrap();
    assert!(usage.used >= 4 << 20, "{usage:?}");
    assert!(usage.used <= usage.total && usage.free <= usage.total, "{usage:?}");
    place.pool.destroy_container(&name).unwrap();
    let after = place.pool.usage().unwrap();
    assert!(after.used + (4 << 20) <= usage.used, "{usage:?} before, {after:?} after");
}
