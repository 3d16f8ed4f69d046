//! Keys of objects, page by page.

use std::ptr;

use isotach_daos_abi::{
    constants::{DAOS_ANCHOR_TYPE_EOF, DAOS_ANCHOR_TYPE_ZERO},
    errors::DER_KEY2BIG,
    types::{d_iov_t, d_sg_list_t, daos_anchor_t, daos_key_desc_t},
};
use isotach_engine_kit::bytes::Reader;

use super::{Der, Object, Tx, api::Functions, object::vector, transaction::handle_of};

/// Bytes of keys that are asked for at once.
const KEY_BYTES: usize = 64 << 10;
/// The keys in one page.
const KEYS_MAX: usize = 1024;

/// Keys, and the anchor of the next page: DAOS's, or `None` at the end.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) keys: Vec<Vec<u8>>,
    pub(crate) next: Option<Vec<u8>>,
}

impl Object {
    /// A page of at most `limit` distribution keys, or of the attribute keys under one. Without an anchor it is the first.
    pub(crate) fn keys(
        &self,
        tx: Option<&Tx>,
        dkey: Option<&[u8]>,
        anchor: &[u8],
        limit: usize,
    ) -> Result<Keys, Der> {
        let mut anchor = unpacked(anchor);
        let mut buffer = vec![0_u8; KEY_BYTES];
        loop {
            let mut described = vec![daos_key_desc_t::default(); limit.min(KEYS_MAX)];
            let listed = self.list(tx, dkey, &mut anchor, &mut described, &mut buffer);
            match listed {
                // A key is longer than the buffer.
                Err(Der(DER_KEY2BIG))
                    if described.first().is_some_and(|first| first.kd_key_len > buffer.len() as u64) =>
                {
                    buffer.resize(described[0].kd_key_len as usize, 0);
                }
                _ => {
                    described.truncate(listed?);
                    let keys = split(&described, &buffer);
                    let next = (anchor.da_type != DAOS_ANCHOR_TYPE_EOF).then(|| packed(&anchor));
                    return Ok(Keys { keys, next });
                }
            }
        }
    }

    fn list(
        &self,
        tx: Option<&Tx>,
        dkey: Option<&[u8]>,
        anchor: &mut daos_anchor_t,
        described: &mut [daos_key_desc_t],
        buffer: &mut [u8],
    ) -> Result<usize, Der> {
        let mut count = described.len() as u32;
        let mut bytes =
            d_iov_t { iov_buf: buffer.as_mut_ptr().cast(), iov_buf_len: buffer.len() as u64, iov_len: 0 };
        let mut list = d_sg_list_t { sg_nr: 1, sg_nr_out: 0, sg_iovs: &mut bytes };
        let (handle, th, no_event) = (self.handle, handle_of(tx), ptr::null_mut());
        let Functions { obj_list_dkey, obj_list_akey, .. } = self.functions();
        let (described_at, list) = (described.as_mut_ptr(), &mut list);
        self.container.check(match dkey {
            // SAFETY: as many descriptions as the number says, a buffer as long as it says, and an anchor, alive for the call.
            None => unsafe { obj_list_dkey(handle, th, &mut count, described_at, list, anchor, no_event) },
            Some(dkey) => {
                let mut dkey = vector(dkey);
                // SAFETY: the same, and the key borrows `dkey`, which libdaos only reads.
                unsafe {
                    obj_list_akey(handle, th, &mut dkey, &mut count, described_at, list, anchor, no_event)
                }
            }
        })?;
        Ok((count as usize).min(described.len()))
    }
}

/// Splits the buffer into its keys.
fn split(described: &[daos_key_desc_t], bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let mut keys = Vec::with_capacity(described.len());
    for one in described {
        let Some((key, behind)) = rest.split_at_checked(one.kd_key_len as usize) else { break };
        keys.push(key.to_vec());
        rest = behind;
    }
    keys
}

/// An anchor as bytes: its fields one after the other, without the sub-anchors, which are an address. DAOS uses them only for objects with
/// parity, which are not listed here.
fn packed(anchor: &daos_anchor_t) -> Vec<u8> {
    let (kind, shard, flags) = (anchor.da_type.to_le_bytes(), anchor.da_shard.to_le_bytes(), anchor.da_flags);
    [&kind[..], &shard, &flags.to_le_bytes(), &anchor.da_buf].concat()
}

/// The anchor of these bytes, or that of the beginning.
fn unpacked(bytes: &[u8]) -> daos_anchor_t {
    let mut reader = Reader(bytes);
    let mut read = || {
        Some(daos_anchor_t {
            da_type: reader.u16()?,
            da_shard: reader.u16()?,
            da_flags: reader.u32()?,
            da_sub_anchors: 0,
            da_buf: reader.array()?,
        })
    };
    read().unwrap_or(daos_anchor_t { da_type: DAOS_ANCHOR_TYPE_ZERO, ..Default::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_comes_back_from_its_bytes() {
        let mut anchor = daos_anchor_t {
            da_type: 1,
            da_shard: 0x203,
            da_flags: 9,
            da_sub_anchors: 1 << 60,
            ..Default::default()
        };
        anchor.da_buf[103] = 7;
        let again = unpacked(&packed(&anchor));
        assert_eq!((again.da_type, again.da_shard, again.da_flags), (1, 0x203, 9));
        assert_eq!((again.da_sub_anchors, again.da_buf), (0, anchor.da_buf), "an address is not kept");
        assert_eq!(unpacked(b"").da_type, DAOS_ANCHOR_TYPE_ZERO);
    }
}
