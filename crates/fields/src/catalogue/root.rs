//! The root of a catalogue pool: its datasets and their locks.
//!
//! Reads are cached until the root's epoch changes, so an unchanged root costs one epoch lookup per call.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};

use isotach_engine_kit::bytes::Reader;
use isotach_mars::Key;
use isotach_object::{
    Cell, Container, ContainerOptions, Epoch, Error as ObjectError, KeyValue, Label, NewRights, ObjectId,
    Pool, PoolUri, Precondition, Transaction, Update,
};

use crate::{
    Error, Result,
    catalogue::{
        layout::{CONTROLS, DATASETS, ROOT, SETTINGS, SNAPSHOTS, VERSION, parse_named_text},
        locks::{Action, Locks, control_key, parse_control_key},
        record::{MoveMark, Record},
        snapshot_record::{SnapshotId, parse_snapshot_key, snapshot_key},
        stored::Stored,
    },
    config::forbidden::{Forbidden, Limits},
    sync::lock,
};

/// The entry of [`SETTINGS`] with the version of the layout.
pub(crate) const SETTING_VERSION: &[u8] = b"version";
/// The entry of [`SETTINGS`] with the schema's text.
pub(crate) const SETTING_SCHEMA: &[u8] = b"schema";

/// The number of cached lookups, successful or not.
const KNOWN_MAX: usize = 16_384;

/// A dataset as the root lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its text, which is its key in the root.
    pub(crate) text: Box<str>,
    /// Its key.
    pub(crate) key: Key,
    /// Its record.
    pub(crate) record: Record,
    /// What it is locked against.
    pub(crate) locks: Locks,
    /// What the configuration forbids on it.
    pub(crate) forbidden: Forbidden,
}

impl Entry {
    /// Refuses an action that is forbidden or locked.
    pub(crate) fn check(&self, action: Action) -> Result<()> {
        self.forbidden.check(action, || format!("dataset {}", self.key))?;
        self.locks.check(action, &self.key)
    }

    /// Whether an action is locked or forbidden.
    pub(crate) fn is_locked(&self, action: Action) -> bool {
        self.locks.contains(action) || self.forbidden.contains(action)
    }

    /// Refuses a move that has lost the dataset. `mark` is the move's.
    pub(crate) fn check_move(&self, mark: Option<MoveMark>) -> Result<()> {
        if mark.is_none_or(|mark| mark == self.record.move_mark) {
            return Ok(());
        }
        let what = format!("dataset {}: another move took it over, or it was unlocked", self.key);
        Err(ObjectError::Conflict { what }.into())
    }
}

/// A handle on the root container of a pool.
pub(crate) struct Root {
    pub(crate) pool: Arc<dyn Pool>,
    pub(crate) container: Arc<dyn Container>,
    /// The snapshot whose datasets it shows. `None` for the present.
    pub(crate) snapshot: Option<Arc<SnapshotId>>,
    /// What the configuration forbids here.
    pub(crate) limits: Limits,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    epoch: Epoch,
    known: HashMap<Box<str>, Option<Arc<Entry>>>,
    all: Option<Arc<Stored<Arc<Entry>>>>,
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Root({})", self.uri())
    }
}

impl Root {
    /// Opens the root of a pool that is a field store.
    pub(crate) fn open(pool: Arc<dyn Pool>, limits: Limits) -> Result<Self> {
        let container = match pool.open_container(&label()?) {
            Ok(container) => container,
            Err(ObjectError::NotFound { .. }) => {
                let why = format!("the pool has no container {ROOT:?}");
                return Err(Error::NotAStore { store: pool.uri().to_string(), why });
            }
            Err(error) => return Err(damage_if_listed(error, &*pool).into()),
        };
        let root = Self { pool, container, snapshot: None, limits, cache: Mutex::default() };
        root.check_version()?;
        Ok(root)
    }

    /// Creates or opens the root of a pool. Also returns whether this call created it.
    pub(crate) fn create(pool: Arc<dyn Pool>, schema: &str) -> Result<(Self, bool)> {
        match pool.create_container(&label()?, &ContainerOptions::default()) {
            Ok(()) | Err(ObjectError::AlreadyExists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let container = pool.open_container(&label()?)?;
        let version = Cell::kv(SETTINGS, SETTING_VERSION);
        let puts = [
            Update::Put { cell: Cell::kv(SETTINGS, SETTING_SCHEMA), value: schema.as_bytes() },
            Update::Put { cell: version, value: &VERSION.to_le_bytes() },
        ];
        let made = commit_all(&*container, Precondition::Absent(version), &puts)?;
        container.flush()?;
        let root =
            Self { pool, container, snapshot: None, limits: Limits::default(), cache: Mutex::default() };
        root.check_version()?;
        Ok((root, made))
    }

    /// The rights of a new dataset: those of the root's container, if its engine has rights.
    pub(crate) fn rights_of_new(&self) -> Result<NewRights> {
        match self.pool.facets().access_control {
            Some(access) => Ok(NewRights::Inherited(access.rights(&label()?)?)),
            None => Ok(NewRights::default()),
        }
    }

    /// The root as a snapshot has it.
    pub(crate) fn at(&self, snapshot: &Arc<SnapshotId>) -> Self {
        let (pool, container) = (Arc::clone(&self.pool), Arc::clone(&self.container));
        let (snapshot, limits) = (Some(Arc::clone(snapshot)), self.limits.clone());
        Self { pool, container, snapshot, limits, cache: Mutex::default() }
    }

    /// Opens a container that the root lists. Another file in its place is damage, not a wrong name.
    pub(crate) fn open_listed(&self, pool: &dyn Pool, label: &Label) -> Result<Arc<dyn Container>> {
        let container = pool.open_container(label).map_err(|error| damage_if_listed(error, pool))?;
        match &self.snapshot {
            Some(snapshot) => Ok(container.snapshots()?.open(&snapshot.container_snapshot)?),
            None => Ok(container),
        }
    }

    fn check_version(&self) -> Result<()> {
        let Some(version) = self.get(SETTINGS, SETTING_VERSION)? else {
            let why = format!("container {ROOT:?} has no version");
            return Err(Error::NotAStore { store: self.uri().to_string(), why });
        };
        match Reader(&version).u32() {
            Some(VERSION) => Ok(()),
            Some(found) => {
                let what = format!("store {}", self.uri());
                Err(Error::NewerFormat { what, found, known: VERSION })
            }
            None => Err(self.corrupt("the version of the store").into()),
        }
    }

    pub(crate) fn uri(&self) -> &PoolUri {
        self.pool.uri()
    }

    /// The root's epoch.
    pub(crate) fn epoch(&self) -> Result<Epoch> {
        Ok(self.container.epoch()?)
    }

    /// The text of the store's schema.
    pub(crate) fn schema(&self) -> Result<String> {
        let text = self.get(SETTINGS, SETTING_SCHEMA)?.unwrap_or_default();
        String::from_utf8(text).map_err(|_| self.corrupt("the schema of the store").into())
    }

    /// The dataset with this text, as it is now.
    pub(crate) fn lookup(&self, text: &str) -> Result<Option<Arc<Entry>>> {
        let epoch = self.container.epoch()?;
        if let Some(known) = self.fresh_cache(epoch).known.get(text) {
            return Ok(known.clone());
        }
        let entry = self.read_entry(text)?.map(Arc::new);
        let mut cache = self.fresh_cache(epoch);
        // The value may be newer than `epoch`, but never older.
        if cache.epoch == epoch {
            if cache.known.len() >= KNOWN_MAX {
                cache.known.clear();
            }
            cache.known.insert(text.into(), entry.clone());
        }
        Ok(entry)
    }

    /// All datasets, as they are now, in the order of their texts.
    pub(crate) fn entries(&self) -> Result<Arc<Stored<Arc<Entry>>>> {
        let epoch = self.container.epoch()?;
        if let Some(all) = &self.fresh_cache(epoch).all {
            return Ok(Arc::clone(all));
        }
        let all = Arc::new(self.read_all()?);
        let mut cache = self.fresh_cache(epoch);
        if cache.epoch == epoch {
            cache.all = Some(Arc::clone(&all));
        }
        Ok(all)
    }

    /// The cache, cleared if it is of an earlier epoch.
    fn fresh_cache(&self, epoch: Epoch) -> std::sync::MutexGuard<'_, Cache> {
        let mut cache = lock(&self.cache);
        if cache.epoch < epoch {
            *cache = Cache { epoch, ..Cache::default() };
        }
        cache
    }

    fn read_entry(&self, text: &str) -> Result<Option<Entry>> {
        let controls = Action::ALL.map(|action| control_key(action, text));
        let key = self.snapshot.as_ref().map(|snapshot| snapshot_key(&snapshot.name, text));
        let cell = match &key {
            Some(key) => Cell::kv(SNAPSHOTS, key.as_bytes()),
            None => Cell::kv(DATASETS, text.as_bytes()),
        };
        let mut cells = vec![cell];
        cells.extend(controls.iter().map(|key| Cell::kv(CONTROLS, key.as_bytes())));
        let mut found = self.container.get_many(&cells)?.into_iter();
        self.check_snapshot()?;
        let Some(record) = found.next().flatten() else { return Ok(None) };
        let mut locks = Locks::default();
        for (action, value) in Action::ALL.into_iter().zip(found) {
            if value.is_some() {
                locks.set(action);
            }
        }
        self.entry(text, &record, locks).map(Some)
    }

    fn read_all(&self) -> Result<Stored<Arc<Entry>>> {
        let mut locked: HashMap<Box<str>, Locks> = HashMap::new();
        for_each(&*self.container, CONTROLS, |key, _| {
            if let Some((action, dataset)) = parse_control_key(key) {
                locked.entry(dataset.into()).or_default().set(action);
            }
            Ok(())
        })?;
        let mut all = Vec::new();
        let object = if self.snapshot.is_some() { SNAPSHOTS } else { DATASETS };
        for_each(&*self.container, object, |key, record| {
            let text = match &self.snapshot {
                None => Some(std::str::from_utf8(key).map_err(|_| self.corrupt("the key of a dataset"))?),
                Some(snapshot) => parse_snapshot_key(key)
                    .filter(|(of, _)| *of == snapshot.name.as_str())
                    .map(|(_, text)| text),
            };
            let Some(text) = text else { return Ok(()) };
            let locks = locked.get(text).copied().unwrap_or_default();
            all.push(Arc::new(self.entry(text, record, locks)?));
            Ok(())
        })?;
        self.check_snapshot()?;
        Ok(Stored::new(all, |entry| &entry.text))
    }

    fn entry(&self, text: &str, record: &[u8], mut locks: Locks) -> Result<Entry> {
        let parts = parse_named_text(text).zip(Record::decode(record));
        let (key, record) = parts.ok_or_else(|| self.corrupt(&format!("the entry of dataset {text:?}")))?;
        if record.move_mark.is_on() {
            locks.set_moving();
        }
        let forbidden = self.limits.of(&key);
        Ok(Entry { text: text.into(), key, record, locks, forbidden })
    }

    /// Adds a dataset, if none with this text exists.
    pub(crate) fn insert(&self, text: &str, record: &Record) -> Result<bool> {
        let cell = Cell::kv(DATASETS, text.as_bytes());
        self.change(Precondition::Absent(cell), Update::Put { cell, value: &record.encode() })
    }

    /// Replaces a dataset's record, if it is still `old`.
    pub(crate) fn replace(&self, text: &str, old: &Record, new: &Record) -> Result<bool> {
        let done = self.commit_replaced(text, old, new)?;
        self.flush()?;
        Ok(done)
    }

    /// As `replace`, but it is durable only after a flush.
    pub(crate) fn commit_replaced(&self, text: &str, old: &Record, new: &Record) -> Result<bool> {
        let cell = Cell::kv(DATASETS, text.as_bytes());
        let update = Update::Put { cell, value: &new.encode() };
        commit_all(&*self.container, Precondition::Equals(cell, &old.encode()), &[update])
    }

    pub(crate) fn flush(&self) -> Result<()> {
        Ok(self.container.flush()?)
    }

    /// Removes an incarnation of a dataset, under a move only if its mark is there. Of several callers one succeeds.
    pub(crate) fn remove(&self, entry: &Entry, of_move: Option<MoveMark>) -> Result<bool> {
        let cell = Cell::kv(DATASETS, entry.text.as_bytes());
        while let Some(now) = self.same_incarnation(entry)? {
            now.check_move(of_move)?;
            let condition = Precondition::Equals(cell, &now.record.encode());
            if self.change(condition, Update::Remove { cell })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn change(&self, condition: Precondition<'_>, update: Update<'_>) -> Result<bool> {
        let done = commit_all(&*self.container, condition, &[update])?;
        self.flush()?;
        Ok(done)
    }

    /// Locks or unlocks a dataset against actions.
    pub(crate) fn set_locks(&self, text: &str, locked: bool, actions: &[Action]) -> Result<()> {
        for action in actions {
            let key = control_key(*action, text);
            let cell = Cell::kv(CONTROLS, key.as_bytes());
            let update = if locked { Update::Put { cell, value: &[] } } else { Update::Remove { cell } };
            self.container.update(&[update])?;
        }
        self.container.flush()?;
        Ok(())
    }

    /// The dataset's entry, if it is the same incarnation.
    pub(crate) fn same_incarnation(&self, entry: &Entry) -> Result<Option<Arc<Entry>>> {
        let now = self.lookup(&entry.text)?;
        Ok(now.filter(|now| now.record.incarnation == entry.record.incarnation))
    }

    /// Changes a dataset's record to the result of `next`, repeated while others change it, and returns it. `None` if
    /// the dataset is gone.
    pub(crate) fn change_record(
        &self,
        entry: &Entry,
        next: impl Fn(&Entry) -> Result<Record>,
    ) -> Result<Option<Record>> {
        let changed = self.commit_record(entry, next)?;
        changed.map(|changed| changed.outcome.map(|()| changed.record)).transpose()
    }

    /// As `change_record`, with the outcome beside the record: a failed change may count.
    pub(crate) fn commit_record(
        &self,
        entry: &Entry,
        next: impl Fn(&Entry) -> Result<Record>,
    ) -> Result<Option<Changed>> {
        while let Some(now) = self.same_incarnation(entry)? {
            let record = next(&now)?;
            let counts = record == now.record;
            match if counts { Ok(true) } else { self.commit_replaced(&entry.text, &now.record, &record) } {
                Ok(true) => return Ok(Some(Changed { record, is_certain: true, outcome: self.flush() })),
                Ok(false) => {}
                Err(Error::Object(error)) if !error.is_refusal() => {
                    return Ok(Some(Changed { record, is_certain: false, outcome: Err(error.into()) }));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Marks the dataset for a move, also if another move has it and does not wipe yet. `None` if the dataset is gone.
    pub(crate) fn begin_move(&self, entry: &Entry) -> Result<Option<Changed>> {
        self.commit_record(entry, |now| {
            let moving = || Error::Moving { dataset: now.key.to_string() };
            Ok(now.record.with_mark(now.record.move_mark.next().ok_or_else(moving)?))
        })
    }

    /// Allows the move with this mark to wipe the dataset, if the mark is still there, and returns the move's new mark.
    pub(crate) fn begin_wipe_of_move(&self, entry: &Entry, mark: MoveMark) -> Result<MoveMark> {
        let wiping = mark.wiping();
        self.change_record(entry, |now| now.check_move(Some(mark)).map(|()| now.record.with_mark(wiping)))?;
        Ok(wiping)
    }

    /// Takes the dataset from the move with this mark, whether it has begun to wipe or not.
    pub(crate) fn end_move(&self, entry: &Entry, mark: MoveMark) -> Result<()> {
        let end = |now: MoveMark| if [mark, mark.wiping()].contains(&now) { now.off() } else { now };
        self.change_record(entry, |now| Ok(now.record.with_mark(end(now.record.move_mark))))?;
        Ok(())
    }

    pub(crate) fn get(&self, object: ObjectId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(KeyValue::new(&*self.container, object)?.get(key)?)
    }

    pub(crate) fn corrupt(&self, what: &str) -> ObjectError {
        ObjectError::corrupt(what, format!("container {ROOT:?} of {}", self.uri()))
    }
}

/// A change of a dataset's record that was committed, or may have been.
pub(crate) struct Changed {
    pub(crate) record: Record,
    /// Whether the record is this one for everybody.
    pub(crate) is_certain: bool,
    /// The failure of the commit, or of the flush after it.
    pub(crate) outcome: Result<()>,
}

/// Calls `act` once more if it is refused.
pub(crate) fn retry_refused(act: impl Fn() -> Result<()>) -> Result<()> {
    match act() {
        Err(Error::Object(error)) if error.is_refusal() => act(),
        done => done,
    }
}

/// A listed container that is not a container is damaged, not a wrong name.
fn damage_if_listed(error: ObjectError, pool: &dyn Pool) -> ObjectError {
    match error {
        ObjectError::InvalidInput { what, .. } => ObjectError::corrupt(what, pool.uri().to_string()),
        error => error,
    }
}

pub(crate) fn label() -> Result<Label> {
    Ok(ROOT.parse::<Label>()?)
}

/// Applies `updates` if `condition` holds, and returns whether it did. The last update must be of the condition's cell:
/// an engine without transactions applies it with the condition, and the others before it.
pub(crate) fn commit_all(
    container: &dyn Container,
    condition: Precondition<'_>,
    updates: &[Update<'_>],
) -> Result<bool> {
    let whole = container.capabilities().transactions;
    let first = if whole { 0 } else { updates.len().saturating_sub(1) };
    let (before, last) = updates.split_at(first);
    for update in before {
        let Update::Put { cell, .. } = update else { continue };
        let once = Transaction { preconditions: vec![Precondition::Absent(*cell)], updates: vec![*update] };
        conflict_is_false(container.commit(&once))?;
    }
    let transaction = Transaction { preconditions: vec![condition], updates: last.to_vec() };
    conflict_is_false(container.commit(&transaction))
}

pub(crate) fn conflict_is_false(result: isotach_object::Result<Epoch>) -> Result<bool> {
    match result {
        Ok(_) => Ok(true),
        Err(ObjectError::Conflict { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Calls `each` with every entry of a key-value object, page by page.
pub(crate) fn for_each(
    container: &dyn Container,
    object: ObjectId,
    each: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    KeyValue::new(container, object)?.for_each(each)
}
