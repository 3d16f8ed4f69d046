//! Listing entries in pages, in the order of their stored keys: omap by omap.

use isotach_object::{ObjectId, Result};

use super::{Omaps, PER_OPERATION, retry};
use crate::{
    ffi::ReadOp,
    keys::{self, LAST, LEVEL},
};

/// Some entries, and the key after which the next ones come.
#[derive(Debug, Default)]
pub(crate) struct EntryPage {
    /// Stored keys and, if asked for, what is stored.
    pub(crate) entries: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) next: Option<Vec<u8>>,
}

impl Omaps {
    /// The entries of an object with keys between two others: as many as one operation returns, and at most `limit`.
    pub(crate) fn page(
        &self,
        object: ObjectId,
        after: &[u8],
        before: &[u8],
        limit: usize,
        values: bool,
    ) -> Result<EntryPage> {
        let limit = limit.min(PER_OPERATION) as u64;
        let (shard, answer) = retry(object, || {
            let shard = self.locate(object, keys::hash_of(after).unwrap_or_default())?;
            let op = ReadOp::new().require_entry(LEVEL, &shard.mark.encode()).page(after, limit, values);
            let outcome = self.io.read(&keys::entries_name(object, shard.start), op);
            Ok(self.taken(object, &shard, outcome)?.map(|answer| (shard, answer)))
        })?;
        let behind = keys::bound(shard.end());
        let end = before.min(behind.as_slice());
        let (more, mut entries) = (answer.more, answer.entries.into_vec());
        let of_range = entries.partition_point(|(key, _)| key.as_slice() < end);
        let has_more = more && of_range == entries.len();
        entries.truncate(of_range);
        let next = match entries.last() {
            Some((last, _)) if has_more => Some(last.clone()),
            // The next omap begins here, and no key is as short as this one.
            _ => (behind.as_slice() < before && behind != LAST).then_some(behind),
        };
        Ok(EntryPage { entries, next })
    }

    /// Calls a function with all entries of an object, some at a time.
    pub(crate) fn each_page(
        &self,
        object: ObjectId,
        mut act: impl FnMut(&[(Vec<u8>, Vec<u8>)]) -> Result<()>,
    ) -> Result<()> {
        let mut after = Some(keys::FIRST.to_vec());
        while let Some(from) = after {
            let found = self.page(object, &from, LAST, PER_OPERATION, true)?;
            act(&found.entries)?;
            after = found.next;
        }
        Ok(())
    }

    /// Whether an object has an entry.
    pub(crate) fn holds_something(&self, object: ObjectId) -> Result<bool> {
        let mut after = keys::FIRST.to_vec();
        loop {
            let found = self.page(object, &after, LAST, 1, false)?;
            match found.next {
                _ if !found.entries.is_empty() => return Ok(true),
                None => return Ok(false),
                Some(next) => after = next,
            }
        }
    }
}
