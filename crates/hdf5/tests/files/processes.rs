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
use isotach_hdf5::{Access, Data, Run, Site};
use isotach_object::Registry;

use crate::common::{at, beside, data, dataset, filter, group, linked, read_all};

const CHILD: &str = "ISOTACH_H5_CHILD";

/// Commits version after version, until it is killed. Does nothing in a usual run.
#[test]
fn child_process() {
    let Ok(name) = env::var(CHILD) else { return };
    let site = Site::new(None, Registry::new().with(Arc::new(Posix))).with_options("sync=no");
    let file = site.open(&name, Access::ReadWrite).unwrap();
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
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "processes::child_process", "--nocapture"])
            .env(CHILD, &place.name)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut committed = lines.filter_map(|line| line.strip_prefix("committed ")?.parse::<u8>().ok());
        let seen = committed.by_ref().take(3 + round).last().unwrap();
        thread::sleep(Duration::from_micros(700 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();

        let file = place.open();
        let plain = read_all(&at(&file, "plain"));
        assert!(plain[0] >= seen && seen > last, "{} {seen} {last}", plain[0]);
        assert!(plain.iter().all(|byte| *byte == plain[0]), "a mixture of versions");
        assert!(read_all(&at(&file, "packed")) == plain, "both datasets are of one version");
        assert_eq!(file.root().unwrap().link_count().unwrap(), u64::from(plain[0]) + 2);
        last = plain[0];
    }
}
