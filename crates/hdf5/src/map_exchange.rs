//! The part of an [exchange](crate::exchange) that is about maps: each rank puts keys of its own, and all get to know all of them.
//!
//! What must stay true: all ranks have the same entries afterwards. Of ranks that have changed the same key, the last one counts.

use std::collections::BTreeMap;

use isotach_engine_kit::bytes::{Put as _, Reader};

use crate::{
    Error, Result,
    exchange::damaged,
    layout::map,
    records::{bytes, put_bytes},
    session::{Entry, Session},
};

impl Session {
    /// What this rank has changed in maps since the last exchange.
    pub(crate) fn fresh_map_entries(&self) -> Result<Vec<u8>> {
        let mut message = Vec::new();
        for (object, key) in &self.fresh_entries {
            let record = self.changes.get(*object, key).and_then(|change| change.value.as_ref());
            message.put_u64(object.lo());
            put_bytes(&mut message, key);
            message.put_u8(record.is_some().into());
            if let Some(record) = record {
                put_bytes(&mut message, record);
            }
        }
        if u32::try_from(message.len()).is_err() {
            let what = format!("{} bytes of entries of maps that one rank has put", message.len());
            return Err(Error::invalid(what, "less than 4 GiB between two collective calls"));
        }
        Ok(message)
    }

    /// Takes what all ranks have changed in maps, in the order of the ranks.
    pub(crate) fn take_map_entries<'m>(&mut self, all: impl Iterator<Item = &'m [u8]>) -> Result<()> {
        let mut last: BTreeMap<Entry, Option<Vec<u8>>> = BTreeMap::new();
        for message in all {
            let mut reader = Reader(message);
            while !reader.is_empty() {
                let (at, record) = entry(&mut reader).ok_or_else(damaged)?;
                last.insert(at, record);
            }
        }
        // Only what remains is put: an array that is not needed is one of a value that another has replaced.
        for ((object, key), record) in last {
            self.change_map_entry(object, &key, record)?;
        }
        self.fresh_entries.clear();
        Ok(())
    }
}

fn entry(reader: &mut Reader<'_>) -> Option<(Entry, Option<Vec<u8>>)> {
    let at = (map(reader.u64()?), bytes(reader)?);
    let record = if reader.u8()? == 0 { None } else { Some(bytes(reader)?) };
    Some((at, record))
}
