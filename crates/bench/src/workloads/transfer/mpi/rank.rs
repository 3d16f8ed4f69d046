//! One rank: finds its partner, plays, and hands its events to rank 0.

use std::{
    env,
    io::{BufRead, stdin},
    path::PathBuf,
    thread,
    time::Duration,
};

use clap::Args;

use super::{
    super::play::{Plan, Stage, Wire, partner, play},
    api::{self, World},
    report::{DRIVER, END_MAX, FromRanks, Home, PhaseLog, Report, START_MAX},
    watch::{Limit, Watch, end_process, host, say},
};
use crate::{
    Error, Result,
    harness::{
        events::{Clock, ProcessLog, Recorder},
        launcher::Rank,
        output::json,
    },
};

/// Where the loader finds an MPI library, by what the launcher's environment says of it.
const OPEN_MPI: [&str; 2] = ["libmpi.so.40", "libmpi.so.20"];
const MPICH: [&str; 3] = ["libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"];
const ANY: &str = "libmpi.so";
/// The largest piece of a report in one message.
const PIECE: usize = 1 << 26;
/// Samples of the clock of another rank.
const CLOCK_SAMPLES: usize = 5;

/// Options of a rank, which the driver gives it.
#[derive(Debug, Clone, Args)]
pub(crate) struct RankArgs {
    #[command(flatten)]
    pub(super) plan: Plan,
    /// How many ranks there must be
    #[arg(long)]
    ranks: u32,
    /// How many nodes they must be on
    #[arg(long)]
    nodes: u32,
    #[arg(long)]
    mpi_library: Option<PathBuf>,
}

/// Runs a rank, and says how it failed if it did.
pub(crate) fn run(args: &RankArgs) -> Result<()> {
    let watch = Watch::start(of_mpi(START_MAX, "the start of MPI"));
    let outcome = start(args, &watch);
    if let Err(error) = &outcome {
        watch.say_failed(&error.to_string(), matches!(error, Error::Invalid { .. }));
    }
    outcome
}

/// The limit of a wait for MPI or for all ranks.
fn of_mpi(most: Duration, waits_for: &str) -> Limit {
    Limit { most, option: None, waits_for: waits_for.to_owned() }
}

fn start(args: &RankArgs, watch: &Watch) -> Result<()> {
    let (library, version) = api::load(args.mpi_library.as_deref(), &library_names())?;
    let world = api::start(library, &version)?;
    let (rank, size) = (world.rank()?, world.size()?);
    watch.set_rank(rank);
    check_size(size, args.ranks, &version)?;
    if rank == 0 {
        thread::spawn(end_with_driver);
    }
    let ranks = Ranks { world: &*world, rank, size, watch };
    let homes = ranks.homes()?;
    let hosts: Vec<String> = homes.iter().map(|home| home.host.clone()).collect();
    let place = place(rank, &hosts);
    check_places(&hosts, args.nodes)?;
    let (clock, shifts) = ranks.compare_clocks(place.nodes)?;
    if rank == 0 {
        say(&FromRanks::Begun(homes))?;
    }
    let (other, _) = partner(place);
    let name = format!("process {other} on {}", hosts[other as usize]);
    let limit = Limit { most: args.plan.timeout(), option: Some("--timeout"), waits_for: name.clone() };
    let mut stage = Phases { ranks: &ranks, limit, clock, began: clock.now(), logs: Vec::new() };
    let mut wire = ToPartner { ranks: &ranks, other };
    play(&args.plan, place, &name, &mut stage, &mut wire)?;
    // Other pairs may still transfer, and rank 0 gathers what all have recorded.
    world.barrier()?;
    if rank == 0 {
        watch.limit(of_mpi(END_MAX, "the logs of the other ranks"));
    }
    ranks.report(stage.logs, hosts, version, &shifts)?;
    world.barrier()?;
    watch.limit(of_mpi(END_MAX, "the end of MPI"));
    world.finalize()?;
    watch.end();
    Ok(())
}

fn library_names() -> Vec<&'static str> {
    let has = |name: &str| env::var_os(name).is_some();
    let is_mpich = has("PMI_RANK") || has("PMI_FD");
    let is_open_mpi = has("OMPI_COMM_WORLD_SIZE") || !is_mpich;
    match is_open_mpi {
        true => OPEN_MPI.into_iter().chain(MPICH).chain([ANY]).collect(),
        false => MPICH.into_iter().chain(OPEN_MPI).chain([ANY]).collect(),
    }
}

fn check_size(size: u32, expected: u32, version: &str) -> Result<()> {
    match size == expected {
        true => Ok(()),
        false => Err(Error::invalid(
            format!("MPI ({version}) has a world of {size} ranks where {expected} were started"),
            "a launcher (--mpi-launcher) and a library (--mpi-library) of the same MPI",
        )),
    }
}

/// The place of a rank, with its node by the order in which hosts appear.
fn place(rank: u32, hosts: &[String]) -> Rank {
    let mut nodes: Vec<&String> = Vec::new();
    for host in hosts {
        if !nodes.contains(&host) {
            nodes.push(host);
        }
    }
    let node = nodes.iter().position(|host| **host == hosts[rank as usize]).unwrap_or(0);
    Rank { process: rank, processes: hosts.len() as u32, node: node as u32, nodes: nodes.len() as u32 }
}

/// Refuses a launcher that puts partners on one node where there are several, or uses fewer nodes.
fn check_places(hosts: &[String], nodes: u32) -> Result<()> {
    let place = place(0, hosts);
    let expected = "a launcher that starts as many ranks on each node, and fills a node before the next (--mpi-launcher)";
    if place.nodes != nodes {
        let what = format!("the MPI launcher has started ranks on {} of {nodes} nodes", place.nodes);
        return Err(Error::invalid(what, expected));
    }
    let half = hosts.len() / 2;
    match (0..half).find(|first| nodes > 1 && hosts[*first] == hosts[first + half]) {
        None => Ok(()),
        Some(first) => Err(Error::invalid(
            format!("ranks {first} and {} are partners and both on {}", first + half, hosts[first]),
            expected,
        )),
    }
}

/// Ends this process when the driver is gone: its end of the pipe is closed then.
fn end_with_driver() {
    if has_lost_driver(&mut stdin().lock()) {
        end_process();
    }
}

/// Reads to the end of the input. It is the driver's only where it begins with the driver's line: some launchers hand on no input.
fn has_lost_driver(input: &mut impl BufRead) -> bool {
    let mut line = String::new();
    let is_driver = input.read_line(&mut line).is_ok() && line.trim_end() == DRIVER;
    while is_driver && input.read_line(&mut line).is_ok_and(|length| length > 0) {
        line.clear();
    }
    is_driver
}

/// All ranks, as one of them sees them.
struct Ranks<'w> {
    world: &'w dyn World,
    rank: u32,
    size: u32,
    watch: &'w Watch,
}

impl Ranks<'_> {
    fn others(&self) -> std::ops::Range<u32> {
        1..self.size
    }

    /// Sends bytes of any length.
    fn send_all(&self, bytes: &[u8], to: u32) -> Result<()> {
        self.world.send(&(bytes.len() as u64).to_le_bytes(), to)?;
        bytes.chunks(PIECE).try_for_each(|piece| {
            self.watch.step();
            self.world.send(piece, to)
        })
    }

    fn receive_all(&self, from: u32) -> Result<Vec<u8>> {
        let mut length = [0; 8];
        self.world.receive(&mut length, from)?;
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        bytes.chunks_mut(PIECE).try_for_each(|piece| {
            self.watch.step();
            self.world.receive(piece, from)
        })?;
        Ok(bytes)
    }

    /// Rank 0 gets a value of each rank; the others get none.
    fn gather<T: serde::Serialize + serde::de::DeserializeOwned>(&self, own: T) -> Result<Vec<T>> {
        if self.rank != 0 {
            self.send_all(json(&own)?.as_bytes(), 0)?;
            return Ok(Vec::new());
        }
        let of_other = |from| parse(&self.receive_all(from)?);
        [Ok(own)].into_iter().chain(self.others().map(of_other)).collect()
    }

    /// Where each rank is, for all ranks.
    fn homes(&self) -> Result<Vec<Home>> {
        let homes = self.gather(Home { host: host(), pid: std::process::id() })?;
        if self.rank != 0 {
            return parse(&self.receive_all(0)?);
        }
        let text = json(&homes)?;
        self.others().try_for_each(|rank| self.send_all(text.as_bytes(), rank))?;
        Ok(homes)
    }

    /// The clock of this rank, and on rank 0 for each rank what to add to its times, with the uncertainty of that.
    fn compare_clocks(&self, nodes: u32) -> Result<(Clock, Vec<(i64, i64)>)> {
        let clock = Clock::start();
        if nodes <= 1 {
            return Ok((clock, Vec::new()));
        }
        let mut time = [0; 8];
        if self.rank != 0 {
            for _ in 0..CLOCK_SAMPLES {
                self.world.receive(&mut time, 0)?;
                self.world.send(&clock.now().to_le_bytes(), 0)?;
            }
            return Ok((clock, Vec::new()));
        }
        let mut shifts = vec![(0, 0)];
        for other in self.others() {
            let mut best = (0, i64::MAX);
            for _ in 0..CLOCK_SAMPLES {
                let asked = clock.now();
                self.world.send(&time, other)?;
                self.world.receive(&mut time, other)?;
                let half = (clock.now() - asked) / 2;
                if half < best.1 {
                    // The best estimate is that the other read its clock half-way between question and answer.
                    best = (asked + half - i64::from_le_bytes(time), half);
                }
            }
            shifts.push(best);
        }
        Ok((clock, shifts))
    }

    /// Rank 0 writes what all have recorded.
    fn report(
        &self,
        own: Vec<PhaseLog>,
        hosts: Vec<String>,
        library: String,
        shifts: &[(i64, i64)],
    ) -> Result<()> {
        let mut logs = self.gather(own)?;
        if self.rank != 0 {
            return Ok(());
        }
        for (of_rank, (shift, _)) in logs.iter_mut().zip(shifts) {
            of_rank.iter_mut().for_each(|one| one.log.shift(*shift));
        }
        let mut uncertainties: Vec<i64> = shifts.iter().map(|(_, uncertainty)| *uncertainty).collect();
        uncertainties.sort_unstable();
        // Two clocks differ by at most the sum of the two largest uncertainties.
        let largest: i64 = uncertainties.iter().rev().take(2).sum();
        let clock_uncertainty_s = (!shifts.is_empty()).then_some(largest as f64 / 1e9);
        say(&FromRanks::Done(Report { library, hosts, clock_uncertainty_s, logs }))
    }
}

fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::pipe("read a message of a rank")(error.into()))
}

/// Phases between barriers of MPI.
struct Phases<'r> {
    ranks: &'r Ranks<'r>,
    /// How long the partner may be silent within a phase.
    limit: Limit,
    clock: Clock,
    began: i64,
    logs: Vec<PhaseLog>,
}

impl Stage for Phases<'_> {
    fn phase(&mut self, name: &str, work: &mut dyn FnMut(&mut Recorder) -> Result<()>) -> Result<()> {
        let watch = self.ranks.watch;
        watch.pause();
        self.ranks.world.barrier()?;
        let released = self.clock.now();
        watch.limit(self.limit.clone());
        let mut recorder = Recorder::new(self.clock, 0);
        work(&mut recorder)?;
        watch.pause();
        let log = ProcessLog {
            execution_start: self.began,
            execution_end: self.clock.now(),
            operations: recorder.operations,
            later_rounds: Vec::new(),
            notes: recorder.notes,
        };
        self.logs.push(PhaseLog { phase: name.to_owned(), released, log });
        Ok(())
    }
}

/// The way to the partner.
struct ToPartner<'r> {
    ranks: &'r Ranks<'r>,
    other: u32,
}

impl Wire for ToPartner<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.ranks.watch.step();
        self.ranks.world.send(bytes, self.other)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<()> {
        self.ranks.watch.step();
        self.ranks.world.receive(buffer, self.other)
    }

    fn exchange(&mut self, bytes: &[u8], buffer: &mut [u8]) -> Result<()> {
        self.ranks.watch.step();
        self.ranks.world.exchange(bytes, buffer, self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn partners_must_be_on_different_nodes_where_there_are_several() {
        for (names, nodes) in [("a a b b", 2), ("a b", 2), ("a a", 1), ("a b c d", 4)] {
            check_places(&hosts(names), nodes).unwrap();
        }
        let error = |names, nodes| check_places(&hosts(names), nodes).unwrap_err().to_string();
        assert!(error("a b a b", 2).contains("ranks 0 and 2 are partners and both on a"));
        assert!(error("a a a a", 2).contains("ranks on 1 of 2 nodes; expected a launcher"));
        assert_eq!(place(3, &hosts("a a b b")), Rank { process: 3, processes: 4, node: 1, nodes: 2 });
    }

    #[test]
    fn an_end_of_input_means_a_lost_driver_only_after_its_line() {
        assert!(has_lost_driver(&mut format!("{DRIVER}\n").as_bytes()));
        for other in ["", "\n", "another line\n"] {
            assert!(!has_lost_driver(&mut other.as_bytes()), "{other:?}");
        }
    }

    #[test]
    fn a_launcher_of_another_mpi_is_recognised_by_the_size_of_its_world() {
        check_size(4, 4, "MPI").unwrap();
        let error = check_size(1, 4, "Open MPI v4.1.4").unwrap_err().to_string();
        assert!(
            error.contains("a world of 1 ranks where 4 were started") && error.contains("of the same MPI")
        );
    }
}
