//! Transfer: messages between pairs of processes, over TCP and over MPI. It shows the ceiling that the network sets to a store.
//!
//! The published runs begin with the same, by iperf and MPI, and compare the providers of the network with what the store reaches
//! (figure 7 of "DAOS as HPC Storage: a View From Numerical Weather Prediction", Manubens, Quintino, Smart, Danovaro, Jackson,
//! 2022). The first half of all processes are paired with the second half, so on several nodes each pair is on two nodes.

mod case;
mod message;
pub(crate) mod mpi;
mod pairs;
mod play;
mod table;
pub(crate) mod tcp;

use std::{
    io::{IsTerminal, Write, stderr},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::{
    case::Case,
    message::SIZE_MIN,
    mpi::{Launch, MpiArgs, Ranks},
    play::{Direction, Plan},
    tcp::Transfer,
};
use crate::{
    Error, Result,
    harness::{
        launcher::{Launcher, RunOutcome},
        parse::{process_count, seconds, within},
        study::Record,
    },
};

pub(crate) use play::TRANSFER;
pub(crate) use table::latency_of;

/// The name of the workload in records.
pub(crate) const NAME: &str = "transfer";
const LOOPBACK: &str = "127.0.0.1";
const SIZE_MAX: usize = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// A connection of TCP for each pair
    Tcp,
    /// Messages of MPI, whose library is loaded from the site
    Mpi,
}

fn message_size(text: &str) -> std::result::Result<usize, String> {
    within(SIZE_MIN, SIZE_MAX, text)
}

/// Options of `transfer`. All combinations of their values are measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct TransferArgs {
    /// Ways of transfer [default: tcp, and mpi where it can be started]
    #[arg(long = "transport", value_name = "TRANSPORT", value_delimiter = ',')]
    transports: Vec<Transport>,
    /// Who sends
    #[arg(
        long = "direction",
        value_name = "DIRECTION",
        value_delimiter = ',',
        default_value = "one-way,both-ways,ping-pong"
    )]
    directions: Vec<Direction>,
    /// Bytes of a message
    #[arg(long = "size", value_name = "BYTES", value_delimiter = ',', default_values_t = [1 << 16, 1 << 20, 1 << 22], value_parser = message_size)]
    sizes: Vec<usize>,
    /// Bytes of a message that goes there and back
    #[arg(long, value_name = "BYTES", default_value_t = 8, value_parser = message_size)]
    ping_size: usize,
    /// How often it does
    #[arg(long, value_name = "COUNT", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    round_trips: u64,
    /// How long each pair sends
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds, conflicts_with = "messages")]
    seconds: f64,
    /// Messages of each sender, instead of --seconds. Small ones are rounded up to whole operations of 1 MiB
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    messages: Option<u64>,
    /// The longest wait for a message, after which the run has failed
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    timeout: f64,
    /// Nodes to run on, an even number [default: this one, over its loopback]. This program must exist under the same path on each
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    hosts: Vec<String>,
    /// The addresses of the hosts in the network that TCP is to use, in the same order [default: the hosts]
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', requires = "hosts")]
    addresses: Vec<String>,
    /// How nodes are started: ssh, srun, mpirun, or a command line in which {host} stands for the host
    #[arg(long, value_name = "LAUNCHER", default_value = "ssh", requires = "hosts")]
    launcher: String,
    /// MPI
    #[command(flatten)]
    mpi: MpiArgs,
    /// Processes on each node; an even number on a single one
    #[arg(short = 'n', long = "processes", value_name = "COUNT", value_delimiter = ',', default_values_t = [2], value_parser = process_count)]
    processes: Vec<usize>,
    /// Repetitions of each case: all cases are measured once before any of them again
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// The folder for the record of the run, for `isotach report`; it must not exist [default: bench-transfer-TIME]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Also show each pair
    #[arg(long)]
    pairs: bool,
    /// One JSON object per line for each result, instead of a table
    #[arg(long)]
    json: bool,
}

impl TransferArgs {
    fn nodes(&self) -> usize {
        self.hosts.len().max(1)
    }

    /// Refuses what leaves a process without a partner on another node.
    fn check(&self) -> Result<()> {
        let nodes = self.nodes();
        if nodes > 1 && nodes % 2 == 1 {
            let expected = "an even number: each node of the first half has a partner in the second";
            return Err(Error::invalid(format!("{nodes} nodes"), expected));
        }
        if let Some(odd) = self.processes.iter().find(|count| nodes == 1 && *count % 2 == 1) {
            let expected = "an even number (-n): each process has a partner";
            return Err(Error::invalid(format!("{odd} processes on one node"), expected));
        }
        if !self.addresses.is_empty() && self.addresses.len() != self.hosts.len() {
            let what = format!("{} addresses of {} hosts", self.addresses.len(), self.hosts.len());
            return Err(Error::invalid(what, "one for each"));
        }
        if self.timeout == 0.0 {
            return Err(Error::invalid("--timeout 0", "the seconds that a message may take at most"));
        }
        Ok(())
    }

    fn addresses(&self) -> Vec<String> {
        match (self.hosts.is_empty(), self.addresses.is_empty()) {
            (true, _) => vec![LOOPBACK.to_owned()],
            (false, true) => self.hosts.clone(),
            (false, false) => self.addresses.clone(),
        }
    }

    /// What a pair does in a case of this direction and size.
    fn plan(&self, direction: Direction, size: usize) -> Plan {
        let messages = if direction == Direction::PingPong { Some(self.round_trips) } else { self.messages };
        Plan { direction, size, messages, seconds: self.seconds, timeout: self.timeout }
    }

    fn plans(&self) -> Vec<Plan> {
        let of = |direction: &Direction| match direction {
            Direction::PingPong => vec![self.plan(*direction, self.ping_size)],
            Direction::OneWay | Direction::BothWays => {
                self.sizes.iter().map(|size| self.plan(*direction, *size)).collect()
            }
        };
        self.directions.iter().flat_map(of).collect()
    }
}

pub(crate) fn run(args: &TransferArgs, out: &mut impl Write) -> Result<()> {
    args.check()?;
    let mpi = find_mpi(args)?;
    let mut launcher = Launcher::start(&args.hosts, &args.launcher)?;
    // A stopped process ends no phase. Its partner fails after the timeout, and others may need as long.
    launcher.patience = Some(Duration::from_secs_f64(args.timeout));
    let mut record = Record::begin(NAME, args.out.as_deref(), launcher.hosts())?;
    let is_tcp = args.transports.is_empty() || args.transports.contains(&Transport::Tcp);
    record.update(|run| run.settings = settings(args, is_tcp, mpi.as_ref()))?;
    let cases = case::all(args, is_tcp, mpi.is_some());
    let mut job = Job { args, launcher, launch: mpi.map(|mpi| mpi.launch), record };
    let all = cases.len() * args.repetitions as usize;
    let mut done = 0;
    for repetition in 0..args.repetitions {
        for case in &cases {
            done += 1;
            job.measure(case, repetition, &format!("{done}/{all}"))?;
        }
    }
    let mut record = job.record;
    record.end()?;
    match args.json {
        true => record.print_lines(out),
        false => table::print(&record, args.pairs, out).map_err(Error::Output),
    }
}

/// An MPI that has been started once.
struct Mpi {
    launch: Launch,
    /// The version of its library.
    library: String,
}

/// Finds MPI where it is wanted. Without --transport a machine without MPI is measured over TCP alone.
fn find_mpi(args: &TransferArgs) -> Result<Option<Mpi>> {
    if !args.transports.is_empty() && !args.transports.contains(&Transport::Mpi) {
        return Ok(None);
    }
    let found = Launch::find(&args.mpi, &args.launcher, &args.hosts).and_then(|launch| {
        let plan = Plan { messages: Some(1), ..args.plan(Direction::PingPong, SIZE_MIN) };
        let per_node = args.processes.iter().copied().min().unwrap_or(2);
        let library = mpi::probe(&launch, &plan, Ranks { hosts: &args.hosts, per_node, variables: "" })?;
        Ok(Mpi { launch, library })
    });
    match found {
        Ok(mpi) => Ok(Some(mpi)),
        Err(error) if args.transports.is_empty() => {
            let _ = writeln!(stderr(), "not measured over MPI: {error}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn settings(args: &TransferArgs, is_tcp: bool, mpi: Option<&Mpi>) -> Map<String, Value> {
    let mut settings = Map::new();
    if is_tcp {
        settings.insert("TCP".to_owned(), serde_json::json!({ "addresses": args.addresses() }));
    }
    if let Some(Mpi { launch, library }) = mpi {
        let launcher = launch.template();
        settings.insert("MPI".to_owned(), serde_json::json!({ "library": library, "launcher": launcher }));
    }
    settings
}

struct Job<'a> {
    args: &'a TransferArgs,
    launcher: Launcher,
    launch: Option<Launch>,
    record: Record,
}

impl Job<'_> {
    fn measure(&mut self, case: &Case, repetition: u32, progress: &str) -> Result<()> {
        let number = self.record.add_case(case.labels(self.args.nodes()));
        let title = format!("{progress} {}", self.record.title(number));
        let outcome = self.run(case, &title)?;
        self.record.add_outcome((number, repetition), &outcome, false)?;
        if !outcome.problems.is_empty() {
            return Err(Error::Incomplete { problems: outcome.problems });
        }
        let hosts = self.host_names();
        for phase in outcome.phases.iter().filter(|phase| phase.name == TRANSFER) {
            let more = pairs::fields(phase, &case.plan, &hosts);
            self.record.add_fields(number, repetition, TRANSFER, |_| more)?;
        }
        Ok(())
    }

    /// The names of the nodes, as they were given.
    fn host_names(&self) -> Vec<String> {
        match self.args.hosts.is_empty() {
            true => self.launcher.hosts().into_iter().map(|host| host.name).collect(),
            false => self.args.hosts.clone(),
        }
    }

    fn run(&mut self, case: &Case, title: &str) -> Result<RunOutcome> {
        let shows = stderr().is_terminal();
        let show = |text: &str| {
            if shows {
                let _ = write!(stderr(), "\r\x1b[K{text}");
            }
        };
        let outcome = match (case.transport, &self.launch) {
            (Transport::Mpi, Some(launch)) => {
                show(title);
                let ranks = Ranks {
                    hosts: &self.args.hosts,
                    per_node: case.per_node,
                    variables: case.variables.as_deref().unwrap_or_default(),
                };
                launch.run(&case.plan, ranks)?.outcome
            }
            _ => {
                let transfer = Transfer {
                    plan: case.plan.clone(),
                    hosts: self.host_names(),
                    addresses: self.args.addresses(),
                };
                let on_phase = |phase: &str| show(&format!("{title}: {phase}"));
                self.launcher.run(self.args.nodes(), case.per_node, &transfer.task()?, on_phase)?
            }
        };
        show("");
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: TransferArgs,
    }

    fn args(words: &str) -> TransferArgs {
        Program::try_parse_from(std::iter::once("transfer").chain(words.split_whitespace())).unwrap().args
    }

    #[test]
    fn processes_without_a_partner_and_hosts_without_an_address_are_refused() {
        for (words, expected) in [
            ("-n 3", "3 processes on one node; expected an even number (-n)"),
            ("-n 2,5", "5 processes on one node"),
            ("--hosts a,b,c -n 1", "3 nodes; expected an even number"),
            ("--hosts a,b --addresses x", "1 addresses of 2 hosts; expected one for each"),
            ("--timeout 0", "--timeout 0"),
        ] {
            let error = args(words).check().unwrap_err().to_string();
            assert!(error.contains(expected), "{words}: {error}");
        }
        for words in ["", "--hosts a,b -n 1", "--hosts a -n 2", "--hosts a,b --addresses a-ib,b-ib"] {
            args(words).check().unwrap();
        }
    }

    #[test]
    fn each_size_is_sent_one_way_and_both_ways_and_a_small_one_back_and_forth() {
        let plans = args("--messages 7").plans();
        let found: Vec<_> = plans.iter().map(|plan| (plan.direction, plan.size, plan.messages)).collect();
        assert_eq!(found.len(), 7);
        assert_eq!(found[0], (Direction::OneWay, 1 << 16, Some(7)));
        assert_eq!(found[6], (Direction::PingPong, 8, Some(5000)));
        assert_eq!(args("--hosts a,b").addresses(), ["a", "b"]);
        assert_eq!(args("").addresses(), [LOOPBACK]);
    }
}
