//! Full disks, on small file systems in memory, which only root can mount.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use isotach_needs::{Need, skip};

use crate::support::{KEY, Said, Store, field, program, said, same_bytes, tree};

/// A file system of a few MiB. Dropping it unmounts it.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(store: &Store, size: &str) -> Option<Self> {
        let folder = store.folder.path().join("disk");
        fs::create_dir_all(&folder).unwrap();
        let size = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&folder).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        skip(Need::Mount, "mounting a file system is not permitted");
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_store_on_a_full_disk_keeps_its_fields_and_stays_usable() {
    let store = Store::absent();
    let Some(disk) = SmallDisk::mount(&store, "4m") else { return };
    let uri = format!("posix:{}/store", disk.0.display());
    let run = |arguments: &[&str]| store.bare([&["--store", &uri], arguments].concat());
    let write = |date: &str, step: u32, size: usize| {
        let file = store.file("raw", &vec![7; size]);
        let key = format!("{},step={step}", KEY.replace("20240101", date));
        run(&["write", "--key", &key, &file])
    };
    run(&["init"]).succeeds();
    write("20240101", 0, 1 << 20).succeeds();
    write("20240201", 0, 1 << 20).succeeds();

    let full = write("20240101", 6, 8 << 20).begins("archived 0 fields");
    full.fails_with(1, &["no space left: ", "No space left on device"]);

    assert_eq!(run(&["list"]).succeeds().lines(), 2);
    same_bytes(&run(&["read", &field(0), "-o", "-"]).succeeds().out, &vec![7; 1 << 20]);

    // With no byte left, neither for a file nor in the log of the root, a wipe still frees space.
    let filler = fs::write(disk.0.join("filler"), vec![0; 4 << 20]);
    assert!(filler.is_err());
    let mut locks = (0..1000).map(|_| run(&["lock", "date=20240101", "--list"]));
    let full = locks.find(|said| said.code != Some(0)).unwrap();
    full.fails_with(1, &["no space left: ", "`isotach purge --doit` frees the space"]);
    run(&["wipe", "date=20240201", "--doit"]).succeeds();
    run(&["unlock", "date=20240101", "--list"]).succeeds();
    write("20240101", 12, 1000).succeeds();
    assert_eq!(run(&["list"]).succeeds().lines(), 2);
}

/// A store on a small disk.
struct SmallStore<'s> {
    store: &'s Store,
    disk: &'s Path,
    uri: String,
    /// The number of writes. Each writes a field full of this number.
    rounds: u8,
}

const SIZE: usize = 150_000;
const DATES: [&str; 3] = ["20240101", "20240201", "20240301"];

impl<'s> SmallStore<'s> {
    fn new(store: &'s Store, disk: &'s Path) -> Self {
        Self { store, disk, uri: format!("posix:{}/store", disk.display()), rounds: 0 }
    }

    fn run(&self, arguments: &[&str]) -> Said {
        said(program(self.store.folder.path()).args(["--store", &self.uri]).args(arguments))
    }

    /// Writes the field of a date once more.
    fn write(&mut self, date: &str) -> Said {
        self.rounds += 1;
        let file = self.store.file("raw", &vec![self.rounds; SIZE]);
        self.run(&["write", "--key", &Self::key(date), &file])
    }

    fn key(date: &str) -> String {
        format!("{},step=0", KEY.replace("20240101", date))
    }

    /// Replaces the fields until the disk is full. Returns the newest byte of each date.
    fn fill(&mut self) -> Vec<u8> {
        let mut newest = vec![0; DATES.len()];
        loop {
            for (at, date) in DATES.iter().enumerate() {
                let written = self.write(date);
                if written.code != Some(0) {
                    written.fails_with(1, &["no space left: ", "`isotach purge --doit` frees the space"]);
                    return newest;
                }
                newest[at] = self.rounds;
            }
        }
    }

    /// Fills the disk to the last byte, including the blocks in which files end.
    fn fill_up(&self) {
        let mut filler = File::options().create(true).append(true).open(self.disk.join("filler")).unwrap();
        for size in [1 << 20, 4096, 1] {
            while filler.write_all(&vec![1; size]).is_ok() {}
        }
    }

    fn check(&self, newest: &[u8]) {
        for (date, newest) in DATES.iter().zip(newest) {
            let read = self.run(&["read", &Self::key(date), "-o", "-"]).succeeds();
            same_bytes(&read.out, &vec![*newest; SIZE]);
        }
    }
}

#[test]
fn a_full_disk_can_be_purged_and_filled_again() {
    let store = Store::absent();
    // The offset decides whether the data, the log or a block of the directory does not fit.
    for before in (0..8).map(|step| step * 23_000) {
        let Some(SmallDisk(folder)) = &SmallDisk::mount(&store, "5m") else { return };
        let mut small = SmallStore::new(&store, folder);
        fs::write(folder.join("before"), vec![0; before]).unwrap();
        small.run(&["init"]).succeeds();
        let newest = small.fill();
        small.fill_up();

        let before = tree(folder);
        small.run(&["purge"]).succeeds().shows(&["nothing was removed"]);
        assert!(tree(folder) == before, "a dry run writes nothing");
        small.check(&newest);
        let done = small.run(&["purge", "--doit"]).succeeds().shows(&["freed "]);
        small.check(&newest);
        let used: usize = tree(&folder.join("store")).iter().map(|(_, bytes, _)| bytes.len()).sum();
        assert!(used < DATES.len() * SIZE + (1 << 20), "{used} bytes left: {done:?}");
        for date in DATES {
            small.write(date).succeeds();
        }
        small.run(&["verify", "--data"]).succeeds();
    }
}

#[test]
fn a_dry_purge_works_on_a_read_only_file_system() {
    let store = Store::absent();
    let Some(SmallDisk(folder)) = &SmallDisk::mount(&store, "5m") else { return };
    let mut small = SmallStore::new(&store, folder);
    small.run(&["init"]).succeeds();
    for date in [DATES[0], DATES[0]] {
        small.write(date).succeeds();
    }
    let dry = small.run(&["purge"]).succeeds().shows(&["would remove 1 replaced field and free 1"]);
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(folder).status();
    assert!(remounted.is_ok_and(|status| status.success()));
    assert_eq!(small.run(&["purge"]).succeeds().text(), dry.text());
    small.run(&["purge", "--doit"]).exits(1);
}

#[test]
fn a_full_disk_under_the_output_leaves_no_file_and_the_earlier_one_as_it_was() {
    let store = Store::new();
    let Some(disk) = SmallDisk::mount(&store, "2m") else { return };
    (0..40).for_each(|step| store.write_raw(step, &vec![1; 70_000]));
    store.write_raw(40, &vec![1; 3 << 20]);
    let (out, before) = (disk.0.join("out"), disk.0.join("before"));
    fs::write(&before, "before").unwrap();
    for request in [field("0/to/39/by/1"), field(40), field("0/to/40/by/1")] {
        for path in [&out, &before] {
            let path = path.to_str().unwrap();
            let read = store.run(["read", &request, "-o", path]);
            read.fails_with(1, &["cannot write ", path, "No space left on device"]);
        }
    }
    assert_eq!(tree(&disk.0).len(), 1, "{:?}", fs::read_dir(&disk.0));
    assert_eq!(fs::read(&before).unwrap(), b"before");
    store.ok(["read", &field(0), "-o", out.to_str().unwrap()]);
    same_bytes(&fs::read(&out).unwrap(), &vec![1; 70_000]);
}
