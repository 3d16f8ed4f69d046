//! Reads and damages stored bytes behind the engine: fault injection for tests.

use isotach_engine_kit::context::Context;
use isotach_object::{Engine, Error, ObjectId, PoolUri, Result};

use crate::{
    Rados,
    ffi::{Io, Names, ReadOp, WriteOp},
    keys::{self, Name},
    omaps::{Mark, State},
    options::Options,
    registry::Registry,
    space,
};

/// How many entries each omap of an object has, in all containers of a pool.
///
/// # Errors
/// As [`Engine::open_pool`].
pub fn omap_sizes(uri: &PoolUri, object: ObjectId) -> Result<Vec<usize>> {
    let mut sizes = Vec::new();
    each_object(uri, &mut |io, name| {
        if matches!(Name::of(name), Some(Name::Entries(found, _)) if found == object) {
            sizes.push(count(io, name)?);
        }
        Ok(())
    })?;
    Ok(sizes)
}

fn count(io: &Io, name: &str) -> Result<usize> {
    let (mut count, mut after) = (0, keys::FIRST.to_vec());
    loop {
        let answer = io.read(name, ReadOp::new().page(&after, 1000, false)).context(String::new)?;
        let (more, entries) = (answer.more, answer.entries.into_vec());
        count += entries.iter().filter(|(key, _)| key.as_slice() < keys::LAST).count();
        match entries.last() {
            Some((last, _)) if more => after.clone_from(last),
            _ => return Ok(count),
        }
    }
}

/// Marks an object as if a process had died during its split (`frozen`) or removal (`gone`).
///
/// # Errors
/// As [`Engine::open_pool`].
pub fn leave_mark(uri: &PoolUri, object: ObjectId, state: &str) -> Result<()> {
    let own = keys::entries_name(object, 0);
    each_object(uri, &mut |io, name| {
        if name != own {
            return Ok(());
        }
        let answer = io.read(name, ReadOp::new().entries(vec![keys::LEVEL])).context(String::new)?;
        let mark =
            answer.entries.into_vec().pop().and_then(|(_, mark)| Mark::decode(&mark)).unwrap_or_default();
        let state = if state == "gone" { State::Gone } else { State::Frozen };
        let mark = Mark { owner: 255, state, ..mark }.encode();
        let mut op = WriteOp::new().context(String::new)?;
        io.write(name, op.set_entries(&[(keys::LEVEL, mark)])).context(String::new).map(drop)
    })
}

/// Visits every object of all containers of a pool.
fn each_object(uri: &PoolUri, visit: &mut dyn FnMut(&Io, &str) -> Result<()>) -> Result<()> {
    let engine = Rados::new();
    let pool = engine.open_pool(uri)?;
    let options = Options::of(uri)?;
    let cluster = engine.cluster(&options)?;
    let own = space::open_io(&cluster, &options, &options.pool, &space::namespace(&options, None))?;
    let registry = Registry::new(own, &options);
    for label in pool.list_containers()? {
        let uid = registry.find(&label)?.ok_or_else(|| Error::not_found(label.to_string()))?;
        let namespace = space::namespace(&options, Some(&uid));
        for ceph_pool in [&options.pool, &options.data] {
            let io = space::open_io(&cluster, &options, ceph_pool, &namespace)?;
            for name in Names::of(&io).context(String::new)? {
                visit(&io, &name.context(String::new)?)?;
            }
            if options.pool == options.data {
                break;
            }
        }
    }
    Ok(())
}

/// Flips one bit in the middle of every stored copy of these bytes in a pool; false where there is none.
///
/// # Errors
/// As [`Engine::open_pool`].
pub fn corrupt_stored(uri: &PoolUri, needle: &[u8]) -> Result<bool> {
    let mut found = false;
    each_object(uri, &mut |io, name| {
        found |= corrupt_object(io, name, needle)?;
        Ok(())
    })?;
    Ok(found)
}

fn corrupt_object(io: &Io, name: &str, needle: &[u8]) -> Result<bool> {
    let size = io.read(name, ReadOp::new().stat()).context(String::new)?.size;
    let mut bytes = vec![0; size as usize];
    if size > 0 {
        io.read(name, ReadOp::new().bytes(0, &mut bytes)).context(String::new)?;
    }
    let mut found = false;
    if flip(&mut bytes, needle) {
        io.write(name, WriteOp::new().context(String::new)?.write_full(&bytes)).context(String::new)?;
        found = true;
    }
    let entries = io.read(name, ReadOp::new().page(b"", 1000, true)).map(|answer| answer.entries.into_vec());
    for (key, mut value) in entries.unwrap_or_default() {
        if flip(&mut value, needle) {
            io.write(name, WriteOp::new().context(String::new)?.set_entries(&[(key, value)]))
                .context(String::new)?;
            found = true;
        }
    }
    Ok(found)
}

fn flip(bytes: &mut [u8], needle: &[u8]) -> bool {
    let at = bytes.windows(needle.len()).position(|window| window == needle);
    at.is_some_and(|at| {
        bytes[at + needle.len() / 2] ^= 1;
        true
    })
}
