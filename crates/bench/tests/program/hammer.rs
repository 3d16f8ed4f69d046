//! Hammer as its users see it: fields written, read and listed by processes, and refused options.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::Arc,
};

use crate::common::{bench, check_failed, clean, lines, number, numbers, pool, read_record, study_in};
use isotach_engine_posix::Posix;
use isotach_fields::{Config, FieldStore, ListOptions};
use isotach_object::Registry;
use serde_json::Value;

/// Hammer in a folder, with its pool in `pool` and its record in the folder of that name.
fn command(folder: &Path, record: &str, words: &str) -> Command {
    study_in(folder, record, &pool(folder), &format!("hammer --json {words}"))
}

fn hammer(folder: &Path, record: &str, words: &str) -> Output {
    command(folder, record, words).output().unwrap()
}

fn store(folder: &Path) -> FieldStore {
    let registry = Registry::new().with(Arc::new(Posix));
    FieldStore::open(&Config::single(&pool(folder).parse().unwrap()), &registry).unwrap()
}

const SMALL: &str = "-n 2 --nsteps 3 --nensembles 2 --nlevels 2 --nparams 5 --size 2000";

#[test]
fn one_command_writes_reads_and_lists_all_fields_and_profiles_the_calls() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("--write --read --list --full-check --repetitions 2 {SMALL},40000");
    let lines = lines(&hammer(folder.path(), "run", &words));
    assert_eq!(lines.len(), 2 * 2 * 3, "two sizes, two repetitions, three phases");
    for line in &lines {
        let phase = line["phase"].as_str().unwrap();
        let fields = 2 * 2 * 3 * 10;
        let operations = if phase == "list" { 2 } else { fields };
        let bytes = if phase == "list" { 0 } else { fields * number(&line["size"]) };
        let found = numbers(line, ["processes", "operations", "bytes", "wrong"]);
        assert_eq!(found, [2, operations, bytes, 0], "{line}");
        let count = |call: &str| line["profile"][call]["count"].as_f64().unwrap_or_default();
        // Each process has 60 fields in six steps of a member.
        let expected = match phase {
            "write" => [60.0, 6.0, 0.0, 0.0],
            // A retrieval of ten fields has one call to begin, ten for fields, and one that finds the end.
            "read" => [0.0, 0.0, 72.0, 0.0],
            _ => [0.0, 0.0, 0.0, 2.0],
        };
        assert_eq!(["archive", "flush", "retrieve", "list"].map(count), expected, "{line}");
        let shares = line["profile"].as_object().unwrap().values();
        let sum: f64 = shares.map(|share| share["share"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{line}");
        assert_eq!(line["listed_per_s"].is_number(), phase == "list", "{line}");
    }
    assert!(!folder.path().join("pool").exists());
}

#[test]
fn a_kept_store_is_read_by_other_runs_and_removed_by_clean() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("{SMALL} --step 6 --number 3 --level 500 --class od --expver 0042");
    lines(&hammer(folder.path(), "first", &format!("--keep --repetitions 1 {words}")));
    let request = "class=od,expver=0042,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=pl,\
                   step=6/7/8,number=3/4/5/6,levelist=500/501,param=130/131/132/133/129";
    let listing = store(folder.path()).list(&request.parse().unwrap(), ListOptions::default()).unwrap();
    assert_eq!(listing.map(Result::unwrap).count(), 3 * 4 * 10);
    for way in ["--read", "--read --one-by-one", "--list", "--read --itt"] {
        let found = lines(&hammer(folder.path(), &way.replace([' ', '-'], ""), &format!("{way} {words}")));
        assert_eq!((found.len(), &found[0]["wrong"]), (3, &Value::from(0)), "{way}");
    }
    assert!(clean(&folder.path().join("read")).contains("removed 0 pools"));
    assert!(clean(&folder.path().join("first")).contains("removed 1 pool"));
    assert!(!folder.path().join("pool").exists());
}

#[test]
fn wrong_and_missing_fields_fail_the_run() {
    let folder = tempfile::tempdir().unwrap();
    lines(&hammer(folder.path(), "first", &format!("--keep --repetitions 1 {SMALL}")));
    let key = "class=rd,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=pl,\
               step=1,number=2,levelist=1,param=130"
        .parse()
        .unwrap();
    let store = store(folder.path());
    let mut bytes = store.retrieve_one(&key).unwrap().unwrap().into_vec();
    assert_eq!((&bytes[..4], bytes.len(), &bytes[1996..]), (&b"GRIB"[..], 2000, &b"7777"[..]));
    bytes[1000] ^= 1;
    store.archive(&key, &bytes).unwrap();
    store.flush().unwrap();
    let read = |record: &str, words: &str| {
        hammer(folder.path(), record, &format!("--read --repetitions 1 {SMALL} {words}"))
    };
    assert!(read("ends", "").status.success(), "the middle is compared if asked for");
    for (record, words) in [("all", "--full-check"), ("one", "--full-check --one-by-one")] {
        check_failed(words, &read(record, words), 1, &["wrong data: 1 operations"]);
        assert_eq!(read_record(&folder.path().join(record))["results"][0]["wrong"], 1);
    }
    let more = format!("--read --repetitions 1 {}", SMALL.replace("--nsteps 3", "--nsteps 4"));
    check_failed(&more, &hammer(folder.path(), "more", &more), 1, &["do not exist"]);
}

/// Waits until the record of a run exists.
fn wait_for_record(folder: &Path, record: &str, run: &mut Child) {
    while !folder.join(record).join("run.json").exists() {
        assert!(run.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::yield_now();
    }
}

#[test]
fn readers_wait_for_a_late_step_and_give_up_on_a_missing_one() {
    let folder = tempfile::tempdir().unwrap();
    let steps =
        |count: u32| format!("-n 1 --nlevels 2 --nparams 3 --size 2000 --repetitions 1 --nsteps {count}");
    lines(&hammer(folder.path(), "first", &format!("--keep {}", steps(2))));
    let store = store(folder.path());
    let key = |step: u32, level: u32, param: &str| {
        let key = format!(
            "class=rd,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=pl,\
             step={step},number=1,levelist={level},param={param}"
        );
        key.parse().unwrap()
    };
    let give_up = format!("--read --itt --poll-period 0 --poll-max-attempts 3 {}", steps(3));
    let expected = "step 2 of members 1 is not available after 3 polls";
    check_failed(&give_up, &hammer(folder.path(), "never", &give_up), 1, &[expected]);
    // These fields arrive in time with the bytes of another step, so they are wrong.
    let archive = |level, param| {
        let bytes = store.retrieve_one(&key(1, level, param)).unwrap().unwrap();
        store.archive(&key(2, level, param), &bytes).unwrap();
    };
    for level in [1, 2] {
        ["130", "131", "132"].iter().for_each(|param| archive(level, param));
    }
    let patient = format!("--read --itt --poll-period 0.01 --poll-max-attempts 1000000 {}", steps(3));
    let mut run = command(folder.path(), "late", &patient);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_record(folder.path(), "late", &mut run);
    assert!(run.try_wait().unwrap().is_none(), "it waits for the step that is not flushed");
    store.flush().unwrap();
    check_failed(&patient, &run.wait_with_output().unwrap(), 1, &["wrong data: 6 operations"]);
}

#[test]
fn a_writer_keeps_the_window_of_each_step_and_counts_late_steps() {
    let folder = tempfile::tempdir().unwrap();
    let words = "--itt --random-delay 0 -n 1 --nsteps 2 --nlevels 1 --nparams 2 --size 2000 --repetitions 1";
    let line = &lines(&hammer(folder.path(), "wide", &format!("{words} --step-window 0.2")))[0];
    assert!(line["profile"]["wait"]["seconds"].as_f64().unwrap() > 0.1, "{line}");
    assert_eq!(line["late_steps"], Value::Null, "{line}");
    let line = &lines(&hammer(folder.path(), "narrow", &format!("{words} --step-window 0.000001")))[0];
    assert_eq!(line["late_steps"], 2, "{line}");
}

#[test]
fn invalid_options_and_templates_are_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("text"), "no message").unwrap();
    let text = folder.path().join("text").display().to_string();
    for (words, code, expected) in [
        ("--nsteps 0", 2, "0 is not in"),
        ("--nparams 1000", 2, "expected 1 to"),
        ("--size 100", 2, "which this template can hold"),
        ("--expver 1", 2, "four letters or digits"),
        ("--class xx", 2, "one of od, rd"),
        ("--levels 1,1", 2, "each level once"),
        ("--levels 1 --nlevels 3", 2, "cannot be used with"),
        ("--poll-period 1", 2, "--itt as well"),
        ("--itt --step-window soon", 2, "expected seconds"),
        ("--keep", 2, "--repetitions 1"),
        ("/no/such/template", 1, "/no/such/template"),
        (&text, 2, "expected a file with one GRIB message"),
    ] {
        check_failed(words, &hammer(folder.path(), "run", words), code, &[expected]);
        assert!(!folder.path().join("run").exists() && !folder.path().join("pool").exists(), "{words}");
    }
    let bare = bench("hammer --read").output().unwrap();
    check_failed("--read", &bare, 2, &["nothing to read or list; expected --pool"]);
}
