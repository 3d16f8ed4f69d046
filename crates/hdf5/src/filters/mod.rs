//! The filters of a chunk: each encodes what the one before it made, and decoding goes the other way.
//!
//! Each is as HDF5 or the filter's registered plugin stores it, so that chunks can be copied from and to native files without being
//! decoded. What must stay true: decoding damaged bytes is an error, never a panic, and never makes more bytes than a chunk has.

mod bits;
mod deflate;
mod failure;
mod fletcher32;
mod lz4;
mod nbit;
mod scale_offset;
mod shuffle;
mod zstandard;

use std::borrow::Cow;

use crate::{Error, Filter, Result};

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;
const NBIT: u16 = 5;
const SCALE_OFFSET: u16 = 6;
const LZ4: u16 = 32_004;
const ZSTANDARD: u16 = 32_015;

/// The largest chunk, with what filters may add to it.
const MOST: usize = (1 << 32) + (1 << 20);

/// Refuses a pipeline with a required filter that neither this crate nor the caller has, or with more filters than the mask has bits.
pub(crate) fn check(filters: &[Filter]) -> Result<()> {
    if filters.len() > 32 {
        return Err(Error::invalid(format!("{} filters", filters.len()), "at most 32"));
    }
    let is_refused =
        |filter: &&Filter| !filter.is_built_in() && filter.flags & (Filter::OPTIONAL | Filter::FOREIGN) == 0;
    let unknown = filters.iter().find(is_refused);
    unknown.map_or(Ok(()), |filter| Err(unknown_filter(filter)))
}

/// The filters with the values that HDF5 would compute for elements of this size, where the caller has given none: of shuffle, the size.
/// What n-bit and scale-offset need of the datatype, only the caller can compute.
pub(crate) fn localised(filters: &mut [Filter], element: u32) {
    let without = filters.iter_mut().filter(|filter| filter.id == SHUFFLE && filter.values.is_empty());
    without.for_each(|filter| filter.values.push(element));
}

pub(crate) fn is_known(id: u16) -> bool {
    [DEFLATE, SHUFFLE, FLETCHER32, NBIT, SCALE_OFFSET, LZ4, ZSTANDARD].contains(&id)
}

/// Whether chunks may decode to other bytes than were encoded: scale-offset rounds, n-bit drops bits, and of other filters nothing is known.
pub(crate) fn may_be_lossy(filters: &[Filter]) -> bool {
    let is_lossless = |filter: &Filter| [DEFLATE, SHUFFLE, FLETCHER32, LZ4, ZSTANDARD].contains(&filter.id);
    !filters.iter().all(is_lossless)
}

fn unknown_filter(filter: &Filter) -> Error {
    Error::unsupported(format!("filter {} ({})", filter.id, filter.name))
}

/// The bytes of a chunk as they are stored, and the mask of the filters that were skipped: optional ones that are not known, cannot
/// encode the bytes, or would not make them fewer.
pub(crate) fn encode<'b>(filters: &[Filter], bytes: &'b [u8]) -> Result<(Cow<'b, [u8]>, u32)> {
    let (mut bytes, mut mask) = (Cow::Borrowed(bytes), 0);
    for (at, filter) in filters.iter().enumerate() {
        if filter.flags & Filter::FOREIGN != 0 {
            return Err(unknown_filter(filter));
        }
        let is_optional = filter.flags & Filter::OPTIONAL != 0;
        match encode_one(filter, &bytes) {
            Ok(encoded) if is_optional && compresses(filter.id) && encoded.len() >= bytes.len() => {
                mask |= 1 << at;
            }
            Ok(encoded) => bytes = Cow::Owned(encoded),
            Err(_) if is_optional => mask |= 1 << at,
            Err(error) => return Err(error),
        }
    }
    Ok((bytes, mask))
}

fn compresses(id: u16) -> bool {
    [DEFLATE, NBIT, SCALE_OFFSET, LZ4, ZSTANDARD].contains(&id)
}

fn encode_one(filter: &Filter, bytes: &[u8]) -> Result<Vec<u8>> {
    let values = &filter.values;
    match filter.id {
        DEFLATE => deflate::encode(values, bytes),
        SHUFFLE => Ok(shuffle::encode(values, bytes)),
        FLETCHER32 => Ok(fletcher32::encode(bytes)),
        NBIT => nbit::encode(values, bytes),
        SCALE_OFFSET => scale_offset::encode(values, bytes),
        LZ4 => lz4::encode(values, bytes),
        ZSTANDARD => zstandard::encode(values, bytes),
        _ => Err(unknown_filter(filter)),
    }
}

/// The `length` bytes of a chunk from those that are stored. Filters of the mask were skipped. `place` names the chunk in errors.
pub(crate) fn decode(
    filters: &[Filter],
    mask: u32,
    stored: Vec<u8>,
    length: usize,
    place: &dyn Fn() -> String,
) -> Result<Vec<u8>> {
    let mut bytes = stored;
    for (at, filter) in filters.iter().enumerate().rev() {
        if at < 32 && mask >> at & 1 == 1 {
            continue;
        }
        // A filter that was applied before this one may have added its own bytes.
        let most = length.saturating_add(length / 4 + 4096).min(MOST);
        let decoded = decode_one(filter, bytes, most)?;
        bytes = decoded.ok_or_else(|| {
            Error::corrupt(
                format!("bytes that filter {} ({}) cannot decode", filter.id, filter.name),
                place(),
            )
        })?;
    }
    if bytes.len() == length {
        return Ok(bytes);
    }
    Err(Error::corrupt(format!("{} bytes instead of {length}", bytes.len()), place()))
}

/// `None` for damaged bytes, and for those that would become more than `most`.
fn decode_one(filter: &Filter, bytes: Vec<u8>, most: usize) -> Result<Option<Vec<u8>>> {
    let values = &filter.values;
    Ok(match filter.id {
        DEFLATE => deflate::decode(&bytes, most),
        SHUFFLE => Some(shuffle::decode(values, bytes)),
        FLETCHER32 => fletcher32::decode(bytes),
        NBIT => nbit::decode(values, &bytes, most),
        SCALE_OFFSET => scale_offset::decode(values, &bytes, most),
        LZ4 => lz4::decode(&bytes, most),
        ZSTANDARD => zstandard::decode(&bytes, most),
        _ => return Err(unknown_filter(filter)),
    })
}

#[cfg(test)]
mod tests;
