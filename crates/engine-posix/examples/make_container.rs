//! Creates a container with a random sequence of updates, or reads one, and prints its contents as the engine sees them.
//!
//! The independent reader of the format (`tests/format`) must come to the same contents from the files alone. The same seed makes the same
//! updates, but the files differ by their random numbers. An existing container gets further updates.
//!
//!     make_container POOL CONTAINER [--seed N] [--count N] [--handles N] [--checkpoint BYTES] [--segment BYTES]
//!     [--reserve BYTES] [--snapshots 1] [--purge 1] [--check]
//!
//! `--snapshots 1` creates and destroys snapshots in between; the contents of existing ones are always printed. `--purge 1` purges the
//! container at the end. `--reserve` first takes up that much of the log, so that what came before is too old for a read set.

use std::{collections::HashMap, error::Error, fs, process::ExitCode, sync::Arc};

use isotach_engine_posix::{Posix, simulation::Random};
use isotach_object::{
    Anchor, Array, Cell, Container, ContainerOptions, Engine, Epoch, Error as StoreError, KeyValue, Label,
    ObjectClass, ObjectId, ObjectType, Page, PoolUri, Precondition, Transaction, Update,
};
use serde_json::{Map, Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Keys: ordinary ones, and edge cases of the format.
const KEYS: [&[u8]; 9] =
    [b"a", b"step=6", b"step=12", b"\0", b"\0\0", b"\0\x01", b"\0\xff", b"\xff\xff", &[b'k'; 300]];
/// Lengths around every limit of the format: none, the longest inline value, a chunk, a direct write.
const LENGTHS: [usize; 10] = [0, 1, 9, 100, 3000, 16_384, 16_385, 65_536, 65_537, 140_000];
/// Arrays stay short enough to be read whole.
const SIZE_MAX: u64 = 300_000;
const PAGE: usize = 7;

fn main() -> ExitCode {
    match run() {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let code = error.downcast_ref::<StoreError>().map_or("usage", StoreError::code);
            eprintln!("{code}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The options that are numbers.
const OPTIONS: [&str; 8] =
    ["--seed", "--count", "--handles", "--checkpoint", "--segment", "--reserve", "--snapshots", "--purge"];

/// The command line: the pool, the container, and the options with their numbers.
fn arguments() -> Outcome<(String, Label, HashMap<String, u64>)> {
    let mut rest = std::env::args().skip(1);
    let (Some(pool), Some(label)) = (rest.next(), rest.next()) else { return Err("POOL CONTAINER".into()) };
    let mut options = HashMap::new();
    while let Some(option) = rest.next() {
        let number = match &*option {
            "--check" => 1,
            known if OPTIONS.contains(&known) => rest.next().ok_or("a number is missing")?.parse()?,
            _ => return Err(format!("unknown option {option}").into()),
        };
        options.insert(option, number);
    }
    Ok((pool, label.parse()?, options))
}

fn run() -> Outcome<Value> {
    let (folder, label, options) = arguments()?;
    let number = |option: &str, usual: u64| options.get(option).copied().unwrap_or(usual);
    let query = options.get("--checkpoint").map_or(String::new(), |bytes| format!("&checkpoint={bytes}"));
    let uri: PoolUri = format!("posix:{folder}?segment={}{query}", number("--segment", 1000)).parse()?;
    let makes = number("--check", 0) == 0;
    if makes {
        tolerate("already-exists", Posix.create_pool(&uri))?;
    }
    let pool = Posix.open_pool(&uri)?;
    let mut counted = (0, 0);
    if makes {
        tolerate("already-exists", pool.create_container(&label, &ContainerOptions::default()))?;
        let handles = (0..number("--handles", 3).max(1)).map(|_| pool.open_container(&label));
        let superblock = fs::read(format!("{folder}/containers/{label}/superblock"))?;
        let mut maker = Maker {
            handles: handles.collect::<Result<_, _>>()?,
            random: Random(number("--seed", 1)),
            marker: superblock.get(40..48).ok_or("a short superblock")?.to_vec(),
            snapshots: number("--snapshots", 0) > 0,
            committed: 0,
            conflicts: 0,
        };
        maker.reserve(number("--reserve", 0))?;
        maker.make(number("--count", 100))?;
        counted = (maker.committed, maker.conflicts);
        drop(maker);
        if number("--purge", 0) > 0 {
            pool.maintenance()?.purge(&label, true)?;
        }
    }
    let container = pool.open_container(&label)?;
    let mut snapshots = Map::new();
    for snapshot in container.snapshots()?.list()? {
        let past = container.snapshots()?.open(&snapshot.name)?;
        snapshots.insert(snapshot.name.to_string(), contents(&*past)?.into());
    }
    let prepared = container.prepared_transactions()?.list_prepared("")?;
    Ok(json!({
        "objects": contents(&*container)?,
        "snapshots": snapshots,
        "prepared": prepared.iter().map(Label::as_str).collect::<Vec<_>>(),
        "committed": counted.0,
        "conflicts": counted.1,
    }))
}

/// Accepts an error with this code.
fn tolerate(code: &str, outcome: Result<(), StoreError>) -> Result<(), StoreError> {
    outcome.or_else(|error| if error.code() == code { Ok(()) } else { Err(error) })
}

/// Makes updates through several handles.
struct Maker {
    handles: Vec<Arc<dyn Container>>,
    random: Random,
    marker: Vec<u8>,
    snapshots: bool,
    committed: u64,
    conflicts: u64,
}

impl Maker {
    fn one_in(&mut self, many: u64) -> bool {
        self.random.below(many) == 0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.random.below(choices.len() as u64) as usize]
    }

    fn object(&mut self, otype: ObjectType) -> ObjectId {
        ObjectId::new(otype, ObjectClass::S1, 7, self.random.below(3))
    }

    fn cell(&mut self, otype: ObjectType) -> Cell<'static> {
        let object = self.object(otype);
        match otype {
            ObjectType::KeyValue => Cell::kv(object, self.pick(&KEYS)),
            ObjectType::Array => Cell::array(object),
            _ => Cell::general(object, self.pick(&KEYS[..7]), self.pick(&KEYS[2..])),
        }
    }

    fn any_cell(&mut self) -> Cell<'static> {
        let otype = self.pick(&[ObjectType::KeyValue, ObjectType::Array, ObjectType::General]);
        self.cell(otype)
    }

    /// Takes up bytes of the log: object ids are positions in it.
    fn reserve(&mut self, bytes: u64) -> Outcome<()> {
        if bytes > 0 {
            self.handles[0].allocate_ids(bytes << 20)?;
        }
        Ok(())
    }

    fn make(&mut self, count: u64) -> Outcome<()> {
        for _ in 0..count {
            let at = self.random.below(self.handles.len() as u64) as usize;
            let handle = Arc::clone(&self.handles[at]);
            if self.snapshots && self.one_in(12) {
                self.snapshot(&*handle)?;
            }
            match self.random.below(8) {
                0..4 => self.update(&*handle)?,
                4..6 => self.commit(&*handle)?,
                6 => handle.flush()?,
                _ => {
                    handle.allocate_ids(1 + self.random.below(100))?;
                }
            }
        }
        self.handles.iter().try_for_each(|handle| handle.flush())?;
        Ok(())
    }

    /// Creates a snapshot, or destroys the one with that name.
    fn snapshot(&mut self, handle: &dyn Container) -> Outcome<()> {
        let name = format!("snapshot-{}", self.random.below(9)).parse()?;
        match handle.snapshots()?.create(&name) {
            Err(StoreError::AlreadyExists { .. }) => Ok(handle.snapshots()?.destroy(&name)?),
            made => Ok(made.map(drop)?),
        }
    }

    fn update(&mut self, handle: &dyn Container) -> Outcome<()> {
        let bytes = self.some_bytes();
        let updates: Vec<_> = (0..=self.random.below(3)).map(|_| self.one(&bytes)).collect();
        Ok(handle.update(&updates)?)
    }

    fn commit(&mut self, handle: &dyn Container) -> Outcome<()> {
        let since = if self.one_in(3) { Epoch(self.random.below(4000)) } else { handle.epoch()? };
        if self.one_in(3) {
            // Another writer changes something meanwhile.
            let other = Arc::clone(&self.handles[0]);
            self.update(&*other)?;
            other.flush()?;
        }
        let bytes = self.some_bytes();
        let (cell, value) = (self.any_cell(), self.cell(ObjectType::KeyValue));
        let present = handle.get_many(&[value])?.pop().flatten().unwrap_or_default();
        let mut transaction = Transaction::new();
        for _ in 0..self.random.below(3) {
            transaction = transaction.require(match self.random.below(5) {
                0 => Precondition::Absent(cell),
                1 => Precondition::Present(cell),
                2 => Precondition::Equals(value, &present),
                3 => Precondition::Equals(value, &bytes),
                _ => Precondition::Unchanged(self.any_cell(), since),
            });
        }
        let staged = self.one_in(3);
        let updates = if staged { 12 } else { 3 };
        for _ in 0..=self.random.below(updates) {
            transaction = transaction.update(self.one(&bytes));
        }
        let outcome = match staged {
            true if self.committed.is_multiple_of(2) => {
                let other = !self.committed.is_multiple_of(6);
                prepare(handle, &transaction, other.then_some(&*self.handles[0]))
            }
            true => commit_staged(handle, &transaction),
            false => handle.commit(&transaction),
        };
        match outcome {
            Ok(_) => self.committed += 1,
            Err(StoreError::Conflict { .. }) => self.conflicts += 1,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Bytes to write. Now and then they contain the marker, which must not occur in the log.
    fn some_bytes(&mut self) -> Vec<u8> {
        // Mostly short, so that there are many updates and not only much data.
        let lengths = if self.one_in(4) { &LENGTHS[..] } else { &LENGTHS[..4] };
        let length = self.pick(lengths);
        let mut bytes = self.random.bytes(length);
        if self.one_in(8) {
            bytes.extend_from_slice(&self.marker);
        }
        bytes
    }

    fn one<'a>(&mut self, bytes: &'a [u8]) -> Update<'a> {
        let valued = self.pick(&[ObjectType::KeyValue, ObjectType::General]);
        let sized = self.pick(&[ObjectType::Array, ObjectType::Array, ObjectType::General]);
        match self.random.below(16) {
            0..6 => Update::Put { cell: self.cell(valued), value: bytes },
            6..8 => Update::Remove { cell: self.cell(valued) },
            choice @ 8..12 => {
                let end = if choice == 11 { 20 } else { SIZE_MAX / 2 };
                Update::Write { cell: self.cell(sized), offset: self.random.below(end), data: bytes }
            }
            12 => Update::SetSize { cell: self.cell(sized), size: self.random.below(SIZE_MAX) },
            13 => {
                let (offset, length) = (self.random.below(SIZE_MAX), self.random.below(SIZE_MAX));
                let length = if self.one_in(4) { u64::MAX } else { length };
                Update::Punch { cell: self.cell(sized), offset, length }
            }
            14 => {
                let dkey = self.pick(&KEYS[..7]);
                Update::RemoveDkey { object: self.object(ObjectType::General), dkey }
            }
            _ => Update::Destroy { object: self.any_cell().object },
        }
    }
}

/// Commits updates that are staged one by one.
fn commit_staged(handle: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch, StoreError> {
    let mut staging = handle.staged_transactions()?.stage()?;
    transaction.updates.iter().try_for_each(|update| staging.update(&[*update]))?;
    staging.commit(&transaction.preconditions)
}

/// Prepares updates that are staged one by one. Another handle may commit them.
fn prepare(
    handle: &dyn Container,
    transaction: &Transaction<'_>,
    other: Option<&dyn Container>,
) -> Result<Epoch, StoreError> {
    // The present epoch is unique.
    let name: Label = format!("stage-{}", handle.epoch()?).parse()?;
    let mut staging = handle.prepared_transactions()?.begin_prepared()?;
    transaction.updates.iter().try_for_each(|update| staging.update(&[*update]))?;
    let epoch = staging.prepare(&name, &transaction.preconditions)?;
    other.map_or(Ok(epoch), |other| {
        other.prepared_transactions()?.commit_prepared(&[name], &Transaction::new())
    })
}

/// Everything in the container.
fn contents(container: &dyn Container) -> Outcome<Vec<Value>> {
    let (mut objects, mut anchor) = (Vec::new(), Some(Anchor::start()));
    while let Some(from) = anchor {
        let (page, next) = container.list_objects(&from, PAGE)?;
        for object in page {
            objects.push(describe(container, object)?);
        }
        anchor = next;
    }
    Ok(objects)
}

fn describe(container: &dyn Container, object: ObjectId) -> Outcome<Value> {
    let id = object.to_string();
    Ok(match object.otype() {
        ObjectType::KeyValue => {
            let mut entries = Map::new();
            KeyValue::new(container, object)?.for_each(|key, value| {
                entries.insert(hex(key), hex(value).into());
                Ok::<(), StoreError>(())
            })?;
            json!({ "id": id, "entries": entries })
        }
        ObjectType::Array => {
            let array = Array::new(container, object)?;
            let size = array.size()?.ok_or("an array that is listed and has no size")?;
            json!({ "id": id, "array": bytes_of(size, &array.read(0, usize::try_from(size)?)?) })
        }
        ObjectType::General | ObjectType::System => {
            let mut dkeys = Map::new();
            for dkey in keys(|anchor| container.list_dkeys(object, anchor, PAGE))? {
                let mut akeys = Map::new();
                for akey in keys(|anchor| container.list_akeys(object, &dkey, anchor, PAGE))? {
                    akeys.insert(hex(&akey), general(container, Cell::general(object, &dkey, &akey))?);
                }
                dkeys.insert(hex(&dkey), akeys.into());
            }
            json!({ "id": id, "dkeys": dkeys })
        }
    })
}

fn general(container: &dyn Container, cell: Cell<'_>) -> Outcome<Value> {
    if let Some(value) = container.get_many(&[cell])?.pop().flatten() {
        return Ok(json!({ "value": hex(&value) }));
    }
    let size = container.size_many(&[cell])?.pop().flatten().ok_or("a key that is listed and has no size")?;
    Ok(bytes_of(size, &container.lent_reads()?.lend(cell, 0, size)?))
}

/// All keys of a listing.
fn keys(page: impl Fn(&Anchor) -> Result<Page, StoreError>) -> Result<Vec<Vec<u8>>, StoreError> {
    let (mut keys, mut anchor) = (Vec::new(), Some(Anchor::start()));
    while let Some(from) = anchor {
        let page = page(&from)?;
        keys.extend(page.keys().map(<[u8]>::to_vec));
        anchor = page.next().cloned();
    }
    Ok(keys)
}

fn bytes_of(size: u64, bytes: &[u8]) -> Value {
    json!({ "size": size, "crc32c": isotach_engine_kit::checksum::crc32c(bytes) })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
