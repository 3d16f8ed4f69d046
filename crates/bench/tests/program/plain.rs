//! The limit beside the cases of a study: plain files on the same file system.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

use crate::{
    common::{lines, number, pool, printed, program, record, told},
    limits::SmallDisk,
};

/// A study in the pool of a folder, with its record in `run`.
fn study(folder: &Path, place: &Path, words: &[&str]) -> Output {
    study_in(folder, &pool(place), words)
}

fn study_in(folder: &Path, pool: &str, words: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.arg("bench").args(words).arg("--out").arg(folder.join("run"));
    command.args(["--repetitions", "1", "--pool", pool]).output().unwrap()
}

fn split(words: &str) -> Vec<&str> {
    words.split_whitespace().collect()
}

fn figure(line: &Value, name: &str) -> f64 {
    line[name].as_f64().unwrap()
}

#[test]
fn whatever_a_study_writes_and_reads_has_plain_writes_and_reads_of_as_many_bytes_beside_it() {
    let forecast = "--nsteps 2 --nlevels 2 --nparams 2 -n 2 --json";
    for words in [
        "field-io --size 4096 --operations 20 --pattern a,b,0A,1 -n 2 --json".to_owned(),
        format!("hammer --write --read --list {forecast}"),
        format!("operational {forecast}"),
        "kernels --scale 0.01 --versions 2 -n 2 --json".to_owned(),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // Where a flush waits for the device, plain writes do so, too.
        let synced = format!("posix:{}", folder.path().join("pool").display());
        let lines = lines(&study_in(folder.path(), &synced, &split(&words)));
        let follows = |line: &&Value| words.starts_with("operational") && line["phase"] == "read";
        let is_moved =
            |line: &&Value| line["phase"] != "setup" && number(&line["bytes"]) > 0 && !follows(line);
        assert!(lines.iter().any(|line| is_moved(&line)));
        for line in lines.iter().filter(is_moved) {
            let limit = figure(line, "limit_mib_per_s") * f64::from(1 << 20);
            let ratio = figure(line, "global_timing_bandwidth") / limit;
            assert!((figure(line, "ratio_to_limit") / ratio - 1.0).abs() < 1e-9, "{line}");
            assert!(line["is_limit_overlap_poor"].is_boolean() && limit > 0.0, "{line}");
        }
        for line in lines.iter().filter(|line| !is_moved(line)) {
            assert!(line.get("limit_mib_per_s").is_none(), "{line}");
        }
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
        assert_eq!(left, ["run"], "{words}");
    }
}

#[test]
fn the_table_has_a_column_for_what_part_of_plain_a_figure_is_where_there_is_any() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 --operations 5 -n 2";
    let table = printed(&study(folder.path(), folder.path(), &split(words)));
    assert!(
        table.contains("┆ of plain ┆") && table.contains("of plain: by plain writes or reads"),
        "{table}"
    );
    let other = tempfile::tempdir().unwrap();
    let mut elsewhere = split(words);
    elsewhere.extend(["--hosts", "a", "--launcher", "env NODE={host}"]);
    let table = printed(&study(other.path(), other.path(), &elsewhere));
    assert!(!table.contains("of plain"), "another machine's files are not at hand: {table}");
}

#[test]
fn a_limit_for_which_there_is_no_room_ends_nothing_and_its_lack_is_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("disk");
    let Some(_disk) = SmallDisk::mount(&place) else { return };
    let output = study(folder.path(), &place, &split("field-io --pattern a --operations 8 -n 2"));
    let told = told(&output);
    assert!(output.status.success() && told.contains("no limit beside"), "{told}");
    let record = record(folder.path());
    assert_eq!(record["complete"], true);
    for result in record["results"].as_array().unwrap() {
        assert!(result["limit_error"].is_string() && result.get("limit_mib_per_s").is_none(), "{result}");
    }
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "nothing is left on it");
}

#[test]
fn what_is_paced_or_was_there_before_has_no_limit() {
    let folder = tempfile::tempdir().unwrap();
    let forecast = "--nsteps 1 --nlevels 1 --nparams 2 -n 1 --json";
    let no_limit = |words: &str| {
        let lines = lines(&study(folder.path(), folder.path(), &split(words)));
        fs::remove_dir_all(folder.path().join("run")).unwrap();
        lines.iter().all(|line| line.get("limit_mib_per_s").is_none() && line.get("limit_error").is_none())
    };
    assert!(no_limit(&format!("hammer --itt --step-window 0.01 {forecast}")));
    assert!(!no_limit(&format!("hammer --keep {forecast}")));
    assert!(no_limit(&format!("hammer --read {forecast}")));
}

#[test]
fn a_folder_that_has_the_name_of_the_plain_files_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let strange = folder.path().join("pool-plain");
    fs::create_dir(&strange).unwrap();
    fs::write(strange.join("theirs"), "bytes").unwrap();
    let output =
        study(folder.path(), folder.path(), &split("field-io --pattern a --operations 2 --size 4096 -n 2"));
    let told = told(&output);
    assert!(output.status.success() && !told.contains("kept"), "{told}");
    assert_eq!(told.matches("no limit beside").count(), 1, "{told}");
    assert!(strange.join("theirs").exists());
    let results = record(folder.path())["results"].as_array().unwrap().clone();
    assert!(results.iter().all(|result| result["limit_error"].is_string()));
}
