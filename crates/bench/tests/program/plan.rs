//! The planner as a command: its answers, its calibration, and what it refuses.

use std::{fs, process::Command};

use serde_json::Value;

use crate::common::{array, check_failed, lines, program, stdout};

fn plan(words: &str) -> Command {
    let mut command = Command::new(program());
    command.arg("plan").args(words.split_whitespace());
    command
}

fn answers(words: &str) -> Vec<Value> {
    lines(&plan(words).arg("--json").output().unwrap())
}

#[test]
fn the_windows_of_the_papers_are_predicted_for_every_engine() {
    for (site, engine) in [("lustre", "posix"), ("ceph", "rados"), ("nextgenio-daos", "daos")] {
        let found = answers(site);
        let volumes: Vec<f64> = found.iter().map(|one| one["volume_bytes"].as_f64().unwrap()).collect();
        assert_eq!(volumes, [70.0, 180.0, 700.0].map(|tib| tib * (1_u64 << 40) as f64), "{site}");
        for one in &found {
            assert_eq!((&one["engine"], &one["fields"]), (&Value::from(engine), &Value::from(25e6)));
            let (time, needed) = (one["time_s"].as_f64().unwrap(), one["fields_per_s"].as_f64().unwrap());
            assert!(
                (time * needed / 25e6 - 1.0).abs() < 1e-9 && array(&one["resources"]).len() >= 6,
                "{one}"
            );
        }
        assert!(found.is_sorted_by(|one, next| one["time_s"].as_f64() <= next["time_s"].as_f64()));
    }
}

#[test]
fn tables_name_resources_limits_and_sources() {
    let shown = stdout(&plan("lustre --volume 70TiB,180TiB").output().unwrap());
    for part in [
        "storage targets",
        "metadata servers",
        "limited by",
        "70 TiB",
        "180 TiB",
        "Where the figures come from:",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let needed = stdout(&plan("nextgenio-daos --need --volume 180TiB").output().unwrap());
    assert!(needed.contains("servers for the speed and ") && needed.contains("<- fewest nodes"), "{needed}");
    let curve = stdout(&plan("nextgenio-daos --curve ratio").output().unwrap());
    assert!(curve.contains("<- knee") && curve.contains("clients per server"), "{curve}");
}

#[test]
fn an_example_is_printed_as_a_site_that_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.yaml");
    let text = stdout(&plan("--example ceph").output().unwrap());
    fs::write(&path, text.replace("nodes: 16\n", "nodes: 32\n")).unwrap();
    let of = |site: &str| answers(site)[2]["fields_per_s"].as_f64().unwrap();
    assert!(of(path.to_str().unwrap()) > 1.5 * of("ceph"), "twice the servers");
    let listed = stdout(&plan("--example").output().unwrap());
    assert_eq!(listed.lines().count(), 4, "{listed}");
}

#[test]
fn measured_costs_are_a_site_and_replace_those_of_another() {
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let path = folder.path().join("costs.yaml");
    let file = path.to_str().unwrap();
    let measure = format!("--measure --repetitions 1 --folder {} --out {file}", folder.path().display());
    assert!(stdout(&plan(&measure).output().unwrap()).contains("costs of this machine"));
    let own = answers(&format!("{file} --curve processes --at 1"));
    let (write, read) =
        (own[0]["write_bytes_per_s"].as_f64().unwrap(), own[0]["read_bytes_per_s"].as_f64().unwrap());
    assert!(write > 1e6 && read > 1e6, "{own:?}");
    let with = stdout(&plan(&format!("ceph --costs {file}")).output().unwrap());
    assert!(with.contains("costs: measured: archive and retrieve by 1 process"), "{with}");
    check_failed(&measure, &plan(&measure).output().unwrap(), 1, &["create ", "costs.yaml", "exists"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "temporary folders are removed");
}

#[test]
fn a_failed_measurement_leaves_no_file_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("costs.yaml");
    let words = format!("--measure --folder {0}/none --out {0}/costs.yaml", folder.path().display());
    check_failed(&words, &plan(&words).output().unwrap(), 1, &["none"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{}", file.display());
}

#[test]
fn a_folder_or_file_with_an_examples_name_does_not_hide_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("ceph")).unwrap();
    fs::write(folder.path().join("lustre"), stdout(&plan("--example two-cpus").output().unwrap())).unwrap();
    let shown = |words: &str| stdout(&plan(words).current_dir(folder.path()).output().unwrap());
    assert!(shown("ceph").contains("engine rados"));
    assert!(shown("lustre").contains("Lustre on flash"));
    assert!(shown("./lustre").contains("Two shared processors"));
}

#[test]
fn json_has_the_servers_for_speed_and_space_and_the_knee() {
    let needed = answers("nextgenio-daos --need --volume 180TiB");
    assert!(needed.iter().all(|one| one["servers_for_speed"] == 16 && one["servers_for_space"] == 60));
    let knees = |words: &str| answers(words).iter().filter(|one| one["is_knee"] == true).count();
    assert_eq!(knees("nextgenio-daos --curve ratio"), 1);
    assert_eq!(knees("nextgenio-daos --curve servers"), 0);
}

#[test]
fn sources_are_shown_once_for_the_needs_of_several_volumes() {
    let shown = stdout(&plan("lustre --need").output().unwrap());
    assert_eq!(shown.matches("Where the figures come from:").count(), 1, "{shown}");
    assert_eq!(shown.matches("<- fewest nodes").count(), 3, "{shown}");
}

#[test]
fn mistakes_are_usage_errors_that_name_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.yaml");
    fs::write(&path, "name: a\nengine: tape\n").unwrap();
    for (words, expected) in [
        ("other".to_owned(), "no example of this name"),
        (path.display().to_string(), "unknown variant `tape`"),
        ("two-cpus --need".to_owned(), "a site with the section `servers`"),
        ("two-cpus --curve servers".to_owned(), "--curve processes"),
        ("lustre --window 0s".to_owned(), "a time above zero"),
        ("lustre --volume 70".to_owned(), "as in 70 TiB"),
        ("lustre --at 2".to_owned(), "--curve"),
        ("--example other".to_owned(), "one of nextgenio-daos, lustre, ceph, two-cpus"),
        ("lustre --curve ratio --volume 1TiB".to_owned(), "cannot be used with"),
        ("lustre --curve ratio --fields 1M".to_owned(), "cannot be used with"),
        ("lustre --curve ratio --window 1h".to_owned(), "cannot be used with"),
        ("lustre --curve ratio --read-back 0.5".to_owned(), "cannot be used with"),
        (String::new(), "SITE"),
    ] {
        check_failed(&words, &plan(&words).output().unwrap(), 2, &[expected]);
    }
}
