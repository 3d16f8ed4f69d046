//! Does harm to what is stored, behind the engine's back: for tests alone.

use isotach_object::{Engine, Error, PoolUri, Result};

use crate::{
    Rados,
    failure::Doing,
    ffi::{Io, Names, ReadOp, WriteOp},
    options::Options,
    registry::Registry,
    space,
};

/// Flips one bit in the middle of every stored copy of these bytes in a pool; false where there is none.
///
/// # Errors
/// As [`Engine::open_pool`].
pub fn corrupt_stored(uri: &PoolUri, needle: &[u8]) -> Result<bool> {
    let engine = Rados::new();
    let pool = engine.open_pool(uri)?;
    let options = Options::of(uri)?;
    let cluster = engine.cluster(&options)?;
    let own = space::open_io(&cluster, &options, &options.pool, &space::namespace(&options, None))?;
    let registry = Registry::new(own, &options);
    let mut found = false;
    for label in pool.list_containers()? {
        let uid = registry.find(&label)?.ok_or_else(|| Error::not_found(label.to_string()))?;
        let namespace = space::namespace(&options, Some(&uid));
        for ceph_pool in [&options.pool, &options.data] {
            let io = space::open_io(&cluster, &options, ceph_pool, &namespace)?;
            for name in Names::of(&io).doing(String::new)? {
                found |= corrupt_object(&io, &name.doing(String::new)?, needle)?;
            }
            if options.pool == options.data {
                break;
            }
        }
    }
    Ok(found)
}

fn corrupt_object(io: &Io, name: &str, needle: &[u8]) -> Result<bool> {
    let size = io.read(name, ReadOp::new().stat()).doing(String::new)?.size;
    let mut bytes = vec![0; size as usize];
    if size > 0 {
        io.read(name, ReadOp::new().bytes(0, &mut bytes)).doing(String::new)?;
    }
    let mut found = false;
    if flip(&mut bytes, needle) {
        io.write(name, WriteOp::new().doing(String::new)?.write_full(&bytes)).doing(String::new)?;
        found = true;
    }
    let entries = io.read(name, ReadOp::new().page(b"", 1000, true)).map(|answer| answer.entries);
    for (key, mut value) in entries.unwrap_or_default() {
        if flip(&mut value, needle) {
            io.write(name, WriteOp::new().doing(String::new)?.set_entries(&[(key, value)]))
                .doing(String::new)?;
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
