//! A full disk: a small file system in memory, which only root can mount.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::Command,
};

use isotach_needs::{Need, skip};

use crate::support::{KEY, Said, Store, program, said, same_bytes, tree};

/// A file system of some MiB, unmounted at the end.
struct SmallDisk<'s>(&'s Path);

impl<'s> SmallDisk<'s> {
    fn mount(folder: &'s Path, size: &str) -> Option<Self> {
        let size = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        skip(Need::Mount, "cannot mount a small file system here");
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
    fs::create_dir(&folder).unwrap();
    let Some(_disk) = SmallDisk::mount(&folder, "4m") else { return };
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
    let filler = fs::write(folder.join("filler"), vec![0; 4 << 20]);
    assert!(filler.is_err());
    let mut locks = (0..1000).map(|_| run(&["lock", "date=20240101", "--list"]));
    let full = locks.find(|said| said.code != Some(0)).unwrap();
    full.fails_with(1, &["no space left: ", "`isotach purge --doit` gives back the room"]);
    run(&["wipe", "date=20240201", "--doit"]).succeeds();
    run(&["unlock", "date=20240101", "--list"]).succeeds();
    write("20240101", 12, 1000).succeeds();
    assert_eq!(run(&["list"]).succeeds().text().lines().count(), 2);
}

/// A store on a small disk, and what was written to it.
struct SmallStore<'s> {
    store: &'s Store,
    disk: &'s Path,
    uri: String,
    /// How often each field was written.
    rounds: u8,
}

const SIZE: usize = 150_000;
const DATES: [&str; 3] = ["20240101", "20240201", "20240301"];

impl SmallStore<'_> {
    fn run(&self, arguments: &[&str]) -> Said {
        said(program(self.store.folder.path()).args(["--store", &self.uri]).args(arguments))
    }

    /// Writes a field of a date once more.
    fn write(&mut self, date: &str) -> Said {
        self.rounds += 1;
        let file = self.store.file("raw", &vec![self.rounds; SIZE]);
        self.run(&["write", "--key", &Self::key(date), file.to_str().unwrap()])
    }

    fn key(date: &str) -> String {
        format!("{},step=0", KEY.replace("20240101", date))
    }

    /// Replaces the fields until there is no room. Gives which bytes each date then has.
    fn fill(&mut self) -> Vec<u8> {
        let mut newest = vec![0; DATES.len()];
        loop {
            for (at, date) in DATES.iter().enumerate() {
                let written = self.write(date);
                if written.code != Some(0) {
                    written.fails_with(1, &["no space left: ", "`isotach purge --doit` gives back the room"]);
                    return newest;
                }
                newest[at] = self.rounds;
            }
        }
    }

    /// Takes the last byte of the disk, and of the blocks in which files end.
    fn fill_up(&self) {
        let mut filler = File::options().create(true).append(true).open(self.disk.join("filler")).unwrap();
        for size in [1 << 20, 4096, 1] {
            while filler.write_all(&vec![1; size]).is_ok() {}
        }
    }

    fn holds(&self, newest: &[u8]) {
        for (date, newest) in DATES.iter().zip(newest) {
            let read = self.run(&["read", &Self::key(date), "-o", "-"]).succeeds();
            same_bytes(&read.out, &vec![*newest; SIZE]);
        }
    }
}

#[test]
fn a_disk_that_is_full_at_whatever_point_is_purged_and_takes_fields_again() {
    let store = Store::absent();
    let folder = store.folder.path().join("disk");
    fs::create_dir(&folder).unwrap();
    // So that it is the data, the log or a block of the directory that finds no room.
    for before in (0..8).map(|step| step * 23_000) {
        let Some(_disk) = SmallDisk::mount(&folder, "5m") else { return };
        let uri = format!("posix:{}/store", folder.display());
        let mut small = SmallStore { store: &store, disk: &folder, uri, rounds: 0 };
        fs::write(folder.join("before"), vec![0; before]).unwrap();
        small.run(&["init"]).succeeds();
        let newest = small.fill();
        small.fill_up();

        let was = tree(&folder);
        let dry = small.run(&["purge"]).succeeds();
        assert!(dry.text().contains("nothing was removed"), "{dry:?}");
        assert!(tree(&folder) == was, "a dry run writes nothing");
        small.holds(&newest);
        let done = small.run(&["purge", "--doit"]).succeeds();
        assert!(done.text().contains("freed "), "{done:?}");
        small.holds(&newest);
        let used: usize = tree(&folder.join("store")).iter().map(|(_, bytes, _)| bytes.len()).sum();
        assert!(used < DATES.len() * SIZE + (1 << 20), "{used} bytes left: {done:?}");
        for date in DATES {
            small.write(date).succeeds();
        }
        small.run(&["verify", "--data"]).succeeds();
    }
}

#[test]
fn a_dry_purge_tells_of_a_store_that_may_only_be_read() {
    let store = Store::absent();
    let folder = store.folder.path().join("disk");
    fs::create_dir(&folder).unwrap();
    let Some(_disk) = SmallDisk::mount(&folder, "5m") else { return };
    let uri = format!("posix:{}/store", folder.display());
    let mut small = SmallStore { store: &store, disk: &folder, uri, rounds: 0 };
    small.run(&["init"]).succeeds();
    for date in [DATES[0], DATES[0]] {
        small.write(date).succeeds();
    }
    let told = small.run(&["purge"]).succeeds();
    assert!(told.text().contains("would remove 1 replaced field and free 1"), "{told:?}");
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&folder).status();
    assert!(remounted.is_ok_and(|status| status.success()));
    assert_eq!(small.run(&["purge"]).succeeds().text(), told.text());
    let refused = small.run(&["purge", "--doit"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
}
