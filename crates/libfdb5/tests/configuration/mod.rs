//! Which store a handle is on.

use std::{fs, process::Command};

use super::{bench, bench::Bench, configuration_in};

/// What `opened` prints.
fn opened(bench: &Bench, words: &[&str], set: impl FnOnce(&mut Command) -> &mut Command) -> String {
    let mut command = bench.command(&bench.path("opened"), words);
    set(&mut command);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn bench_with_program() -> Bench {
    let bench = bench();
    bench.program("opened");
    bench
}

/// Whether the field went to the root that was made for `name`.
fn is_in(bench: &Bench, told: &str, name: &str) -> bool {
    told.starts_with(&format!("5 bytes in posix:{}/", bench.path(name).join("root").display()))
}

#[test]
fn fdbs_variables_name_the_store_in_their_order() {
    let bench = bench_with_program();
    let (home, file) = (bench.path("home"), bench.path("file.yaml"));
    fs::create_dir_all(home.join("etc/fdb")).unwrap();
    fs::write(home.join("etc/fdb/config.yaml"), configuration_in(&bench.path("of-home"))).unwrap();
    fs::write(&file, configuration_in(&bench.path("of-file"))).unwrap();
    let told = opened(&bench, &[], |command| command.env("FDB_HOME", &home));
    assert!(is_in(&bench, &told, "of-home"), "{told}");
    let told = opened(&bench, &[], |command| command.env("FDB_HOME", &home).env("FDB_CONFIG_FILE", &file));
    assert!(is_in(&bench, &told, "of-file"), "{told}");
    let text = configuration_in(&bench.path("of-text"));
    let told = opened(&bench, &[], |command| {
        command.env("FDB_HOME", &home).env("FDB5_CONFIG_FILE", &file).env("FDB5_CONFIG", text)
    });
    assert!(is_in(&bench, &told, "of-text"), "{told}");
}

#[test]
fn a_configuration_in_text_is_fdbs_or_isotachs_and_an_empty_one_is_the_environments() {
    let bench = bench_with_program();
    let told =
        opened(&bench, &[&configuration_in(&bench.path("fdbs")), "useSubToc: true"], |command| command);
    assert!(is_in(&bench, &told, "fdbs"), "{told}");
    fs::create_dir_all(bench.path("own/root")).unwrap();
    let own = format!("{{spaces: [{{pool: 'posix:{}'}}]}}", bench.path("own/root").display());
    assert!(is_in(&bench, &opened(&bench, &[&own, ""], |command| command), "own"));
    let text = configuration_in(&bench.path("environment"));
    let told = opened(&bench, &["", ""], |command| command.env("FDB_CONFIG", text));
    assert!(is_in(&bench, &told, "environment"), "{told}");
}

#[test]
fn a_configuration_that_is_wrong_is_refused_with_its_place() {
    let bench = bench_with_program();
    let refused = |words: &[&str], reason: &str| {
        let told = opened(&bench, words, |command| command);
        assert!(told.starts_with("open: ") && told.contains(reason), "{told}");
    };
    refused(&["{type: nonsense}", ""], "system_config:1:2: type nonsense: expected local or select");
    refused(&["{type: [", ""], "system_config:1");
    refused(&[&configuration_in(&bench.path("x")), "{a: ["], "user_config: ");
    refused(&[], "no store: expected ISOTACH_STORE or ISOTACH_CONFIG");
}

#[test]
fn isotachs_variables_come_first_and_their_store_must_exist() {
    let bench = bench_with_program();
    let store = bench.path("store/root");
    let fdbs = configuration_in(&bench.path("fdbs"));
    let told = opened(&bench, &[], |command| command.env("FDB_CONFIG", &fdbs).env("ISOTACH_STORE", &store));
    assert!(told.starts_with("open: ISOTACH_STORE: ") && told.contains("does not exist"), "{told}");
    let text = format!("{{spaces: [{{pool: 'posix:{}'}}]}}", store.display());
    fs::create_dir_all(&store).unwrap();
    assert!(is_in(&bench, &opened(&bench, &[&text, ""], |command| command), "store"));
    let told = opened(&bench, &[], |command| command.env("FDB_CONFIG", &fdbs).env("ISOTACH_STORE", &store));
    assert!(is_in(&bench, &told, "store"), "{told}");
}

#[test]
fn a_root_is_made_a_store_only_if_it_is_an_empty_folder() {
    let bench = bench_with_program();
    let text = configuration_in(&bench.path("fdb"));
    fs::remove_dir(bench.path("fdb/root")).unwrap();
    let told = opened(&bench, &[&text, ""], |command| command);
    assert!(told.contains("expected a folder that exists"), "{told}");
    assert!(!bench.path("fdb/root").exists());
    // As FDB's own data would be.
    fs::create_dir_all(bench.path("fdb/root/rd:xxxx:oper:20240101:0000:g")).unwrap();
    let told = opened(&bench, &[&text, ""], |command| command);
    assert!(told.contains("holds other files"), "{told}");
}
