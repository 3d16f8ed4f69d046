//! An open container, access to its objects, and their ids.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use isotach_daos_abi::errors::DER_INVAL;
use isotach_engine_kit::context::Context;
use isotach_object::{Cell, Error, IdRange, Label, ObjectClass, ObjectId, ObjectType, Result};

use crate::{
    failure::{InStep, forked},
    ffi::{AkeyUpdate, Array, Cont, Der, Object, Operation, Roots, Tx, Update},
    keys::{Format, NOTHING, ONLY, OWN},
    options::{Options, SCHEME},
    read,
};

/// The number of groups that stands for all, and its bits in the high half of an id.
const ALL: u16 = 0xffff;
const GROUPS: u64 = 0xffff << 32;
/// The first redundancy number of classes with parity.
const PARITY: u8 = 0x20;
/// The most cached handles on maps and general objects.
const OPEN_MAX: usize = 256;

/// An open container.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) cont: Arc<Cont>,
    pub(crate) label: Label,
    pub(crate) options: Arc<Options>,
    /// Bytes of an array under one distribution key.
    pub(crate) chunk: u64,
    /// The stored form of values.
    pub(crate) format: Format,
    /// The number of groups of an object on all targets: that of the container's creation, so that objects are still found after the pool
    /// has grown.
    all_groups: u64,
    open: Mutex<HashMap<(u64, u64), Arc<Object>>>,
    /// The known answers on which classes with copies the pool supports.
    classes: Mutex<HashMap<ObjectClass, bool>>,
}

impl Space {
    /// Opens a container of ours.
    pub(crate) fn open(cont: Arc<Cont>, label: &Label, options: &Arc<Options>) -> Result<Self> {
        let roots = cont.roots().context(|| format!("read what container {label} says of itself"))?;
        let [own, (format, chunk), (all_groups, _), _] = roots;
        if own != OWN || chunk == 0 || all_groups == 0 {
            let expected = "one that Isotach made: this is another program's";
            return Err(Error::invalid(format!("container {label} of pool {}", options.pool), expected));
        }
        let Some(format) = Format::of(format) else {
            let what =
                format!("container {label} has format {format}, and this program reads 1 to {}", Format::NEW);
            return Err(Error::NewerFormat { what });
        };
        let (open, classes) = (Mutex::default(), Mutex::default());
        Ok(Self {
            cont,
            label: label.clone(),
            options: Arc::clone(options),
            chunk,
            format,
            all_groups,
            open,
            classes,
        })
    }

    /// The roots of a new container: its own map, and in the bits of an id its format, the bytes of a chunk, and the number of groups of an
    /// object on all targets.
    pub(crate) fn roots(options: &Options, targets: u32) -> Roots {
        // With one target, S1 also means all targets. It is the class of fields, and keeps its name.
        [OWN, (Format::NEW, options.chunk), (targets.clamp(2, 0xfffe).into(), 0), (0, 0)]
    }

    /// DAOS's id of an object: ours, with the number of groups in place of "all".
    pub(crate) fn id(&self, object: ObjectId) -> (u64, u64) {
        match object.class().groups() {
            ALL => (object.hi() & !GROUPS | self.all_groups << 32, object.lo()),
            _ => (object.hi(), object.lo()),
        }
    }

    /// The object with an id of DAOS's, if it can be one of ours.
    pub(crate) fn object_of(&self, (hi, lo): (u64, u64)) -> Option<ObjectId> {
        let hi = if hi & GROUPS == self.all_groups << 32 { hi | GROUPS } else { hi };
        // Objects of other programs are not ours to read.
        ObjectId::from_halves(hi, lo).ok()
    }

    /// Refuses a handle of the parent in a child process.
    pub(crate) fn check_process(&self) -> Result<()> {
        match self.cont.is_of_this_process() {
            true => Ok(()),
            false => Err(forked(&format!("use container {} after a fork", self.label))),
        }
    }

    /// Refuses a class that is not supported for objects of this kind.
    pub(crate) fn check_class(&self, object: ObjectId) -> Result<()> {
        let class = object.class();
        let unsupported = |why: &str| {
            let what = format!("object class {class} in container {}: {why}", self.label);
            Err(Error::Unsupported { engine: SCHEME, what })
        };
        if !class.is_redundant() {
            return match u64::from(class.groups()) {
                groups if groups == ALL.into() || groups < self.all_groups => Ok(()),
                groups if groups == self.all_groups => {
                    unsupported("that many groups are all there are; say SX")
                }
                _ => unsupported("the pool had fewer targets when the container was made; say SX for all"),
            };
        }
        match class.groups() {
            ALL => return unsupported("name the number of groups of a class with copies"),
            _ if class.redundancy() >= PARITY && object.otype() != ObjectType::Array => {
                return unsupported("keys with parity are not listed; have copies");
            }
            _ => {}
        }
        let mut possible = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_possible = match possible.get(&class) {
            Some(known) => *known,
            None => {
                let asked = self.cont.generate_id((object.hi(), object.lo()), object.hi() >> 56, class.id());
                let answer = match asked {
                    Err(Der(DER_INVAL)) => false,
                    asked => asked
                        .context(|| format!("ask for object class {class} in container {}", self.label))
                        .map(|_| true)?,
                };
                possible.insert(class, answer);
                answer
            }
        };
        if is_possible { Ok(()) } else { unsupported("the pool has too few machines") }
    }

    /// A map or a general object, or the bare object of an array.
    pub(crate) fn object(&self, id: (u64, u64)) -> Result<Arc<Object>, Der> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = open.get(&id) {
            return Ok(Arc::clone(object));
        }
        let object = Arc::new(Object::open(&self.cont, id)?);
        if id.0 >> 56 != ObjectType::Array as u64 {
            if open.len() >= OPEN_MAX {
                open.retain(|_, object| Arc::strong_count(object) > 1);
            }
            open.insert(id, Arc::clone(&object));
        }
        Ok(object)
    }

    /// The map with the container's own entries.
    pub(crate) fn own(&self) -> Result<Arc<Object>, Der> {
        self.object(OWN)
    }

    /// An array.
    pub(crate) fn array(&self, object: ObjectId) -> Result<Arc<Array>, Der> {
        Array::open(&self.cont, self.id(object), self.chunk).map(Arc::new)
    }

    /// The description of an operation on a cell, for errors.
    pub(crate) fn naming(&self, verb: &str, cell: &Cell<'_>) -> String {
        let key = match cell.dkey {
            [] => String::new(),
            key => format!(" key {:?}", String::from_utf8_lossy(key)),
        };
        format!("{verb} object {}{key} of container {}", cell.object, self.label)
    }

    /// Stores a note for administrators. Returns its key, which has the time.
    pub(crate) fn keep_note(&self, note: &str) -> Result<String> {
        let what = || format!("keep a note in container {}", self.label);
        let key = format!("note {}", self.epoch()?);
        let value = AkeyUpdate::Value { akey: ONLY.into(), bytes: self.format.encoded(note.as_bytes()) };
        let own = self.own().context(what)?;
        Update::new(&own, None, key.as_bytes(), vec![value]).run().context(what)?;
        Ok(key)
    }

    /// The present epoch, which is that of a transaction that begins now.
    pub(crate) fn epoch(&self) -> Result<u64> {
        let what = || format!("ask for the epoch of container {}", self.label);
        read::consistent_read(self, None, 2, |tx| {
            // A transaction has an epoch after its first read.
            self.own().and_then(|own| own.look(tx, NOTHING, ONLY)).in_step(what)?;
            tx.map_or(Ok(0), Tx::epoch).in_step(what)
        })
    }
}

/// A number as it is stored.
pub(crate) fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// The ids that a handle has reserved from DAOS and not yet allocated: the next, and the end.
#[derive(Debug, Default)]
pub(crate) struct Ids(Mutex<(u64, u64)>);

impl Ids {
    /// Allocates ids that no other process gets.
    pub(crate) fn allocate(&self, count: u64, space: &Space) -> Result<IdRange> {
        if count == 0 {
            return Err(Error::invalid("allocation of 0 object ids", "at least 1"));
        }
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, end) = match *left {
            (start, end) if end - start >= count => (start, end),
            _ => {
                let reserved = count.max(space.options.oids);
                let what = || format!("allocate {reserved} object ids in container {}", space.label);
                let start = space.cont.allocate_ids(reserved).context(what)?;
                (start, start.checked_add(reserved).ok_or_else(|| Error::NoSpace { what: what() })?)
            }
        };
        *left = (start + count, end);
        Ok(IdRange { start, end: start + count })
    }
}
