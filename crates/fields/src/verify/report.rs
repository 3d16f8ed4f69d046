//! What a verification reports: parts, damage, and what a repair can do about it.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use isotach_mars::Key;
use isotach_object::{Finding, Label, ObjectId, Part, Pool, Unnamed, Verified, Verify};

use super::unnamed::UnnamedFields;
use crate::{
    Forbidden, Result,
    catalogue::root::{Entry, Root},
    store::Inner,
};

/// The extent of a verification and its number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Whether to verify the bytes of every field against its checksum.
    pub data: bool,
    /// The number of threads that read.
    pub threads: usize,
}

impl Default for VerifyOptions {
    /// Without bytes, with a thread for each processor.
    fn default() -> Self {
        Self { data: false, threads: std::thread::available_parallelism().map_or(1, usize::from) }
    }
}

impl VerifyOptions {
    /// The options for containers. The bytes of fields are verified field by field, so that their keys are known.
    fn of_containers(self) -> Verify {
        Verify { data: false, threads: self.threads }
    }
}

/// The progress of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Fields that were checked.
    pub fields: u64,
    /// Bytes read.
    pub bytes: u64,
    /// The bytes to be read in all, if that is known: never where the bytes of fields are left out.
    pub total: Option<u64>,
}

/// What a verification found.
#[derive(Debug, Default)]
pub struct VerifyReport {
    /// Each store's list of its datasets, then each dataset.
    pub parts: Vec<VerifiedPart>,
    /// Bytes read.
    pub bytes: u64,
    /// The verified snapshot, which cannot be repaired.
    pub(super) snapshot: Option<Label>,
}

impl VerifyReport {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.parts.iter().all(|part| part.damage.is_empty())
    }
}

/// A dataset, or the list of the datasets of a store.
#[derive(Debug, Default)]
pub struct VerifiedPart {
    /// The dataset's key. Empty for the list of datasets.
    pub key: Key,
    /// Its place.
    pub place: String,
    /// Fields that readers see.
    pub fields: u64,
    /// Replaced fields.
    pub replaced_fields: u64,
    /// What is damaged.
    pub damage: Vec<Damage>,
    /// The number of damaged places that are not in `damage`.
    pub more_damage: u64,
    /// Stored bytes that nothing names: of fields that were archived and never flushed, or whose entries are lost.
    pub unnamed: Vec<Unnamed>,
    /// Arrays of a dataset that no entry names. Running writers have some.
    pub unnamed_fields: Option<UnnamedFields>,
    /// The number of wipes of collocations that have begun and not ended. Those that are not running were killed, and a
    /// repair ends them.
    pub unended_wipes: u16,
    /// The dataset. `None` for the list of datasets, and in a snapshot.
    pub(super) dataset: Option<ListedDataset>,
    /// The verified containers, the catalogue's first.
    pub(super) containers: Vec<VerifiedContainer>,
    /// The actions that the configuration forbids there.
    pub(super) forbidden: Forbidden,
}

impl VerifiedPart {
    /// Damage of the part as a whole.
    pub(super) fn damage(&self, what: impl Into<String>, cure: Cure) -> Damage {
        let level = if self.key.is_empty() { Level::Store } else { Level::Dataset };
        Damage::new(level, &self.key, what, &self.place, cure)
    }

    /// Adds a verified container. `reported` turns a finding and its damage into what the part reports of it.
    pub(super) fn add_container(
        &mut self,
        pool: Arc<dyn Pool>,
        label: Label,
        verified: Verified,
        mut reported: impl FnMut(&Finding, Damage) -> Option<Damage>,
    ) {
        let at = self.containers.len();
        for finding in &verified.findings {
            let damage = self.of_finding(finding, at);
            self.damage.extend(reported(finding, damage));
        }
        self.more_damage += verified.more_findings;
        self.unnamed.extend(verified.unnamed);
        self.containers.push(VerifiedContainer { pool, label, findings: verified.findings });
    }

    /// The damage of a finding that concerns no single field. The container is the part's `at`th.
    pub(super) fn of_finding(&self, finding: &Finding, at: usize) -> Damage {
        let cell = finding.cell.as_ref().map(|cell| format!(" ({cell})")).unwrap_or_default();
        let cure = match finding.part {
            Part::Derived => Cure::SetAside { at },
            Part::End => Cure::Restore { at },
            Part::Description | Part::History | Part::Bytes => Cure::None,
        };
        let (place, byte) = (finding.place.clone(), finding.byte);
        Damage { place, byte, ..self.damage(format!("{}{cell}", finding.what), cure) }
    }
}

/// A dataset that its root lists.
#[derive(Debug)]
pub(super) struct ListedDataset {
    pub(super) inner: Arc<Inner>,
    pub(super) root: Arc<Root>,
    pub(super) entry: Arc<Entry>,
}

/// A verified container.
#[derive(Debug)]
pub(super) struct VerifiedContainer {
    pub(super) pool: Arc<dyn Pool>,
    pub(super) label: Label,
    pub(super) findings: Vec<Finding>,
}

/// The level of a damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The list of datasets.
    Store,
    /// A dataset as a whole.
    Dataset,
    /// A collocation.
    Collocation,
    /// A field that readers see.
    Field,
    /// A replaced field.
    ReplacedField,
}

impl Level {
    /// Its stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Dataset => "dataset",
            Self::Collocation => "collocation",
            Self::Field => "field",
            Self::ReplacedField => "replaced field",
        }
    }
}

/// One damaged object.
#[derive(Debug, Clone)]
pub struct Damage {
    /// Its level.
    pub level: Level,
    /// Its key, if it is known.
    pub key: Key,
    /// What is wrong.
    pub what: String,
    /// The file or object.
    pub place: String,
    /// The first damaged byte in the file, if it is known.
    pub byte: Option<u64>,
    pub(super) cure: Cure,
}

impl Damage {
    pub(super) fn new(level: Level, key: &Key, what: impl Into<String>, place: &str, cure: Cure) -> Self {
        let (key, what, place) = (key.clone(), what.into(), place.to_owned());
        Self { level, key, what, place, byte: None, cure }
    }

    /// Whether the damage may be temporary: the object could not be checked, and may be intact.
    pub fn may_pass(&self) -> bool {
        self.cure == Cure::Wait
    }
}

/// What a repair can do about damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cure {
    /// Nothing.
    None,
    /// Nothing now: the object may be intact at a second check.
    Wait,
    /// Quarantine the rebuildable files of the part's `at`th container.
    SetAside { at: usize },
    /// Restore the end of the history of the part's `at`th container.
    Restore { at: usize },
    /// Take the entry out, if it is unchanged.
    Remove { object: ObjectId, key: Vec<u8>, value: Vec<u8> },
    /// Put back an entry whose value is known from elsewhere.
    PutBack { object: ObjectId, key: Vec<u8>, value: Vec<u8> },
}

/// A verification: what it includes, and its progress.
pub(super) struct Run<'p> {
    pub(super) options: VerifyOptions,
    fields: AtomicU64,
    pub(super) bytes: AtomicU64,
    total: Option<u64>,
    report: &'p (dyn Fn(VerifyProgress) -> ControlFlow<()> + Sync),
    is_ended: AtomicBool,
}

impl<'p> Run<'p> {
    pub(super) fn new(
        options: VerifyOptions,
        total: Option<u64>,
        report: &'p (dyn Fn(VerifyProgress) -> ControlFlow<()> + Sync),
    ) -> Self {
        let (fields, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { options, fields, bytes, total, report, is_ended: AtomicBool::new(false) }
    }

    /// Whether the caller has ended it.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, fields: u64, bytes: u64) {
        let fields = self.fields.fetch_add(fields, Ordering::Relaxed) + fields;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let now = VerifyProgress { fields, bytes, total: self.total.map(|total| total.max(bytes)) };
        if (self.report)(now).is_break() {
            self.is_ended.store(true, Ordering::Relaxed);
        }
    }
}

/// Verifies a container. `before` counts the bytes that were reported, also when the verification
/// restarts.
pub(super) fn look(pool: &dyn Pool, label: &Label, run: &Run<'_>, before: &AtomicU64) -> Result<Verified> {
    let progress = |done: u64, _: u64| {
        let last = before.fetch_max(done, Ordering::Relaxed);
        run.add(0, done.saturating_sub(last));
    };
    match pool.facets().maintenance {
        Some(maintenance) => Ok(maintenance.verify(label, run.options.of_containers(), &progress)?),
        // The engine has nothing to verify, but the container must exist.
        None => Ok(pool.container_size(label).map(|_| Verified::default())?),
    }
}
