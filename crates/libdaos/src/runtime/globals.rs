//! Global handles: bytes by which another process opens the same pool, container or array.

use crate::{
    abi::{
        constants::{DAOS_COO_EX, DAOS_COO_RW},
        errors::DER_NONEXIST,
    },
    containers::{
        self, Container,
        pools::{self, Pool},
        uuid_text,
    },
    objects::arrays::{self, Array},
    runtime::{
        error::{Result, invalid, refuse},
        handles,
    },
};

const POOL: &[u8] = b"isotach pool 1";
const CONTAINER: &[u8] = b"isotach container 1";
const ARRAY: &[u8] = b"isotach array 1";

fn packed(what: &[u8], flags: u32, label: &str) -> Vec<u8> {
    [what, &flags.to_le_bytes(), label.as_bytes()].concat()
}

fn unpacked<'p>(what: &[u8], packed: &'p [u8]) -> Result<(u32, &'p str)> {
    let parts = packed.strip_prefix(what).and_then(|rest| rest.split_first_chunk::<4>());
    match parts.map(|(flags, label)| (u32::from_le_bytes(*flags), std::str::from_utf8(label))) {
        Some((flags, Ok(label))) => Ok((flags, label)),
        _ => foreign(),
    }
}

fn foreign<T>() -> Result<T> {
    invalid("bytes that are no global handle of this library's")
}

/// See `daos_pool_local2global`.
pub(crate) fn of_pool(pool: u64) -> Result<Vec<u8>> {
    let pool = Pool::get(pool)?;
    Ok(packed(POOL, pool.flags, &pool.label))
}

/// See `daos_pool_global2local`.
pub(crate) fn to_pool(bytes: &[u8]) -> Result<u64> {
    let (flags, label) = unpacked(POOL, bytes)?;
    pools::connect(label, flags)
}

/// See `daos_cont_local2global`.
pub(crate) fn of_container(container: u64) -> Result<Vec<u8>> {
    let container = Container::get(container)?;
    let named = format!("{} {}", uuid_text(&container.uuid), container.inner.label());
    Ok(packed(CONTAINER, container.flags, &named))
}

/// See `daos_cont_global2local`. An exclusive handle becomes one that is shared.
pub(crate) fn to_container(pool: u64, bytes: &[u8]) -> Result<u64> {
    let (flags, named) = unpacked(CONTAINER, bytes)?;
    let Some((uuid, label)) = named.split_once(' ') else { return foreign() };
    let flags = if flags == DAOS_COO_EX { DAOS_COO_RW } else { flags };
    let handle = containers::open(pool, label, flags)?;
    if uuid_text(&Container::get(handle)?.uuid) == uuid {
        return Ok(handle);
    }
    handles::remove(handle)?;
    refuse(DER_NONEXIST, "the container that was meant is gone; another has its label")
}

/// See `daos_array_local2global`.
pub(crate) fn of_array(array: u64) -> Result<Vec<u8>> {
    let array = Array::get(array)?;
    let numbers = [array.id.hi(), array.id.lo(), array.cell_size, array.chunk_size];
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    Ok(packed(ARRAY, array.mode, &numbers.join(" ")))
}

/// See `daos_array_global2local`. Without a mode the array is opened as the packed handle was.
pub(crate) fn to_array(container: u64, bytes: &[u8], mode: u32) -> Result<u64> {
    let (packed_mode, numbers) = unpacked(ARRAY, bytes)?;
    let numbers: Vec<u64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [hi, lo, cell_size, chunk_size] = numbers[..] else { return foreign() };
    let mode = if mode == 0 { packed_mode } else { mode };
    arrays::open_as(container, (hi, lo), mode, (cell_size, chunk_size))
}
