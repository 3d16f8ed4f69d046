//! The limit beside a case: what plain files on the same file system take and give, of as many bytes with as many processes,
//! right after all that the case does.
//!
//! What must stay true: what the limit lacks, such as room, ends nothing but itself; its files are gone, or on record, when
//! the case is over.

use std::{
    fs::{self, File},
    io::{Write, stderr},
    path::{Path, PathBuf},
};

use isotach_object::Registry;
use serde_json::{Map, Value};

use super::{Place, Record};
use crate::{
    Error, Result,
    harness::{
        events::Part,
        launcher::{
            PlayedPhase,
            cpus::{self, Socket},
        },
        load::{make_memory_ready, numbers_of, words},
        machine,
        metrics::{MIB, OVERLAP_MIN},
        team::{self, Line, On, Total},
    },
    workloads::ensemble,
};

/// Bytes that a plain process writes or reads at once, at most.
const BLOCK_MAX: u64 = 1 << 20;
/// The phases that write; others read.
const WRITES: [&str; 2] = ["write", "checkpoint"];
/// What the names of files begin with that are read beside writers.
const BESIDE: &str = "read-";
/// What comes before that which is measured.
const SETUP: &str = "setup";

/// How a figure stands to a limit, as a record has it.
pub(crate) fn beside(mib_per_s: f64, limit_mib_per_s: f64, is_overlap_poor: bool) -> Map<String, Value> {
    let all = [
        (LIMIT, limit_mib_per_s.into()),
        (RATIO, (mib_per_s / limit_mib_per_s).into()),
        (IS_POOR, is_overlap_poor.into()),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Under what a record has the limit of a figure.
pub(crate) const LIMIT: &str = "limit_mib_per_s";
/// Under what a record has the ratio of a figure to its limit.
pub(super) const RATIO: &str = "ratio_to_limit";
/// Whether the processes of the limit did not overlap well.
pub(crate) const IS_POOR: &str = "is_limit_overlap_poor";
/// Why there is none.
pub(crate) const LIMIT_ERROR: &str = "limit_error";

/// The plain files of a case.
pub(super) struct Limit {
    /// Where they are, once they have been made.
    folder: PathBuf,
    is_made: bool,
    /// Why there is none, once it has failed.
    failure: Option<String>,
    /// Operations of a process between two syncs; 0 where nothing waits for the device.
    sync_every: u64,
    /// Where processes run: each on the processor of the one that it stands for.
    sockets: Vec<Socket>,
}

/// Of each phase what its processes move in a second, and whether they all overlapped badly.
type Rates = (Vec<f64>, bool);

/// What each process of a phase moves.
struct Share {
    blocks: u64,
    block: u64,
    sync_every: u64,
}

impl Limit {
    /// Beside what is on a file system of this machine.
    pub(super) fn beside(place: &Place, flush_every: u64) -> Option<Self> {
        let mut name = place.folder()?.file_name()?.to_owned();
        name.push("-plain");
        let folder = place.folder()?.with_file_name(name);
        let waits = !matches!(place, Place::Pool(uri) if uri.option("sync") == Some("no"));
        Some(Self {
            folder,
            is_made: false,
            failure: None,
            sockets: cpus::sockets(),
            sync_every: if waits { flush_every } else { 0 },
        })
    }

    /// Measures it for what was let go together, and puts it on record beside that, or why it could not be. After a failure
    /// nothing more is tried.
    pub(super) fn measure(
        &mut self,
        (record, registry): (&mut Record, &Registry),
        (case, repetition): (u32, u32),
        together: &[&PlayedPhase],
    ) -> Result<()> {
        let moves = |phase: &&&PlayedPhase| phase.name != SETUP && bytes_of(phase) > 0;
        let phases: Vec<&PlayedPhase> = together.iter().filter(moves).copied().collect();
        if phases.is_empty() {
            return Ok(());
        }
        let found = self.try_rates((record, registry), case, &phases)?;
        for (number, phase) in phases.iter().enumerate().filter(|(_, phase)| !waits_for_others(phase)) {
            record.beside(case, repetition, &phase.name, |figures| match &found {
                Ok((rates, is_poor)) => {
                    beside(figures.global_timing_bandwidth / MIB, rates[number] / MIB, *is_poor)
                }
                Err(failure) => Map::from_iter([(LIMIT_ERROR.to_owned(), failure.clone().into())]),
            })?;
        }
        Ok(())
    }

    /// The rates of these phases, or why there are none, which ends nothing else.
    fn try_rates(
        &mut self,
        (record, registry): (&mut Record, &Registry),
        case: u32,
        phases: &[&PlayedPhase],
    ) -> Result<std::result::Result<Rates, String>> {
        if let Some(failure) = &self.failure {
            return Ok(Err(failure.clone()));
        }
        match self.make(record, registry).and_then(|()| self.rates(phases)) {
            Ok(rates) => Ok(Ok(rates)),
            Err(error) => {
                // Whoever looks on need not read the record to know.
                let _ = writeln!(stderr(), "no limit beside {}: {error}", record.title(case));
                self.remove(record, registry)?;
                self.failure = Some(error.to_string());
                Ok(Err(error.to_string()))
            }
        }
    }

    fn make(&mut self, record: &mut Record, registry: &Registry) -> Result<()> {
        if !self.is_made {
            record.make(&self.place(), registry)?;
            self.is_made = true;
        }
        Ok(())
    }

    /// Removes the files.
    pub(super) fn remove(&mut self, record: &mut Record, registry: &Registry) -> Result<()> {
        if self.is_made {
            self.place().remove(registry)?;
            record.has_removed(&self.place())?;
            self.is_made = false;
        }
        Ok(())
    }

    fn place(&self) -> Place {
        Place::Folder(self.folder.clone())
    }

    /// Plain processes for each phase, all at once.
    fn rates(&self, phases: &[&PlayedPhase]) -> Result<Rates> {
        let writes = phases.iter().filter(|phase| is_write(phase));
        let written: u64 = writes.map(|phase| bytes_of(phase)).sum();
        // What is written must not be what is read at the same time.
        let readable = if written > 0 { BESIDE } else { "" };
        let lines = phases.iter().map(|phase| self.lines(phase, readable)).collect::<Result<Vec<_>>>()?;
        self.check_room(written)?;
        // Now that what is to be read has taken memory of its own.
        make_memory_ready(&self.folder, written)?;
        let all = team::run_each(&lines.concat(), On::Nothing)?;
        let mut rest = &all[..];
        let rates = lines.iter().map(|of_phase| {
            let (own, others) = rest.split_at(of_phase.len());
            rest = others;
            let total = Total::of(own);
            total.bytes as f64 / total.seconds
        });
        Ok((rates.collect(), Total::of(&all).overlap() < OVERLAP_MIN))
    }

    /// A plain process for each of a phase.
    fn lines(&self, phase: &PlayedPhase, readable: &str) -> Result<Vec<Line>> {
        let writes = is_write(phase);
        let share = |(_, process, part): &(u32, u32, Part)| Some((*process, self.share(part, writes)?));
        let shares = phase.parts.iter().filter_map(share).enumerate();
        let line = |(number, (process, share)): (usize, (u32, Share))| {
            let cpu = cpus::cpu_of(&self.sockets, process as usize);
            if writes {
                return Ok(share.line("write", &self.file("", number), cpu));
            }
            let path = self.file(readable, number);
            self.make_readable(&path, &share)?;
            Ok(share.line("read", &path, cpu))
        };
        shares.map(line).collect()
    }

    /// What a process does that moves as many bytes as one has moved.
    fn share(&self, part: &Part, writes: bool) -> Option<Share> {
        let bytes: u64 = part.operations.iter().map(|operation| operation.bytes).sum();
        let operations = part.operations.len() as u64;
        let of_operation = bytes.checked_div(operations).filter(|bytes| *bytes > 0)?;
        let blocks = of_operation.div_ceil(BLOCK_MAX);
        let sync_every = if writes { self.sync_every * blocks } else { 0 };
        Some(Share { blocks: operations * blocks, block: of_operation / blocks, sync_every })
    }

    /// Refuses to fill what others need.
    fn check_room(&self, bytes: u64) -> Result<()> {
        let room = machine::room(&self.folder).map_err(Error::io("look at", &self.folder))?;
        let room =
            if machine::is_memory(&self.folder) { room.min(machine::memory_available()) } else { room };
        match bytes <= room {
            true => Ok(()),
            false => Err(Error::invalid(
                format!("{room} bytes of room in {}", self.folder.display()),
                format!("{bytes} for plain files"),
            )),
        }
    }

    fn file(&self, prefix: &str, number: usize) -> PathBuf {
        self.folder.join(format!("{prefix}{number}"))
    }

    /// Writes what is to be read, unless it is there.
    fn make_readable(&self, path: &Path, share: &Share) -> Result<()> {
        if fs::metadata(path).is_ok_and(|there| there.len() >= share.bytes()) {
            return Ok(());
        }
        self.check_room(share.bytes())?;
        let mut file = File::create(path).map_err(Error::io("make", path))?;
        let block = ensemble::block(share.block as usize);
        (0..share.blocks).try_for_each(|_| file.write_all(&block)).map_err(Error::io("write", path))?;
        match self.sync_every {
            0 => Ok(()),
            // What still is to be written would be while it is read.
            _ => file.sync_data().map_err(Error::io("sync", path)),
        }
    }
}

impl Share {
    fn bytes(&self) -> u64 {
        self.blocks * self.block
    }

    fn line(&self, op: &str, path: &Path, cpu: Option<usize>) -> Line {
        let numbers = numbers_of([self.blocks, self.block, self.sync_every]);
        let cpu = cpu.into_iter().flat_map(|cpu| ["--cpu".into(), cpu.to_string().into()]);
        words(["worker", op]).chain([path.into()]).chain(numbers).chain(cpu).collect()
    }
}

/// Whether its processes follow others: how long they take is how long these take.
fn waits_for_others(phase: &PlayedPhase) -> bool {
    phase.all().any(|part| part.notes.asked.is_some())
}

fn is_write(phase: &PlayedPhase) -> bool {
    WRITES.contains(&&*phase.name)
}

fn bytes_of(phase: &PlayedPhase) -> u64 {
    phase.all().flat_map(|part| &part.operations).map(|operation| operation.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::events::Operation;

    fn part(operations: usize, bytes: u64) -> Part {
        let operation = Operation { iteration: 0, bytes, wrong: false, times: [0; 8] };
        Part { operations: vec![operation; operations], ..Part::default() }
    }

    fn limit(place: &str) -> Option<Limit> {
        Limit::beside(&Place::parse(place).unwrap(), 10)
    }

    #[test]
    fn a_plain_process_moves_the_bytes_of_one_in_blocks_with_its_rhythm_of_syncs() {
        let share = |place: &str, part: &Part, writes| {
            let share = limit(place).unwrap().share(part, writes)?;
            Some([share.blocks, share.block, share.sync_every])
        };
        assert_eq!(share("posix:/data/pool", &part(4, 4096), true), Some([4, 4096, 10]));
        assert_eq!(share("posix:/data/pool", &part(4, 4096), false), Some([4, 4096, 0]));
        assert_eq!(share("posix:/data/pool?sync=no", &part(4, 4096), true), Some([4, 4096, 0]));
        assert_eq!(share("posix:/data/pool", &part(2, 5 << 20), true), Some([10, 1 << 20, 50]));
        assert_eq!(share("posix:/data/pool", &part(4, 0), true), None, "a listing");
        assert_eq!(share("posix:/data/pool", &Part::default(), true), None);
    }

    #[test]
    fn plain_files_are_beside_a_pool_that_is_on_a_file_system_and_nowhere_else() {
        assert_eq!(limit("posix:/data/pool?sync=no").unwrap().folder, Path::new("/data/pool-plain"));
        assert!(limit("rados://pool").is_none());
    }
}
