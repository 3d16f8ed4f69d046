//! Object ids: reserved from DAOS in ranges, and allocated from these.

use std::sync::{Mutex, PoisonError};

use isotach_engine_kit::context::Context;
use isotach_object::{Error, IdRange, Result};

use crate::space::Space;

/// The ids that a handle has reserved and not yet allocated: the next, and the end.
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
            _ => take(count.max(space.options.oids), space)?,
        };
        *left = (start + count, end);
        Ok(IdRange { start, end: start + count })
    }
}

fn take(count: u64, space: &Space) -> Result<(u64, u64)> {
    let what = || format!("allocate {count} object ids in container {}", space.label);
    let start = space.cont.allocate_ids(count).context(what)?;
    let end = start.checked_add(count).ok_or_else(|| Error::NoSpace { what: what() })?;
    Ok((start, end))
}
