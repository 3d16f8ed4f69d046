//! Verifying: whether every field that the catalogue names is there, and which are not.
//!
//! What must stay true: it changes nothing, goes on after damage, and tells of a field only what still holds when it is
//! looked at again: a field that was replaced or wiped meanwhile is not damaged. Nor is a replaced one whose array is gone: a
//! purge is at it, or was killed.

mod check;
mod collocation;
mod dataset;
mod datasets;
mod repair;
mod unended;
mod unnamed;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use isotach_mars::{Key, Request};
use isotach_object::{Finding, Label, ObjectId, Part, Pool, Registry, Unnamed, Verified, Verify};

pub use self::{
    repair::{Repair, RepairReport, Repaired, RestoredContainer},
    unended::EndedWipes,
    unnamed::UnnamedFields,
};
use self::{unended::Unended, unnamed::Apart};
use crate::{Config, FieldStore, Forbidden, Result};

/// How much to verify, and with how many hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Also the bytes of every field, against its checksum.
    pub data: bool,
    /// How many threads read.
    pub threads: usize,
}

impl Default for VerifyOptions {
    /// Without the bytes, with a thread for each processor.
    fn default() -> Self {
        Self { data: false, threads: std::thread::available_parallelism().map_or(1, usize::from) }
    }
}

impl VerifyOptions {
    /// What is asked of containers: the bytes of fields are looked at field by field, so that their keys are known.
    fn of_containers(self) -> Verify {
        Verify { data: false, threads: self.threads }
    }
}

/// How far a verification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyProgress {
    /// Fields looked at.
    pub fields: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes that will be read in all, as far as that can be told: never where the bytes of fields are left out.
    pub total: Option<u64>,
}

/// What a verification found.
#[derive(Debug, Default)]
pub struct VerifyReport {
    /// Each store's list of its datasets, then each dataset.
    pub parts: Vec<VerifiedPart>,
    /// Bytes read.
    pub bytes: u64,
    /// The snapshot that was looked at, which nothing can repair.
    past: Option<Label>,
}

impl VerifyReport {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.parts.iter().all(|part| part.damage.is_empty())
    }
}

/// A dataset, or the list of the datasets of a store.
#[derive(Debug)]
pub struct VerifiedPart {
    /// The dataset's key. Empty for the list of datasets.
    pub key: Key,
    /// Where it is.
    pub place: String,
    /// Fields that readers see.
    pub fields: u64,
    /// Fields that were replaced.
    pub replaced_fields: u64,
    /// What is damaged.
    pub damage: Vec<Damage>,
    /// How many more damaged places there are than are told.
    pub more_damage: u64,
    /// Stored bytes that nothing names: of fields that were archived and never flushed, or that have lost their entries.
    pub unnamed: Vec<Unnamed>,
    /// Arrays that no entry names, where the index is in another container than they.
    pub unnamed_fields: Option<UnnamedFields>,
    /// The dataset, if that is so.
    apart: Option<Apart>,
    unended: Option<Unended>,
    /// The containers that were looked at, the catalogue's first.
    containers: Vec<Looked>,
    /// What the configuration forbids there.
    forbidden: Forbidden,
}

impl VerifiedPart {
    /// How many wipes of collocations have begun and not ended. Those that are not running were killed, and a repair ends
    /// them.
    pub fn unended_wipes(&self) -> u16 {
        self.unended.as_ref().map_or(0, Unended::wipes)
    }
}

/// A container that was looked at.
#[derive(Debug)]
struct Looked {
    pool: Arc<dyn Pool>,
    label: Label,
    findings: Vec<Finding>,
}

/// What a damage is of.
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
    /// A field that was replaced.
    ReplacedField,
}

impl Level {
    /// A stable word for it.
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

/// One thing that is damaged.
#[derive(Debug, Clone)]
pub struct Damage {
    /// What it is of.
    pub level: Level,
    /// Its key, as far as it is known.
    pub key: Key,
    /// What is wrong.
    pub what: String,
    /// The file or object.
    pub place: String,
    /// The first damaged byte in the file, if it is known.
    pub byte: Option<u64>,
    cure: Cure,
}

impl Damage {
    /// Whether it is not known to be damage: what was to be looked at was not to be had, and may be when that is tried again.
    pub fn may_pass(&self) -> bool {
        self.cure == Cure::Wait
    }
}

/// What a repair can do about a damage.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cure {
    /// Nothing.
    None,
    /// Nothing now: it may be whole when it is looked at again.
    Wait,
    /// Setting aside what the part's `at`th container can make anew.
    SetAside { at: usize },
    /// Bringing back the end of the history of the part's `at`th container.
    Restore { at: usize },
    /// Taking the entry out, if it still is the same.
    Remove { object: ObjectId, key: Vec<u8>, value: Vec<u8> },
    /// Putting back an entry whose value is known from elsewhere.
    PutBack { object: ObjectId, key: Vec<u8>, value: Vec<u8> },
}

/// Counts what was read, and tells.
struct Meter<'p> {
    fields: AtomicU64,
    bytes: AtomicU64,
    total: Option<u64>,
    tell: &'p (dyn Fn(VerifyProgress) + Sync),
}

impl Meter<'_> {
    fn add(&self, fields: u64, bytes: u64) {
        let fields = self.fields.fetch_add(fields, Ordering::Relaxed) + fields;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        (self.tell)(VerifyProgress { fields, bytes, total: self.total.map(|total| total.max(bytes)) });
    }
}

impl FieldStore {
    /// Looks whether the datasets and fields that a request may mean are as they were stored, and whether the list of
    /// datasets is. Locks do not matter. Others may write meanwhile.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use isotach_fields::{Config, FieldStore, VerifyOptions};
    /// # use isotach_object::{Registry, memory::Memory};
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// store.archive(&"class=od,type=fc,step=6".parse()?, b"field")?;
    /// store.flush()?;
    /// let options = VerifyOptions { data: true, ..VerifyOptions::default() };
    /// let report = store.verify(&"".parse()?, options, &|_| ())?;
    /// assert!(report.is_sound());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`](crate::Error::Request) when the request cannot be understood, and what the engines report of what is not damage.
    pub fn verify(
        &self,
        request: &Request,
        options: VerifyOptions,
        progress: &(dyn Fn(VerifyProgress) + Sync),
    ) -> Result<VerifyReport> {
        let selected = self.select(request);
        let sizes =
            selected.iter().flatten().map(|selection| dataset::size(&self.inner, selection).unwrap_or(0));
        let total = options.data.then(|| sizes.sum());
        let meter = Meter { fields: AtomicU64::new(0), bytes: AtomicU64::new(0), total, tell: progress };
        let mut parts = Vec::new();
        for root in &self.inner.roots {
            parts.push(datasets::verify(&self.inner, root, options, &meter)?);
        }
        let is_told = parts.iter().any(|part| !part.damage.is_empty());
        let selections = match selected {
            Err(error) if is_told && error.code() == "corrupt" => Vec::new(),
            selected => selected?,
        };
        for selection in &selections {
            parts.extend(dataset::verify(&self.inner, selection, options, &meter)?);
        }
        Ok(VerifyReport {
            parts,
            bytes: meter.bytes.into_inner(),
            past: self.inner.past.as_ref().map(|past| past.name.clone()),
        })
    }

    /// Looks whether the lists of datasets are as they were stored, where one is so damaged that the store cannot be
    /// opened.
    ///
    /// # Errors
    /// What the engines report of what is not damage.
    pub fn verify_unopened(
        config: &Config,
        registry: &Registry,
        options: VerifyOptions,
    ) -> Result<VerifyReport> {
        let meter = Meter { fields: AtomicU64::new(0), bytes: AtomicU64::new(0), total: None, tell: &|_| () };
        let mut parts: Vec<VerifiedPart> = Vec::new();
        for space in &config.spaces {
            let pool = registry.open_pool(&space.catalogue)?;
            if !parts.iter().any(|part| part.place == datasets::place_of(&*pool)) {
                let forbidden = config.limits_of(&space.catalogue).of_any();
                parts.push(datasets::verify_unopened(&pool, forbidden, options, &meter)?);
            }
        }
        Ok(VerifyReport { parts, bytes: meter.bytes.into_inner(), past: None })
    }
}

/// Looks at a container. `before` counts the bytes that the meter was told of, also where it begins again.
fn look(
    pool: &dyn Pool,
    label: &Label,
    options: VerifyOptions,
    meter: &Meter<'_>,
    before: &AtomicU64,
) -> Result<Verified> {
    let progress = |done: u64, _: u64| {
        let last = before.fetch_max(done, Ordering::Relaxed);
        meter.add(0, done.saturating_sub(last));
    };
    match pool.facets().maintenance {
        Some(maintenance) => Ok(maintenance.verify(label, options.of_containers(), &progress)?),
        // The engine has nothing to verify, but the container must exist.
        None => Ok(pool.container_size(label).map(|_| Verified::default())?),
    }
}

/// A container's damage that is of no field in particular; the container is the part's `at`th.
fn of_container(level: Level, key: &Key, finding: &Finding, at: usize) -> Damage {
    let cell = finding.cell.as_ref().map(|cell| format!(" ({cell})")).unwrap_or_default();
    Damage {
        level,
        key: key.clone(),
        what: format!("{}{cell}", finding.what),
        place: finding.place.clone(),
        byte: finding.byte,
        cure: match finding.part {
            Part::Derived => Cure::SetAside { at },
            Part::End => Cure::Restore { at },
            Part::Description | Part::History | Part::Bytes => Cure::None,
        },
    }
}
