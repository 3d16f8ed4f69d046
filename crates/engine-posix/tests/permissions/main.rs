//! Permissions, by processes of several users on a real file system: nothing but the kernel says who may do what.
//!
//! The tests are run as root, and their parts go on in child processes as users and groups by number that nobody has. Without root they are
//! skipped by name.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod child;
mod matrix;
mod sharing;
mod without_lists;

use std::{
    env, fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use isotach_engine_posix::Posix;
use isotach_needs::{Need, skip};
use isotach_object::{Engine, Label, Pool, PoolUri};

/// Somebody, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Person {
    user: u32,
    group: u32,
}

/// Who makes the containers.
const OWNER: Person = Person { user: 3_901_001, group: 3_902_001 };
/// A member of the owner's group.
const MATE: Person = Person { user: 3_901_002, group: OWNER.group };
const ALICE: Person = Person { user: 3_901_003, group: 3_902_003 };
const BOB: Person = Person { user: 3_901_004, group: 3_902_004 };
const STRANGER: Person = Person { user: 3_901_005, group: 3_902_005 };

/// A place where all these people may make containers.
struct Place {
    folder: PathBuf,
    _kept: Option<tempfile::TempDir>,
}

impl Place {
    /// A pool, unless this is not root.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skip(Need::Root, "only root can act for other users");
            return None;
        }
        let kept = tempfile::tempdir().unwrap();
        let place = Self::in_folder(kept.path());
        Some(Self { _kept: Some(kept), ..place })
    }

    fn in_folder(folder: &Path) -> Self {
        permit(folder, 0o755);
        Posix.create_pool(&uri(folder)).unwrap();
        for shared in ["containers", "limbo"] {
            let path = folder.join("pool").join(shared);
            assert_eq!(mode(&path) & 0o1000, 0o1000, "{shared}: whoever makes a container is who removes it");
            permit(&path, 0o1777);
        }
        // A copy, since the way to the program itself may be closed to these people. Made by another process: a descriptor that is open for
        // writing could be inherited by children of other tests, and the program could not be run.
        let copied = Command::new("cp").arg(env::current_exe().unwrap()).arg(folder.join("program")).status();
        assert!(copied.unwrap().success());
        Self { folder: folder.to_owned(), _kept: None }
    }

    fn pool(&self) -> Arc<dyn Pool> {
        Posix.open_pool(&uri(&self.folder)).unwrap()
    }

    fn container(&self) -> PathBuf {
        self.folder.join("pool/containers/c")
    }

    /// Begins doing something, as [`child::perform`] does it, for somebody.
    fn begin(&self, who: Person, what: &[&str]) -> Child {
        let mut command = Command::new(self.folder.join("program"));
        command.args(["--exact", "child::what_the_parent_asks_for", "--nocapture"]);
        command.env(child::FOLDER, &self.folder).env(child::WHAT, what.join("\n"));
        // Without the groups of the parent.
        command.uid(who.user).gid(who.group);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Does it and tells what came of it: `ok`, or the error.
    fn act(&self, who: Person, what: &[&str]) -> String {
        outcome(self.begin(who, what))
    }

    /// Does it, which succeeds.
    fn must(&self, who: Person, what: &[&str]) {
        assert_eq!(self.act(who, what), "ok", "{what:?} by {who:?}");
    }
}

fn outcome(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = text.lines().find_map(|line| line.split_once(child::TOLD));
    match told {
        Some((_, outcome)) => outcome.to_owned(),
        None => panic!("no outcome\n{text}\n{}", String::from_utf8_lossy(&output.stderr)),
    }
}

fn uri(folder: &Path) -> PoolUri {
    format!("posix:{}/pool?checkpoint=256", folder.display()).parse().unwrap()
}

fn label() -> Label {
    "c".parse().unwrap()
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode()
}
