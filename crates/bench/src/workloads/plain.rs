//! The limit: the same bytes written and read with plain system calls, one file per process, or copied in memory.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    harness::{driver::Driver, launcher::Task, noise, usage::Watch},
    workloads::ensemble::Order,
};

pub(crate) const NAME: &str = "plain";
/// The smallest area that is copied: larger than a processor's cache.
const AREA_MIN: usize = 64 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PlainOp {
    /// write(2) to one file.
    Write,
    /// pread(2) of one file.
    Read,
    /// Copies in memory, between two areas that are larger than a cache.
    Copy,
}

/// The work of one plain process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plain {
    pub(crate) op: PlainOp,
    /// The file, which copies do not use.
    pub(crate) path: PathBuf,
    /// The number of blocks.
    pub(crate) count: u64,
    /// Which of them are read, in which order.
    pub(crate) order: Order,
    /// Bytes per block.
    pub(crate) size: usize,
    /// Blocks between two calls of fdatasync; 0 for no calls.
    pub(crate) sync_every: u64,
    /// Whether it reads over and over until the other processes have finished.
    pub(crate) repeats: bool,
}

impl Plain {
    pub(crate) fn task(&self) -> Result<Task> {
        Task::new(NAME, self)
    }
}

pub(crate) fn run(plain: &Plain, driver: &mut dyn Driver) -> Result<()> {
    let mut buffer = noise::block(plain.size);
    let area = if plain.op == PlainOp::Copy { plain.size.max(AREA_MIN) } else { 0 };
    let (from, mut to) = (vec![1; area], vec![2; area]);
    driver.wait_for_start()?;
    let mut watch = Watch::start();
    match plain.op {
        PlainOp::Write => write(plain, &buffer, &mut watch)?,
        PlainOp::Read => {
            let stop = plain.repeats.then(|| driver.stop_signal()).transpose()?;
            read(plain, &mut buffer, stop.as_ref(), &mut watch)?;
        }
        PlainOp::Copy => copy(plain, &from, &mut to, &mut watch),
    }
    driver.report(&watch.stop(|| ()))
}

fn write(plain: &Plain, buffer: &[u8], watch: &mut Watch) -> Result<()> {
    let path: &Path = &plain.path;
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(path);
    let mut file = file.map_err(Error::io("create", path))?;
    for number in 1..=plain.count {
        file.write_all(buffer).map_err(Error::io("write", path))?;
        watch.field(buffer.len() as u64);
        if plain.sync_every > 0 && number % plain.sync_every == 0 {
            file.sync_data().map_err(Error::io("sync", path))?;
        }
    }
    Ok(())
}

fn read(plain: &Plain, buffer: &mut [u8], stop: Option<&Arc<AtomicBool>>, watch: &mut Watch) -> Result<()> {
    let path: &Path = &plain.path;
    let file = File::open(path).map_err(Error::io("open", path))?;
    loop {
        for block in plain.order.of(0..plain.count) {
            file.read_exact_at(buffer, block * plain.size as u64).map_err(Error::io("read", path))?;
            watch.field(buffer.len() as u64);
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(());
            }
        }
        if stop.is_none() {
            return Ok(());
        }
    }
}

fn copy(plain: &Plain, from: &[u8], to: &mut [u8], watch: &mut Watch) {
    let blocks = (from.len() / plain.size).max(1) as u64;
    for number in 0..plain.count {
        let at = (number % blocks) as usize * plain.size;
        to[at..at + plain.size].copy_from_slice(&from[at..at + plain.size]);
        std::hint::black_box(&to[at..at + plain.size]);
        watch.field(plain.size as u64);
    }
}
