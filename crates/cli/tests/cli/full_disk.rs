//! A full disk: a small file system in memory, which only root can mount.

use std::process::Command;

use crate::support::{KEY, Store, program, said, same_bytes, skip};

/// A file system of 4 MiB, unmounted at the end.
struct SmallDisk<'s>(&'s std::path::Path);

impl<'s> SmallDisk<'s> {
    fn mount(folder: &'s std::path::Path) -> Option<Self> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        skip("cannot mount a small file system here");
        None
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn on_a_full_disk_the_field_is_not_visible_and_the_store_goes_on() {
    let store = Store::absent();
    let folder = store.folder.path().join("disk");
    std::fs::create_dir(&folder).unwrap();
    let Some(_disk) = SmallDisk::mount(&folder) else { return };
    let uri = format!("posix:{}/store", folder.display());
    let run = |arguments: &[&str]| said(program(store.folder.path()).args(["--store", &uri]).args(arguments));
    let write = |date: &str, step: u32, size: usize| {
        let file = store.file("raw", &vec![7; size]);
        let key = format!("{},step={step}", KEY.replace("20240101", date));
        run(&["write", "--key", &key, file.to_str().unwrap()])
    };
    run(&["init"]).succeeds();
    write("20240101", 0, 1 << 20).succeeds();
    write("20240201", 0, 1 << 20).succeeds();

    let full = write("20240101", 6, 8 << 20).fails_with(1, &["no space left: ", "No space left on device"]);
    assert!(full.text().starts_with("archived 0 fields"), "{}", full.text());

    assert_eq!(run(&["list"]).succeeds().text().lines().count(), 2);
    same_bytes(&run(&["read", &format!("{KEY},step=0"), "-o", "-"]).succeeds().out, &vec![7; 1 << 20]);

    // Even with no byte left, neither for a file nor in the root's log, a wipe makes room.
    let filler = std::fs::write(folder.join("filler"), vec![0; 4 << 20]);
    assert!(filler.is_err() && (0..1000).any(|_| run(&["lock", "date=20240101", "--list"]).code != Some(0)));
    run(&["wipe", "date=20240201", "--doit"]).succeeds();
    run(&["unlock", "date=20240101", "--list"]).succeeds();
    write("20240101", 12, 1000).succeeds();
    assert_eq!(run(&["list"]).succeeds().text().lines().count(), 2);
}
