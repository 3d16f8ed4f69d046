//! Owners and permissions of containers: DAOS's own access control lists, which its servers store and enforce.

use std::ffi::OsString;

use isotach_daos_abi::errors::{DER_INVAL, DER_NONEXIST};
use isotach_engine_kit::context::Context;
use isotach_object::{Acl, Error, NewRights, Permissions, Principal, Result, Rights, RightsChange};

use crate::{
    failure::failed,
    ffi::{Access, Cont, Der},
};

/// The permissions that an owner always has by DAOS's rules: reading and changing the list.
const OF_OWNER: &str = "aA";
/// The permissions of the group on a container created without a list: DAOS's default, and reading the list, because the creator of a
/// dataset checks the list of the store.
const OF_GROUP: &str = "rwtTa";

/// The name of a user or group, of DAOS's text.
fn name(principal: &str) -> String {
    principal.strip_suffix('@').unwrap_or(principal).to_owned()
}

fn principal(name: &str) -> String {
    format!("{name}@")
}

/// A list in the form for DAOS. The permission to read includes properties and the list, without which no container opens.
fn entries(list: &Acl) -> Vec<String> {
    let all = list.clone();
    let seeing = |list: Acl, who: &Principal, what: Permissions| list.with(who.clone(), what.with_sight());
    list.entries().fold(all, |list, (who, what)| seeing(list, who, what)).texts().collect()
}

/// The list of a new container, and the owner and group that it is given afterwards.
pub(crate) fn of_new(rights: &NewRights, naming: &str) -> Result<(Vec<String>, RightsChange)> {
    let usual = || Ok(Acl::new().with(Principal::Group, OF_GROUP.parse()?));
    let (list, gift) = match rights {
        NewRights::Asked(change @ RightsChange { owner, group, acl }) => {
            check_known(change, naming)?;
            let list = acl.clone().map_or_else(usual, Ok)?;
            (list, RightsChange { owner: owner.clone(), group: group.clone(), acl: None })
        }
        NewRights::Inherited(from) => {
            let (user, group) = myself();
            (from.inherited(&user, &group), RightsChange::default())
        }
    };
    Ok((entries(&list), gift))
}

/// The user and the group of the containers that this process creates.
fn myself() -> (String, String) {
    let text = |name: Option<OsString>, number: u32| {
        name.map_or_else(|| number.to_string(), |name| name.to_string_lossy().into_owned())
    };
    (
        text(uzers::get_effective_username(), uzers::get_effective_uid()),
        text(uzers::get_effective_groupname(), uzers::get_effective_gid()),
    )
}

/// The owner, group and list of a container, from its servers.
pub(crate) fn of(cont: &Cont, naming: &str) -> Result<Rights> {
    let Access { owner, group, entries } = cont.access().context(|| seeing(naming))?;
    let mut acl: Acl = entries.join(",").parse().map_err(|error: Error| {
        let what = format!("the access control list of {naming}, {}: {error}", entries.join(","));
        Error::Unsupported { engine: crate::options::SCHEME, what }
    })?;
    let owner = name(&owner);
    if !entries.iter().any(|entry| entry.contains(":OWNER@:")) {
        let others = of_unnamed_owner(&acl, &owner);
        acl = acl.with(Principal::Owner, others.and(OF_OWNER.parse()?));
    }
    Ok(Rights { owner, group: name(&group), acl })
}

/// The permissions of an owner without an owner entry in the list: those of the user's own entry, else of groups and of everyone. Whether
/// the owner is in the container's group is unknown here, so the result is what both permit.
fn of_unnamed_owner(acl: &Acl, owner: &str) -> Permissions {
    let find =
        |wanted: &Principal| acl.entries().find(|(principal, _)| *principal == wanted).map(|(_, what)| what);
    let everyone = find(&Principal::Everyone).unwrap_or_default();
    let by_group = || match find(&Principal::Group) {
        Some(group) => group.without(group.without(everyone)),
        None => everyone,
    };
    find(&Principal::User(owner.to_owned())).unwrap_or_else(by_group)
}

/// Makes all requested changes or none. The owner is changed first, because that may be refused. A handle keeps the permissions of its
/// opening, so it can set the list afterwards, and restore the owner if the list is refused.
pub(crate) fn change(cont: &Cont, change: &RightsChange, naming: &str) -> Result<()> {
    let RightsChange { owner, group, acl } = change;
    check_known(change, naming)?;
    let is_gift = owner.is_some() || group.is_some();
    let before =
        if is_gift && acl.is_some() { Some(cont.access().context(|| seeing(naming))?) } else { None };
    if is_gift {
        let [owner, group] = [owner, group].map(|name| name.as_deref().map(principal));
        given(cont.set_owner(owner.as_deref(), group.as_deref()), &[owner, group], naming)?;
    }
    let set = acl.as_ref().map_or(Ok(()), |acl| cont.set_list(&entries(acl)));
    if let (Err(_), Some(Access { owner, group, .. })) = (&set, &before) {
        let _ = cont.set_owner(Some(owner), Some(group));
    }
    set.context(|| format!("set the list of {naming}, which takes the permission A"))
}

/// Refuses an owner who is unknown on this machine: servers accept any name, and the former owner cannot take the container back.
fn check_known(change: &RightsChange, naming: &str) -> Result<()> {
    let is_known = |name: &String| uzers::get_user_by_name(name).is_some();
    let is_known_group = |name: &String| uzers::get_group_by_name(name).is_some();
    let wrong = |what: &str, name: &str| {
        let expected = format!("a {what} that this machine knows");
        Err(Error::invalid(format!("{what} {name:?} for {naming}"), expected))
    };
    match (&change.owner, &change.group) {
        (Some(owner), _) if !is_known(owner) => wrong("user", owner),
        (_, Some(group)) if !is_known_group(group) => wrong("group", group),
        _ => Ok(()),
    }
}

fn seeing(naming: &str) -> String {
    format!("see who may do what with {naming}, which takes the permission a")
}

fn given(outcome: Result<(), Der>, names: &[Option<String>; 2], naming: &str) -> Result<()> {
    outcome.map_err(|der| match der {
        Der(DER_NONEXIST | DER_INVAL) => {
            let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
            let what = format!("owner or group {} of {naming}", names.join(", "));
            Error::invalid(what, "names that DAOS can have")
        }
        der => failed(der, &format!("give {naming} to another, which takes the permission o")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_without_an_entry_may_do_what_is_sure_to_be_permitted() {
        for (list, expected) in [
            ("A::ann@:,A:G:GROUP@:rw", ""),
            ("A::ann@:rw,A:G:GROUP@:r", "rw"),
            ("A:G:GROUP@:r,A::EVERYONE@:rw", "r"),
            ("A:G:GROUP@:rw", ""),
            ("A::EVERYONE@:rt", "rt"),
        ] {
            let acl: Acl = list.parse().unwrap();
            assert_eq!(of_unnamed_owner(&acl, "ann").to_string(), expected, "{list}");
        }
    }
}
