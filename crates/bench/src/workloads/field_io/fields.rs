//! Fields in the three layouts of Field I/O, on the object model.
//!
//! - **Full**: a main container, whose key-value object maps the most significant part of a key to an index container and
//!   a store container; the index maps the rest to the array. Both labels are derived from the MD5 of that part, so racing
//!   creators agree.
//! - **No containers**: all in the main container; the id of the index is derived from that MD5.
//! - **No index**: the id of the array is derived from the MD5 of the whole identifier.
//!
//! A re-write creates a new array and updates the index; the old array remains. Without an index the array is written in
//! place. Source: the field functions of Field I/O (ecmwf/daos-tests) and "DAOS as HPC Storage: a View From Numerical
//! Weather Prediction" (Manubens, Quintino, Smart, Danovaro, Jackson, 2022).

use std::{collections::HashMap, fmt, str::FromStr, sync::Arc};

use isotach_object::{
    ArrayRead, Cell, Container, ContainerOptions, Error as ObjectError, IdRange, Label, ObjectClass,
    ObjectId, ObjectType, Pool, Update,
};
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    harness::{events::Timer, noise},
};

const MAIN: &str = "main";
/// Array ids of one allocation.
const IDS: u64 = 1024;
/// Bytes of the stamp at each end of a field.
const STAMP: usize = 24;
pub(crate) const SIZE_MIN: usize = 2 * STAMP;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    /// A main key-value object, and containers for each index and its arrays
    Full,
    /// All in one container
    NoContainers,
    /// All in one container, arrays found by the MD5 of their identifier
    NoIndex,
}

/// The object classes of the main key-value object, of indexes and of arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Classes {
    pub(crate) main: ObjectClass,
    pub(crate) index: ObjectClass,
    pub(crate) store: ObjectClass,
}

impl Classes {
    /// The classes of the published runs.
    pub(crate) const USUAL: Self =
        Self { main: ObjectClass::SX, index: ObjectClass::S2, store: ObjectClass::S1 };
}

impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.main, self.index, self.store)
    }
}

impl FromStr for Classes {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let expected =
            "expected three object classes, of the main object, indexes and arrays, as in SX-S2-S1";
        let classes: std::result::Result<Vec<ObjectClass>, _> = text.split('-').map(str::parse).collect();
        match classes.map_err(|error| error.to_string())?[..] {
            [main, index, store] => Ok(Self { main, index, store }),
            _ => Err(expected.to_owned()),
        }
    }
}

impl Serialize for Classes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The name of a field: the process that writes it, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) owner: u32,
    pub(crate) number: u64,
}

impl Name {
    fn stamp(self, version: u64) -> [u8; STAMP] {
        let mut stamp = [0; STAMP];
        let parts = [u64::from(self.owner), self.number, version];
        stamp
            .chunks_exact_mut(8)
            .zip(parts)
            .for_each(|(bytes, part)| bytes.copy_from_slice(&part.to_le_bytes()));
        stamp
    }

    pub(crate) fn write_stamp(self, version: u64, bytes: &mut [u8]) {
        noise::stamp_ends(bytes, &self.stamp(version));
    }

    /// The version of these bytes; none if they are not a version of the field.
    pub(crate) fn version(self, bytes: &[u8]) -> Option<u64> {
        let end = bytes.len().checked_sub(STAMP)?;
        let (name, version) = bytes[..STAMP].split_at(STAMP - 8);
        let is_it = bytes[..STAMP] == bytes[end..] && *name == self.stamp(0)[..STAMP - 8];
        Some(u64::from_le_bytes(version.try_into().ok()?)).filter(|_| is_it)
    }
}

/// Whether processes share an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Contention {
    /// An index for each process
    Low,
    /// One index for all
    High,
}

impl Contention {
    /// The most significant part of a key.
    fn major(self, name: Name) -> String {
        let common = "class=od,expver=0001,stream=oper,date=20260101,time=0000";
        match self {
            Self::Low => format!("{common},number={}", name.owner),
            Self::High => common.to_owned(),
        }
    }
}

/// The rest of a key.
fn minor(name: Name) -> String {
    format!("type=fc,levtype=pl,process={},step={}", name.owner, name.number)
}

fn digest(text: &str) -> [u8; 16] {
    Md5::digest(text).into()
}

/// An object whose id is derived from a digest.
fn object_of(digest: [u8; 16], otype: ObjectType, class: ObjectClass) -> ObjectId {
    let [a, b, c, d, rest @ ..] = digest;
    let low: [u8; 8] = std::array::from_fn(|at| rest[at]);
    ObjectId::new(otype, class, u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(low))
}

/// Creates a container unless it exists.
fn create(pool: &dyn Pool, label: &Label) -> Result<()> {
    match pool.create_container(label, &ContainerOptions::default()) {
        Ok(()) | Err(ObjectError::AlreadyExists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Creates what all processes share.
pub(crate) fn prepare(pool: &dyn Pool) -> Result<()> {
    create(pool, &MAIN.parse()?)
}

/// The handles of a process.
pub(crate) struct Fields {
    mode: Mode,
    contention: Contention,
    classes: Classes,
    pool: Arc<dyn Pool>,
    main: Arc<dyn Container>,
    indexes: HashMap<String, Arc<Index>>,
    ids: HashMap<Label, IdRange>,
}

/// The index of a most significant part, and the store of its arrays.
struct Index {
    container: Arc<dyn Container>,
    object: ObjectId,
    store: Arc<dyn Container>,
}

impl Fields {
    pub(crate) fn open(
        pool: Arc<dyn Pool>,
        mode: Mode,
        contention: Contention,
        classes: Classes,
    ) -> Result<Self> {
        let main = pool.open_container(&MAIN.parse()?)?;
        let (indexes, ids) = (HashMap::new(), HashMap::new());
        Ok(Self { mode, contention, classes, pool, main, indexes, ids })
    }

    pub(crate) fn write(&mut self, name: Name, bytes: &[u8], timer: &mut Timer) -> Result<()> {
        if self.mode == Mode::NoIndex {
            let object = timer.open(|| Ok(self.array_of(name)))?;
            timer.transfer(bytes.len() as u64, || write(&*self.main, object, bytes))?;
            return timer.close(|| Ok(self.main.flush()?));
        }
        let (index, object) = timer.open(|| {
            let index =
                self.index_of(name, true)?.ok_or_else(|| Error::wrong("no index", "the one just created"))?;
            let object = self.new_array(&*index.store)?;
            Ok((index, object))
        })?;
        timer.transfer(bytes.len() as u64, || write(&*index.store, object, bytes))?;
        let is_one = Arc::ptr_eq(&index.store, &index.container);
        timer.close(|| {
            // The array is durable before its entry in the index; in one container the log keeps that order.
            if !is_one {
                index.store.flush()?;
            }
            let (key, value) = (minor(name), reference(object));
            let cell = Cell::kv(index.object, key.as_bytes());
            index.container.update(&[Update::Put { cell, value: &value }])?;
            Ok(index.container.flush()?)
        })
    }

    /// Reads a field into a buffer and returns its length; none if it does not exist.
    pub(crate) fn read(&mut self, name: Name, buffer: &mut [u8], timer: &mut Timer) -> Result<Option<usize>> {
        let found = timer.open(|| match self.mode {
            Mode::NoIndex => Ok(Some((Arc::clone(&self.main), self.array_of(name)))),
            Mode::Full | Mode::NoContainers => self.find(name),
        })?;
        let Some((container, object)) = found else { return Ok(None) };
        let wanted = buffer.len() as u64;
        let filled = timer.transfer(wanted, || {
            let mut read = [ArrayRead { cell: Cell::array(object), offset: 0, buffer, filled: 0 }];
            container.read_many(&mut read)?;
            Ok(read[0].filled)
        })?;
        timer.close(|| Ok(()))?;
        Ok((filled > 0).then_some(filled))
    }

    fn array_of(&self, name: Name) -> ObjectId {
        let identifier = format!("{},{}", self.contention.major(name), minor(name));
        object_of(digest(&identifier), ObjectType::Array, self.classes.store)
    }

    fn find(&mut self, name: Name) -> Result<Option<(Arc<dyn Container>, ObjectId)>> {
        let Some(index) = self.index_of(name, false)? else { return Ok(None) };
        let key = minor(name);
        let found = index.container.get_many(&[Cell::kv(index.object, key.as_bytes())])?;
        let object = found.first().and_then(|value| parse_reference(value.as_deref()?));
        Ok(object.map(|object| (Arc::clone(&index.store), object)))
    }

    /// Finds an index by the main key-value object, or creates it.
    fn index_of(&mut self, name: Name, or_create: bool) -> Result<Option<Arc<Index>>> {
        let major = self.contention.major(name);
        if let Some(index) = self.indexes.get(&major) {
            return Ok(Some(Arc::clone(index)));
        }
        let main = ObjectId::new(ObjectType::KeyValue, self.classes.main, 0, 0);
        let cell = Cell::kv(main, major.as_bytes());
        let digest = digest(&major);
        if self.main.get_many(&[cell])?.first().is_none_or(Option::is_none) {
            if !or_create {
                return Ok(None);
            }
            if self.mode == Mode::Full {
                labels(digest)?.iter().try_for_each(|label| create(&*self.pool, label))?;
            }
            self.main.update(&[Update::Put { cell, value: &digest }])?;
            self.main.flush()?;
        }
        let index = Arc::new(self.open_index(digest)?);
        self.indexes.insert(major, Arc::clone(&index));
        Ok(Some(index))
    }

    fn open_index(&self, digest: [u8; 16]) -> Result<Index> {
        if self.mode != Mode::Full {
            let object = object_of(digest, ObjectType::KeyValue, self.classes.index);
            return Ok(Index { container: Arc::clone(&self.main), object, store: Arc::clone(&self.main) });
        }
        let [index, store] = labels(digest)?;
        let object = ObjectId::new(ObjectType::KeyValue, self.classes.index, 0, 0);
        Ok(Index {
            container: self.pool.open_container(&index)?,
            object,
            store: self.pool.open_container(&store)?,
        })
    }

    fn new_array(&mut self, store: &dyn Container) -> Result<ObjectId> {
        let nothing = IdRange { start: 0, end: 0 };
        let ids = self.ids.entry(store.label().clone()).or_insert(nothing);
        if ids.start == ids.end {
            *ids = store.allocate_ids(IDS)?;
        }
        let number = ids.start;
        ids.start += 1;
        Ok(ObjectId::new(ObjectType::Array, self.classes.store, 0, number))
    }
}

fn labels(digest: [u8; 16]) -> Result<[Label; 2]> {
    let text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok([format!("index-{text}").parse()?, format!("store-{text}").parse()?])
}

fn write(container: &dyn Container, object: ObjectId, bytes: &[u8]) -> Result<()> {
    Ok(container.update(&[Update::Write { cell: Cell::array(object), offset: 0, data: bytes }])?)
}

/// The value of an array in an index: the halves of its id.
fn reference(object: ObjectId) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&object.hi().to_le_bytes());
    bytes[8..].copy_from_slice(&object.lo().to_le_bytes());
    bytes
}

fn parse_reference(bytes: &[u8]) -> Option<ObjectId> {
    let (hi, lo) = bytes.split_first_chunk::<8>()?;
    let lo = lo.first_chunk::<8>()?;
    ObjectId::from_halves(u64::from_le_bytes(*hi), u64::from_le_bytes(*lo)).ok()
}

#[cfg(test)]
mod tests {
    use isotach_object::{Engine, PoolUri, memory::Memory};

    use super::*;
    use crate::harness::events::{Clock, Recorder};

    fn fields(pool: &Arc<dyn Pool>, mode: Mode, contention: Contention) -> Fields {
        let class = ObjectClass::S1;
        let classes = Classes { main: class, index: class, store: class };
        Fields::open(Arc::clone(pool), mode, contention, classes).unwrap()
    }

    fn pool() -> Arc<dyn Pool> {
        let (engine, uri) = (Memory::new(), "memory:fields".parse::<PoolUri>().unwrap());
        engine.create_pool(&uri).unwrap();
        let pool = engine.open_pool(&uri).unwrap();
        prepare(&*pool).unwrap();
        pool
    }

    #[test]
    fn in_each_layout_a_reader_finds_each_version_of_a_field() {
        for mode in [Mode::Full, Mode::NoContainers, Mode::NoIndex] {
            for contention in [Contention::Low, Contention::High] {
                let pool = pool();
                let [mut writer, mut reader] = [(); 2].map(|()| fields(&pool, mode, contention));
                let mut recorder = Recorder::new(Clock::start(), 0);
                let (name, mut bytes, mut buffer) =
                    (Name { owner: 3, number: 7 }, vec![0; 100], vec![0; 100]);
                for version in [0, 1] {
                    name.write_stamp(version, &mut bytes);
                    recorder.operation(|timer| writer.write(name, &bytes, timer)).unwrap();
                    let found = recorder.operation(|timer| reader.read(name, &mut buffer, timer)).unwrap();
                    assert_eq!((found, &buffer), (Some(100), &bytes), "{mode:?} {contention:?}");
                }
                let absent = Name { owner: 3, number: 8 };
                let found = recorder.operation(|timer| reader.read(absent, &mut buffer, timer)).unwrap();
                assert_eq!(found, None, "{mode:?} {contention:?}");
            }
        }
    }

    #[test]
    fn a_stamp_identifies_field_and_version_and_rejects_mixed_versions() {
        let (name, mut bytes) = (Name { owner: 1, number: 2 }, vec![9; 64]);
        name.write_stamp(5, &mut bytes);
        assert_eq!(name.version(&bytes), Some(5));
        assert_eq!((Name { owner: 1, number: 3 }.version(&bytes), name.version(&bytes[..50])), (None, None));
        let mut mixed = bytes.clone();
        name.write_stamp(6, &mut mixed);
        mixed[..STAMP].copy_from_slice(&bytes[..STAMP]);
        assert_eq!((name.version(&mixed), name.version(b"short")), (None, None));
    }
}
