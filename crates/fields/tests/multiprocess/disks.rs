//! A full disk, and a read-only one: small file systems in memory, each in a process with its own mounts, so that
//! nothing is left of them. Only root may mount.

use std::{
    env, fs,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use isotach_fields::{Error, FieldStore};
use isotach_needs::{Need, skip};

use crate::{
    ONE,
    field::Step,
    launcher::{Child, Said},
    roles::{self, say},
};

/// Runs a role in a process with its own mounts.
fn with_own_mounts(role: &str) {
    let folder = tempfile::tempdir().unwrap();
    let role = format!("{role} {}", folder.path().display());
    let is_permitted = Command::new("unshare").args(["--mount", "true"]).status();
    if !is_permitted.is_ok_and(|status| status.success()) {
        return skip(Need::Mount, "`unshare --mount` is not there or not permitted: nothing can be mounted");
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]).arg(env::current_exe().unwrap());
    Child::start_by(&mut command, &role).expect(&Said::Done);
}

fn mount(arguments: &[&str], folder: &Path) {
    let status = Command::new("mount").args(arguments).arg(folder).status().unwrap();
    assert!(status.success(), "mount {arguments:?}");
}

/// Fills a file system up to `but` bytes.
fn fill(folder: &Path, but: usize) -> PathBuf {
    let (ballast, rest) = (folder.join("ballast"), folder.join("rest"));
    fs::write(&rest, vec![1; but]).unwrap();
    let mut file = File::create(&ballast).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
    fs::remove_file(rest).unwrap();
    ballast
}

fn archive(store: &FieldStore, step: Step) -> Result<(), Error> {
    (0..Step::FIELDS).try_for_each(|param| store.archive(&step.key(param), &step.bytes(param)))?;
    store.flush()
}

/// The `count`th step. Each 16 steps are in a separate dataset, so that datasets are also created on a full disk.
fn nth(count: u64) -> Step {
    Step::nth(0, count, 16)
}

fn check_all(uri: &str, flushed: &[u64]) {
    let fresh = roles::open(uri);
    flushed.iter().for_each(|count| roles::check(&fresh, nth(*count)));
}

/// Fills the disk again and again, with a little more or less space left, archives until it is full, and frees space.
pub(crate) fn fill_again_and_again(folder: &str) {
    let folder = Path::new(folder);
    mount(&["-t", "tmpfs", "-o", "size=48m", "tmpfs"], folder);
    let uri = format!("posix:{}/store?checkpoint=4096", folder.display());
    roles::create(&uri);
    let store = roles::open(&uri);
    let (mut flushed, mut refused, mut count) = (Vec::new(), 0, 0);
    for pages in 0..60 {
        let ballast = fill(folder, pages * 4096);
        loop {
            match archive(&store, nth(count)) {
                Ok(()) => flushed.push(count),
                Err(error) => {
                    assert_eq!(error.code(), "no-space", "{error}");
                    refused += 1;
                    break;
                }
            }
            count += 1;
        }
        check_all(&uri, &flushed);
        fs::remove_file(ballast).unwrap();
        // The same handle continues, with the fields that it kept, or with fields archived again.
        archive(&store, nth(count)).or_else(|_| archive(&store, nth(count))).unwrap();
        flushed.push(count);
        count += 1;
    }
    check_all(&uri, &flushed);
    println!("{} flushes, {refused} without room, none lost", flushed.len());
    say(&Said::Done);
}

/// Remounts a file system read-only, and later writable again.
pub(crate) fn write_protect(folder: &str) {
    let folder = Path::new(folder);
    mount(&["-t", "tmpfs", "tmpfs"], folder);
    let uri = format!("posix:{}/store", folder.display());
    roles::create(&uri);
    let before = roles::open(&uri);
    let step = |count| Step::nth(0, count, ONE);
    archive(&before, step(0)).unwrap();
    drop(before);
    mount(&["-o", "remount,ro"], folder);
    let during = roles::open(&uri);
    roles::check(&during, step(0));
    for _ in 0..2 {
        let refused = archive(&during, step(1)).unwrap_err();
        assert_eq!(refused.code(), "permission-denied", "{refused}");
        roles::check(&during, step(0));
    }
    mount(&["-o", "remount,rw"], folder);
    let after = roles::open(&uri);
    archive(&after, step(1)).unwrap();
    for store in [&during, &after] {
        (0..2).for_each(|count| roles::check(store, step(count)));
    }
    say(&Said::Done);
}

#[test]
fn a_disk_full_at_any_point_loses_nothing_and_the_same_handle_goes_on() {
    with_own_mounts("full");
}

#[test]
fn a_read_only_file_system_is_read_and_refuses_writers_until_it_is_writable() {
    with_own_mounts("protected");
}
