//! Random sequences of operations, compared with a map.

use std::collections::BTreeMap;

use isotach_fields::{FieldStore, ListOptions};
use isotach_mars::Key;
use isotach_needs::{number, seed};
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

use crate::layouts::{Layout, field, request, with};

/// A field by class, type, step and param: two datasets, two collocations in each.
type Name = (u8, u8, u8, u8);

#[derive(Debug, Clone)]
enum Step {
    Archive(Name, Vec<u8>),
    Flush,
    Reopen,
    Retrieve(Name),
    RetrieveMany(u8, u8),
    List(Option<u8>, Option<u8>, Option<u8>),
    Wipe(u8, Option<u8>),
    /// All params of a step and of the one after it.
    Delete(Name),
    Purge,
}

fn key((class, kind, step, param): Name) -> Key {
    let changes = format!("class={},type={}", ["od", "rd"][class as usize], ["fc", "an"][kind as usize]);
    with(&field(&(step * 6).to_string(), &(130 + param).to_string()), &changes)
}

fn name() -> impl Strategy<Value = Name> {
    (0..2_u8, 0..2_u8, 0..3_u8, 0..2_u8)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (name(), proptest::collection::vec(any::<u8>(), 0..40)).prop_map(|(name, data)| Step::Archive(name, data)),
        3 => Just(Step::Flush),
        1 => Just(Step::Reopen),
        3 => name().prop_map(Step::Retrieve),
        2 => (0..2_u8, 0..2_u8).prop_map(|(class, kind)| Step::RetrieveMany(class, kind)),
        2 => (proptest::option::of(0..2_u8), proptest::option::of(0..2_u8), proptest::option::of(0..3_u8))
            .prop_map(|(class, kind, step)| Step::List(class, kind, step)),
        1 => (0..2_u8, proptest::option::of(0..2_u8)).prop_map(|(class, kind)| Step::Wipe(class, kind)),
        2 => name().prop_map(Step::Delete),
        1 => Just(Step::Purge),
    ]
}

/// What is visible, and what waits for a flush.
#[derive(Debug, Default)]
struct Model {
    visible: BTreeMap<Name, Vec<u8>>,
    waiting: Vec<(Name, Vec<u8>)>,
}

fn text(class: Option<u8>, kind: Option<u8>, step: Option<u8>) -> String {
    let class = class.map(|class| format!("class={}", ["od", "rd"][class as usize]));
    let kind = kind.map(|kind| format!("type={}", ["fc", "an"][kind as usize]));
    let step = step.map(|step| format!("step={}", step * 6));
    [class, kind, step].into_iter().flatten().collect::<Vec<_>>().join(",")
}

fn run(layout: &Layout, steps: &[Step]) {
    let (mut writer, reader) = (layout.store(), layout.store());
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Archive(name, data) => {
                writer.archive(&key(*name), data).unwrap();
                model.waiting.push((*name, data.clone()));
            }
            Step::Flush => {
                writer.flush().unwrap();
                model.visible.extend(model.waiting.drain(..));
            }
            Step::Reopen => {
                writer = layout.store();
                model.waiting.clear();
            }
            Step::Wipe(class, kind) => {
                // A wipe of a whole dataset takes what its writers hold back; here it holds back nothing.
                writer.flush().unwrap();
                model.visible.extend(model.waiting.drain(..));
                reader.wipe(&request(&text(Some(*class), *kind, None)), true).unwrap();
                model.visible.retain(|name, _| name.0 != *class || kind.is_some_and(|kind| name.1 != kind));
            }
            Step::Delete(name) => {
                let is_gone = |other: &Name| {
                    (other.0, other.1) == (name.0, name.1) && (name.2..=name.2 + 1).contains(&other.2)
                };
                let steps = format!("step={}/{},param=130/131", name.2 * 6, name.2 * 6 + 6);
                let report = reader.delete(&crate::layouts::request_like(&key(*name), &steps), true).unwrap();
                let before = model.visible.len();
                model.visible.retain(|name, _| !is_gone(name));
                assert_eq!(report.fields() as usize, before - model.visible.len());
            }
            Step::Purge => assert!(reader.purge(&request(""), true).unwrap().unusable.is_empty()),
            reading => compare(&reader, reading, &model),
        }
    }
    writer.flush().unwrap();
    model.visible.extend(model.waiting.drain(..));
    compare(&layout.store(), &Step::List(None, None, None), &model);
}

fn compare(reader: &FieldStore, reading: &Step, model: &Model) {
    match reading {
        Step::Retrieve(name) => {
            assert_eq!(
                reader.retrieve_one(&key(*name)).unwrap().map(Vec::from).as_ref(),
                model.visible.get(name)
            );
        }
        Step::RetrieveMany(class, kind) => {
            let changes = format!("{},step=0/6/12,param=130/131", text(Some(*class), Some(*kind), None));
            let many = crate::layouts::request_like(&key((*class, *kind, 0, 0)), &changes);
            let mut retrieval = reader.retrieve(&many).unwrap();
            let found: Vec<Vec<u8>> =
                retrieval.by_ref().map(|field| field.unwrap().bytes.into_vec()).collect();
            let expected = model.visible.iter().filter(|(name, _)| (name.0, name.1) == (*class, *kind));
            let expected: Vec<&Vec<u8>> = expected.map(|(_, data)| data).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected);
            assert_eq!(retrieval.missing().unwrap().count as usize, 6 - expected.len());
        }
        Step::List(class, kind, step) => {
            let listing = reader.list(&request(&text(*class, *kind, *step)), ListOptions::default()).unwrap();
            let found: BTreeMap<String, Vec<u8>> = listing
                .map(|listed| listed.unwrap())
                .map(|listed| (listed.key().to_string(), reader.read(listed.location()).unwrap().into_vec()))
                .collect();
            let wanted = |name: &Name| {
                class.is_none_or(|class| class == name.0)
                    && kind.is_none_or(|kind| kind == name.1)
                    && step.is_none_or(|step| step == name.2)
            };
            let expected = model.visible.iter().filter(|(name, _)| wanted(name));
            let canonical = |name: &Name| reader.schema().split(&key(*name)).unwrap().whole().to_string();
            let expected: BTreeMap<String, Vec<u8>> =
                expected.map(|(name, data)| (canonical(name), data.clone())).collect();
            assert_eq!(found, expected);
        }
        other => panic!("{other:?} does not read"),
    }
}

/// Of so many sequences one is run on a cluster.
const IN_CLUSTER: u32 = 20;

/// How many sequences: a nightly run sets ISOTACH_SEQUENCES to more.
fn sequences() -> u32 {
    number("ISOTACH_SEQUENCES").map_or(500, |number| number as u32)
}

#[test]
fn any_sequence_of_operations_gives_what_a_map_gives() {
    run_sequences(sequences(), Layout::everywhere_off_disk);
}

#[test]
fn any_sequence_of_operations_on_a_cluster_gives_what_a_map_gives() {
    // Each takes seconds there.
    run_sequences(sequences().div_ceil(IN_CLUSTER), Layout::all_in_cluster);
}

fn run_sequences(count: u32, layouts: fn() -> Vec<Layout>) {
    let (seed, mut bytes) = (seed(), [0; 32]);
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = ProptestConfig { cases: count, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let result = runner.run(&proptest::collection::vec(step(), 1..60), |steps| {
        layouts().iter().for_each(|layout| run(layout, &steps));
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("ISOTACH_SEED={seed}: {error}"));
}
