//! Rights of a container: owner, group, modes and POSIX ACLs. The file system stores and enforces them (FORMAT.md
//! section 1).
//!
//! The container's folder is the gate: a user who may not enter it reaches nothing in it. So the gate alone decides who
//! may read, and one system call sets it. Behind the gate all files are readable by everyone. They are writable by
//! those who may write when the file is created or the rights are set. What must stay true:
//! - A file that is created later has the permissions of the folder's default list, whatever the umask of its creator.
//!   Where the file system has no lists, the creator sets the mode ([`crate::io::directory`]).
//! - Files belong to the container's group (the folders' set-group-id bit) and are accessible to its owner, whoever
//!   created them.
//! - The gate is set last, after everything behind it.

use std::path::Path;

use isotach_object::{Acl, Error, NewRights, Permissions, Principal, Result, Rights, RightsChange};

use crate::{
    access::{
        posix_acl::{Bits, PosixAcl},
        uid_names,
    },
    capability::SCHEME,
    format::superblock,
    io::{
        data,
        directory::Directory,
        disk::{FileRights, Folder, NewFileRights, failing},
    },
};

/// The mode bit that gives new files the group of their folder.
const SET_GROUP: u32 = 0o2000;
/// The mode bit that lets only their owners remove names in a folder.
const OWNED_NAMES: u32 = 0o1000;
const READ: Bits = 4;
const WRITE: Bits = 2;
const PASS: Bits = 1;

/// The folder itself, as a name in it.
const SELF: &str = ".";

/// The owner, group and access list of a container.
pub(crate) fn of(disk: &dyn Folder, container: &Path) -> Result<Rights> {
    let rights = disk.rights().ok_or_else(no_rights)?;
    let guard = rights.get(container).map_err(failing("read the rights of", container))?;
    let (owner, group) = (uid_names::user_name(guard.owner), uid_names::group_name(guard.group));
    Ok(Rights { owner, group, acl: acl_of(&list_of(&guard)) })
}

/// Sets the initial rights of the container in a folder, which this process is creating.
pub(crate) fn begin(container: &Directory, rights: &NewRights) -> Result<()> {
    let guard = match container.rights(SELF)? {
        Some(guard) => guard,
        None if *rights == NewRights::default() => return Ok(()),
        None => return Err(no_rights()),
    };
    let change = match rights {
        NewRights::Asked(change) => change.clone(),
        NewRights::Inherited(from) => {
            let acl = from.inherited(&uid_names::user_name(guard.owner), &uid_names::group_name(guard.group));
            RightsChange { acl: Some(enforceable(&acl)), ..RightsChange::default() }
        }
    };
    // What the umask took from the new folder is taken from all that is created in it.
    let usual = PosixAcl { owner: READ | WRITE | PASS, ..list_of(&guard) };
    TargetRights::new(container, &guard, &usual, &change)?.apply(container, &guard)
}

/// Changes the rights of a container.
pub(crate) fn change(container: &Directory, change: &RightsChange) -> Result<()> {
    let guard = container.rights(SELF)?.ok_or_else(no_rights)?;
    TargetRights::new(container, &guard, &list_of(&guard), change)?.apply(container, &guard)
}

/// Lets the users with write permission in a list create names in a folder of the pool. All other users may look their names up, and only
/// its owner removes a name.
pub(crate) fn grant_create(folder: &Directory, acl: &Acl) -> Result<()> {
    let guard = folder.rights(SELF)?.ok_or_else(no_rights)?;
    let mut list = list_for(acl, folder.path())?;
    check_names(&list, &guard, folder.path())?;
    list.of_others().for_each(|bits| *bits |= READ | PASS);
    let (mode, list) = (list.mode() | OWNED_NAMES, guard.has_lists.then(|| list.encode()));
    folder.set_rights(SELF, &NewFileRights { owner: None, group: None, mode, list, default: None })
}

/// Refuses named users and groups where the file system has no lists.
fn check_names(list: &PosixAcl, guard: &FileRights, place: &Path) -> Result<()> {
    if !list.has_names() || guard.has_lists {
        return Ok(());
    }
    let what = format!(
        "users and groups by name in the rights of {}: its file system has no POSIX ACLs, so only OWNER@, GROUP@ and \
         EVERYONE@ can be distinguished",
        place.display()
    );
    Err(Error::Unsupported { engine: SCHEME, what })
}

/// Gives another folder the gate of a container, so that the same users may enter it. Where the file system cannot express that, only its
/// owner may.
pub(crate) fn copy_gate(container: &Directory, folder: &Directory) -> Result<()> {
    let Some(guard) = container.rights(SELF)? else { return Ok(()) };
    let mut gate = list_of(&guard);
    gate.users.insert(guard.owner, gate.owner);
    gate.groups.insert(guard.group, gate.group);
    gate = PosixAcl { owner: READ | WRITE | PASS, group: 0, ..gate };
    if !guard.has_lists {
        gate = PosixAcl::of_mode(0o700);
    }
    let (mode, list) = (gate.mode(), guard.has_lists.then(|| gate.encode()));
    folder.set_rights(SELF, &NewFileRights { owner: None, group: None, mode, list, default: None })
}

/// Adds the missing right to an error of permission.
pub(crate) fn explain(disk: &dyn Folder, container: &Path, need: &str, error: Error) -> Error {
    match (error, of(disk, container)) {
        (Error::PermissionDenied { what, source }, Ok(Rights { owner, group, acl })) => {
            let myself = uid_names::myself();
            let what = format!(
                "{what}; user {myself} needs {need}; its owner is user {owner}, its group {group}: {acl}"
            );
            Error::PermissionDenied { what, source }
        }
        (error, _) => error,
    }
}

fn no_rights() -> Error {
    Error::Unsupported { engine: SCHEME, what: "rights on a disk without users".to_owned() }
}

fn list_of(guard: &FileRights) -> PosixAcl {
    let list = guard.list.as_deref().and_then(PosixAcl::decode);
    list.unwrap_or_else(|| PosixAcl::of_mode(guard.mode))
}

/// The access list of a container whose folder has this list.
fn acl_of(list: &PosixAcl) -> Acl {
    let permissions = |bits: Bits| match (bits & (READ | PASS) == READ | PASS, bits & WRITE != 0) {
        (false, _) => Permissions::NONE,
        (true, false) => Permissions::READ,
        (true, true) => Permissions::READ_WRITE,
    };
    let owner = permissions(list.owner).and(Permissions::DELETE).and(Permissions::ADMINISTER);
    let users = list.users.iter().map(|(id, bits)| (Principal::User(uid_names::user_name(*id)), *bits));
    let groups =
        list.groups.iter().map(|(id, bits)| (Principal::NamedGroup(uid_names::group_name(*id)), *bits));
    let rest = [(Principal::Group, list.group), (Principal::Everyone, list.others)];
    let rest = rest.into_iter().filter(|(_, bits)| permissions(*bits) != Permissions::NONE);
    let named = users.chain(groups).chain(rest);
    named.fold(Acl::new().with(Principal::Owner, owner), |acl, (who, bits)| acl.with(who, permissions(bits)))
}

/// The part of a list that a file system can enforce: the list may come from a container on another engine.
fn enforceable(acl: &Acl) -> Acl {
    acl.entries().fold(Acl::new(), |kept, (principal, permissions)| match principal {
        Principal::Owner => kept,
        _ if !permissions.can_read() => kept.with(principal.clone(), Permissions::NONE),
        _ if permissions.can_write() => kept.with(principal.clone(), Permissions::READ_WRITE),
        _ => kept.with(principal.clone(), Permissions::READ),
    })
}

/// The folder's list that enforces a container's access list, or the reason why none does.
fn list_for(acl: &Acl, container: &Path) -> Result<PosixAcl> {
    let refuse = |what: String| Err(Error::Unsupported { engine: SCHEME, what });
    let place = container.display();
    let mut list = PosixAcl::default();
    for (principal, permissions) in acl.entries() {
        let permissions = permissions.with_sight();
        if *principal == Principal::Owner {
            if permissions != Permissions::ALL {
                return refuse(format!(
                    "for {place} OWNER@ with less than {}: the owner of a file can always grant the rest",
                    Permissions::ALL
                ));
            }
        } else if permissions.without(Permissions::READ_WRITE) != Permissions::NONE {
            return refuse(format!(
                "for {place} d, T, A or o for {principal}: a file system reserves removing a container and changing its \
                 rights to OWNER@ and to root"
            ));
        } else if permissions != Permissions::NONE && !permissions.can_read() {
            return refuse(format!(
                "for {place} {permissions} without r for {principal}: in a file system writers can read, and a user who may not \
                 read sees nothing else"
            ));
        }
        let bits = bits_of(permissions);
        match principal {
            Principal::Owner => list.owner = bits,
            Principal::Group => list.group = bits,
            Principal::Everyone => list.others = bits,
            Principal::User(name) => drop(list.users.insert(uid_names::user(name)?, bits)),
            Principal::NamedGroup(name) => drop(list.groups.insert(uid_names::group(name)?, bits)),
        }
    }
    Ok(list)
}

fn bits_of(permissions: Permissions) -> Bits {
    match (permissions.can_write(), permissions.can_read()) {
        (true, _) => READ | WRITE | PASS,
        (false, true) => READ | PASS,
        (false, false) => 0,
    }
}

/// The rights that the parts of a container are to have.
struct TargetRights {
    owner: Option<u32>,
    group: Option<u32>,
    /// Of the container's folder.
    gate: PosixAcl,
    /// Of everything behind the gate: all may read, and write as the gate says. It includes the right to enter, which files leave out.
    behind: PosixAcl,
    /// The same, for what users other than the owner create.
    inherited: PosixAcl,
    has_lists: bool,
}

impl TargetRights {
    fn new(
        container: &Directory,
        guard: &FileRights,
        present: &PosixAcl,
        change: &RightsChange,
    ) -> Result<Self> {
        let owner = change.owner.as_deref().map(uid_names::user).transpose()?;
        let group = change.group.as_deref().map(uid_names::group).transpose()?;
        let gate =
            change.acl.as_ref().map_or_else(|| Ok(present.clone()), |acl| list_for(acl, container.path()))?;
        check_names(&gate, guard, container.path())?;
        let mut behind = PosixAcl { owner: READ | WRITE | PASS, ..gate.clone() };
        behind.of_others().for_each(|bits| *bits |= READ | PASS);
        let mut inherited = behind.clone();
        inherited.users.insert(owner.unwrap_or(guard.owner), READ | WRITE | PASS);
        Ok(Self { owner, group, gate, behind, inherited, has_lists: guard.has_lists })
    }

    fn folder(&self, list: &PosixAcl) -> NewFileRights {
        NewFileRights {
            owner: self.owner,
            group: self.group,
            mode: list.mode() | SET_GROUP,
            list: self.has_lists.then(|| list.encode()),
            default: self.has_lists.then(|| self.inherited.encode()),
        }
    }

    /// For a file of the container's owner or of another user.
    fn file(&self, name: &str, is_owners: bool) -> NewFileRights {
        let list = if is_owners { &self.behind } else { &self.inherited };
        let without = if name == superblock::FILE { PASS | WRITE } else { PASS };
        let mut list = list.clone();
        list.of_others().for_each(|bits| *bits &= !without);
        list.owner = READ | WRITE;
        NewFileRights {
            owner: self.owner.filter(|_| is_owners),
            group: self.group,
            mode: list.mode(),
            list: self.has_lists.then(|| list.encode()),
            default: None,
        }
    }

    /// Sets all rights, those of the gate last.
    fn apply(&self, container: &Directory, present: &FileRights) -> Result<()> {
        let bytes = container.folder(data::FOLDER)?;
        self.set(&bytes, SELF, &self.folder(&self.behind))?;
        for folder in [container, &bytes] {
            for name in folder.names()?.iter().filter(|name| *name != data::FOLDER) {
                self.set_file(folder, name, present)?;
            }
        }
        self.set(container, SELF, &self.folder(&self.gate))
    }

    fn set_file(&self, folder: &Directory, name: &str, present: &FileRights) -> Result<()> {
        // A run may have been merged away meanwhile. A name that is no file of the container stays as it is.
        let Ok(Some(there)) = folder.rights(name) else { return Ok(()) };
        let is_owners = there.owner == present.owner;
        match self.set(folder, name, &self.file(name, is_owners)) {
            // A file of another user stays as it is; the gate protects it.
            Err(Error::PermissionDenied { .. }) if !is_owners => Ok(()),
            Err(Error::NotFound { .. }) => Ok(()),
            outcome => outcome,
        }
    }

    fn set(&self, folder: &Directory, name: &str, guard: &NewFileRights) -> Result<()> {
        folder.set_rights(name, guard).map_err(|error| match error {
            Error::PermissionDenied { what, source } => {
                let needed = match self.owner {
                    Some(_) => "only root changes the owner",
                    None => "only root and its owner, as a member of the new group, change the group",
                };
                Error::PermissionDenied { what: format!("{what}; {needed}"), source }
            }
            error => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_another_engine_is_inherited_as_far_as_it_is_enforceable() {
        let acl: Acl = "A::OWNER@:rw,A::ann@:tT,A::bea@:rwtTa,A:G:GROUP@:r,A::EVERYONE@:w".parse().unwrap();
        let kept = "A::OWNER@:rwdtTaAo,A::ann@:,A::bea@:rwta,A:G:GROUP@:rta,A::EVERYONE@:";
        assert_eq!(enforceable(&acl).to_string(), kept);
    }
}
