//! The stores that faults are injected into: how they are opened, written, asked and repaired.

use std::{
    collections::BTreeMap,
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_engine_posix::Posix;
use isotach_fields::{
    Config, Damage, Error, FieldStore, Level, Repair, RepairReport, Result, VerifyOptions, VerifyReport,
};
use isotach_mars::Key;
use isotach_object::{PoolUri, Registry};

const SCHEMA: &str = "[ class [ type [ step: Step, param: Param ]]]";
/// The datasets.
pub(crate) const CLASSES: [&str; 2] = ["od", "rd"];
const OPTIONS: VerifyOptions = VerifyOptions { data: true, threads: 1 };
/// How often a store is verified and repaired: a first repair may reveal further damage.
const ROUNDS: usize = 8;

/// All bytes that each key ever had, the newest last, by the text of the key.
pub(crate) type Expected = BTreeMap<String, Vec<Vec<u8>>>;

/// A store in a folder.
pub(crate) struct Store {
    pub(crate) folder: PathBuf,
    config: Config,
    registry: Registry,
}

/// The answers of a store to requests for every field.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) right: u64,
    /// Errors that report damage.
    pub(crate) reported: Vec<String>,
    /// The newest bytes that an earlier flush left under the key.
    pub(crate) older: Vec<String>,
    /// Bytes that the key never had.
    pub(crate) wrong: Vec<String>,
    /// No field and no error.
    pub(crate) absent: Vec<String>,
}

/// What repairs reported, and what they left.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    damage: Vec<Damage>,
    left: Vec<Damage>,
}

impl Store {
    /// Catalogue and store in one pool, or in two.
    pub(crate) fn new(folder: &Path, is_apart: bool) -> Self {
        let uri = |name: &str| -> PoolUri {
            format!("posix:{}/{name}?checkpoint=2048", folder.display()).parse().unwrap()
        };
        let config = match is_apart {
            true => Config::split(&uri("catalogue"), &uri("store")),
            false => Config::single(&uri("all")),
        };
        let registry = Registry::new().with(Arc::new(Posix));
        Self { folder: folder.to_owned(), config: config.with_schema(SCHEMA), registry }
    }

    pub(crate) fn create(&self) -> FieldStore {
        FieldStore::create(&self.config, &self.registry).unwrap()
    }

    pub(crate) fn open(&self) -> Result<FieldStore> {
        FieldStore::open(&self.config, &self.registry)
    }

    /// Archives some steps of all datasets, with bytes that identify the round.
    pub(crate) fn write(&self, steps: Range<u64>, round: u8, expected: &mut Expected) {
        let store = self.open().unwrap();
        for step in steps {
            for class in CLASSES {
                let (key, bytes) = field(class, step, round);
                store.archive(&key.parse::<Key>().unwrap(), &bytes).unwrap();
                expected.entry(key).or_default().push(bytes);
            }
            store.flush().unwrap();
        }
    }

    /// Asks for every field.
    pub(crate) fn ask(&self, expected: &Expected) -> Answers {
        let mut answers = Answers::default();
        let store = match self.open() {
            Ok(store) => store,
            Err(error) => {
                assert_reports_damage(&error);
                return Answers { reported: expected.keys().cloned().collect(), ..answers };
            }
        };
        for (key, versions) in expected {
            match store.retrieve_one(&key.parse::<Key>().unwrap()) {
                Ok(Some(found)) if versions.last().is_some_and(|newest| found == newest[..]) => {
                    answers.right += 1;
                }
                Ok(Some(found)) if versions.iter().any(|older| found == older[..]) => {
                    answers.older.push(key.clone());
                }
                Ok(Some(_)) => answers.wrong.push(key.clone()),
                Ok(None) => answers.absent.push(key.clone()),
                Err(error) => {
                    assert_reports_damage(&error);
                    answers.reported.push(key.clone());
                }
            }
        }
        answers
    }

    pub(crate) fn verify(&self) -> VerifyReport {
        match self.open() {
            Ok(store) => store.verify(&"".parse().unwrap(), OPTIONS, &|_| ()).unwrap(),
            Err(_) => FieldStore::verify_unopened(&self.config, &self.registry, OPTIONS).unwrap(),
        }
    }

    /// Verifies and repairs until a repair changes nothing.
    pub(crate) fn repair(&self) -> Findings {
        let mut reported = Findings::default();
        for round in 0..ROUNDS {
            let report = self.verify();
            reported.damage.extend(report.parts.iter().flat_map(|part| part.damage.clone()));
            let repair = report.repair(true).unwrap();
            reported.damage.extend(repair.repaired.iter().map(|repaired| repaired.damage.clone()));
            let is_done = repair.repaired.iter().all(|repaired| repaired.repair == Repair::Left);
            assert!(
                is_done || round + 1 < ROUNDS,
                "there is something to repair after {ROUNDS} rounds: {repair:?}"
            );
            reported.left = left(repair);
            if is_done {
                break;
            }
        }
        reported
    }

    /// The labels of a dataset's containers.
    fn labels(&self, class: &str) -> Vec<String> {
        let pools = ["all", "catalogue", "store"].map(|pool| self.folder.join(pool).join("containers"));
        let names = pools.iter().filter_map(|pool| fs::read_dir(pool).ok()).flatten();
        let labels = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        labels.filter(|label| label.starts_with(&format!("{class}-"))).collect()
    }
}

fn left(repair: RepairReport) -> Vec<Damage> {
    let left = repair.repaired.into_iter().filter(|repaired| repaired.repair == Repair::Left);
    left.map(|repaired| repaired.damage).collect()
}

/// A field's key and its bytes in a round. Some are inside the log's neighbourhood, and some take several checksums.
pub(crate) fn field(class: &str, step: u64, round: u8) -> (String, Vec<u8>) {
    let bytes = vec![round.wrapping_mul(31) ^ step as u8; if step.is_multiple_of(5) { 150_000 } else { 500 }];
    (format!("class={class},type=fc,step={step},param=t"), bytes)
}

/// Checks that an error reports damage, and not a mistake of the caller.
#[track_caller]
pub(crate) fn assert_reports_damage(error: &Error) {
    let codes = ["corrupt", "lost-dataset", "damaged-dataset", "not-a-store", "not-found"];
    assert!(codes.contains(&error.code()), "{}: {error}", error.code());
}

impl Findings {
    pub(crate) fn is_empty(&self) -> bool {
        self.damage.is_empty()
    }

    /// Whether a repair could repair everything.
    pub(crate) fn is_mended(&self) -> bool {
        self.left.is_empty()
    }

    /// Whether reported damage affects a field.
    pub(crate) fn is_of(&self, key: &str, store: &Store) -> bool {
        concerns(&self.damage, &key.parse().unwrap(), store)
    }

    /// Whether remaining damage affects a field.
    pub(crate) fn is_left(&self, key: &str, store: &Store) -> bool {
        concerns(&self.left, &key.parse().unwrap(), store)
    }

    /// The findings of a verification outside of what the last repair left damaged.
    pub(crate) fn new_in<'r>(&self, report: &'r VerifyReport, store: &Store) -> Vec<&'r Damage> {
        let same = |a: &Damage, b: &Damage| (&a.what, &a.place) == (&b.what, &b.place);
        let is_left = |found: &Damage| {
            self.left.iter().any(|left| same(left, found)) || concerns(&self.left, &found.key, store)
        };
        report.parts.iter().flat_map(|part| &part.damage).filter(|found| !is_left(found)).collect()
    }
}

/// Whether damage affects a field, its collocation, or its dataset's containers. Damage of the list of datasets does
/// not count, because it is restored.
fn concerns(damage: &[Damage], key: &Key, store: &Store) -> bool {
    let labels = key.get("class").map(|class| store.labels(class)).unwrap_or_default();
    damage.iter().any(|damage| {
        let mut parts = damage.key.slots();
        let is_named = !damage.key.is_empty() && parts.all(|(name, value)| key.get(name) == Some(value));
        let is_in_container = labels.iter().any(|label| damage.place.contains(label.as_str()));
        (is_named && damage.level != Level::Store) || is_in_container
    })
}
