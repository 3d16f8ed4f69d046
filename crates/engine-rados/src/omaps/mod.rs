//! The entries of objects: in one omap, or in several once an object has many.
//!
//! What must stay true:
//! - An omap holds the entries whose hashes lie in its range. Its entry [`keys::LEVEL`] says how often the range was halved. Every
//!   read and write requires, in the same operation, that this is what the caller believes. So no operation uses an omap that no
//!   longer holds the entry, and none has to check before.
//! - An omap is split under a mark that holds off writers (`split`). An object of several omaps is removed under a mark that also
//!   holds off readers (`gone`). Both marks carry a random number. A process that waits for a mark too long continues the work under
//!   its own number, and operations that the first process still has under way fail.
//!
//! A RADOS object is in one placement group, so splitting spreads a large index, and keeps each omap below the size at
//! which Ceph warns (`osd_deep_scrub_large_omap_object_key_threshold`, 200 000 keys).

mod changes;
mod gone;
mod mark;
mod page;
mod read;
mod split;
mod write;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use isotach_engine_kit::context::Context;
use isotach_object::{Error, ObjectId, Result};

use crate::{
    ffi::{IfFound, Io, ReadOp},
    keys::{self, LEVEL},
};

pub(crate) use changes::EntryChanges;
pub(crate) use mark::{Mark, State};
pub(crate) use write::{Batch, Condition, Stream};

/// Entries that one operation reads or writes. Ceph returns at most 1024 keys to one (`osd_max_omap_entries_per_request`).
pub(crate) const PER_OPERATION: usize = 1000;
/// How long a mark that holds others off may stay the same before its owner is taken for dead.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between two reads of such a mark.
const PAUSE: Duration = Duration::from_millis(10);
/// How often an operation is repeated because omaps were split during it, before it fails.
const ATTEMPTS_MAX: usize = 1000;

/// The omaps of a container.
#[derive(Debug)]
pub(crate) struct Omaps {
    io: Arc<Io>,
    /// How many entries an omap may hold before it is split.
    most: u64,
    /// The marks of objects that are known to have several omaps, by the first hash of each.
    known: Mutex<HashMap<ObjectId, BTreeMap<u32, Mark>>>,
}

/// One omap, as it is believed to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shard {
    /// The first hash.
    start: u32,
    mark: Mark,
}

impl Shard {
    /// One past the last hash.
    fn end(&self) -> u64 {
        u64::from(self.start) + self.mark.width()
    }
}

impl Omaps {
    pub(crate) fn new(io: Arc<Io>, most: u64) -> Self {
        Self { io, most, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<ObjectId, BTreeMap<u32, Mark>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_mark(&self, object: ObjectId, start: u32) -> Option<Mark> {
        self.known().get(&object)?.get(&start).cloned()
    }

    /// The omap that has the entries with this hash. It may be wrong, which the operation on it then finds out.
    fn locate(&self, object: ObjectId, hash: u32) -> Result<Shard> {
        retry(object, || self.try_locate(object, hash))
    }

    /// As [`Omaps::locate`]; `None` where what was known is out of date.
    fn try_locate(&self, object: ObjectId, hash: u32) -> Result<Option<Shard>> {
        let mut start = 0;
        loop {
            let mark = match self.known_mark(object, start) {
                Some(mark) => mark,
                // Nearly all objects have one omap. If this one does not, the operation says so.
                None if start == 0 => Mark::default(),
                None => match self.load(object, start)? {
                    Some(mark) => mark,
                    None => return self.forget(object).map(|()| None),
                },
            };
            match mark.state {
                State::Gone => return self.finish_removal(object).map(|()| None),
                State::Building => {
                    thread::sleep(PAUSE);
                    return self.forget(object).map(|()| None);
                }
                State::Settled | State::Frozen => {}
            }
            let within = hash - start;
            if u64::from(within) < mark.width() {
                return Ok(Some(Shard { start, mark }));
            }
            // When the range was halved the last time that this hash was in its upper half, that half got an omap.
            start += 1 << within.ilog2();
        }
    }

    /// Reads the mark of an omap, and remembers it. `None` where there is no such omap.
    fn load(&self, object: ObjectId, start: u32) -> Result<Option<Mark>> {
        let name = keys::entries_name(object, start);
        let answer = self.io.read(&name, ReadOp::new().entries(vec![LEVEL])).if_found();
        let answer = answer.context(|| format!("read RADOS object {name}"))?;
        let Some((_, stored)) = answer.and_then(|answer| answer.entries.into_vec().pop()) else {
            self.forget(object)?;
            return Ok((start == 0).then(Mark::default));
        };
        let mark = Mark::decode(&stored).ok_or_else(|| {
            Error::corrupt(
                format!(
                    "a mark {} that fails its checksum, or that this engine does not write",
                    stored.escape_ascii()
                ),
                name,
            )
        })?;
        self.known().entry(object).or_default().insert(start, mark.clone());
        Ok(Some(mark))
    }

    /// Forgets what is known of an object's omaps.
    #[expect(clippy::unnecessary_wraps, reason = "where it is used, the next step can fail")]
    fn forget(&self, object: ObjectId) -> Result<()> {
        self.known().remove(&object);
        Ok(())
    }

    /// Looks again at what an operation on an omap was refused for.
    fn refused(&self, object: ObjectId, shard: &Shard) -> Result<()> {
        let mark = self.load(object, shard.start)?;
        if mark.is_none() {
            self.load(object, 0)?;
        }
        Ok(())
    }

    /// The omap with the entries of this hash, once no mark holds off its writers.
    fn locate_to_write(&self, object: ObjectId, hash: u32) -> Result<Shard> {
        retry(object, || {
            let shard = self.locate(object, hash)?;
            if shard.mark.state == State::Settled {
                return Ok(Some(shard));
            }
            self.wait_or_take_over(object, &shard).map(|()| None)
        })
    }

    /// Waits until a split has ended, or ends it where its owner does not go on.
    fn wait_or_take_over(&self, object: ObjectId, shard: &Shard) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            thread::sleep(PAUSE);
            if self.load(object, shard.start)?.as_ref() != Some(&shard.mark) {
                return Ok(());
            }
        }
        self.split(object, shard)
    }
}

/// Repeats `act` until it returns a value: `None` says that omaps have changed meanwhile.
fn retry<T>(object: ObjectId, mut act: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    for _ in 0..ATTEMPTS_MAX {
        if let Some(done) = act()? {
            return Ok(done);
        }
    }
    Err(too_fast(object))
}

fn too_fast(object: ObjectId) -> Error {
    let source = std::io::Error::from_raw_os_error(libc::EAGAIN);
    let what = format!("object {object}: its omaps change faster than they can be read");
    Error::Io { what, source: Box::new(source) }
}
