//! The processes of IOR.

use std::{thread, time::Duration};

use isotach_object::{ObjectClass, Registry};
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
        study::Location,
    },
};

pub(crate) const NAME: &str = "ior";

/// A test of IOR.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Test {
    pub(super) api: ApiName,
    pub(super) shape: Shape,
    #[serde(with = "text")]
    pub(super) class: ObjectClass,
    pub(super) iterations: u64,
    pub(super) write: bool,
    pub(super) check_write: bool,
    pub(super) read: bool,
    pub(super) check_read: bool,
    /// Whether each process reads what its neighbour wrote.
    pub(super) reorder: bool,
    pub(super) fsync: bool,
    /// Whether each iteration has files of its own.
    pub(super) multi_file: bool,
    /// Whether existing files are overwritten.
    pub(super) use_existing: bool,
    pub(super) keep: bool,
    /// Seconds before each phase.
    pub(super) delay: f64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(super) location: String,
    pub(super) test: Test,
}

impl Test {
    /// The bytes that so many processes write. The space of a removed array is freed only by a purge, so each iteration
    /// needs its own.
    pub(super) fn bytes(&self, processes: u64) -> u64 {
        let iterations = if self.write { self.iterations } else { 0 };
        let of_process = self.shape.block.saturating_mul(self.shape.segments);
        of_process.saturating_mul(processes).saturating_mul(iterations)
    }

    /// Whether the files of an iteration are removed after it, so that the next iteration creates them again.
    fn removes_after(&self, iteration: u64) -> bool {
        let is_last = iteration + 1 == self.iterations;
        let is_kept = self.use_existing || (self.keep && self.multi_file);
        self.write && !is_last && !is_kept
    }
}

pub(crate) fn run_process(task: &Task, process: &mut Process, registry: &Registry) -> Result<()> {
    let test = &task.test;
    let api: Box<dyn Api> = match Location::parse(&task.location)? {
        Location::Pool(uri) => Box::new(Objects::new(&*registry.open_pool(&uri)?, test.class)?),
        Location::Folder(folder) => Box::new(Files::new(&folder)),
    };
    let size = test.shape.transfer as usize;
    let mut job = Job { test, rank: process.rank, api, bytes: noise::block(size), buffer: vec![0; size] };
    (0..test.iterations).try_for_each(|iteration| job.iteration(process, iteration))
}

struct Job<'t> {
    test: &'t Test,
    rank: Rank,
    api: Box<dyn Api>,
    /// The bytes to write, or those that must be read.
    bytes: Vec<u8>,
    buffer: Vec<u8>,
}

impl Job<'_> {
    fn iteration(&mut self, process: &mut Process, iteration: u64) -> Result<()> {
        let test = self.test;
        let number = if test.multi_file { iteration } else { 0 };
        let delay = Duration::from_secs_f64(test.delay);
        if test.write {
            thread::sleep(delay);
            process.phase("write", |recorder| self.write(recorder, number))?;
        }
        if test.check_write {
            process.phase("write-check", |recorder| self.read(recorder, number, true))?;
        }
        if test.read {
            thread::sleep(delay);
            process.phase("read", |recorder| self.read(recorder, number, test.check_read))?;
        }
        if test.removes_after(iteration) {
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
                        if at == last && self.test.fsync { self.api.sync() } else { Ok(()) }
                    })?;
                    self.close_after(at == last, timer)
                })
            })
        })
    }

    fn read(&mut self, recorder: &mut Recorder, number: u64, is_checked: bool) -> Result<()> {
        let shape = self.test.shape;
        let writer = if self.test.reorder { self.rank.neighbour() } else { self.rank.process };
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
                        timer.check(self.buffer == self.bytes);
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

mod text {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::events::Clock;

    fn test() -> Test {
        let shape = Shape { block: 8192, transfer: 4096, segments: 2, file_per_process: true };
        Test {
            api: ApiName::Posix,
            shape,
            class: ObjectClass::S1,
            iterations: 3,
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
        }
    }

    #[test]
    fn each_iteration_creates_its_files_again_unless_they_are_kept() {
        let removes = |test: Test| (0..3).map(|at| test.removes_after(at)).collect::<Vec<_>>();
        assert_eq!(removes(test()), [true, true, false]);
        assert_eq!(removes(Test { keep: true, ..test() }), [true, true, false]);
        assert_eq!(removes(Test { keep: true, multi_file: true, ..test() }), [false; 3]);
        assert_eq!(removes(Test { use_existing: true, ..test() }), [false; 3]);
        assert_eq!(removes(Test { write: false, ..test() }), [false; 3]);
    }

    #[test]
    fn a_transfer_with_a_wrong_byte_counts_if_checked_and_a_short_file_fails() {
        let folder = tempfile::tempdir().unwrap();
        let test = test();
        let (bytes, buffer) = (noise::block(4096), vec![0; 4096]);
        let rank = Rank { process: 0, processes: 1, node: 0, nodes: 1 };
        let mut job = Job { test: &test, rank, api: Box::new(Files::new(folder.path())), bytes, buffer };
        let mut recorder = Recorder::new(Clock::start());
        job.write(&mut recorder, 0).unwrap();
        let mut wrong_of = |is_checked| {
            let mut recorder = Recorder::new(Clock::start());
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
