//! The processes of a kernel: writers write their part of each version, and readers read what others wrote.

use isotach_object::Registry;
use serde::{Deserialize, Serialize};

use super::{
    clamr::{self, Clamr},
    legion::Legion,
    piece::{Piece, are_right, bytes_of, fill},
    pio::Pio,
    store::{Contribution, Store, Updates},
};
use crate::{
    Result,
    harness::{
        events::Recorder,
        launcher::{Process, Rank},
        study::{Location, Work},
    },
};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(super) layout: Layout,
    pub(super) updates: Updates,
    pub(super) class: String,
    pub(super) versions: u64,
    pub(super) action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    /// All processes write the versions.
    Write,
    /// All processes read the last version.
    Read,
    /// `readers` processes, or all but one, read the last version.
    Restart { readers: Option<u32> },
    /// Half of the processes write a first version and then the versions, while each of the others reads the newest version as
    /// often.
    WriteWhileRead,
}

impl Action {
    /// The reader of a process: if all processes read, each reads what another one wrote.
    fn reader(self, rank: Rank) -> Reader {
        let (number, of) = match self {
            Self::Restart { readers } => (rank.process, readers.unwrap_or(rank.processes - 1).max(1)),
            Self::Write | Self::Read | Self::WriteWhileRead => (rank.neighbour(), rank.processes),
        };
        Reader { number, of, writers: rank.processes }
    }
}

/// The distribution of the data over processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Layout {
    Clamr(Clamr),
    Legion(Legion),
    Pio(Pio),
}

impl Layout {
    /// The names of the phases of writing and reading.
    fn phases(self) -> [&'static str; 2] {
        match self {
            Self::Clamr(_) => ["checkpoint", "restart"],
            Self::Legion(_) | Self::Pio(_) => ["write", "read"],
        }
    }

    fn written(self, part: Contribution) -> Vec<Piece> {
        match self {
            Self::Clamr(mesh) => mesh.written(part.writer, part.version),
            Self::Legion(regions) => regions.written(part.writer),
            Self::Pio(grid) => grid.part(part.writer.into(), part.writers.into()),
        }
    }

    /// The bytes of one version of all writers.
    pub(super) fn bytes(self, writers: u32) -> u64 {
        let parts = (0..writers).map(|writer| self.written(Contribution { version: 1, writer, writers }));
        parts.map(|pieces| bytes_of(&pieces) as u64).sum()
    }

    /// The largest number of bytes that a reader reads of a version.
    fn read_bytes_max(self, reader: Reader) -> usize {
        let most = match self {
            Self::Clamr(mesh) => mesh.values_max(),
            // Their reads do not depend on the number of values of each writer.
            Self::Legion(_) | Self::Pio(_) => 0,
        };
        bytes_of(&self.read(reader.number, reader.of, &vec![most; reader.writers as usize]))
    }

    /// The pieces of one of several readers. `counts` has the number of values of each writer.
    fn read(self, reader: u32, readers: u32, counts: &[u64]) -> Vec<Piece> {
        let (reader, readers) = (u64::from(reader), u64::from(readers));
        match self {
            Self::Clamr(_) => clamr::read(reader, readers, counts),
            Self::Legion(regions) => regions.read(reader, counts.len() as u64),
            Self::Pio(grid) => grid.part(reader, readers),
        }
    }
}

impl Work for Run {
    const NAME: &'static str = "kernels";

    fn bytes_written(&self, processes: u64) -> u64 {
        let processes = processes as u32;
        match self.action {
            Action::Write => self.versions.saturating_mul(self.layout.bytes(processes)),
            Action::WriteWhileRead => (self.versions + 1).saturating_mul(self.layout.bytes(processes / 2)),
            Action::Read | Action::Restart { .. } => 0,
        }
    }

    fn run(&self, location: &Location, process: &mut Process, registry: &Registry) -> Result<()> {
        let store = Store::open(&*registry.open_pool(location.pool()?)?, self.updates, self.class.parse()?)?;
        let (layout, rank) = (self.layout, process.rank);
        let mut job = Job { layout, store, buffer: Vec::new() };
        let [write, read] = layout.phases();
        match self.action {
            Action::Write => {
                let first = Contribution { version: 1, writer: rank.process, writers: rank.processes };
                process.phase(write, |recorder| job.write(recorder, first, self.versions))
            }
            Action::Read | Action::Restart { .. } => {
                let reader = self.action.reader(rank);
                let times = u64::from(reader.number < reader.of);
                process.phase(read, |recorder| job.read(recorder, reader, times, self.versions))
            }
            Action::WriteWhileRead => {
                let ((is_writer, number), of) = (rank.half(), rank.processes / 2);
                if is_writer {
                    let part = |version| Contribution { version, writer: number, writers: of };
                    process.phase("setup", |recorder| job.write(recorder, part(1), 1))?;
                    return process.phase(write, |recorder| job.write(recorder, part(2), self.versions));
                }
                let reader = Reader { number, of, writers: of };
                process.phase("setup", |_| Ok(()))?;
                process.phase(read, |recorder| job.read(recorder, reader, self.versions, 1))
            }
        }
    }
}

/// A process that reads what the writers wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reader {
    number: u32,
    of: u32,
    writers: u32,
}

struct Job {
    layout: Layout,
    store: Store,
    buffer: Vec<u8>,
}

impl Job {
    /// Writes the part of a process in `count` versions, beginning with that of `first`.
    fn write(&mut self, recorder: &mut Recorder, first: Contribution, count: u64) -> Result<()> {
        (first.version..first.version + count).try_for_each(|version| {
            let part = Contribution { version, ..first };
            let pieces = self.layout.written(part);
            fill(&pieces, version, &mut self.buffer);
            recorder.operation(|timer| self.store.write(part, &pieces, &self.buffer, timer))
        })
    }

    /// Reads the newest version `times` times. A version older than `least`, or than the one read before, is wrong.
    fn read(&mut self, recorder: &mut Recorder, reader: Reader, times: u64, mut least: u64) -> Result<()> {
        if times > 0 {
            // So that allocation is not part of the measurement.
            self.buffer.resize(self.layout.read_bytes_max(reader), 0);
        }
        (0..times).try_for_each(|_| {
            let (number, pieces, is_whole) = recorder.operation(|timer| {
                let (version, pieces) = timer.open(|| {
                    let version = self.store.newest(reader.writers)?;
                    let pieces = self.layout.read(reader.number, reader.of, &version.counts);
                    Ok((version, pieces))
                })?;
                let bytes = bytes_of(&pieces);
                self.buffer.resize(self.buffer.len().max(bytes), 0);
                let is_whole =
                    timer.transfer(bytes as u64, || version.read(&pieces, &mut self.buffer[..bytes]))?;
                timer.close(|| Ok(()))?;
                Ok((version.number, pieces, is_whole))
            })?;
            let read = &self.buffer[..bytes_of(&pieces)];
            recorder.check_last(is_whole && number >= least && are_right(&pieces, number, read));
            least = number;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{Engine, ObjectClass, Pool, PoolUri, memory::Memory};

    use super::*;
    use crate::{
        harness::events::Clock,
        workloads::kernels::{pio::Rearrangement, store::prepare},
    };

    /// Jobs on the same values in a new pool.
    fn jobs(updates: Updates) -> [Job; 2] {
        let (engine, uri) = (Memory::new(), "memory:play".parse::<PoolUri>().unwrap());
        engine.create_pool(&uri).unwrap();
        let pool = engine.open_pool(&uri).unwrap();
        prepare(&*pool).unwrap();
        let layout = Layout::Pio(Pio::new(Rearrangement::Subset, 0.01, 1));
        let store = |pool: &dyn Pool| Store::open(pool, updates, ObjectClass::SX).unwrap();
        [(); 2].map(|()| Job { layout, store: store(&*pool), buffer: Vec::new() })
    }

    const PART: Contribution = Contribution { version: 1, writer: 0, writers: 1 };
    const READER: Reader = Reader { number: 0, of: 1, writers: 1 };

    #[test]
    fn wrong_values_and_old_versions_are_counted_as_wrong() {
        for updates in [Updates::Transactions, Updates::Plain] {
            let [mut writer, mut reader] = jobs(updates);
            let mut recorder = Recorder::new(Clock::start(), 0);
            writer.write(&mut recorder, PART, 2).unwrap();
            recorder.operations.clear();
            reader.read(&mut recorder, READER, 1, 2).unwrap();
            reader.read(&mut recorder, READER, 1, 3).unwrap();
            let part = Contribution { version: 3, ..PART };
            let (pieces, mut bytes) = (writer.layout.written(part), Vec::new());
            fill(&pieces, 3, &mut bytes);
            *bytes.last_mut().unwrap() ^= 1;
            recorder.operation(|timer| writer.store.write(part, &pieces, &bytes, timer)).unwrap();
            recorder.operations.pop();
            reader.read(&mut recorder, READER, 1, 3).unwrap();
            let wrong: Vec<bool> = recorder.operations.iter().map(|one| one.wrong).collect();
            assert_eq!(wrong, [false, true, true], "{updates:?}");
        }
    }

    #[test]
    fn reading_without_a_complete_version_fails() {
        for updates in [Updates::Transactions, Updates::Plain] {
            let [_, mut reader] = jobs(updates);
            let mut recorder = Recorder::new(Clock::start(), 0);
            let error = reader.read(&mut recorder, READER, 1, 1).unwrap_err();
            assert!(error.to_string().contains("no complete version"), "{error}");
        }
    }

    #[test]
    fn a_reader_reads_what_its_neighbour_wrote_on_the_next_node_if_any() {
        let of = |processes, nodes| Action::Read.reader(Rank { process: 1, processes, node: 0, nodes });
        assert_eq!((of(4, 1).number, of(4, 2).number, of(4, 2).of), (2, 3, 4));
        let restart =
            Action::Restart { readers: None }.reader(Rank { process: 1, processes: 4, node: 0, nodes: 2 });
        assert_eq!(restart, Reader { number: 1, of: 3, writers: 4 });
    }
}
