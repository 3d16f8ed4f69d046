//! Permissions of several users on a real file system, enforced by the kernel alone.
//!
//! The tests run as root and continue in child processes as users and groups by number that do not exist. Without root they are skipped by
//! name.
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
use isotach_object::{Engine, Label, Pool, PoolUri, Rights};

/// A user, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct User {
    user: u32,
    group: u32,
}

/// The creator of the containers.
const OWNER: User = User { user: 3_901_001, group: 3_902_001 };
/// A member of the owner's group.
const MATE: User = User { user: 3_901_002, group: OWNER.group };
const ALICE: User = User { user: 3_901_003, group: 3_902_003 };
const BOB: User = User { user: 3_901_004, group: 3_902_004 };
const STRANGER: User = User { user: 3_901_005, group: 3_902_005 };

/// A pool in which all these users may create containers.
struct SharedPool {
    folder: PathBuf,
    _kept: Option<tempfile::TempDir>,
}

impl SharedPool {
    /// A pool; `None` without root.
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
        // A copy, since these users may not reach the original. Another process makes it: children of other tests could inherit a
        // descriptor that is open for writing, and the program could not be executed.
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

    /// Begins an action of [`child::perform`] as a user.
    fn begin(&self, who: User, what: &[&str]) -> Child {
        let mut command = Command::new(self.folder.join("program"));
        command.args(["--exact", "child::what_the_parent_asks_for", "--nocapture"]);
        command.env(child::FOLDER, &self.folder).env(child::WHAT, what.join("\n"));
        // Without the groups of the parent.
        command.uid(who.user).gid(who.group);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Performs an action and returns its outcome: `ok`, or the error.
    fn act(&self, who: User, what: &[&str]) -> String {
        outcome(self.begin(who, what))
    }

    /// Performs an action that must succeed.
    fn must(&self, who: User, what: &[&str]) {
        assert_eq!(self.act(who, what), "ok", "{what:?} by {who:?}");
    }

    /// Performs actions that must be refused.
    fn refuses(&self, actions: &[(User, &str)]) {
        for (who, what) in actions {
            let came = self.act(*who, &[what]);
            assert!(came.starts_with("permission-denied: "), "{what} by {who:?}: {came}");
        }
    }

    fn rights(&self) -> Rights {
        self.pool().access_control().unwrap().rights(&label()).unwrap()
    }
}

fn outcome(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.split_once(child::OUTCOME));
    match line {
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
