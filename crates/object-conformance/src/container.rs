//! Containers of a pool: created, listed, measured, destroyed and created again.

use super::{
    bytes::noise,
    trial::{Trial, all_objects, cell, create, general_id, kv, label, refused},
};
use isotach_object::{Acl, Cell, ContainerOptions, NewRights, RightsChange, Update};

pub fn a_container_is_created_once_and_opened_by_its_label(trial: &Trial<'_>) {
    let (_, uri, pool) = trial.pool();
    let name = label("od:0001:oper:20240101");
    refused(pool.open_container(&name), "not-found");
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    refused(pool.create_container(&name, &ContainerOptions::default()), "already-exists");
    let container = pool.open_container(&name).unwrap();
    assert_eq!((container.label(), container.capabilities()), (&name, pool.capabilities()));
    assert_eq!((pool.uri(), pool.capabilities()), (&uri, trial.capabilities()));
    assert!(all_objects(&container, 10).is_empty());
}

/// The options of a container with these updates.
fn holding<'a>(updates: &'a [Update<'a>]) -> ContainerOptions<'a> {
    ContainerOptions { updates, ..ContainerOptions::default() }
}

pub fn a_new_container_holds_its_first_updates_at_once(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    let name = label("made");
    let (entry, value) = (cell(b"k"), Cell::general(general_id(1), b"d", b"a"));
    let puts = [(entry, &b"old"[..]), (entry, b"new"), (value, b"value")];
    let updates = puts.map(|(cell, value)| Update::Put { cell, value });
    let made = pool.create_container(&name, &holding(&updates));
    if made.as_ref().is_err_and(|error| error.code() == "unsupported") {
        refused(pool.open_container(&name), "not-found");
        return;
    }
    made.unwrap();
    let open = |name: &str| pool.open_container(&label(name)).unwrap();
    let expected = [Some(b"new".to_vec()), Some(b"value".to_vec())];
    assert_eq!(open("made").get_many(&[entry, value]).unwrap(), expected);
    // An existing container stays as it is.
    let other = [Update::Put { cell: entry, value: b"other" }];
    refused(pool.create_container(&name, &holding(&other)), "already-exists");
    let empty = create(&*pool, "empty");
    refused(pool.create_container(&label("empty"), &holding(&other)), "already-exists");
    let container = open("made");
    assert_eq!(container.get_many(&[entry]).unwrap(), expected[..1]);
    assert!(all_objects(&empty, 10).is_empty() && all_objects(&open("empty"), 10).is_empty());
    container.update(&other).unwrap();
    container.flush().unwrap();
    assert_eq!(open("made").get_many(&[entry]).unwrap(), [Some(b"other".to_vec())]);
    if let Some(access) = pool.facets().access_control {
        let acl: Acl = "A:G:GROUP@:rta,A::EVERYONE@:rta".parse().unwrap();
        let rights = RightsChange { acl: Some(acl.clone()), ..RightsChange::default() };
        let listed = ContainerOptions { rights: NewRights::Asked(rights), updates: &updates };
        pool.create_container(&label("listed"), &listed).unwrap();
        assert_eq!(access.rights(&label("listed")).unwrap().acl, acl);
        assert_eq!(open("listed").get_many(&[entry, value]).unwrap(), expected);
        let nobody = Some("nobody of this name".to_owned());
        let rights = NewRights::Asked(RightsChange { owner: nobody, ..RightsChange::default() });
        let unknown = ContainerOptions { rights, updates: &updates };
        assert!(pool.create_container(&label("unknown"), &unknown).is_err());
        refused(pool.open_container(&label("unknown")), "not-found");
    }
}

pub fn similar_labels_name_different_containers(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    let longest = "x".repeat(127);
    let labels = ["a", "A", "a.b", "a-b", "a_b", "a:b", "-", "_", "0", "con", "a..b", &longest].map(label);
    for (at, name) in (0_u8..).zip(&labels) {
        let container = create(&*pool, name.as_str());
        kv(&container, 1).put(b"k", &[at]).unwrap();
        container.flush().unwrap();
    }
    for (at, name) in (0_u8..).zip(&labels) {
        assert_eq!(kv(&pool.open_container(name).unwrap(), 1).get(b"k").unwrap().unwrap(), [at], "{name}");
    }
    let mut sorted = labels.to_vec();
    sorted.sort();
    assert_eq!(pool.list_containers().unwrap(), sorted);
}

pub fn the_listing_is_sorted_and_follows(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    assert!(pool.list_containers().unwrap().is_empty());
    for name in ["c", "a", "b"] {
        create(&*pool, name);
    }
    assert_eq!(pool.list_containers().unwrap(), ["a", "b", "c"].map(label));
    pool.destroy_container(&label("b")).unwrap();
    assert_eq!(pool.list_containers().unwrap(), ["a", "c"].map(label));
}

pub fn a_destroyed_container_is_gone_and_can_be_created_again_empty(trial: &Trial<'_>) {
    let name = label("case");
    trial.kv(1).put(b"k", b"old").unwrap();
    trial.array(1).write(0, b"old").unwrap();
    trial.flush();
    trial.pool.destroy_container(&name).unwrap();
    refused(trial.pool.open_container(&name), "not-found");
    refused(trial.pool.destroy_container(&name), "not-found");
    refused(trial.pool.container_size(&name), "not-found");
    let again = create(&*trial.pool, "case");
    assert!(all_objects(&again, 10).is_empty());
    kv(&again, 1).put(b"k", b"new").unwrap();
    assert_eq!(kv(&again, 1).get(b"k").unwrap().unwrap(), b"new");
}

pub fn a_handle_never_reaches_a_later_container_of_its_label(trial: &Trial<'_>) {
    let name = label("case");
    trial.kv(1).put(b"k", b"old").unwrap();
    trial.pool.destroy_container(&name).unwrap();
    let again = create(&*trial.pool, "case");
    kv(&again, 1).put(b"new", b"x").unwrap();
    again.flush().unwrap();
    // The old handle may fail or may work on, but only on what it was opened on.
    let _ = trial.kv(1).put(b"stray", b"x");
    let _ = trial.kv(1).put_if_absent(b"stray too", b"x");
    let _ = trial.array(1).write(0, b"stray");
    let _ = trial.container.flush();
    let seen = trial.kv(1).get(b"new");
    assert!(!matches!(seen, Ok(Some(_))), "the old handle sees the new container");
    for handle in [&again, &trial.another()] {
        assert_eq!(all_objects(handle, 10).len(), 1);
        assert_eq!(kv(handle, 1).list(&isotach_object::Anchor::start(), 9, false).unwrap().len(), 1);
    }
}

pub fn containers_have_their_own_objects_and_ids(trial: &Trial<'_>) {
    let (_, _, pool) = trial.pool();
    let containers = ["one", "two"].map(|name| create(&*pool, name));
    kv(&containers[0], 1).put(b"k", b"x").unwrap();
    containers[0].flush().unwrap();
    assert_eq!(kv(&containers[1], 1).get(b"k").unwrap(), None);
}

pub fn sizes_follow_the_stored_bytes(trial: &Trial<'_>) {
    let name = label("case");
    let empty = trial.pool.container_size(&name).unwrap();
    trial.array(1).write(0, &noise(1, 4 << 20)).unwrap();
    trial.flush();
    let full = trial.pool.container_size(&name).unwrap();
    assert!((4 << 20..64 << 20).contains(&(full - empty)), "{empty} bytes before, {full} after 4 MiB");
    let usage = trial.pool.usage().unwrap();
    assert!(usage.used >= 4 << 20, "{usage:?}");
    assert!(usage.used <= usage.total && usage.free <= usage.total, "{usage:?}");
    trial.pool.destroy_container(&name).unwrap();
    let after = trial.pool.usage().unwrap();
    assert!(after.used + (4 << 20) <= usage.used, "{usage:?} before, {after:?} after");
}
