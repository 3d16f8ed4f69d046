//! What each process of a kernel does: writes its part of one version after the other, or reads what others wrote.

use isotach_object::{PoolUri, Registry};
use serde::{Deserialize, Serialize};

use super::{
    clamr::{self, Clamr},
    legion::Legion,
    piece::{Piece, are_right, bytes_of, fill},
    pio::Pio,
    store::{Part, Store, Updates},
};
use crate::{
    Result,
    harness::{
        events::Recorder,
        launcher::{Seat, Stage},
    },
};

/// The task of all processes in one play.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(super) pool: String,
    pub(super) layout: Layout,
    pub(super) updates: Updates,
    pub(super) class: String,
    pub(super) versions: u64,
    pub(super) act: Act,
}

/// What there is to do in a play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Act {
    /// All processes write the versions.
    Write,
    /// All processes read the last version.
    Read,
    /// So many of the processes, or one fewer than there are, read the last version.
    Restart { readers: Option<u32> },
    /// Half of the processes write one version and, after that, the versions, while each of the others reads the newest one as often.
    WriteWhileRead,
}

impl Act {
    /// Which of those that read the last version a process is: where all of them do, it reads what another one wrote.
    fn reader(self, seat: Seat) -> Reader {
        let (number, of) = match self {
            Self::Restart { readers } => (seat.process, readers.unwrap_or(seat.processes - 1).max(1)),
            Self::Write | Self::Read | Self::WriteWhileRead => (seat.neighbour(), seat.processes),
        };
        Reader { number, of, writers: seat.processes }
    }
}

/// Who has what of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Layout {
    Clamr(Clamr),
    Legion(Legion),
    Pio(Pio),
}

impl Layout {
    /// The name of the phase in which versions are written, and of that in which they are read.
    fn phases(self) -> [&'static str; 2] {
        match self {
            Self::Clamr(_) => ["checkpoint", "restart"],
            Self::Legion(_) | Self::Pio(_) => ["write", "read"],
        }
    }

    fn written(self, part: Part) -> Vec<Piece> {
        match self {
            Self::Clamr(mesh) => mesh.written(part.writer, part.version),
            Self::Legion(regions) => regions.written(part.writer),
            Self::Pio(grid) => grid.part(part.writer.into(), part.writers.into()),
        }
    }

    /// Bytes of one version, of all writers.
    pub(super) fn bytes(self, writers: u32) -> u64 {
        let parts = (0..writers).map(|writer| self.written(Part { version: 1, writer, writers }));
        parts.map(|pieces| bytes_of(&pieces) as u64).sum()
    }

    /// The most bytes that a reader reads of a version.
    fn room(self, reader: Reader) -> usize {
        let most = match self {
            Self::Clamr(mesh) => mesh.values_max(),
            // What they read does not depend on how much each wrote.
            Self::Legion(_) | Self::Pio(_) => 0,
        };
        bytes_of(&self.read(reader.number, reader.of, &vec![most; reader.writers as usize]))
    }

    /// What one of so many readers reads; `counts` has the values of each writer.
    fn read(self, reader: u32, readers: u32, counts: &[u64]) -> Vec<Piece> {
        let (reader, readers) = (u64::from(reader), u64::from(readers));
        match self {
            Self::Clamr(_) => clamr::read(reader, readers, counts),
            Self::Legion(regions) => regions.read(reader, counts.len() as u64),
            Self::Pio(grid) => grid.part(reader, readers),
        }
    }
}

/// Does the task.
pub(crate) fn play(task: &Task, stage: &mut Stage, registry: &Registry) -> Result<()> {
    let pool = registry.open_pool(&task.pool.parse::<PoolUri>()?)?;
    let store = Store::open(&*pool, task.updates, task.class.parse()?)?;
    let (layout, seat) = (task.layout, stage.seat);
    let mut player = Player { layout, store, buffer: Vec::new() };
    let [write, read] = layout.phases();
    match task.act {
        Act::Write => {
            let writer = Writer { number: seat.process, of: seat.processes };
            stage.phase(write, |recorder| player.write(recorder, writer, 1, task.versions))
        }
        Act::Read | Act::Restart { .. } => {
            let reader = task.act.reader(seat);
            let times = u64::from(reader.number < reader.of);
            stage.phase(read, |recorder| player.read(recorder, reader, times, task.versions))
        }
        Act::WriteWhileRead => match side(seat) {
            Side::Writer(writer) => {
                stage.phase("setup", |recorder| player.write(recorder, writer, 1, 1))?;
                stage.phase(write, |recorder| player.write(recorder, writer, 2, task.versions))
            }
            Side::Reader(reader) => {
                stage.phase("setup", |_| Ok(()))?;
                stage.phase(read, |recorder| player.read(recorder, reader, task.versions, 1))
            }
        },
    }
}

/// One of the processes that write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Writer {
    number: u32,
    of: u32,
}

/// One of the processes that read what the writers wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reader {
    number: u32,
    of: u32,
    writers: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum Side {
    Writer(Writer),
    Reader(Reader),
}

/// The first half of the processes writes, the others read.
fn side(seat: Seat) -> Side {
    let half = seat.processes / 2;
    match seat.process.checked_sub(half) {
        None => Side::Writer(Writer { number: seat.process, of: half }),
        Some(number) => Side::Reader(Reader { number, of: half, writers: half }),
    }
}

struct Player {
    layout: Layout,
    store: Store,
    buffer: Vec<u8>,
}

impl Player {
    /// Writes a process's part of so many versions, from the first on.
    fn write(&mut self, recorder: &mut Recorder, writer: Writer, first: u64, count: u64) -> Result<()> {
        (first..first + count).try_for_each(|version| {
            let part = Part { version, writer: writer.number, writers: writer.of };
            let pieces = self.layout.written(part);
            fill(&pieces, version, &mut self.buffer);
            recorder.operation(|doing| self.store.write(part, &pieces, &self.buffer, doing))
        })
    }

    /// Reads the newest version so many times. One that is older than `least`, or than what was read before, is wrong.
    fn read(&mut self, recorder: &mut Recorder, reader: Reader, times: u64, mut least: u64) -> Result<()> {
        if times > 0 {
            // Memory is not what is measured.
            self.buffer.resize(self.layout.room(reader), 0);
        }
        (0..times).try_for_each(|_| {
            let (number, pieces, is_whole) = recorder.operation(|doing| {
                let (version, pieces) = doing.open(|| {
                    let version = self.store.newest(reader.writers)?;
                    let pieces = self.layout.read(reader.number, reader.of, &version.counts);
                    Ok((version, pieces))
                })?;
                let bytes = bytes_of(&pieces);
                self.buffer.resize(self.buffer.len().max(bytes), 0);
                let is_whole =
                    doing.transfer(bytes as u64, || version.read(&pieces, &mut self.buffer[..bytes]))?;
                doing.close(|| Ok(()))?;
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
    use isotach_object::{Engine, ObjectClass, Pool, memory::Memory};

    use super::*;
    use crate::{
        harness::events::Clock,
        workloads::kernels::{pio::Rearrangement, store::prepare},
    };

    /// Players of the same values in a new pool.
    fn players(updates: Updates) -> [Player; 2] {
        let (engine, uri) = (Memory::new(), "memory:play".parse::<PoolUri>().unwrap());
        engine.create_pool(&uri).unwrap();
        let pool = engine.open_pool(&uri).unwrap();
        prepare(&*pool).unwrap();
        let layout = Layout::Pio(Pio::new(Rearrangement::Subset, 0.01, 1));
        let store = |pool: &dyn Pool| Store::open(pool, updates, ObjectClass::SX).unwrap();
        [(); 2].map(|()| Player { layout, store: store(&*pool), buffer: Vec::new() })
    }

    const ALONE: Writer = Writer { number: 0, of: 1 };
    const READER: Reader = Reader { number: 0, of: 1, writers: 1 };

    #[test]
    fn a_value_that_is_not_of_the_version_and_a_version_that_is_too_old_are_counted_as_wrong() {
        for updates in [Updates::Transactions, Updates::Plain] {
            let [mut writer, mut reader] = players(updates);
            let mut recorder = Recorder::new(Clock::start());
            writer.write(&mut recorder, ALONE, 1, 2).unwrap();
            recorder.operations.clear();
            reader.read(&mut recorder, READER, 1, 2).unwrap();
            reader.read(&mut recorder, READER, 1, 3).unwrap();
            let part = Part { version: 3, writer: 0, writers: 1 };
            let (pieces, mut bytes) = (writer.layout.written(part), Vec::new());
            fill(&pieces, 3, &mut bytes);
            *bytes.last_mut().unwrap() ^= 1;
            recorder.operation(|doing| writer.store.write(part, &pieces, &bytes, doing)).unwrap();
            recorder.operations.pop();
            reader.read(&mut recorder, READER, 1, 3).unwrap();
            let wrong: Vec<bool> = recorder.operations.iter().map(|one| one.wrong).collect();
            assert_eq!(wrong, [false, true, true], "{updates:?}");
        }
    }

    #[test]
    fn before_there_is_a_version_a_reader_says_so() {
        for updates in [Updates::Transactions, Updates::Plain] {
            let [_, mut reader] = players(updates);
            let mut recorder = Recorder::new(Clock::start());
            let error = reader.read(&mut recorder, READER, 1, 1).unwrap_err();
            assert!(error.to_string().contains("no complete version"), "{error}");
        }
    }

    #[test]
    fn a_reader_of_all_that_was_written_reads_what_its_neighbour_wrote_on_another_node_if_there_is_one() {
        let of = |processes, nodes| Act::Read.reader(Seat { process: 1, processes, node: 0, nodes });
        assert_eq!((of(4, 1).number, of(4, 2).number, of(4, 2).of), (2, 3, 4));
        let restart =
            Act::Restart { readers: None }.reader(Seat { process: 1, processes: 4, node: 0, nodes: 2 });
        assert_eq!(restart, Reader { number: 1, of: 3, writers: 4 });
    }

    #[test]
    fn the_first_half_writes_and_the_others_read() {
        let of = |process, processes| side(Seat { process, processes, node: 0, nodes: 1 });
        assert_eq!(of(1, 4), Side::Writer(Writer { number: 1, of: 2 }));
        assert_eq!(of(2, 4), Side::Reader(Reader { number: 0, of: 2, writers: 2 }));
    }
}
