//! What each process of IOR does.

use std::{thread, time::Duration};

use isotach_object::{ObjectClass, Registry};
use serde::{Deserialize, Serialize};

use super::{
    ApiName,
    api::{Api, Files, Objects},
    layout::{File, Shape, stamp},
};
use crate::{
    Error, Result,
    harness::{
        events::{Doing, Recorder},
        launcher::{Seat, Stage},
        study::Place,
    },
    workloads::ensemble,
};

/// What all processes do.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Test {
    pub(super) api: ApiName,
    pub(super) shape: Shape,
    #[serde(with = "super::text")]
    pub(super) class: ObjectClass,
    pub(super) iterations: u64,
    pub(super) write: bool,
    pub(super) check_write: bool,
    pub(super) read: bool,
    pub(super) check_read: bool,
    /// Whether each reads what its neighbour wrote.
    pub(super) reorder: bool,
    pub(super) fsync: bool,
    /// Whether each iteration has files of its own.
    pub(super) multi_file: bool,
    /// Whether what is there is written over.
    pub(super) use_existing: bool,
    pub(super) keep: bool,
    /// Seconds before each phase.
    pub(super) delay: f64,
}

/// A test, and where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(super) place: String,
    pub(super) test: Test,
}

impl Test {
    /// Bytes that so many processes write. An array that is removed gives its room back only at a purge, so each iteration
    /// needs some of its own.
    pub(super) fn bytes(&self, processes: u64) -> u64 {
        let iterations = if self.write { self.iterations } else { 0 };
        let of_process = self.shape.block.saturating_mul(self.shape.segments);
        of_process.saturating_mul(processes).saturating_mul(iterations)
    }

    /// Whether the files of an iteration go when it has ended, so that the next one makes them again.
    fn removes_after(&self, iteration: u64) -> bool {
        let is_last = iteration + 1 == self.iterations;
        let stays = self.use_existing || (self.keep && self.multi_file);
        self.write && !is_last && !stays
    }
}

/// Does the task.
pub(crate) fn play(task: &Task, stage: &mut Stage, registry: &Registry) -> Result<()> {
    let test = &task.test;
    let place = Place::parse(&task.place)?;
    let api: Box<dyn Api> = match place {
        Place::Pool(uri) => Box::new(Objects::new(&*registry.open_pool(&uri)?, test.class)?),
        Place::Folder(folder) => Box::new(Files::new(&folder)),
    };
    let size = test.shape.transfer as usize;
    let mut player =
        Player { test, seat: stage.seat, api, bytes: ensemble::block(size), buffer: vec![0; size] };
    (0..test.iterations).try_for_each(|iteration| player.iteration(stage, iteration))
}

struct Player<'t> {
    test: &'t Test,
    seat: Seat,
    api: Box<dyn Api>,
    /// What is written, or ought to be read.
    bytes: Vec<u8>,
    buffer: Vec<u8>,
}

impl Player<'_> {
    fn iteration(&mut self, stage: &mut Stage, iteration: u64) -> Result<()> {
        let test = self.test;
        let number = if test.multi_file { iteration } else { 0 };
        let delay = Duration::from_secs_f64(test.delay);
        if test.write {
            thread::sleep(delay);
            stage.phase("write", |recorder| self.write(recorder, number))?;
        }
        if test.check_write {
            stage.phase("write-check", |recorder| self.read(recorder, number, true))?;
        }
        if test.read {
            thread::sleep(delay);
            stage.phase("read", |recorder| self.read(recorder, number, test.check_read))?;
        }
        if test.removes_after(iteration) {
            stage.barrier("remove")?;
            self.remove(number)?;
        }
        Ok(())
    }

    /// The file that a process writes to.
    fn file(&self, number: u64, process: u32) -> File {
        File { number, owner: self.test.shape.file_per_process.then_some(process) }
    }

    fn write(&mut self, recorder: &mut Recorder, number: u64) -> Result<()> {
        let (shape, process) = (self.test.shape, self.seat.process);
        let (file, last) = (self.file(number, process), shape.transfers() - 1);
        recorder.iteration(|recorder| {
            shape.offsets(process, self.seat.processes).zip(0..).try_for_each(|(offset, at)| {
                stamp(&mut self.bytes, process, number, offset);
                recorder.operation_of_many(|doing| {
                    if at == 0 {
                        doing.open(|| self.api.open(file, true))?;
                    }
                    doing.transfer(shape.transfer, || {
                        self.api.write(offset, &self.bytes)?;
                        if at == last && self.test.fsync { self.api.sync() } else { Ok(()) }
                    })?;
                    self.close_after(at == last, doing)
                })
            })
        })
    }

    fn read(&mut self, recorder: &mut Recorder, number: u64, is_checked: bool) -> Result<()> {
        let shape = self.test.shape;
        let writer = if self.test.reorder { self.seat.neighbour() } else { self.seat.process };
        let (file, last) = (self.file(number, writer), shape.transfers() - 1);
        recorder.iteration(|recorder| {
            shape.offsets(writer, self.seat.processes).zip(0..).try_for_each(|(offset, at)| {
                recorder.operation_of_many(|doing| {
                    if at == 0 {
                        doing.open(|| self.api.open(file, false))?;
                    }
                    let filled =
                        doing.transfer(shape.transfer, || self.api.read(offset, &mut self.buffer))?;
                    if filled < self.buffer.len() {
                        return Err(short(filled, offset, file, shape.transfer));
                    }
                    if is_checked {
                        stamp(&mut self.bytes, writer, number, offset);
                        doing.check(self.buffer == self.bytes);
                    }
                    self.close_after(at == last, doing)
                })
            })
        })
    }

    fn close_after(&mut self, is_last: bool, doing: &mut Doing) -> Result<()> {
        if is_last { doing.close(|| self.api.close()) } else { Ok(()) }
    }

    /// Removes what this process has made: of a shared file the first does.
    fn remove(&mut self, number: u64) -> Result<()> {
        if !self.test.shape.file_per_process && self.seat.process != 0 {
            return Ok(());
        }
        self.api.remove(self.file(number, self.seat.process))
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
    fn files_are_made_anew_by_each_iteration_unless_they_are_to_stay() {
        let removes = |test: Test| (0..3).map(|at| test.removes_after(at)).collect::<Vec<_>>();
        assert_eq!(removes(test()), [true, true, false]);
        assert_eq!(removes(Test { keep: true, ..test() }), [true, true, false]);
        assert_eq!(removes(Test { keep: true, multi_file: true, ..test() }), [false; 3]);
        assert_eq!(removes(Test { use_existing: true, ..test() }), [false; 3]);
        assert_eq!(removes(Test { write: false, ..test() }), [false; 3]);
    }

    #[test]
    fn a_wrong_byte_is_counted_once_for_its_transfer_if_it_is_looked_for_and_a_short_file_fails() {
        let folder = tempfile::tempdir().unwrap();
        let test = test();
        let (bytes, buffer) = (ensemble::block(4096), vec![0; 4096]);
        let seat = Seat { process: 0, processes: 1, node: 0, nodes: 1 };
        let mut player =
            Player { test: &test, seat, api: Box::new(Files::new(folder.path())), bytes, buffer };
        let mut recorder = Recorder::new(Clock::start());
        player.write(&mut recorder, 0).unwrap();
        let mut wrong_of = |is_checked| {
            let mut recorder = Recorder::new(Clock::start());
            let read = player.read(&mut recorder, 0, is_checked);
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
        let told = wrong_of(true).unwrap_err().to_string();
        assert!(told.contains("4095 bytes at 12288 of data-0.00000000"), "{told}");
    }
}
