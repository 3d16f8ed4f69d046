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

use std::{
    error::Error,
    fmt::{Display, Write},
    fs,
    process::ExitCode,
    sync::Arc,
};

use isotach_engine_posix::Posix;
use isotach_object::{
    Anchor, Array, Cell, Container, ContainerOptions, Engine, Epoch, Error as StoreError, KeyValue, Label,
    ObjectClass, ObjectId, ObjectType, PoolUri, Precondition, Transaction, Update,
};

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

/// The command line.
struct Arguments {
    pool: String,
    label: Label,
    seed: u64,
    count: u64,
    handles: usize,
    checkpoint: Option<u64>,
    segment: u64,
    reserve: u64,
    snapshots: bool,
    purge: bool,
    check: bool,
}

fn arguments() -> Outcome<Arguments> {
    let mut rest = std::env::args().skip(1);
    let (Some(pool), Some(label)) = (rest.next(), rest.next()) else { return Err("POOL CONTAINER".into()) };
    let mut given = Arguments {
        pool,
        label: label.parse()?,
        seed: 1,
        count: 100,
        handles: 3,
        checkpoint: None,
        segment: 1000,
        reserve: 0,
        snapshots: false,
        purge: false,
        check: false,
    };
    while let Some(option) = rest.next() {
        if option == "--check" {
            given.check = true;
            continue;
        }
        let number: u64 = rest.next().ok_or("a number is missing")?.parse()?;
        match option.as_str() {
            "--seed" => given.seed = number,
            "--count" => given.count = number,
            "--handles" => given.handles = usize::try_from(number)?.max(1),
            "--checkpoint" => given.checkpoint = Some(number),
            "--segment" => given.segment = number,
            "--snapshots" => given.snapshots = number > 0,
            "--purge" => given.purge = number > 0,
            "--reserve" => given.reserve = number,
            _ => return Err(format!("unknown option {option}").into()),
        }
    }
    Ok(given)
}

fn run() -> Outcome<String> {
    let given = arguments()?;
    let query = given.checkpoint.map_or(String::new(), |bytes| format!("&checkpoint={bytes}"));
    let uri: PoolUri = format!("posix:{}?segment={}{query}", given.pool, given.segment).parse()?;
    if !given.check {
        tolerate("already-exists", Posix.create_pool(&uri))?;
    }
    let pool = Posix.open_pool(&uri)?;
    if !given.check {
        tolerate("already-exists", pool.create_container(&given.label, &ContainerOptions::default()))?;
    }
    let mut counted = (0, 0);
    if !given.check {
        let open = |_| pool.open_container(&given.label);
        let handles = (0..given.handles).map(open).collect::<Result<_, _>>()?;
        let superblock = fs::read(format!("{}/containers/{}/superblock", given.pool, given.label))?;
        let marker = superblock.get(40..48).ok_or("a short superblock")?.to_vec();
        let (random, snapshots) = (Random(given.seed), given.snapshots);
        let mut maker = Maker { handles, random, marker, snapshots, committed: 0, conflicts: 0 };
        maker.reserve(given.reserve)?;
        maker.make(given.count)?;
        counted = (maker.committed, maker.conflicts);
        drop(maker);
        if given.purge {
            pool.maintenance()?.purge(&given.label, true)?;
        }
    }
    let container = pool.open_container(&given.label)?;
    let contents = contents(&*container)?;
    let past = past(&*container)?;
    let prepared: Vec<_> = container
        .prepared_transactions()?
        .list_prepared("")?
        .iter()
        .map(|name| format!("\"{name}\""))
        .collect();
    let counts = format!(
        "\"prepared\": [{}], \"committed\": {}, \"conflicts\": {}",
        prepared.join(", "),
        counted.0,
        counted.1
    );
    Ok(format!("{{\"objects\": [{contents}], \"snapshots\": {past}, {counts}}}"))
}

/// Accepts an error with this code.
fn tolerate(code: &str, outcome: Result<(), StoreError>) -> Result<(), StoreError> {
    outcome.or_else(|error| if error.code() == code { Ok(()) } else { Err(error) })
}

/// Pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).take(length).collect()
    }

    fn length(&mut self) -> usize {
        // Mostly short, so that there are many updates and not only much data.
        if self.one_in(4) { self.pick(&LENGTHS) } else { self.pick(&LENGTHS[..4]) }
    }

    fn object(&mut self, otype: ObjectType) -> ObjectId {
        ObjectId::new(otype, ObjectClass::S1, 7, self.below(3))
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
            if self.snapshots && self.random.one_in(12) {
                self.snapshot(&*handle)?;
            }
            match self.random.below(8) {
                0..4 => self.update(&*handle)?,
                4..6 => self.commit(&*handle)?,
                6 => handle.flush()?,
                _ => drop(handle.allocate_ids(1 + self.random.below(100))?),
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
        let since = if self.random.one_in(3) { Epoch(self.random.below(4000)) } else { handle.epoch()? };
        if self.random.one_in(3) {
            // Another writer changes something meanwhile.
            let other = Arc::clone(&self.handles[0]);
            self.update(&*other)?;
            other.flush()?;
        }
        let bytes = self.some_bytes();
        let (cell, value) = (self.random.any_cell(), self.random.cell(ObjectType::KeyValue));
        let present = handle.get_many(&[value])?.pop().flatten().unwrap_or_default();
        let mut transaction = Transaction::new();
        for _ in 0..self.random.below(3) {
            transaction = transaction.require(match self.random.below(5) {
                0 => Precondition::Absent(cell),
                1 => Precondition::Present(cell),
                2 => Precondition::Equals(value, &present),
                3 => Precondition::Equals(value, &bytes),
                _ => Precondition::Unchanged(self.random.any_cell(), since),
            });
        }
        let staged = self.random.one_in(3);
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
        let length = self.random.length();
        let mut bytes = self.random.bytes(length);
        if self.random.one_in(8) {
            bytes.extend_from_slice(&self.marker);
        }
        bytes
    }

    fn one<'a>(&mut self, bytes: &'a [u8]) -> Update<'a> {
        let random = &mut self.random;
        let valued = random.pick(&[ObjectType::KeyValue, ObjectType::General]);
        let sized = random.pick(&[ObjectType::Array, ObjectType::Array, ObjectType::General]);
        match random.below(16) {
            0..6 => Update::Put { cell: random.cell(valued), value: bytes },
            6..8 => Update::Remove { cell: random.cell(valued) },
            8..11 => {
                Update::Write { cell: random.cell(sized), offset: random.below(SIZE_MAX / 2), data: bytes }
            }
            11 => Update::Write { cell: random.cell(sized), offset: random.below(20), data: bytes },
            12 => Update::SetSize { cell: random.cell(sized), size: random.below(SIZE_MAX) },
            13 => {
                let (offset, length) = (random.below(SIZE_MAX), random.below(SIZE_MAX));
                let length = if random.one_in(4) { u64::MAX } else { length };
                Update::Punch { cell: random.cell(sized), offset, length }
            }
            14 => {
                let dkey = random.pick(&KEYS[..7]);
                Update::RemoveDkey { object: random.object(ObjectType::General), dkey }
            }
            _ => Update::Destroy { object: random.any_cell().object },
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

/// The contents of each snapshot, as a JSON object.
fn past(container: &dyn Container) -> Outcome<String> {
    let mut shown = Vec::new();
    for snapshot in container.snapshots()?.list()? {
        let past = container.snapshots()?.open(&snapshot.name)?;
        shown.push(member(snapshot.name.as_str(), format!("[{}]", contents(&*past)?)));
    }
    Ok(object_of(&shown))
}

/// Everything in the container, as the members of a JSON array.
fn contents(container: &dyn Container) -> Outcome<String> {
    let (mut objects, mut anchor) = (Vec::new(), Anchor::start());
    loop {
        let (page, next) = container.list_objects(&anchor, PAGE)?;
        for object in page {
            objects.push(format!("{{\"id\": \"{object}\", {}}}", describe(container, object)?));
        }
        match next {
            Some(next) => anchor = next,
            None => return Ok(objects.join(", ")),
        }
    }
}

fn describe(container: &dyn Container, object: ObjectId) -> Outcome<String> {
    Ok(match object.otype() {
        ObjectType::KeyValue => {
            let mut entries = Vec::new();
            KeyValue::new(container, object)?.for_each(|key, value| {
                entries.push(member(&hex(key), format!("\"{}\"", hex(value))));
                Ok::<(), StoreError>(())
            })?;
            member("entries", object_of(&entries))
        }
        ObjectType::Array => {
            let array = Array::new(container, object)?;
            let size = array.size()?.ok_or("an array that is listed and has no size")?;
            member("array", bytes_of(size, &array.read(0, usize::try_from(size)?)?))
        }
        ObjectType::General | ObjectType::System => {
            let mut dkeys = Vec::new();
            for dkey in keys(|anchor| container.list_dkeys(object, anchor, PAGE))? {
                let mut akeys = Vec::new();
                for akey in keys(|anchor| container.list_akeys(object, &dkey, anchor, PAGE))? {
                    let cell = Cell::general(object, &dkey, &akey);
                    akeys.push(member(&hex(&akey), general(container, cell)?));
                }
                dkeys.push(member(&hex(&dkey), object_of(&akeys)));
            }
            member("dkeys", object_of(&dkeys))
        }
    })
}

fn general(container: &dyn Container, cell: Cell<'_>) -> Outcome<String> {
    if let Some(value) = container.get_many(&[cell])?.pop().flatten() {
        return Ok(object_of(&[member("value", format!("\"{}\"", hex(&value)))]));
    }
    let size = container.size_many(&[cell])?.pop().flatten().ok_or("a key that is listed and has no size")?;
    Ok(bytes_of(size, &container.lent_reads()?.lend(cell, 0, size)?))
}

/// All keys of a listing.
fn keys(
    page: impl Fn(&Anchor) -> Result<isotach_object::Page, StoreError>,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let (mut keys, mut anchor) = (Vec::new(), Anchor::start());
    loop {
        let page = page(&anchor)?;
        keys.extend(page.keys().map(<[u8]>::to_vec));
        match page.next() {
            Some(next) => anchor = next.clone(),
            None => return Ok(keys),
        }
    }
}

fn bytes_of(size: u64, bytes: &[u8]) -> String {
    let sum = isotach_engine_kit::checksum::crc32c(bytes);
    object_of(&[member("size", size), member("crc32c", sum)])
}

fn member(name: &str, value: impl Display) -> String {
    format!("\"{name}\": {value}")
}

fn object_of(members: &[String]) -> String {
    format!("{{{}}}", members.join(", "))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
