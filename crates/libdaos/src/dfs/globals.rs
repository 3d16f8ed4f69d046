//! Global handles: bytes by which another process opens the same mount or file.

use isotach_engine_kit::bytes::Reader;
use isotach_object::ObjectId;

use super::{
    error::{Errno, Result, refuse},
    inode::{Inode, Time},
    mount::{self, FileSystem, Owned, can_write},
    nodes::{self, Node},
    store::EntryKey,
};
use crate::{
    containers::{Container, uuid_text},
    runtime::{globals, handles},
};

const MOUNT: &[u8] = b"isotach dfs mount 1";
const NODE: &[u8] = b"isotach dfs file 1";
const ALL: &[u8] = b"isotach dfs all 1";

fn foreign<T>() -> Result<T> {
    refuse(libc::EINVAL, "bytes that are no global handle of this library's file system")
}

/// Numbers, each as text with a space behind it.
fn packed(what: &[u8], uuid: &[u8; 16], numbers: &[u64]) -> Vec<u8> {
    let numbers: Vec<String> = numbers.iter().map(|number| format!("{number} ")).collect();
    [what, uuid_text(uuid).as_bytes(), b" ", numbers.concat().as_bytes()].concat()
}

/// The numbers in bytes of this container, and the rest.
fn unpacked<'p, const N: usize>(
    what: &[u8],
    uuid: &[u8; 16],
    packed: &'p [u8],
) -> Result<([u64; N], &'p [u8])> {
    let expected = [what, uuid_text(uuid).as_bytes(), b" "].concat();
    let Some(mut rest) = packed.strip_prefix(&expected[..]) else { return foreign() };
    let mut numbers = [0; N];
    for number in &mut numbers {
        let end = rest.iter().position(|byte| *byte == b' ');
        let Some((text, behind)) = end.map(|end| (&rest[..end], &rest[end + 1..])) else { return foreign() };
        let Some(parsed) = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) else {
            return foreign();
        };
        (*number, rest) = (parsed, behind);
    }
    Ok((numbers, rest))
}

/// See `dfs_local2global`.
pub(crate) fn of_mount(system: &FileSystem) -> Vec<u8> {
    packed(MOUNT, &system.store.container.uuid, &[system.can_write.into()])
}

/// See `dfs_global2local`. Without flags the mount can do what the packed one can.
pub(crate) fn to_mount(pool: u64, container: u64, flags: i32, bytes: &[u8]) -> Result<u64> {
    mounted(pool, container, flags, bytes, Owned::Nothing)
}

fn mounted(pool: u64, container: u64, flags: i32, bytes: &[u8], owned: Owned) -> Result<u64> {
    let ([can_write], _) = unpacked::<1>(MOUNT, &Container::get(container)?.uuid, bytes)?;
    let same = if can_write == 0 { libc::O_RDONLY } else { libc::O_RDWR };
    mount::mount(pool, container, if flags == 0 { same } else { flags }, owned)
}

/// See `dfs_local2global_all`: includes the pool and the container.
pub(crate) fn of_all(system: &FileSystem) -> Result<Vec<u8>> {
    let parts =
        [globals::of_pool(system.pool)?, globals::of_container(system.store.handle)?, of_mount(system)];
    let mut bytes = ALL.to_vec();
    for part in &parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    Ok(bytes)
}

/// See `dfs_global2local_all`.
pub(crate) fn to_all(flags: i32, bytes: &[u8]) -> Result<u64> {
    let Some(mut rest) = bytes.strip_prefix(ALL).map(Reader) else { return foreign() };
    let mut part = || {
        let length = rest.u64()?;
        rest.take(usize::try_from(length).ok()?)
    };
    let (Some(pool), Some(container), Some(packed)) = (part(), part(), part()) else { return foreign() };
    let pool = globals::to_pool(pool)?;
    let outcome = globals::to_container(pool, container).map_err(Errno::from).and_then(|container| {
        mounted(pool, container, flags, packed, Owned::All).inspect_err(|_| _ = handles::remove(container))
    });
    outcome.inspect_err(|_| _ = handles::remove(pool))
}

/// See `dfs_obj_local2global`. Only a file can be packed.
pub(crate) fn of_node(node: &Node) -> Result<Vec<u8>> {
    let (file, place) = (node.file()?, node.place());
    let (id, directory) = (node.id, place.directory);
    let flags = (node.flags & libc::O_ACCMODE) as u64;
    let numbers =
        [id.hi(), id.lo(), directory.hi(), directory.lo(), node.mode.into(), file.chunk_size, flags];
    Ok([&packed(NODE, &node.store.container.uuid, &numbers)[..], &place.name].concat())
}

/// See `dfs_obj_global2local`. Without flags the file is opened as the packed one was.
pub(crate) fn to_node(system: &FileSystem, flags: i32, bytes: &[u8]) -> Result<u64> {
    let uuid = system.store.container.uuid;
    let ([hi, lo, directory_hi, directory_lo, mode, chunk_size, same], name) =
        unpacked::<7>(NODE, &uuid, bytes)?;
    let directory = ObjectId::from_halves(directory_hi, directory_lo)?;
    let new = Inode::new(mode as u32, ObjectId::from_halves(hi, lo)?, Time::now());
    let inode = Inode { chunk_size, ..new };
    let flags = if flags == 0 { same as i32 } else { flags };
    can_write(flags)?;
    nodes::shared(&system.store, EntryKey::new(directory, name), &inode, flags)
}
