//! The conformance suite itself: every case is run, and a failure in another process is a failure.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use isotach_object::{Capabilities, Engine, Pool, PoolUri, Result};
use isotach_object_conformance::{Fixture, MemoryFixture, run, run_child, visibility};

/// The memory engine, with the lie that other processes see its pools.
#[derive(Debug)]
struct Liar(Arc<dyn Engine>);

impl Engine for Liar {
    fn scheme(&self) -> &'static str {
        self.0.scheme()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { multi_process: true, ..self.0.capabilities() }
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        self.0.create_pool(uri)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        self.0.open_pool(uri)
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        self.0.destroy_pool(uri)
    }
}

struct LiarFixture(MemoryFixture);

impl Fixture for LiarFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(Liar(self.0.engine()))
    }

    fn fresh_pool(&self) -> PoolUri {
        self.0.fresh_pool()
    }
}

#[test]
fn child_process() {
    run_child(&LiarFixture(MemoryFixture::new()));
}

#[test]
fn a_failure_in_another_process_fails_the_case_with_its_message() {
    let fixture = LiarFixture(MemoryFixture::new());
    let child = concat!(module_path!(), "::child_process");
    let case = visibility::a_flush_shows_everything_to_other_processes;
    let failure = catch_unwind(AssertUnwindSafe(|| run(&fixture, child, case))).unwrap_err();
    let message = failure.downcast_ref::<String>().unwrap();
    assert!(message.contains("NotFound") && message.contains("memory:pool-0"), "{message}");
}

/// Names that the pattern `before name after` finds in the suite's sources.
fn names(source: &str, before: &str, after: char) -> BTreeSet<String> {
    let lines = source.lines().filter_map(|line| line.strip_prefix(before));
    lines.filter_map(|line| line.split_once(after)).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn every_case_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let registration = std::fs::read_to_string(format!("{folder}/registration.rs")).unwrap();
    let listed = names(&registration, "                ", ',');
    let mut written = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        // The folder within holds no cases.
        let Ok(source) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
        let cases = source.lines().filter(|line| line.ends_with("(trial: &Trial<'_>) {"));
        written.extend(cases.filter_map(|line| names(line, "pub fn ", '(').pop_first()));
    }
    assert!(written.len() > 90, "{} cases are found", written.len());
    assert_eq!(written.difference(&listed).collect::<Vec<_>>(), Vec::<&String>::new());
}
