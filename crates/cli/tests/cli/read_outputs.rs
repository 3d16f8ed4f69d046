//! The outputs of `isotach read`: files, pipes, named pipes and devices, and what damage leaves in them.

use std::{
    fs::{self, File},
    process::{Command, Stdio},
    thread,
};

use crate::support::{Store, damage, field, said, same_bytes};

/// The length of the field of a step: short ones are gathered, long ones are not.
fn length_of(step: u32) -> usize {
    match step {
        7 | 20 => 1_500_000,
        step if step % 5 == 0 => 300_000,
        step => 60_000 + step as usize,
    }
}

fn bytes_of(step: u32) -> Vec<u8> {
    vec![step as u8; length_of(step)]
}

/// A store with the fields of steps 0 to 39, all their bytes, and the request for them.
fn store_with_fields() -> (Store, Vec<u8>, String) {
    let store = Store::new();
    (0..40).for_each(|step| store.write_raw(step, &bytes_of(step)));
    (store, (0..40).flat_map(bytes_of).collect(), field("0/to/39/by/1"))
}

#[test]
fn a_file_a_pipe_a_named_pipe_and_standard_output_get_the_same_bytes() {
    let (store, expected, request) = store_with_fields();
    let [file, redirected, fifo] = ["file", "redirected", "fifo"].map(|name| store.beside(name));
    store.ok(["read", &request, "-o", &file]);
    same_bytes(&fs::read(&file).unwrap(), &expected);
    same_bytes(&store.read(&request), &expected);

    let out = File::create(&redirected).unwrap();
    said(store.command(["read", &request]).stdout(out)).succeeds();
    same_bytes(&fs::read(&redirected).unwrap(), &expected);

    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = thread::spawn({
        let fifo = fifo.clone();
        move || fs::read(fifo).unwrap()
    });
    store.ok(["read", &request, "-o", &fifo]);
    same_bytes(&reader.join().unwrap(), &expected);
    store.ok(["read", &request, "-o", "/dev/null"]);
}

#[test]
fn a_damaged_field_leaves_the_fields_before_it_on_standard_output_and_no_file() {
    let store = Store::new();
    for (step, length) in [(0, 300_000), (1, 70_000), (2, 400_000), (3, 70_000)] {
        store.write_raw(step, &vec![step as u8; length]);
    }
    damage(store.file_of_container("data", ""), 390_000..390_001);
    let before = [vec![0; 300_000], vec![1; 70_000]].concat();
    let request = field("0/to/3/by/1");
    let target = store.beside("target");
    same_bytes(&store.try_read(&request).fails_with(1, &["step=2", "is corrupt: "]).out, &before);
    store.run(["read", &request, "-o", &target]).fails_with(1, &["step=2", "is corrupt: "]);
    assert!(!fs::exists(&target).unwrap());
    fs::write(&target, "before").unwrap();
    store.run(["read", &request, "-o", &target]).fails_with(1, &["step=2", "is corrupt: "]);
    assert_eq!(fs::read(&target).unwrap(), b"before");
}

#[test]
fn a_full_device_fails_the_read() {
    let (store, _, request) = store_with_fields();
    let full = "No space left on device (os error 28)";
    let message = format!("cannot write /dev/full: {full}");
    store.run(["read", &request, "-o", "/dev/full"]).fails(1, &message);
    store.run(["read", &field(1), "-o", "/dev/full"]).fails(1, &message);
    let out = File::options().write(true).open("/dev/full").unwrap();
    let mut command = store.command(["read", &request]);
    let message = format!("cannot write to standard output: {full}");
    said(command.stdout(out).stderr(Stdio::piped())).fails(1, &message);
}
