//! Whose containers are, who may do what with them, and what DAOS's tools say of them; runs as `conformance` does.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

mod support;

use std::sync::Arc;

use isotach_object::{
    Acl, ContainerOptions, Label, NewRights, Permissions, Pool, Principal, Property, RightsChange,
};
use isotach_object_conformance::{ClusterFixture, Fixture};

fn pool(fixture: &ClusterFixture) -> Arc<dyn Pool> {
    let uri = fixture.fresh_pool();
    fixture.engine().create_pool(&uri).unwrap();
    fixture.engine().open_pool(&uri).unwrap()
}

fn label() -> Label {
    "box".parse().unwrap()
}

fn acl(text: &str) -> Acl {
    text.parse().unwrap()
}

fn listed(acl: &Acl) -> RightsChange {
    RightsChange { acl: Some(acl.clone()), ..RightsChange::default() }
}

fn property(name: &str, value: &str) -> Property {
    Property { name: name.to_owned(), value: value.to_owned() }
}

#[test]
fn a_container_made_without_a_list_has_that_of_daos_and_its_group_sees_it() {
    let fixture = support::daos("");
    let pool = pool(&fixture);
    assert!(pool.capabilities().permissions);
    pool.create_container(&label(), &ContainerOptions::default()).unwrap();
    let rights = pool.access_control().unwrap().rights(&label()).unwrap();
    assert_eq!(rights.acl.to_string(), "A::OWNER@:rwdtTaAo,A:G:GROUP@:rwtTa");
    let me = uzers::get_effective_username().unwrap();
    assert_eq!(Some(rights.owner.as_str()), me.to_str());
}

#[test]
fn a_list_is_kept_letter_by_letter_and_who_may_read_may_look_at_properties_and_list() {
    let fixture = support::daos("");
    let pool = pool(&fixture);
    let control = pool.access_control().unwrap();
    let asked = acl("A::ann@:rw,A::bea@:tT,A:G:crew@:d,A::EVERYONE@:r");
    pool.create_container(&label(), &ContainerOptions::with_rights(NewRights::Asked(listed(&asked))))
        .unwrap();
    let kept = "A::OWNER@:rwdtTaAo,A::ann@:rwta,A::bea@:tT,A:G:crew@:d,A::EVERYONE@:rta";
    assert_eq!(control.rights(&label()).unwrap().acl.to_string(), kept);
    // What was reported is what is kept when it is set again.
    let told = control.rights(&label()).unwrap();
    assert_eq!(control.set_rights(&label(), &listed(&told.acl)).unwrap(), told);
    // Who may not even read, and so see no properties, still sets the list that is his.
    let blind = Acl::new().with(Principal::Owner, "aA".parse().unwrap());
    assert_eq!(control.set_rights(&label(), &listed(&blind)).unwrap().acl, blind);
    let error = pool.open_container(&label()).map(drop).unwrap_err();
    assert_eq!(error.code(), "permission-denied", "{error}");
    let without_write = Permissions::ALL.without("w".parse().unwrap());
    let narrow = Acl::new().with(Principal::Owner, without_write);
    assert_eq!(control.set_rights(&label(), &listed(&narrow)).unwrap().acl, narrow);
    // Another connection, which checks what holds now, as the owner who may no longer write.
    let again = fixture.engine().open_pool(pool.uri()).unwrap();
    let container = again.open_container(&label()).unwrap();
    let refused = container.allocate_ids(1).map(drop).unwrap_err();
    assert_eq!(refused.code(), "permission-denied", "{refused}");
    control.set_rights(&label(), &listed(&Acl::new())).unwrap();
    let again = fixture.engine().open_pool(pool.uri()).unwrap();
    again.open_container(&label()).unwrap().allocate_ids(1).unwrap();
}

#[test]
fn a_container_given_to_another_user_is_closed_to_its_former_owner() {
    let fixture = support::daos("");
    let pool = pool(&fixture);
    let control = pool.access_control().unwrap();
    pool.create_container(&label(), &ContainerOptions::default()).unwrap();
    let gift =
        RightsChange { owner: Some("daemon".into()), group: Some("games".into()), acl: Some(Acl::new()) };
    let told = control.set_rights(&label(), &gift).unwrap();
    assert_eq!((told.owner.as_str(), told.group.as_str()), ("daemon", "games"));
    let error = control.rights(&label()).unwrap_err();
    assert_eq!(error.code(), "permission-denied", "{error}");
    let error = pool.open_container(&label()).map(drop).unwrap_err();
    assert_eq!(error.code(), "permission-denied", "{error}");
    // A refused owner changes nothing of the list, either.
    let third: Label = "third".parse().unwrap();
    pool.create_container(&third, &ContainerOptions::default()).unwrap();
    let before = control.rights(&third).unwrap();
    for (owner, group) in [(Some("no-such-user-here"), None), (None, Some("no-such-group-here"))] {
        let [owner, group] = [owner, group].map(|name| name.map(str::to_owned));
        let unknown = RightsChange { owner, group, acl: Some(Acl::new()) };
        assert_eq!(control.set_rights(&third, &unknown).unwrap_err().code(), "invalid-input");
        assert_eq!(control.rights(&third).unwrap(), before);
        let made = pool.create_container(
            &"fourth".parse().unwrap(),
            &ContainerOptions::with_rights(NewRights::Asked(unknown)),
        );
        assert_eq!(made.unwrap_err().code(), "invalid-input");
    }
    // So is one that is another's from the beginning on.
    let other: Label = "other".parse().unwrap();
    pool.create_container(&other, &ContainerOptions::with_rights(NewRights::Asked(gift))).unwrap();
    assert_eq!(control.rights(&other).unwrap_err().code(), "permission-denied");
}

#[test]
fn a_container_that_inherits_is_open_to_all_whom_the_first_one_is_open_to() {
    let fixture = support::daos("");
    let pool = pool(&fixture);
    let control = pool.access_control().unwrap();
    let asked = acl("A::ann@:rw,A:G:GROUP@:r");
    pool.create_container(&label(), &ContainerOptions::with_rights(NewRights::Asked(listed(&asked))))
        .unwrap();
    let first = control.rights(&label()).unwrap();
    let other: Label = "other".parse().unwrap();
    pool.create_container(&other, &ContainerOptions::with_rights(NewRights::Inherited(first.clone())))
        .unwrap();
    assert_eq!(control.rights(&other).unwrap(), first);
}

#[test]
fn properties_are_told_by_the_names_that_daos_has_and_are_set_all_or_none() {
    let fixture = support::daos("&csum=crc64");
    let pool = pool(&fixture);
    pool.create_container(&label(), &ContainerOptions::default()).unwrap();
    let told = pool.storage_properties().unwrap().properties(&label()).unwrap();
    let first = [("label", "box"), ("layout_type", "METEO"), ("cksum", "crc64")];
    for (name, value) in first.into_iter().chain([("rd_fac", "0"), ("status", "healthy")]) {
        assert!(told.contains(&property(name, value)), "{name} {value}: {told:?}");
    }
    for other in [property("colour", "red"), property("rd_fac", "2")] {
        let error = pool
            .storage_properties()
            .unwrap()
            .set_properties(&label(), &[property("status", "healthy"), other])
            .unwrap_err();
        assert_eq!(error.code(), "invalid-input");
    }
    assert_eq!(pool.storage_properties().unwrap().properties(&label()).unwrap(), told, "all or none");
    pool.storage_properties().unwrap().set_properties(&label(), &[property("status", "healthy")]).unwrap();
    assert!(
        pool.storage_properties()
            .unwrap()
            .properties(&label())
            .unwrap()
            .contains(&property("status", "healthy"))
    );
    let none = pool.storage_properties().unwrap().properties(&"none".parse().unwrap());
    assert_eq!(none.unwrap_err().code(), "not-found");
}
