//! The limit beside a case: plain writes and reads of as many bytes by as many processes on the same file system, right
//! after all runs of the case.
//!
//! What must stay true: a failure of the limit, such as a lack of space, ends only the limit; its files are removed, or on
//! record, when the case ends.

use std::{
    fs::{self, File},
    io::{Write, stderr},
    path::PathBuf,
};

use isotach_object::Registry;
use serde_json::{Map, Value};

use super::{Location, Record, labels};
use crate::{
    Error, Result,
    harness::{
        events::ProcessLog,
        folders::{prepare_memory, space_available},
        launcher::{
            Launcher, Phase, Task,
            cpus::{self, Socket},
        },
        metrics::OVERLAP_MIN,
        noise,
        spread::MIB,
        usage::Total,
    },
    workloads::{
        ensemble::Order,
        plain::{Plain, PlainOp},
    },
};

/// The largest block of a plain write or read.
const BLOCK_MAX: u64 = 1 << 20;
/// The phases that write; others read.
const WRITES: [&str; 2] = ["write", "checkpoint"];
/// The prefix of files that are read beside writers.
const BESIDE: &str = "read-";
/// The phase before the measurement.
const SETUP: &str = "setup";

/// The field of a record with the limit of a figure.
pub(crate) const LIMIT: &str = "limit_mib_per_s";
/// The field with the ratio of a figure to its limit.
pub(super) const RATIO: &str = "ratio_to_limit";
/// The field that says whether the processes of the limit did not overlap well.
pub(crate) const IS_POOR: &str = "is_limit_overlap_poor";
/// The field with the reason why there is no limit.
pub(crate) const LIMIT_ERROR: &str = "limit_error";

/// The fields of a record about the limit of a figure.
pub(crate) fn limit_fields(mib_per_s: f64, limit_mib_per_s: f64, is_poor: bool) -> Map<String, Value> {
    let ratio = mib_per_s / limit_mib_per_s;
    labels([(LIMIT, limit_mib_per_s.into()), (RATIO, ratio.into()), (IS_POOR, is_poor.into())])
}

/// The plain files of a case.
pub(super) struct Limit {
    folder: PathBuf,
    is_created: bool,
    /// Why there is no limit, once it has failed.
    failure: Option<String>,
    /// Operations of a process between two syncs; 0 where nothing waits for the device.
    sync_every: u64,
    /// Each plain process is bound to the processor of the process that it stands for.
    sockets: Vec<Socket>,
}

/// The bytes per second of each phase, and whether their processes did not overlap well.
type Rates = (Vec<f64>, bool);

impl Limit {
    /// A limit beside `location`, if that is on a file system of this machine.
    pub(super) fn beside(location: &Location, flush_every: u64) -> Option<Self> {
        let mut name = location.folder()?.file_name()?.to_owned();
        name.push("-plain");
        let folder = location.folder()?.with_file_name(name);
        let waits = !matches!(location, Location::Pool(uri) if uri.option("sync") == Some("no"));
        let sync_every = if waits { flush_every } else { 0 };
        Some(Self { folder, is_created: false, failure: None, sync_every, sockets: cpus::sockets() })
    }

    /// Measures the limit of phases that were released together, and adds it, or the reason why it failed, to their
    /// results. After a failure it measures no more.
    pub(super) fn measure(
        &mut self,
        launcher: &mut Launcher,
        (record, registry): (&mut Record, &Registry),
        (case, repetition): (u32, u32),
        together: &[&Phase],
    ) -> Result<()> {
        let moves = |phase: &&&Phase| phase.name != SETUP && bytes_of(phase) > 0;
        let phases: Vec<&Phase> = together.iter().filter(moves).copied().collect();
        if phases.is_empty() {
            return Ok(());
        }
        let found = self.try_rates(launcher, (record, registry), case, &phases)?;
        // The time of processes that follow others is in theirs.
        let waits = |phase: &Phase| phase.all().any(|log| log.notes.first_poll.is_some());
        for (number, phase) in phases.iter().enumerate().filter(|(_, phase)| !waits(phase)) {
            record.add_fields(case, repetition, &phase.name, |figures| match &found {
                Ok((rates, is_poor)) => {
                    limit_fields(figures.global_timing_bandwidth / MIB, rates[number] / MIB, *is_poor)
                }
                Err(failure) => labels([(LIMIT_ERROR, failure.clone().into())]),
            })?;
        }
        Ok(())
    }

    /// The rates of these phases, or the reason why there are none, which is no failure of the study.
    fn try_rates(
        &mut self,
        launcher: &mut Launcher,
        (record, registry): (&mut Record, &Registry),
        case: u32,
        phases: &[&Phase],
    ) -> Result<std::result::Result<Rates, String>> {
        if let Some(failure) = &self.failure {
            return Ok(Err(failure.clone()));
        }
        match self.create(record, registry).and_then(|()| self.rates(launcher, phases)) {
            Ok(rates) => Ok(Ok(rates)),
            Err(error) => {
                let _ = writeln!(stderr(), "no limit beside {}: {error}", record.title(case));
                self.remove(record, registry)?;
                self.failure = Some(error.to_string());
                Ok(Err(error.to_string()))
            }
        }
    }

    fn create(&mut self, record: &mut Record, registry: &Registry) -> Result<()> {
        if !self.is_created {
            record.create(&self.location(), registry)?;
            self.is_created = true;
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, record: &mut Record, registry: &Registry) -> Result<()> {
        if self.is_created {
            self.location().remove(registry)?;
            record.has_removed(&self.location())?;
            self.is_created = false;
        }
        Ok(())
    }

    fn location(&self) -> Location {
        Location::Folder(self.folder.clone())
    }

    /// Runs the plain processes of all phases together.
    fn rates(&self, launcher: &mut Launcher, phases: &[&Phase]) -> Result<Rates> {
        let writes = phases.iter().filter(|phase| is_write(phase));
        let written: u64 = writes.map(|phase| bytes_of(phase)).sum();
        // A file is not written and read at the same time.
        let prefix = if written > 0 { BESIDE } else { "" };
        let tasks = phases.iter().map(|phase| self.tasks(phase, prefix)).collect::<Result<Vec<_>>>()?;
        self.check_space(written)?;
        // After the files to be read have got memory of their own.
        prepare_memory(&self.folder, written)?;
        let counts: Vec<usize> = tasks.iter().map(Vec::len).collect();
        let all = launcher.measure(tasks.into_iter().flatten().collect())?;
        let mut rest = &all[..];
        let rates = counts.into_iter().map(|count| {
            let (own, others) = rest.split_at(count);
            rest = others;
            let total = Total::of(own);
            total.bytes as f64 / total.seconds
        });
        Ok((rates.collect(), Total::of(&all).overlap() < OVERLAP_MIN))
    }

    /// A plain process for each process of a phase.
    fn tasks(&self, phase: &Phase, prefix: &str) -> Result<Vec<(Task, Option<usize>)>> {
        let (op, prefix) = if is_write(phase) { (PlainOp::Write, "") } else { (PlainOp::Read, prefix) };
        let plain = |(_, process, log): &(u32, u32, ProcessLog)| Some((*process, self.plain(log, op)?));
        let task = |(number, (process, plain)): (usize, (u32, Plain))| {
            let plain = Plain { path: self.folder.join(format!("{prefix}{number}")), ..plain };
            if op == PlainOp::Read {
                self.create_readable(&plain)?;
            }
            Ok((plain.task()?, cpus::cpu_of(&self.sockets, process as usize)))
        };
        phase.logs.iter().filter_map(plain).enumerate().map(task).collect()
    }

    /// A plain process, without its file, that moves as many bytes as the process with this log.
    fn plain(&self, log: &ProcessLog, op: PlainOp) -> Option<Plain> {
        let bytes: u64 = log.operations.iter().map(|operation| operation.bytes).sum();
        let operations = log.operations.len() as u64;
        let of_operation = bytes.checked_div(operations).filter(|bytes| *bytes > 0)?;
        let blocks = of_operation.div_ceil(BLOCK_MAX);
        let sync_every = if op == PlainOp::Write { self.sync_every * blocks } else { 0 };
        let (count, size) = (operations * blocks, (of_operation / blocks) as usize);
        Some(Plain {
            op,
            path: PathBuf::new(),
            count,
            order: Order::Stored,
            size,
            sync_every,
            repeats: false,
        })
    }

    /// Refuses to fill space that others need.
    fn check_space(&self, bytes: u64) -> Result<()> {
        let space =
            space_available(&self.folder).map_err(Error::io("read the free space of", &self.folder))?;
        match bytes <= space {
            true => Ok(()),
            false => Err(Error::invalid(
                format!("{space} bytes free in {}", self.folder.display()),
                format!("{bytes} for plain files"),
            )),
        }
    }

    /// Creates a file to be read, unless it exists.
    fn create_readable(&self, plain: &Plain) -> Result<()> {
        let (path, bytes) = (&plain.path, plain.count * plain.size as u64);
        if fs::metadata(path).is_ok_and(|file| file.len() >= bytes) {
            return Ok(());
        }
        self.check_space(bytes)?;
        let mut file = File::create(path).map_err(Error::io("create", path))?;
        let block = noise::block(plain.size);
        (0..plain.count).try_for_each(|_| file.write_all(&block)).map_err(Error::io("write", path))?;
        match self.sync_every {
            0 => Ok(()),
            // Otherwise the kernel would write it to the device during the reads.
            _ => file.sync_data().map_err(Error::io("sync", path)),
        }
    }
}

fn is_write(phase: &Phase) -> bool {
    WRITES.contains(&&*phase.name)
}

fn bytes_of(phase: &Phase) -> u64 {
    phase.all().flat_map(|log| &log.operations).map(|operation| operation.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::events::Operation;

    fn log_of(operations: usize, bytes: u64) -> ProcessLog {
        let operation = Operation { bytes, ..Operation::default() };
        ProcessLog { operations: vec![operation; operations], ..ProcessLog::default() }
    }

    fn limit(location: &str) -> Option<Limit> {
        Limit::beside(&Location::parse(location).unwrap(), 10)
    }

    #[test]
    fn a_plain_process_moves_the_same_bytes_in_blocks_with_as_many_syncs() {
        let blocks = |location: &str, log: &ProcessLog, writes| {
            let op = if writes { PlainOp::Write } else { PlainOp::Read };
            let plain = limit(location).unwrap().plain(log, op)?;
            Some([plain.count, plain.size as u64, plain.sync_every])
        };
        assert_eq!(blocks("posix:/data/pool", &log_of(4, 4096), true), Some([4, 4096, 10]));
        assert_eq!(blocks("posix:/data/pool", &log_of(4, 4096), false), Some([4, 4096, 0]));
        assert_eq!(blocks("posix:/data/pool?sync=no", &log_of(4, 4096), true), Some([4, 4096, 0]));
        assert_eq!(blocks("posix:/data/pool", &log_of(2, 5 << 20), true), Some([10, 1 << 20, 50]));
        assert_eq!(blocks("posix:/data/pool", &log_of(4, 0), true), None, "a listing");
        assert_eq!(blocks("posix:/data/pool", &ProcessLog::default(), true), None);
    }

    #[test]
    fn plain_files_are_only_beside_a_pool_on_a_file_system() {
        assert_eq!(limit("posix:/data/pool?sync=no").unwrap().folder, PathBuf::from("/data/pool-plain"));
        assert!(limit("rados://pool").is_none());
    }
}
