//! A file system without access lists: modes distinguish owner, group and everyone, and named users are refused.

use std::{env, path::Path, process::Command};

use isotach_needs::{Need, skip};
use isotach_object::{ContainerOptions, NewRights, RightsChange};

use crate::{ALICE, MATE, OWNER, STRANGER, SharedPool, label};

const HERE: &str = "ISOTACH_PERMISSIONS_WITHOUT_LISTS";
const NAME: &str = "without_lists::modes_work_without_lists_and_named_users_are_refused";

#[test]
fn modes_work_without_lists_and_named_users_are_refused() {
    if let Some(folder) = env::var_os(HERE) {
        return check(&SharedPool::in_folder(Path::new(&folder)));
    }
    let folder = tempfile::tempdir().unwrap();
    // A mount of its own, which ends with the process.
    let mount = "mount -t ramfs none \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", mount]).arg(folder.path()).arg(env::current_exe().unwrap());
    command.args(["--exact", NAME, "--nocapture"]).env(HERE, folder.path());
    let mut can_mount = Command::new("unshare");
    can_mount.args(["--mount", "sh", "-c", "mount -t ramfs none \"$0\""]).arg(folder.path());
    if !can_mount.output().is_ok_and(|output| output.status.success()) {
        return skip(Need::Mount, "nothing can be mounted here");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn check(place: &SharedPool) {
    place.must(OWNER, &["create", "A:G:GROUP@:rw,A::EVERYONE@:r"]);
    for who in [OWNER, MATE] {
        // Each with a umask that would exclude all other users.
        place.must(who, &["write"]);
    }
    let fields = [("1000", "1020"), ("2000", "2020")];
    for (who, (from, to)) in [OWNER, MATE].into_iter().zip(fields) {
        place.must(who, &["fields", from, to]);
    }
    for who in [OWNER, MATE, STRANGER] {
        place.must(who, &["read"]);
        place.must(who, &["verify"]);
    }
    place.refuses(&[(STRANGER, "write"), (MATE, "delete"), (MATE, "administer")]);
    let named = format!("A::{}@:r", ALICE.user);
    let came = place.act(OWNER, &["set-acl", &named]);
    assert!(came.starts_with("unsupported: ") && came.contains("has no POSIX ACLs"), "{came}");
    let pool = place.pool();
    let acl = place.rights().acl.to_string();
    assert_eq!(acl, "A::OWNER@:rwdtTaAo,A:G:GROUP@:rwta,A::EVERYONE@:rta");
    let asked = RightsChange { acl: Some(named.parse().unwrap()), ..RightsChange::default() };
    let other = "other".parse().unwrap();
    let asked = ContainerOptions::with_rights(NewRights::Asked(asked));
    assert_eq!(pool.create_container(&other, &asked).unwrap_err().code(), "unsupported");
    assert_eq!(pool.list_containers().unwrap(), [label()], "nothing is left of what was refused");
    place.must(OWNER, &["set-acl", ""]);
    place.refuses(&[(MATE, "read")]);
    place.must(OWNER, &["delete"]);
}
