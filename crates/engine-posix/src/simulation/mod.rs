//! A disk in memory with power failures, errors and flipped bits, for tests. Behind the feature `simulation`.
//!
//! The engine itself runs on it, not a model. A journal records every change, so that the state of the device after a power failure can be
//! computed for any moment in the past: see [`SimulatedDisk::after_crash`]. Calls can be made to fail, and bits can be flipped.
//!
//! Assumptions about a device and a file system: a sector of [`SECTOR`] bytes is written completely or not at all, and together with
//! everything that was written to it before. Each sector, each length of a file and each change of a name survives or is lost independently
//! of the others, unless it was synced. Lost bytes below the length of a file read as zeros. A sync of a file makes its bytes and length
//! durable, but not its name. A sync of a folder makes the names in it durable.
//!
//! Processes are not simulated. Threads with handles of their own stand for them.

mod crash;
mod folder;
mod tree;

#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
    time::Duration,
};

use isotach_object::Engine;

pub use isotach_engine_kit::random::Seeded as Random;

use self::{
    folder::SimulatedFolder,
    tree::{DiskChange, ROOT, Tree},
};
use crate::{
    OnDisk,
    sync::{Mutex, MutexGuard},
};

/// Bytes that reach the device together.
pub const SECTOR: usize = 512;

/// Bytes of a block: files use whole ones.
const BLOCK: u64 = 4096;

/// The size that a disk reports.
const SIZE: u64 = 1 << 40;

/// A simulated disk. Clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk(Arc<Mutex<World>>);

/// The effect of a power failure on changes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// All are lost.
    All,
    /// None is lost.
    Nothing,
    /// The last write loses a part at its end, which depends on the seed. Nothing else is lost.
    LastTorn(u64),
    /// Each sector, length and name is lost or not, depending on the seed.
    Seeded(u64),
}

/// Calls that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The call of this number, counted from 0, fails with `EIO`.
    Broken(u64),
    /// The call of this number fails with `EACCES`.
    Refused(u64),
    /// From the call of this number on, all that need space fail with `ENOSPC`, the first of them after half of its bytes.
    Full(u64),
}

/// The state of a disk.
#[derive(Debug, Default)]
struct World {
    /// The tree before the journal begins.
    base: Tree,
    tree: Tree,
    journal: Vec<DiskChange>,
    calls: u64,
    fault: Option<Fault>,
    /// Whether a write was already cut short for want of space.
    cut: bool,
    /// Its size in bytes, if it can be full.
    capacity: Option<u64>,
    /// Whether it does not report its size, as with a quota.
    is_quota: bool,
    /// How often the machine was started again.
    boot: u64,
    /// Files that are locked.
    locked: Vec<u64>,
}

impl World {
    /// Counts a call, and fails it if the fault says so.
    fn call(&mut self) -> io::Result<()> {
        let number = self.calls;
        self.calls += 1;
        match self.fault {
            Some(Fault::Broken(at)) if at == number => Err(io::Error::from_raw_os_error(5)),
            Some(Fault::Refused(at)) if at == number => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        }
    }

    /// As [`call`](Self::call), for a call that needs space.
    fn call_for_space(&mut self) -> io::Result<()> {
        let number = self.calls;
        self.call()?;
        match self.fault {
            Some(Fault::Full(from)) if number >= from => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    /// Bytes that all files take, in whole blocks.
    fn used(&self) -> u64 {
        self.tree.lengths().map(|length| length.next_multiple_of(BLOCK)).sum()
    }

    /// Bytes in blocks that are free.
    fn free(&self) -> u64 {
        self.capacity.map_or(SIZE, |capacity| capacity.saturating_sub(self.used()))
    }

    /// How many of these bytes fit at a position of a file with this length.
    fn space_at(&self, length: u64, position: u64, bytes: usize) -> usize {
        let room = length.next_multiple_of(BLOCK) + self.free() / BLOCK * BLOCK;
        bytes.min(room.saturating_sub(position) as usize)
    }

    fn change(&mut self, change: DiskChange) {
        self.tree.apply(&change);
        self.journal.push(change);
    }
}

impl SimulatedDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, which may fail.
    fn call(&self) -> io::Result<MutexGuard<'_, World>> {
        let mut world = self.world();
        world.call()?;
        Ok(world)
    }

    /// The posix engine on this disk. It declares that it serves one process.
    pub fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(OnDisk { disk: Arc::new(SimulatedFolder::new(self, ROOT)), makes_runs: true })
    }

    /// The folder from which all its paths lead.
    #[cfg(test)]
    pub(crate) fn folder(&self) -> Box<dyn crate::io::disk::Folder> {
        Box::new(SimulatedFolder::new(self, ROOT))
    }

    /// How many calls were made.
    pub fn calls(&self) -> u64 {
        self.world().calls
    }

    /// Sets the fault, or none.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut world = self.world();
        world.fault = fault;
        world.cut = false;
    }

    /// Sets the clock that dates files ahead of the system's.
    pub fn set_clock_ahead(&self, ahead: Duration) {
        self.world().tree.clock_ahead = ahead;
    }

    /// Sets the free space in bytes. `None` is unlimited.
    pub fn set_free(&self, free: Option<u64>) {
        let mut world = self.world();
        world.capacity = free.map(|free| world.used() + free);
        world.is_quota = false;
    }

    /// Sets the free space in bytes by a quota, which the disk does not report.
    pub fn set_quota(&self, free: u64) {
        self.set_free(Some(free));
        self.world().is_quota = true;
    }

    /// Removes a file without the engine.
    pub fn remove(&self, path: &Path) -> bool {
        let mut world = self.world();
        let Ok((folder, name)) = world.tree.find_parent(ROOT, path) else { return false };
        world.change(DiskChange::Name(vec![(folder, name.to_owned(), None)]));
        world.change(DiskChange::Sync { inode: folder });
        true
    }

    /// The number of changes so far: writes, names and syncs.
    pub fn changes(&self) -> usize {
        self.world().journal.len()
    }

    /// The disk after a power failure that follows this many changes, and a restart of the machine.
    pub fn after_crash(&self, changes: usize, loss: Loss) -> Self {
        let world = self.world();
        let changes = changes.min(world.journal.len());
        let tree = crash::left(&world.base, &world.journal[..changes], loss);
        Self::found(tree, world.boot + 1, world.capacity)
    }

    /// A copy of the disk, on the same machine. No file of the copy is open.
    pub fn copy(&self) -> Self {
        let world = self.world();
        Self::found(world.tree.clone(), world.boot, world.capacity)
    }

    fn found(tree: Tree, boot: u64, capacity: Option<u64>) -> Self {
        let base = tree.clone();
        Self(Arc::new(Mutex::new(World { base, tree, boot, capacity, ..World::default() })))
    }

    /// All files, with their lengths.
    pub fn files(&self) -> Vec<(PathBuf, u64)> {
        self.world().tree.files()
    }

    /// Changes bytes of a file from a position on, without the engine. False if they do not all exist.
    pub fn tamper(&self, path: &Path, position: u64, change: impl FnOnce(&mut [u8]), length: usize) -> bool {
        let mut world = self.world();
        let Ok(inode) = world.tree.find(ROOT, path) else { return false };
        let start = position as usize;
        let bytes = world.tree.bytes_mut(inode).and_then(|bytes| bytes.get_mut(start..start + length));
        bytes.map(change).is_some()
    }

    /// Flips a bit of a file without the engine. Bit 0 is the lowest of the first byte. False if the bit does not exist.
    pub fn flip_bit(&self, path: &Path, bit: u64) -> bool {
        self.tamper(path, bit / 8, |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 1 << (bit % 8)), 1)
    }

    /// A copy of the disk, as [`copy`](Self::copy), with a file truncated to its first bytes.
    pub fn with_cut(&self, path: &Path, length: u64) -> Self {
        let world = self.world();
        let mut tree = world.tree.clone();
        if let Ok(inode) = tree.find(ROOT, path) {
            tree.apply(&DiskChange::SetLength { inode, length });
        }
        Self::found(tree, world.boot, world.capacity)
    }

    /// The bytes of a file, if it exists.
    pub fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let world = self.world();
        let inode = world.tree.find(ROOT, path).ok()?;
        world.tree.bytes(inode).ok().map(<[u8]>::to_vec)
    }
}
