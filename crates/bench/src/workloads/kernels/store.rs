//! Versions of arrays that several processes write together, on the object model.
//!
//! - With **transactions** a version is one numbered transaction of all processes, with their values and notes: it becomes
//!   visible atomically. All versions are in the same arrays, and a reader opens the container at one version.
//! - With **plain** updates each version has arrays of its own. It is complete when every process has written a note after
//!   its values. No space is freed.

use std::{sync::Arc, time::Duration};

use isotach_object::{
    ArrayRead, Backoff, Cell, Container, ContainerOptions, Error as ObjectError, ObjectClass, ObjectId,
    ObjectType, Pool, Update, Versions, retry,
};
use serde::{Deserialize, Serialize};

use super::piece::{Piece, VALUE};
use crate::{Error, Result, harness::events::Timer};

const CONTAINER: &str = "kernels";
/// Key-value objects: the latest version and the number of values of each process, and the records of transactions.
const LATEST: u64 = 0;
const COUNTS: u64 = 1;
const RECORDS: u64 = 2;
/// How long a process waits for the parts of the other processes.
const COMPLETION_TIMEOUT: Duration = Duration::from_secs(120);
/// The same as a number of polls; the later ones are about 10 ms apart.
const POLLS: Backoff =
    Backoff { attempts: 12_000, first: Duration::from_micros(100), longest: Duration::from_millis(20) };
/// Attempts to open the newest version while newer ones appear.
const OPEN_TRIES: usize = 100;

/// How a version is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Updates {
    /// One transaction of all processes
    Transactions,
    /// Updates, each by itself, in arrays of the version's own
    Plain,
}

/// The part of a process in a version.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contribution {
    pub(super) version: u64,
    pub(super) writer: u32,
    pub(super) writers: u32,
}

/// Creates what all processes share.
pub(super) fn prepare(pool: &dyn Pool) -> Result<()> {
    Ok(pool.create_container(&CONTAINER.parse()?, &ContainerOptions::default())?)
}

pub(super) struct Store {
    container: Arc<dyn Container>,
    updates: Updates,
    class: ObjectClass,
}

pub(super) struct Version<'s> {
    store: &'s Store,
    container: Arc<dyn Container>,
    pub(super) number: u64,
    /// The number of values of each writer.
    pub(super) counts: Vec<u64>,
}

impl Store {
    pub(super) fn open(pool: &dyn Pool, updates: Updates, class: ObjectClass) -> Result<Self> {
        Ok(Self { container: pool.open_container(&CONTAINER.parse()?)?, updates, class })
    }

    fn versions(&self) -> Result<Versions<'_>> {
        Ok(Versions::new(&*self.container, ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, RECORDS))?)
    }

    fn object(&self, otype: ObjectType, number: u64, version: u64) -> ObjectId {
        let class = if otype == ObjectType::Array { self.class } else { ObjectClass::S1 };
        let of_version = match self.updates {
            Updates::Transactions => 0,
            Updates::Plain => version as u32,
        };
        ObjectId::new(otype, class, of_version, number)
    }

    /// Writes the part of a process, whose pieces are in order in `bytes`. Returns when the version is complete.
    pub(super) fn write(
        &self,
        part: Contribution,
        pieces: &[Piece],
        bytes: &[u8],
        timer: &mut Timer,
    ) -> Result<()> {
        let key = part.writer.to_le_bytes();
        let (version, count) = (part.version.to_le_bytes(), ((bytes.len() / VALUE) as u64).to_le_bytes());
        let counts = self.object(ObjectType::KeyValue, COUNTS, part.version);
        let latest = self.object(ObjectType::KeyValue, LATEST, 0);
        let mut updates = self.values(part.version, pieces, bytes);
        updates.push(Update::Put { cell: Cell::kv(counts, &key), value: &count });
        // After the values, so a reader that sees the note sees the values.
        updates.push(Update::Put { cell: Cell::kv(latest, &key), value: &version });
        let moved = bytes.len() as u64;
        if self.updates == Updates::Plain {
            timer.open(|| Ok(()))?;
            timer.transfer(moved, || Ok(self.container.update(&updates)?))?;
            return timer.close(|| {
                self.container.flush()?;
                let poll = || match self.complete(part.writers)? {
                    version if version >= part.version => Ok(()),
                    version => Err(ObjectError::Conflict {
                        what: format!("version {} is not complete: a process is at {version}", part.version),
                    }),
                };
                Ok(retry(POLLS, poll)?)
            });
        }
        let versions = self.versions()?;
        let start = || Ok(versions.start(part.version, part.writer, part.writers)?);
        let mut transaction = timer.open(start)?;
        timer.transfer(moved, || Ok(transaction.update(&updates)?))?;
        timer.close(|| {
            transaction.finish()?;
            if versions.wait(part.version, COMPLETION_TIMEOUT)?.is_some() {
                return Ok(());
            }
            let seconds = COMPLETION_TIMEOUT.as_secs();
            let what = format!("version {} is not complete after {seconds} s", part.version);
            Err(Error::invalid(what, "the parts of all processes in that time"))
        })
    }

    fn values<'b>(&self, version: u64, pieces: &[Piece], mut bytes: &'b [u8]) -> Vec<Update<'b>> {
        let update = |piece: &Piece| {
            let (data, rest) = bytes.split_at(piece.bytes());
            bytes = rest;
            let cell = Cell::array(self.object(ObjectType::Array, piece.array, version));
            Update::Write { cell, offset: piece.start * VALUE as u64, data }
        };
        pieces.iter().map(update).collect()
    }

    /// The latest version in the notes of each writer; 0 without a note.
    fn latest(&self, container: &dyn Container, writers: u32) -> isotach_object::Result<Vec<u64>> {
        let noted = notes(container, self.object(ObjectType::KeyValue, LATEST, 0), writers)?;
        Ok(noted.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// The newest version with notes of all writers.
    fn complete(&self, writers: u32) -> isotach_object::Result<u64> {
        Ok(self.latest(&*self.container, writers)?.into_iter().min().unwrap_or(0))
    }

    pub(super) fn newest(&self, writers: u32) -> Result<Version<'_>> {
        let (number, container) = match self.updates {
            Updates::Transactions => self.open_newest()?,
            Updates::Plain => (self.complete(writers)?, Arc::clone(&self.container)),
        };
        if number == 0 {
            return Err(Error::wrong("no complete version", "at least one"));
        }
        let latest = self.latest(&*container, writers)?;
        if self.updates == Updates::Transactions && latest.iter().any(|noted| *noted != number) {
            let what = format!("version {number} with parts of versions {latest:?}");
            return Err(Error::wrong(what, "parts of one version"));
        }
        let counts = notes(&*container, self.object(ObjectType::KeyValue, COUNTS, number), writers)?;
        let counts: Option<Vec<u64>> = counts.into_iter().collect();
        let counts = counts.ok_or_else(|| {
            Error::wrong(format!("version {number} without a note of each process"), "a note of each")
        })?;
        Ok(Version { store: self, container, number, counts })
    }

    fn open_newest(&self) -> Result<(u64, Arc<dyn Container>)> {
        let versions = self.versions()?;
        for _ in 1..OPEN_TRIES {
            let number = versions.version()?;
            match versions.open_version(number) {
                // A newer version has replaced it.
                Err(ObjectError::NotFound { .. }) => {}
                opened => return Ok((number, opened?)),
            }
        }
        let number = versions.version()?;
        Ok((number, versions.open_version(number)?))
    }
}

/// The notes of each writer in an object.
fn notes(
    container: &dyn Container,
    object: ObjectId,
    writers: u32,
) -> isotach_object::Result<Vec<Option<u64>>> {
    let keys: Vec<_> = (0..writers).map(u32::to_le_bytes).collect();
    let cells: Vec<_> = keys.iter().map(|key| Cell::kv(object, key)).collect();
    let number = |value: Option<Vec<u8>>| Some(u64::from_le_bytes(value?.try_into().ok()?));
    Ok(container.get_many(&cells)?.into_iter().map(number).collect())
}

impl Version<'_> {
    /// Reads pieces in order into a buffer of their size. Returns whether all their bytes exist.
    pub(super) fn read(&self, pieces: &[Piece], mut buffer: &mut [u8]) -> Result<bool> {
        let mut reads = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let (of_piece, rest) = buffer.split_at_mut(piece.bytes());
            buffer = rest;
            let cell = Cell::array(self.store.object(ObjectType::Array, piece.array, self.number));
            let offset = piece.start * VALUE as u64;
            reads.push(ArrayRead { cell, offset, buffer: of_piece, filled: 0 });
        }
        self.container.read_many(&mut reads)?;
        Ok(reads.iter().all(|read| read.filled == read.buffer.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use isotach_object::{Engine, PoolUri, memory::Memory};

    use super::*;
    use crate::{
        harness::events::{Clock, Recorder},
        workloads::kernels::piece::{are_right, bytes_of, fill},
    };

    fn pool(name: &str) -> Arc<dyn Pool> {
        let (engine, uri) = (Memory::new(), format!("memory:{name}").parse::<PoolUri>().unwrap());
        engine.create_pool(&uri).unwrap();
        let pool = engine.open_pool(&uri).unwrap();
        prepare(&*pool).unwrap();
        pool
    }

    fn open(pool: &Arc<dyn Pool>, updates: Updates) -> Store {
        Store::open(&**pool, updates, ObjectClass::SX).unwrap()
    }

    /// The pieces of a writer, which grow with each version.
    fn pieces(writer: u32, version: u64) -> Vec<Piece> {
        (0..3).map(|variable| Piece::of_variable(variable, u64::from(writer) * 1000, version)).collect()
    }

    fn write(store: &Store, writer: u32, versions: std::ops::RangeInclusive<u64>) {
        let mut recorder = Recorder::new(Clock::start(), 0);
        for version in versions {
            let (part, mut bytes) = (Contribution { version, writer, writers: 2 }, Vec::new());
            let pieces = pieces(writer, version);
            fill(&pieces, version, &mut bytes);
            recorder.operation(|timer| store.write(part, &pieces, &bytes, timer)).unwrap();
        }
    }

    /// Reads the newest version of all writers and returns its number.
    fn check(store: &Store) -> u64 {
        let version = store.newest(2).unwrap();
        let pieces: Vec<Piece> = (0..2).flat_map(|writer| pieces(writer, version.number)).collect();
        let mut buffer = vec![0; bytes_of(&pieces)];
        assert!(version.read(&pieces, &mut buffer).unwrap());
        assert!(are_right(&pieces, version.number, &buffer), "version {}", version.number);
        assert_eq!(version.counts, [3 * version.number; 2]);
        version.number
    }

    #[test]
    fn a_reader_sees_whole_versions_that_never_grow_older() {
        for updates in [Updates::Transactions, Updates::Plain] {
            let pool = pool("versions");
            let stores = [(); 3].map(|()| open(&pool, updates));
            thread::scope(|scope| {
                // Reading fails until the first version is complete.
                let one = scope.spawn(|| write(&stores[0], 0, 1..=1));
                write(&stores[1], 1, 1..=1);
                one.join().unwrap();
                scope.spawn(|| write(&stores[0], 0, 2..=40));
                scope.spawn(|| write(&stores[1], 1, 2..=40));
                let mut seen = 1;
                while seen < 40 {
                    let number = check(&stores[2]);
                    assert!(number >= seen, "{updates:?}");
                    seen = number;
                }
            });
        }
    }
}
