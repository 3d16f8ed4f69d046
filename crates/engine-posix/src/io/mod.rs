//! Files and folders: everything that goes to the device, and what a power failure may have left there.
//!
//! What must stay true: the rest of the engine reaches the device through this module only, so the simulated disk sees every call.

pub(crate) mod boot;
pub(crate) mod data;
pub(crate) mod directory;
pub(crate) mod disk;
pub(crate) mod filesystem;
pub(crate) mod flush_notes;
pub(crate) mod log;
pub(crate) mod map;
pub(crate) mod power_loss;
pub(crate) mod scan;
pub(crate) mod storage;
pub(crate) mod unsynced;
pub(crate) mod writeback;
