//! Containers that may not be written. Root may do everything, so these tests continue in a child process as another user.

use std::{
    env, fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Command,
    sync::Arc,
};

use isotach_engine_posix::Posix;
use isotach_needs::{Need, skip};
use isotach_object::{Array, Container, Engine, ObjectType, PoolUri};

use crate::{Store, assert_holds, change, entries, object, put_frames};

const CHILD: &str = "ISOTACH_REGRESSION_POOL";
const NOBODY: &str = "65534";
const COUNT: u64 = 40;

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs `test` of this file again on the store's pool, as a user without rights.
fn as_another_user(store: &Store, test: &str) {
    permit(store.folder.path(), 0o755);
    // A copy, since that user may not reach the original.
    let program = store.folder.path().join("regressions");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    let uid = rustix::process::geteuid();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(&program);
    if !uid.is_root() {
        command = Command::new(&program);
    }
    command.args(["--exact", &format!("permission::{test}"), "--nocapture"]);
    match command.env(CHILD, store.folder.path().join("pool")).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => skip(Need::Root, &format!("setpriv cannot be run ({error})")),
    }
}

/// The pool of the parent, in its child.
fn pool_of_parent() -> Option<PoolUri> {
    let path = env::var_os(CHILD)?;
    Some(format!("posix:{}?checkpoint=256", Path::new(&path).display()).parse().unwrap())
}

fn open(uri: &PoolUri) -> Arc<dyn Container> {
    Posix.open_pool(uri).unwrap().open_container(&"c".parse().unwrap()).unwrap()
}

fn filled() -> Store {
    let store = Store::holding("?checkpoint=256", COUNT);
    Array::new(&*store.open(), object(ObjectType::Array)).unwrap().write(0, &[7; 1000]).unwrap();
    store
}

#[test]
fn a_read_only_container_refuses_updates_and_stays_readable() {
    let Some(uri) = pool_of_parent() else {
        let store = filled();
        permit(&store.path(), 0o555);
        permit(&store.path().join("data"), 0o555);
        store.files("").iter().filter(|path| path.is_file()).for_each(|path| permit(path, 0o444));
        as_another_user(&store, "a_read_only_container_refuses_updates_and_stays_readable");
        permit(&store.path(), 0o755);
        return permit(&store.path().join("data"), 0o755);
    };
    let container = open(&uri);
    for _ in 0..2 {
        let array = Array::new(&*container, object(ObjectType::Array)).unwrap();
        assert_eq!(entries(&*container).put(b"new", b"x").unwrap_err().code(), "permission-denied");
        assert_eq!(entries(&*container).put_if_absent(b"new", b"x").unwrap_err().code(), "permission-denied");
        assert_eq!(array.write(0, &[1; 200_000]).unwrap_err().code(), "permission-denied");
        assert_eq!(container.allocate_ids(1).unwrap_err().code(), "permission-denied");
        assert_holds(&*container, 0..COUNT, "after refusals");
        assert!(container.flush().is_ok(), "there is nothing to flush");
    }
}

#[test]
fn a_flush_succeeds_where_checkpoints_cannot_be_written() {
    let Some(uri) = pool_of_parent() else {
        let store = filled();
        permit(&store.path(), 0o555);
        permit(&store.path().join("data"), 0o777);
        ["log.0000000000000001", "flushed"].iter().for_each(|name| permit(&store.path().join(name), 0o666));
        let runs = store.files("run.");
        as_another_user(&store, "a_flush_succeeds_where_checkpoints_cannot_be_written");
        permit(&store.path(), 0o755);
        if rustix::process::geteuid().is_root() {
            assert_eq!(store.files("run."), runs, "no checkpoint was written there");
        }
        return;
    };
    let container = open(&uri);
    put_frames(&*container, COUNT..2 * COUNT);
    assert_holds(&*container, 0..2 * COUNT, "by the writer");
    assert_holds(&*open(&uri), 0..2 * COUNT, "by another");
}

/// Makes everything but the notes of flushes writable for all users, and gives the container's folder a mode.
fn permit_all_but_notes(store: &Store, folder: u32) {
    store.files("").iter().filter(|path| path.is_file()).for_each(|path| permit(path, 0o666));
    permit(&store.path().join("flushed"), 0o644);
    permit(&store.path(), folder);
    permit(&store.path().join("data"), 0o777);
}

#[test]
fn notes_that_a_writer_may_not_change_are_replaced_with_their_contents() {
    const THIS: &str = "notes_that_a_writer_may_not_change_are_replaced_with_their_contents";
    let Some(uri) = pool_of_parent() else {
        let store = filled();
        permit_all_but_notes(&store, 0o777);
        as_another_user(&store, THIS);
        change(&store.log(), |log| log.truncate(log.len() - 1));
        assert_eq!(store.pool.open_container(&store.label).unwrap_err().code(), "corrupt");
        return;
    };
    put_frames(&*open(&uri), COUNT..COUNT + 2);
}

#[test]
fn a_writer_that_cannot_leave_notes_is_refused_before_it_appends() {
    const THIS: &str = "a_writer_that_cannot_leave_notes_is_refused_before_it_appends";
    let Some(uri) = pool_of_parent() else {
        let store = filled();
        permit_all_but_notes(&store, 0o755);
        let before = fs::metadata(store.log()).unwrap().len();
        as_another_user(&store, THIS);
        assert_eq!(fs::metadata(store.log()).unwrap().len(), before);
        return;
    };
    if rustix::process::geteuid().is_root()
        || fs::metadata(uri.path()).unwrap().uid() == rustix::process::geteuid().as_raw()
    {
        return;
    }
    let container = open(&uri);
    assert_holds(&*container, 0..COUNT, "it is read");
    let refused = entries(&*container).put(b"new", b"value").and_then(|()| container.flush()).unwrap_err();
    assert_eq!(refused.code(), "permission-denied");
    assert!(refused.to_string().contains("flushed, where every writer"), "{refused}");
}
