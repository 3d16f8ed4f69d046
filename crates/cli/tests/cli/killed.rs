//! A program that is killed during its work.

use std::{
    fs,
    io::{PipeReader, PipeWriter, Write, pipe},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::Child,
    time::{Duration, Instant},
};

use isotach_needs::{Need, skip};
use rustix::{
    fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open},
    process::{Pid, Signal, kill_process},
};

use crate::support::{Store, field};

#[test]
fn a_killed_read_leaves_nothing_behind() {
    let store = Store::with_field(0, b"field");
    // After reading the field, the program waits on a full pipe to report the missing one.
    let folder = store.folder.path().join("target");
    fs::create_dir(&folder).unwrap();
    if open(&folder, OFlags::WRONLY | OFlags::TMPFILE, Mode::RUSR).is_err() {
        return skip(Need::UnnamedFiles, "this file system has no files without a name");
    }
    // A shell script ignores SIGINT in background processes and their children, so this test does not use it.
    for (signal, before) in [(Signal::TERM, None), (Signal::KILL, Some("before"))] {
        let target = folder.join("out");
        if let Some(before) = before {
            fs::write(&target, before).unwrap();
        }
        let arguments = ["read", &field("0/6"), "-o", target.to_str().unwrap()];
        let (_unread, full) = full_pipe();
        let mut child = store.command(arguments).stderr(full).spawn().unwrap();
        wait_until_it_holds_a_file_in(&folder, &mut child);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        let left: Vec<_> = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, before.map(|_| "out").into_iter().collect::<Vec<_>>());
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), before);
    }
}

/// A full pipe: a writer waits.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(&[0; 1024]).is_ok() {}
    while writer.write(&[0]).is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// Waits until the process has opened a file of the folder, with or without a name.
fn wait_until_it_holds_a_file_in(folder: &Path, child: &mut Child) {
    let open = format!("/proc/{}/fd", child.id());
    let begin = Instant::now();
    let is_held = || {
        let links =
            fs::read_dir(&open).unwrap().flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        links.into_iter().any(|link| link.starts_with(folder))
    };
    while !is_held() {
        assert_eq!(child.try_wait().unwrap(), None, "the program ended early");
        assert!(begin.elapsed() < Duration::from_secs(60), "the program opened no file in {folder:?}");
        std::thread::yield_now();
    }
}
