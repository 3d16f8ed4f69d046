//! Plain operations on RADOS objects, without the engine, for comparative measurements.

use std::{collections::VecDeque, sync::Arc};

use isotach_engine_kit::context::Context;
use isotach_object::{PoolUri, Result};

use crate::{
    Rados,
    ffi::{Io, ReadOp, WriteOp},
    options::Options,
    space,
};

/// Keys and values of an omap.
pub type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// A namespace without any of the engine's objects.
#[derive(Debug)]
pub struct Raw {
    io: Arc<Io>,
}

impl Raw {
    /// Opens a namespace of a store's Ceph pool, with the depth of the store.
    ///
    /// # Errors
    /// As opening the store, which need not exist.
    pub fn open(engine: &Rados, uri: &PoolUri, namespace: &str) -> Result<Self> {
        let options = Options::of(uri)?;
        let cluster = engine.cluster(&options)?;
        Ok(Self { io: space::open_io(&cluster, &options, &options.pool, namespace)? })
    }

    /// Sets entries of an object, each batch by one operation, as many operations at once as the depth says.
    ///
    /// # Errors
    /// Those of Ceph.
    pub fn set(&self, object: &str, batches: &[Entries]) -> Result<()> {
        let what = || format!("set entries of {object}");
        let mut begun = VecDeque::new();
        for batch in batches {
            let mut op = WriteOp::new().context(what)?;
            op.set_entries(batch);
            begun.push_back(self.io.begin(object, &op).context(what)?);
            if begun.len() >= self.io.depth()
                && let Some(first) = begun.pop_front()
            {
                first.wait().context(what)?;
            }
        }
        begun.into_iter().try_for_each(|pending| pending.wait().map(drop)).context(what)
    }

    /// Gets entries of an object, each batch of keys by one operation, as [`Raw::set`] does. Returns how many exist.
    ///
    /// # Errors
    /// Those of Ceph.
    pub fn get(&self, object: &str, batches: &[Vec<Vec<u8>>]) -> Result<usize> {
        let reads = batches
            .iter()
            .map(|keys| (object.to_owned(), ReadOp::new().entries(keys.iter().map(Vec::as_slice).collect())));
        let mut count = 0;
        let done = self
            .io
            .read_together(reads, |_, outcome| outcome.map(|answer| answer.entries.each(|_, _| count += 1)));
        done.context(|| format!("get entries of {object}"))?;
        Ok(count)
    }

    /// Removes an object.
    ///
    /// # Errors
    /// Those of Ceph.
    pub fn remove(&self, object: &str) -> Result<()> {
        let what = || format!("remove {object}");
        self.io.write(object, WriteOp::new().context(what)?.remove()).context(what).map(drop)
    }
}
