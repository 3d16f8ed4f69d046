//! Repairs of stores with damage in several files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::{KEY, Said, Store, field, has_prefix, messages, paths_in, said, truncate};

/// The file of a container with this prefix.
fn file_of(container: &Path, prefix: &str) -> PathBuf {
    paths_in(container).find(|path| has_prefix(path, prefix)).unwrap()
}

/// The label of a container.
fn label(container: &Path) -> String {
    container.file_name().unwrap().to_string_lossy().into_owned()
}

/// The log of a container.
fn log_of(container: &Path) -> PathBuf {
    file_of(container, "log.")
}

fn containers(store: &Store) -> Vec<PathBuf> {
    let all = paths_in(store.path().join("containers"));
    let mut datasets: Vec<_> = all.filter(|path| !path.ends_with("root")).collect();
    datasets.sort();
    datasets
}

/// Cuts a log to this length.
fn cut(container: &Path, length: impl FnOnce(u64) -> u64) {
    truncate(log_of(container), length);
}

/// A store with two datasets, and the length of its list of datasets before they were created.
fn two_datasets() -> (Store, u64) {
    let store = Store::new();
    let empty = fs::metadata(log_of(&store.path().join("containers/root"))).unwrap().len();
    for expver in ["aaaa", "bbbb"] {
        for step in [0, 6] {
            store.write_keyed(&format!("{},step={step}", KEY.replace("test", expver)), &[step as u8; 300]);
        }
    }
    (store, empty)
}

#[test]
fn one_repair_restores_the_list_of_datasets_and_truncated_datasets() {
    let (store, empty) = two_datasets();
    cut(&store.path().join("containers/root"), |_| empty);
    containers(&store).iter().for_each(|container| cut(container, |length| length - 100));
    let said = store.ok(["repair"]);
    assert!(said.text().matches("cannot be opened: the log has lost its last ").count() == 2, "{said:?}");
    let said = store.ok(["repair", "--doit"]);
    assert!(said.text().matches("put back: store class=rd,expver=").count() == 2, "{said:?}");
    store.ok(["list"]).shows(&["expver=aaaa", "expver=bbbb"]);
    store.ok(["verify", "--data"]);
    store.write_keyed(&format!("{},step=12", KEY.replace("test", "aaaa")), b"again");
    store.ok(["verify", "--data"]);
}

#[test]
fn repair_restores_version_and_schema_of_a_store_from_its_newest_dataset() {
    let (store, _) = two_datasets();
    let schema = store.ok(["schema", "show"]).text().to_owned();
    cut(&store.path().join("containers/root"), |_| 100);
    store.run(["list"]).fails_with(1, &["`isotach repair`"]);
    store.ok(["repair", "--doit"]).shows(&["the store has lost its schema", "its version"]);
    assert_eq!(store.ok(["schema", "show"]).text(), schema);
    assert_eq!(store.count(), 4);
    store.ok(["verify", "--data"]);
}

#[test]
fn repair_restores_an_unlisted_container_with_a_truncated_log() {
    let (store, empty) = two_datasets();
    let [aaaa, bbbb] = <[PathBuf; 2]>::try_from(containers(&store)).unwrap();
    // Without its note of what was flushed, the list seems complete.
    let root = store.path().join("containers/root");
    cut(&root, |_| empty);
    fs::remove_file(root.join("flushed")).unwrap();
    cut(&aaaa, |length| length - 100);
    let verified = store.run(["verify"]).exits(1);
    let [aaaa, bbbb] = [label(&aaaa), label(&bbbb)];
    let cut =
        format!("container {aaaa} cannot be opened, and no list of datasets names it: the log has lost");
    verified.shows(&[&cut, &format!("container {bbbb} of ")]);
    store.ok(["repair", "--doit"]);
    store.ok(["list"]).shows(&["expver=aaaa", "expver=bbbb"]);
    store.ok(["verify", "--data"]);
}

#[test]
fn two_containers_of_one_dataset_are_reported_and_can_be_merged() {
    let (store, empty) = two_datasets();
    let old = containers(&store)[0].clone();
    // An older copy of the list, followed by a writer.
    let root = store.path().join("containers/root");
    cut(&root, |_| empty);
    fs::remove_file(root.join("flushed")).unwrap();
    let (key, rescue) = (KEY.replace("test", "aaaa"), store.folder.path().join("rescue"));
    store.write_keyed(&format!("{key},step=6"), b"newer");
    store.write_keyed(&format!("{key},step=12"), b"new");
    for command in [vec!["verify"], vec!["repair", "--doit"], vec!["verify"]] {
        let what = "it has fields of a dataset that is listed with container";
        let place = format!("container {} of ", label(&old));
        let said = store.run(&command).exits(1).shows(&[what, &place]);
        assert!(!said.text().contains("`isotach wipe`"), "{said:?}");
    }

    let other = format!("posix:{}", rescue.display());
    let at_rescue = |arguments: &[&str]| store.bare([&["--store", &other], arguments].concat()).succeeds();
    at_rescue(&["init"]);
    fs::rename(&old, rescue.join("containers").join(label(&old))).unwrap();
    at_rescue(&["repair", "--doit"]);
    store.ok(["copy", &key, "--to", &other]);
    at_rescue(&["copy", &key, "--to", &store.uri()]);
    let steps = [0, 6, 12].map(|step| store.read(&format!("{key},step={step}")));
    assert_eq!(steps, [vec![0; 300], b"newer".to_vec(), b"new".to_vec()]);
    store.ok(["verify", "--data"]);
}

#[test]
fn a_dataset_that_cannot_be_repaired_does_not_stop_other_repairs() {
    let (store, _) = two_datasets();
    let [aaaa, bbbb] = <[PathBuf; 2]>::try_from(containers(&store)).unwrap();
    cut(&aaaa, |length| length - 100);
    cut(&bbbb, |length| length - 100);
    // Another repair of the dataset is in progress.
    let held = fs::File::open(aaaa.join("superblock")).unwrap();
    held.lock().unwrap();
    let left = ["left: dataset class=rd,expver=aaaa", "    not repaired: "];
    let said = store.run(["repair", "--doit"]).exits(1).shows(&left);
    said.shows(&["restored: dataset class=rd,expver=bbbb"]);
    drop(held);
    store.ok(["repair", "--doit"]);
    store.ok(["verify"]);
}

/// A store with its catalogue in another pool, and a function that runs the program on it.
fn separate_store(options: &str) -> (Store, impl Fn(&[&str]) -> Said) {
    let store = Store::absent();
    let run = store.configured(&format!(
        "spaces:\n  - name: all\n    catalogue: posix:cat\n    store: posix:sto{options}\n"
    ));
    run(&["init"]).succeeds();
    (store, run)
}

#[test]
fn repair_copies_fields_without_entries_from_a_separate_store() {
    let (store, run) = separate_store("");
    let write = |step: u32, bytes: &[u8]| {
        store.file("raw", bytes);
        run(&["write", "--key", &field(step), "raw"]).succeeds();
    };
    write(0, &[1; 50_000]);
    let mut catalogues = paths_in(store.folder.path().join("cat/containers"));
    let catalogue = catalogues.find(|path| !path.ends_with("root")).unwrap();
    let first = fs::metadata(log_of(&catalogue)).unwrap().len();
    write(6, &[6; 50_000]);
    write(12, &[12; 50_000]);
    let whole = run(&["verify"]).succeeds();
    assert!(!whole.text().contains("not named"), "{whole:?}");
    cut(&catalogue, |_| first);
    run(&["verify"]).exits(1);

    let repaired = run(&["repair", "--doit"]).succeeds();
    let copy = repaired.rest_of_line("kept: 97.7 KiB that no entry names, from byte 0 of ");
    assert_eq!(fs::read(copy).unwrap(), [vec![6; 50_000], vec![12; 50_000]].concat());
    run(&["verify", "--data"]).succeeds().shows(&["not named: 2 arrays of 97.7 KiB in posix:"]);
    run(&["purge", "--doit"]).succeeds();
    run(&["verify"]).succeeds().shows(&["not named: 2 arrays"]);
    assert_eq!(run(&["list"]).succeeds().lines(), 1);
}

#[test]
fn repair_keeps_entries_of_an_unreadable_container() {
    let (store, run) = separate_store("?checkpoint=2048");
    store.file("raw", b"field");
    for step in [0, 0, 6, 6, 12] {
        run(&["write", "--key", &field(step), "raw"]).succeeds();
    }
    run(&["purge", "--doit"]).succeeds();
    let container = paths_in(store.folder.path().join("sto/containers")).next().unwrap();
    let run_file = file_of(&container, "run.");
    let whole = fs::read(&run_file).unwrap();
    fs::write(&run_file, &whole[..whole.len() / 2]).unwrap();
    let repaired = run(&["repair", "--doit"]).exits(1);
    assert!(!repaired.text().contains("taken out"), "{repaired:?}");
    fs::write(&run_file, &whole).unwrap();
    run(&["verify", "--data"]).succeeds();
    assert_eq!(run(&["read", &field("0/6/12"), "-o", "-"]).succeeds().out, b"fieldfieldfield");
}

/// The rescue commands that a repair printed.
fn rescues(said: &str) -> Vec<&str> {
    said.lines().map(str::trim).filter(|line| line.starts_with("tail -c ")).collect()
}

/// Runs a printed command in another folder, with another store in the environment.
fn run_in_shell(store: &Store, line: &str) -> Said {
    let elsewhere = store.folder.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_isotach")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line]).current_dir(&elsewhere).env("HOME", &elsewhere).env("PATH", path);
    said(shell.env("ISOTACH_STORE", format!("posix:{}", elsewhere.join("other").display())))
}

#[test]
fn the_printed_rescue_command_restores_fields_and_replaces_none() {
    let Some(messages) = messages(6) else { return };
    let parent = Store::absent();
    let folder = parent.folder.path().join("it's a folder");
    fs::create_dir(&folder).unwrap();
    let store = Store { folder: tempfile::tempdir_in(&folder).unwrap() };
    store.ok(["init"]);
    let file = store.file("six.grib", &messages.concat());
    store.ok(["write", "--key", "expver=0001", &file]);
    store.ok(["write", "--key", "expver=0002", &file]);
    let of = |expver: &str| containers(&store).into_iter().find(|path| label(path).contains(expver)).unwrap();
    let listed = store.ok(["list", "--long", "expver=1"]).text().to_owned();
    cut(&of("0002"), |length| length / 3);
    let repaired = store.ok(["repair", "--doit"]).text().to_owned();
    let lines = rescues(&repaired);
    assert!(!lines.is_empty(), "{repaired}");
    // A field that exists by then stays.
    let first = store.file("first.grib", &messages[0]);
    store.ok(["write", "--key", "expver=0002", "--modify", "values=1", &first]);
    let of_first = || store.ok(["list", "--long", "expver=2,step=0"]).text().to_owned();
    let newer = of_first();
    store.run(["repair", "--doit"]);
    for round in 0..2 {
        for line in &lines {
            let said = run_in_shell(&store, line).succeeds();
            assert!(round == 0 || said.text().contains("archived 0 fields"), "{said:?}");
            assert!(said.text().contains("of the store"), "{said:?}");
        }
    }
    assert_eq!(store.ok(["list", "--long", "expver=1"]).text(), listed);
    assert_eq!(store.count(), 12);
    assert_eq!(of_first(), newer);
}
