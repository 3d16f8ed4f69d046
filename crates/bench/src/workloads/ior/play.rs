//! The processes of IOR.

use std::{
    path::{self, Path, PathBuf},
    thread,
    time::Duration,
};

use clap::Args;
use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_object::{PoolUri, Registry};
use serde::{Deserialize, Serialize};

use super::{
    api::{Api, ApiName, Files, Objects},
    layout::{File, Shape, stamp},
};
use crate::{
    Error, Result,
    harness::{
        events::{Recorder, Timer},
        launcher::{Process, Rank},
        noise,
        parse::seconds,
        study::{Location, Work},
    },
};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Test {
    pub(super) api: ApiName,
    pub(super) shape: Shape,
    pub(super) class: String,
    pub(super) iterations: u64,
    pub(super) steps: Steps,
    /// The folder of plain files, unless it is beside the pool.
    pub(super) files: Option<PathBuf>,
}

/// What a process does in an iteration.
#[derive(Debug, Clone, Copy, Args, Serialize, Deserialize)]
pub(crate) struct Steps {
    /// Read what the process with the same place on the next node wrote, or the next process on a single node
    #[arg(short = 'C', long)]
    pub(super) reorder: bool,
    /// Sync writes within the measured time
    #[arg(short = 'e', long)]
    pub(super) fsync: bool,
    /// Write. Without any of -w, -r, -W and -R: -w and -r
    #[arg(short = 'w', long)]
    pub(super) write: bool,
    /// Read; without -w what another run has written and kept (-k)
    #[arg(short = 'r', long)]
    pub(super) read: bool,
    /// Read back what was written and compare it, untimed. Writes nothing by itself: with -w
    #[arg(short = 'W', long)]
    pub(super) check_write: bool,
    /// Read and compare; the time of comparing counts. Writes nothing by itself: with -w
    #[arg(short = 'R', long)]
    pub(super) check_read: bool,
    /// Keep the pool, or the folder of files. `isotach bench clean RUN` removes it
    #[arg(short = 'k', long)]
    pub(super) keep: bool,
    /// Let an iteration overwrite the files of the one before, instead of removing them
    #[arg(short = 'E', long)]
    pub(super) use_existing: bool,
    /// A file or object for each iteration
    #[arg(short = 'm', long)]
    pub(super) multi_file: bool,
    /// Seconds to wait before each write and each read
    #[arg(short = 'd', long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(super) delay: f64,
}

impl Test {
    /// Whether the files of an iteration are removed after it, so that the next iteration creates them again.
    fn removes_after(&self, iteration: u64) -> bool {
        let is_last = iteration + 1 == self.iterations;
        let Steps { write, use_existing, keep, multi_file, .. } = self.steps;
        write && !is_last && !(use_existing || (keep && multi_file))
    }
}

/// The folder for plain files beside a pool.
fn beside(pool: &PoolUri) -> PathBuf {
    let path = Path::new(pool.path());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push("-files");
    path.with_file_name(name)
}

impl Work for Test {
    const NAME: &'static str = "ior";

    fn location(&self, pool: &PoolUri) -> Location {
        match self.api {
            ApiName::Object => Location::Pool(pool.clone()),
            ApiName::Posix => {
                let folder = self.files.clone().unwrap_or_else(|| beside(pool));
                // The record is read from other folders, too.
                Location::Folder(path::absolute(&folder).unwrap_or(folder))
            }
        }
    }

    /// The space of a removed array is freed only by a purge, so each iteration needs its own.
    fn bytes_written(&self, processes: u64) -> u64 {
        let iterations = if self.steps.write { self.iterations } else { 0 };
        let of_process = self.shape.block.saturating_mul(self.shape.segments);
        of_process.saturating_mul(processes).saturating_mul(iterations)
    }

    fn run(&self, location: &Location, process: &mut Process, registry: &Registry) -> Result<()> {
        let api: Box<dyn Api> = match location {
            Location::Pool(uri) => Box::new(Objects::new(&*registry.open_pool(uri)?, self.class.parse()?)?),
            Location::Folder(folder) => Box::new(Files::new(folder)),
        };
        let size = self.shape.transfer as usize;
        let mut job = Job {
            test: self,
            rank: process.rank,
            api,
            bytes: noise::block(size),
            buffer: AlignedBuffer::new(size),
        };
        (0..self.iterations).try_for_each(|iteration| job.iteration(process, iteration))
    }
}

struct Job<'t> {
    test: &'t Test,
    rank: Rank,
    api: Box<dyn Api>,
    /// The bytes to write, or those that must be read.
    bytes: AlignedBuffer,
    buffer: AlignedBuffer,
}

impl Job<'_> {
    fn iteration(&mut self, process: &mut Process, iteration: u64) -> Result<()> {
        let steps = self.test.steps;
        let number = if steps.multi_file { iteration } else { 0 };
        let delay = Duration::from_secs_f64(steps.delay);
        if steps.write {
            thread::sleep(delay);
            process.phase("write", |recorder| self.write(recorder, number))?;
        }
        if steps.check_write {
            process.phase("write-check", |recorder| self.read(recorder, number, true))?;
        }
        if steps.read {
            thread::sleep(delay);
            process.phase("read", |recorder| self.read(recorder, number, steps.check_read))?;
        }
        if self.test.removes_after(iteration) {
            process.barrier("remove")?;
            self.remove(number)?;
        }
        Ok(())
    }

    /// The file that a process writes to.
    fn file(&self, number: u64, process: u32) -> File {
        File { number, owner: self.test.shape.file_per_process.then_some(process) }
    }

    fn write(&mut self, recorder: &mut Recorder, number: u64) -> Result<()> {
        let (shape, process) = (self.test.shape, self.rank.process);
        let (file, last) = (self.file(number, process), shape.transfers() - 1);
        recorder.iteration(|recorder| {
            shape.offsets(process, self.rank.processes).zip(0..).try_for_each(|(offset, at)| {
                stamp(&mut self.bytes, process, number, offset);
                recorder.operation_of_many(|timer| {
                    if at == 0 {
                        timer.open(|| self.api.open(file, true))?;
                    }
                    timer.transfer(shape.transfer, || {
                        self.api.write(offset, &self.bytes)?;
                        if at == last && self.test.steps.fsync { self.api.sync() } else { Ok(()) }
                    })?;
                    self.close_after(at == last, timer)
                })
            })
        })
    }

    fn read(&mut self, recorder: &mut Recorder, number: u64, is_checked: bool) -> Result<()> {
        let shape = self.test.shape;
        let writer = if self.test.steps.reorder { self.rank.neighbour() } else { self.rank.process };
        let (file, last) = (self.file(number, writer), shape.transfers() - 1);
        recorder.iteration(|recorder| {
            shape.offsets(writer, self.rank.processes).zip(0..).try_for_each(|(offset, at)| {
                recorder.operation_of_many(|timer| {
                    if at == 0 {
                        timer.open(|| self.api.open(file, false))?;
                    }
                    let filled =
                        timer.transfer(shape.transfer, || self.api.read(offset, &mut self.buffer))?;
                    if filled < self.buffer.len() {
                        return Err(short(filled, offset, file, shape.transfer));
                    }
                    if is_checked {
                        stamp(&mut self.bytes, writer, number, offset);
                        timer.check(*self.buffer == *self.bytes);
                    }
                    self.close_after(at == last, timer)
                })
            })
        })
    }

    fn close_after(&mut self, is_last: bool, timer: &mut Timer) -> Result<()> {
        if is_last { timer.close(|| self.api.close()) } else { Ok(()) }
    }

    /// Removes the file of this process. The first process removes a shared file.
    fn remove(&mut self, number: u64) -> Result<()> {
        if !self.test.shape.file_per_process && self.rank.process != 0 {
            return Ok(());
        }
        self.api.remove(self.file(number, self.rank.process))
    }
}

fn short(filled: usize, offset: u64, file: File, expected: u64) -> Error {
    let what = format!("{filled} bytes at {offset} of {}", file.name());
    Error::wrong(what, format!("{expected}, written before with the same -b, -t and -s"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::events::Clock;

    const STEPS: Steps = Steps {
        write: true,
        check_write: false,
        read: true,
        check_read: true,
        reorder: false,
        fsync: true,
        multi_file: false,
        use_existing: false,
        keep: false,
        delay: 0.0,
    };

    fn test(steps: Steps) -> Test {
        let shape = Shape { block: 8192, transfer: 4096, segments: 2, file_per_process: true };
        let (api, class) = (ApiName::Posix, "S1".to_owned());
        Test { api, shape, class, iterations: 3, steps, files: None }
    }

    #[test]
    fn plain_files_are_beside_the_pool() {
        let pool = |text: &str| text.parse::<PoolUri>().unwrap();
        assert_eq!(beside(&pool("posix:/data/pool?sync=no")), Path::new("/data/pool-files"));
        assert_eq!(beside(&pool("posix:pool/")), Path::new("pool-files"));
    }

    #[test]
    fn each_iteration_creates_its_files_again_unless_they_are_kept() {
        let removes = |steps: Steps| (0..3).map(|at| test(steps).removes_after(at)).collect::<Vec<_>>();
        assert_eq!(removes(STEPS), [true, true, false]);
        assert_eq!(removes(Steps { keep: true, ..STEPS }), [true, true, false]);
        assert_eq!(removes(Steps { keep: true, multi_file: true, ..STEPS }), [false; 3]);
        assert_eq!(removes(Steps { use_existing: true, ..STEPS }), [false; 3]);
        assert_eq!(removes(Steps { write: false, ..STEPS }), [false; 3]);
    }

    #[test]
    fn a_transfer_with_a_wrong_byte_counts_if_checked_and_a_short_file_fails() {
        let folder = tempfile::tempdir().unwrap();
        let test = test(STEPS);
        let (bytes, buffer) = (noise::block(4096), AlignedBuffer::new(4096));
        let rank = Rank { process: 0, processes: 1, node: 0, nodes: 1 };
        let mut job = Job { test: &test, rank, api: Box::new(Files::new(folder.path())), bytes, buffer };
        let mut recorder = Recorder::new(Clock::start(), 0);
        job.write(&mut recorder, 0).unwrap();
        let mut wrong_of = |is_checked| {
            let mut recorder = Recorder::new(Clock::start(), 0);
            let read = job.read(&mut recorder, 0, is_checked);
            read.map(|()| recorder.operations.iter().map(|one| one.wrong).collect::<Vec<_>>())
        };
        assert_eq!(wrong_of(true).unwrap(), [false; 4]);
        let path = folder.path().join("data-0.00000000");
        let mut written = std::fs::read(&path).unwrap();
        written[4096 + 77] ^= 1;
        std::fs::write(&path, &written).unwrap();
        assert_eq!(wrong_of(true).unwrap(), [false, true, false, false]);
        assert_eq!(wrong_of(false).unwrap(), [false; 4]);
        std::fs::write(&path, &written[..written.len() - 1]).unwrap();
        let error = wrong_of(true).unwrap_err().to_string();
        assert!(error.contains("4095 bytes at 12288 of data-0.00000000"), "{error}");
    }
}
