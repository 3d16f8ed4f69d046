//! The files of one open container.

use std::sync::Arc;

use isotach_object::Result;

use crate::{
    io::{
        data::DataReader,
        directory::Directory,
        log::{GENERATION, Log},
    },
    options::Options,
};

/// The parts of an open container that never change.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) directory: Arc<Directory>,
    pub(crate) uuid: [u8; 16],
    pub(crate) marker: u64,
    pub(crate) log: Log,
    pub(crate) data: DataReader,
    pub(crate) options: Options,
}

impl Storage {
    /// The storage as it was at an epoch.
    pub(crate) fn at(&self, epoch: u64) -> Result<Self> {
        let position = self.log.position_of(epoch).ok_or_else(|| self.log.unreached(epoch))?;
        self.with_log(self.log.ended_at(position, &self.directory, self.uuid, GENERATION)?)
    }

    /// The storage as it is now, also for a handle on the past.
    pub(crate) fn present(&self) -> Result<Self> {
        self.with_log(self.log.again(&self.directory, self.uuid, GENERATION)?)
    }

    fn with_log(&self, log: Log) -> Result<Self> {
        let data = DataReader::new(self.data.folder());
        let Self { ref directory, uuid, marker, options, .. } = *self;
        Ok(Self { directory: Arc::clone(directory), uuid, marker, log, data, options })
    }
}
