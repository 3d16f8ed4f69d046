//! The guarantees of the simulated disk.

use super::*;
use crate::io::disk::{Access, Files, Folder, Naming};

fn root(disk: &SimulatedDisk) -> SimulatedFolder {
    SimulatedFolder::new(disk, ROOT)
}

fn write(disk: &SimulatedDisk, name: &str, bytes: &[u8]) -> Arc<dyn crate::io::disk::File> {
    let file = root(disk).open(name.as_ref(), Access::New).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file
}

fn left(disk: &SimulatedDisk, loss: Loss) -> Vec<(PathBuf, u64)> {
    disk.after_crash(usize::MAX, loss).files()
}

#[test]
fn synced_bytes_with_a_synced_name_always_survive() {
    let disk = SimulatedDisk::new();
    write(&disk, "a", &[7; 2000]).sync().unwrap();
    root(&disk).sync().unwrap();
    for loss in [Loss::All, Loss::Nothing, Loss::LastTorn(3)].into_iter().chain((0..50).map(Loss::Seeded)) {
        let after = disk.after_crash(usize::MAX, loss);
        assert_eq!(after.read("/a".as_ref()), Some(vec![7; 2000]), "{loss:?}");
    }
}

#[test]
fn an_unsynced_name_or_unsynced_bytes_can_be_lost() {
    let disk = SimulatedDisk::new();
    write(&disk, "a", b"bytes").sync().unwrap();
    assert_eq!(left(&disk, Loss::All), []);
    let disk = SimulatedDisk::new();
    write(&disk, "a", b"bytes");
    root(&disk).sync().unwrap();
    assert_eq!(left(&disk, Loss::All), [("/a".into(), 0)]);
    assert_eq!(left(&disk, Loss::Nothing), [("/a".into(), 5)]);
}

#[test]
fn a_crash_in_the_past_ignores_later_syncs() {
    let disk = SimulatedDisk::new();
    let file = write(&disk, "a", b"bytes");
    root(&disk).sync().unwrap();
    let before = disk.changes();
    file.sync().unwrap();
    assert_eq!(disk.after_crash(before, Loss::All).read("/a".as_ref()), Some(Vec::new()));
    assert_eq!(disk.after_crash(before + 1, Loss::All).read("/a".as_ref()), Some(b"bytes".to_vec()));
}

#[test]
fn sectors_survive_independently_in_some_past_state() {
    let disk = SimulatedDisk::new();
    let file = write(&disk, "a", &[1; 3 * SECTOR]);
    root(&disk).sync().unwrap();
    file.write_all_at(&[2; SECTOR], SECTOR as u64).unwrap();
    let mut met = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let bytes = disk.after_crash(usize::MAX, Loss::Seeded(seed)).read("/a".as_ref()).unwrap();
        for (number, sector) in bytes.chunks(SECTOR).enumerate() {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "seed {seed}: a torn sector");
            met.insert((number, sector[0]));
        }
    }
    assert_eq!(met, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)].into());
}

#[test]
fn a_renamed_folder_has_one_of_its_names_after_a_crash() {
    let disk = SimulatedDisk::new();
    for folder in ["from", "to", "from/a"] {
        root(&disk).make_folder(folder.as_ref(), Naming::Shared).unwrap();
    }
    let file = root(&disk).open("from/a/file".as_ref(), Access::New).unwrap();
    file.sync().unwrap();
    let all: &dyn Folder = &root(&disk);
    ["/", "from", "to", "from/a"].iter().for_each(|folder| all.sync_folder(folder.as_ref()).unwrap());
    all.rename("from/a".as_ref(), "to/b".as_ref()).unwrap();
    let met: std::collections::BTreeSet<_> = (0..40).map(|seed| left(&disk, Loss::Seeded(seed))).collect();
    assert_eq!(met, [vec![("/from/a/file".into(), 0)], vec![("/to/b/file".into(), 0)]].into());
}

#[test]
fn only_the_chosen_call_fails() {
    let disk = SimulatedDisk::new();
    let file = write(&disk, "a", b"bytes");
    disk.set_fault(Some(Fault::Broken(disk.calls() + 1)));
    assert!(file.sync().is_ok());
    assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(5));
    assert!(file.sync().is_ok());
}

#[test]
fn a_full_disk_takes_half_a_write_and_then_nothing() {
    let disk = SimulatedDisk::new();
    drop(write(&disk, "a", b""));
    let file = root(&disk).open("a".as_ref(), Access::Append).unwrap();
    disk.set_fault(Some(Fault::Full(0)));
    assert_eq!(file.append(b"12345678").unwrap(), None);
    assert_eq!(file.append(b"12345678").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.stat().unwrap().length, 4);
    disk.set_fault(None);
    assert_eq!(file.append(b"12345678").unwrap(), Some(12));
}

#[test]
fn a_lock_belongs_to_one_open_file_until_it_is_closed() {
    let disk = SimulatedDisk::new();
    let file = write(&disk, "a", b"");
    let other = root(&disk).open("a".as_ref(), Access::Read).unwrap();
    file.try_lock().unwrap();
    assert!(matches!(other.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
    drop(file);
    other.try_lock().unwrap();
}

#[test]
fn nothing_is_created_in_a_removed_folder() {
    let disk = SimulatedDisk::new();
    root(&disk).make_folder("a".as_ref(), Naming::Shared).unwrap();
    let folder = root(&disk).folder("a".as_ref(), true).unwrap();
    root(&disk).remove_folder("a".as_ref()).unwrap();
    assert_eq!(folder.open("b".as_ref(), Access::New).unwrap_err().kind(), io::ErrorKind::NotFound);
}
