//! Processes: one that is killed at any moment leaves the last commit.

use std::{
    env,
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use isotach_engine_posix::Posix;
use isotach_hdf5::{Access, By, Creation, Data, Order, Run, Site};
use isotach_object::Registry;

use crate::common::{at, beside, clusters, data, dataset, filter, group, linked, read_all};

const CHILD: &str = "ISOTACH_H5_CHILD";
const CHILD_POOL: &str = "ISOTACH_H5_CHILD_POOL";

/// Where the files of a child are: in a pool of a cluster, or beside their paths.
fn site_of_child() -> Site {
    match env::var(CHILD_POOL).ok() {
        Some(uri) => Site::new(Some(uri.parse().unwrap()), isotach_open::registry()),
        None => Site::new(None, Registry::new().with(Arc::new(Posix))).with_options("sync=no"),
    }
}

/// Commits version after version, until it is killed. Does nothing in a usual run.
#[test]
fn child_process() {
    let Ok(name) = env::var(CHILD) else { return };
    let file = site_of_child().open(&name, Access::ReadWrite).unwrap();
    let first = read_all(&at(&file, "plain"))[0];
    for version in first + 1..=250 {
        // Each version has one byte in all elements, and one more link.
        for name in ["plain", "packed"] {
            let set = at(&file, name);
            set.write(&[Run { first: 0, count: 1200 }], &vec![version; 9600]).unwrap();
            set.write(&[Run { first: 1200, count: 5000 }], &vec![version; 40_000]).unwrap();
            set.write(&[Run { first: 6200, count: 3800 }], &vec![version; 30_400]).unwrap();
        }
        linked(&file, &format!("version {version}"), group());
        file.commit().unwrap();
        println!("committed {version}");
    }
}

/// Kills a child some time after some commits. Returns the last version that it has told of.
fn kill_after(command: &mut Command, round: u64) -> u8 {
    let mut child = command
        .args(["--exact", "processes::child_process", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut committed = lines.filter_map(|line| line.strip_prefix("committed ")?.parse::<u8>().ok());
    let seen = committed.by_ref().take(3 + round as usize).last().unwrap();
    thread::sleep(Duration::from_micros(700 * round));
    child.kill().unwrap();
    child.wait().unwrap();
    seen
}

#[test]
fn a_process_that_is_killed_leaves_a_whole_version() {
    let place = beside();
    let file = place.create();
    let packed = Data { filters: vec![filter(2, &[8]), filter(1, &[1])], ..data(&[10_000], &[1000], 8) };
    drop((dataset(&file, "plain", data(&[10_000], &[1000], 8)), dataset(&file, "packed", packed)));
    file.commit().unwrap();
    drop(file);
    let mut last = 0;
    for round in 0..6 {
        let seen = kill_after(Command::new(env::current_exe().unwrap()).env(CHILD, &place.name), round);
        let file = place.open();
        let plain = read_all(&at(&file, "plain"));
        assert!(plain[0] >= seen && seen > last, "{} {seen} {last}", plain[0]);
        assert!(plain.iter().all(|byte| *byte == plain[0]), "a mixture of versions");
        assert!(read_all(&at(&file, "packed")) == plain, "both datasets are of one version");
        assert_eq!(file.root().unwrap().link_count().unwrap(), u64::from(plain[0]) + 2);
        last = plain[0];
    }
}

#[test]
fn a_process_that_is_killed_leaves_whole_chunks_and_objects_in_a_cluster() {
    for (engine, uri) in clusters() {
        let is_whole = engine.capabilities().transactions;
        let site = || Site::new(Some(uri.clone()), Registry::new().with(engine.clone()));
        let name = "/no/such/folder/a.h5";
        let file = site().create(name, Creation::New, &group(), b"").unwrap();
        let packed = Data { filters: vec![filter(1, &[1])], ..data(&[10_000], &[1000], 8) };
        drop((dataset(&file, "plain", data(&[10_000], &[1000], 8)), dataset(&file, "packed", packed)));
        file.commit().unwrap();
        drop(file);
        for round in 0..12 {
            let mut command = Command::new(env::current_exe().unwrap());
            let seen = kill_after(command.env(CHILD, name).env(CHILD_POOL, uri.to_string()), round);
            let file = site().open(name, Access::ReadWrite).unwrap();
            let next = if is_whole { read_all(&at(&file, "plain"))[0] } else { u8::MAX };
            for name in ["plain", "packed"] {
                for chunk in read_all(&at(&file, name)).chunks(8000) {
                    assert!(chunk.iter().all(|byte| *byte == chunk[0]), "a mixture within a chunk of {name}");
                    assert!(chunk[0] >= seen && (!is_whole || chunk[0] == next), "{seen} {}", chunk[0]);
                }
            }
            let root = file.root().unwrap();
            assert!(root.link_count().unwrap() >= u64::from(seen) + 2);
            for (name, _) in root.links(By::Name, Order::Native).unwrap() {
                at(&file, &name).header().unwrap();
            }
            // What was left half done is done again by the next writer.
            let next = read_all(&at(&file, "plain"))[0];
            if !is_whole && root.link(&format!("version {next}")).unwrap().is_none() {
                linked(&file, &format!("version {next}"), group());
            }
            for name in ["plain", "packed"] {
                at(&file, name).write(&[Run { first: 0, count: 10_000 }], &[next; 80_000]).unwrap();
            }
            file.commit().unwrap();
        }
        engine.destroy_pool(&uri).unwrap();
    }
}
