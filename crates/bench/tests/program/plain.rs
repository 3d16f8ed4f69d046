//! The limit beside the cases of a study: plain files on the same file system.

use std::{fs, path::Path, process::Output};

use serde_json::Value;

use crate::{
    common::{array, lines, number, pool, record, stderr, stdout, study_in},
    limits::SmallDisk,
};

/// A study in a pool of the folder `parent`, with its record in `run`.
fn study(folder: &Path, parent: &Path, words: &str) -> Output {
    study_in(folder, "run", &pool(parent), &format!("{words} --repetitions 1")).output().unwrap()
}

fn figure(line: &Value, name: &str) -> f64 {
    line[name].as_f64().unwrap()
}

#[test]
fn all_writes_and_reads_of_a_study_have_a_limit() {
    let forecast = "--nsteps 2 --nlevels 2 --nparams 2 -n 2 --json";
    for words in [
        "field-io --size 4096 --operations 20 --pattern a,b,0A,1 -n 2 --json".to_owned(),
        format!("hammer --write --read --list {forecast}"),
        format!("operational {forecast}"),
        "kernels --scale 0.01 --versions 2 -n 2 --json".to_owned(),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // Plain writes wait for the device as flushes do.
        let synced = format!("posix:{}", folder.path().join("pool").display());
        let command = format!("{words} --repetitions 1");
        let lines = lines(&study_in(folder.path(), "run", &synced, &command).output().unwrap());
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
fn the_table_has_a_column_of_plain_where_there_is_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let words = "field-io --size 4096 --operations 5 -n 2";
    let table = stdout(&study(folder.path(), folder.path(), words));
    assert!(
        table.contains("┆ of plain ┆") && table.contains("of plain: by plain writes or reads"),
        "{table}"
    );
    let other = tempfile::tempdir().unwrap();
    let mut elsewhere = crate::common::study(other.path(), words);
    elsewhere.args(["--repetitions", "1", "--hosts", "a", "--launcher", "env NODE={host}"]);
    let table = stdout(&elsewhere.output().unwrap());
    assert!(!table.contains("of plain"), "the files of another machine are not measured: {table}");
}

#[test]
fn a_limit_without_space_is_recorded_as_missing_and_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    let Some(_disk) = SmallDisk::mount(&disk) else { return };
    let output = study(folder.path(), &disk, "field-io --pattern a --operations 8 -n 2");
    let error = stderr(&output);
    assert!(output.status.success() && error.contains("no limit beside"), "{error}");
    let record = record(folder.path());
    assert_eq!(record["complete"], true);
    for result in array(&record["results"]) {
        assert!(result["limit_error"].is_string() && result.get("limit_mib_per_s").is_none(), "{result}");
    }
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0, "nothing is left on it");
}

#[test]
fn paced_writes_and_existing_fields_have_no_limit() {
    let folder = tempfile::tempdir().unwrap();
    let forecast = "--nsteps 1 --nlevels 1 --nparams 2 -n 1 --json";
    let no_limit = |words: &str| {
        let lines = lines(&study(folder.path(), folder.path(), words));
        fs::remove_dir_all(folder.path().join("run")).unwrap();
        lines.iter().all(|line| line.get("limit_mib_per_s").is_none() && line.get("limit_error").is_none())
    };
    assert!(no_limit(&format!("hammer --itt --step-window 0.01 {forecast}")));
    assert!(!no_limit(&format!("hammer --keep {forecast}")));
    assert!(no_limit(&format!("hammer --read {forecast}")));
}

#[test]
fn a_foreign_folder_with_the_name_of_the_plain_files_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let strange = folder.path().join("pool-plain");
    fs::create_dir(&strange).unwrap();
    fs::write(strange.join("theirs"), "bytes").unwrap();
    let output = study(folder.path(), folder.path(), "field-io --pattern a --operations 2 --size 4096 -n 2");
    let error = stderr(&output);
    assert!(output.status.success() && !error.contains("kept"), "{error}");
    assert_eq!(error.matches("no limit beside").count(), 1, "{error}");
    assert!(strange.join("theirs").exists());
    let record = record(folder.path());
    assert!(array(&record["results"]).iter().all(|result| result["limit_error"].is_string()));
}
