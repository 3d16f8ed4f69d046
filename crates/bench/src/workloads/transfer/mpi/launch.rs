//! The driver's side of ranks over MPI: the command line of the launcher, and what the ranks say.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use clap::Args;

use super::{
    super::play::Plan,
    report::{DRIVER, END_MAX, FromRanks, Home, PhaseLog, Report, START_MAX},
};
use crate::{
    Error, Result,
    harness::launcher::{COMMAND, Phase, RunOutcome, this_program},
};

/// The subcommand of a rank.
const RANK: &str = "transfer-rank";
/// How long the launcher may be there after the ranks are done or the first has failed. Ranks end by themselves sooner.
const LAUNCHER_END_MAX: Duration = Duration::from_secs(2 * END_MAX.as_secs());
/// The last lines of a launcher, which say why it failed.
const LINES_MAX: usize = 12;

/// How ranks are started.
#[derive(Debug, Clone, Args)]
pub(crate) struct MpiArgs {
    /// The program that starts MPI ranks, with its options, or a whole command line in which {ranks}, {nodes} and {per_node} stand
    /// for numbers, {hosts} for the hosts as in "a,b", and {slots} for the hosts with their ranks as in "a:4,b:4"
    /// [default: srun with --launcher srun, otherwise mpirun]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) mpi_launcher: Option<String>,
    /// The MPI library [default: the one that the loader finds, of the launcher's kind]
    #[arg(long, value_name = "FILE")]
    pub(crate) mpi_library: Option<PathBuf>,
    /// Variables of the environment of the ranks, by which MPI takes its provider, as in "FI_PROVIDER=tcp" or
    /// "OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self". Each such option is measured by itself
    #[arg(long = "mpi-variables", value_name = "NAME=VALUE...", value_parser = variables)]
    pub(crate) variables: Vec<String>,
}

/// Checks variables of the environment, which blanks part.
fn variables(text: &str) -> std::result::Result<String, String> {
    let is_variable = |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.is_empty());
    let words: Vec<&str> = text.split_whitespace().collect();
    match !words.is_empty() && words.iter().all(|word| is_variable(word)) {
        true => Ok(words.join(" ")),
        false => Err("expected variables with blanks between them, as in FI_PROVIDER=tcp".to_owned()),
    }
}

/// The ranks of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranks<'r> {
    /// The hosts, none for this machine.
    pub(crate) hosts: &'r [String],
    pub(crate) per_node: usize,
    /// Variables of the environment, with blanks between them.
    pub(crate) variables: &'r str,
}

impl Ranks<'_> {
    fn nodes(&self) -> usize {
        self.hosts.len().max(1)
    }

    fn all(&self) -> usize {
        self.nodes() * self.per_node
    }
}

/// A launcher of MPI.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// A command line with places for numbers and hosts.
    template: String,
    library: Option<PathBuf>,
}

/// What ranks have done.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) outcome: RunOutcome,
    /// The version of the MPI library.
    pub(crate) library: String,
    /// Whether another launcher or library is the remedy of the problems.
    is_usage: bool,
}

impl Launch {
    /// Finds the launcher, and how it wants to be told the hosts.
    pub(crate) fn find(args: &MpiArgs, launcher: &str, hosts: &[String]) -> Result<Self> {
        let given = args.mpi_launcher.as_deref();
        let program = given.unwrap_or(if launcher == "srun" { "srun" } else { "mpirun" });
        let template = template(program, !hosts.is_empty(), version_of)?;
        Ok(Self { template, library: args.mpi_library.clone() })
    }

    /// The command line, with places for numbers and hosts.
    pub(crate) fn template(&self) -> &str {
        &self.template
    }

    /// The words before this program.
    fn words(&self, ranks: Ranks<'_>) -> Vec<String> {
        let with_slots = ranks.hosts.iter().map(|host| format!("{host}:{}", ranks.per_node));
        let fill = |word: &str| {
            word.replace("{ranks}", &ranks.all().to_string())
                .replace("{nodes}", &ranks.nodes().to_string())
                .replace("{per_node}", &ranks.per_node.to_string())
                .replace("{hosts}", &ranks.hosts.join(","))
                .replace("{slots}", &with_slots.clone().collect::<Vec<_>>().join(","))
        };
        let words = self.template.split_whitespace().map(fill);
        let environment: Vec<&str> = ranks.variables.split_whitespace().collect();
        // Launchers hand on an environment in different ways; env(1) is the same under all.
        let env = (!environment.is_empty()).then_some("env");
        words.chain(env.into_iter().chain(environment).map(str::to_owned)).collect()
    }

    fn command(&self, plan: &Plan, ranks: Ranks<'_>) -> Result<Command> {
        let words = self.words(ranks);
        let Some((first, rest)) = words.split_first() else { return Err(no_launcher()) };
        let mut command = Command::new(first);
        command.args(rest).arg(this_program()?.get_program()).args([COMMAND, RANK]);
        command.args(plan_words(plan));
        command.arg("--ranks").arg(ranks.all().to_string()).arg("--nodes").arg(ranks.nodes().to_string());
        if let Some(library) = &self.library {
            command.arg("--mpi-library").arg(library);
        }
        Ok(command)
    }

    /// Runs all ranks to their end. What fails is in the problems of the outcome.
    pub(crate) fn run(&self, plan: &Plan, ranks: Ranks<'_>) -> Result<Ran> {
        let mut command = self.command(plan, ranks)?;
        let name = command.get_program().to_owned();
        // Its input ends with this process, by which rank 0 knows that the driver is gone.
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => cannot_start(&name.to_string_lossy(), &error),
            _ => Error::io("start", name.as_ref())(error),
        })?;
        // A launcher that reads no input and has ended says why on its output.
        let _ = child.stdin.as_mut().map(|input| writeln!(input, "{DRIVER}"));
        let (sender, lines) = channel();
        for stream in [
            child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
            child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        ] {
            let sender = sender.clone();
            let forward = move || {
                let lines = stream.into_iter().flat_map(|stream| BufReader::new(stream).split(b'\n'));
                let text = |line: Vec<u8>| String::from_utf8_lossy(&line).into_owned();
                lines.map_while(std::io::Result::ok).map(text).try_for_each(|line| sender.send(line))
            };
            thread::Builder::new().spawn(forward).map_err(Error::pipe("start a thread"))?;
        }
        drop(sender);
        Heard::from(&lines, START_MAX, LAUNCHER_END_MAX).finish(&mut child)
    }
}

/// The options of a rank.
fn plan_words(plan: &Plan) -> Vec<String> {
    use clap::ValueEnum;
    let direction = plan.direction.to_possible_value().map(|value| value.get_name().to_owned());
    let mut words = vec!["--direction".to_owned(), direction.unwrap_or_default()];
    let mut add = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    add("size", plan.size.to_string());
    add("seconds", plan.seconds.to_string());
    add("timeout", plan.timeout.to_string());
    plan.messages.iter().for_each(|messages| add("messages", messages.to_string()));
    words
}

/// The command line of a launcher: the given one if it has places, or the launcher with its options and with places for its kind.
fn template(given: &str, has_hosts: bool, version_of: impl Fn(&str) -> Result<String>) -> Result<String> {
    let Some(program) = given.split_whitespace().next() else { return Err(no_launcher()) };
    let is_srun = program.rsplit('/').next() == Some("srun");
    let srun = "--nodes={nodes} --ntasks={ranks} --ntasks-per-node={per_node} --overlap --nodelist={hosts}";
    Ok(match given.contains('{') {
        true => given.to_owned(),
        false if is_srun => format!("{given} {srun}"),
        false => mpirun(given, &version_of(program)?, has_hosts),
    })
}

fn no_launcher() -> Error {
    Error::invalid("an empty --mpi-launcher", "a program such as mpirun")
}

fn cannot_start(program: &str, error: &std::io::Error) -> Error {
    let remedy = "an MPI launcher on the path, or --mpi-launcher (Debian: openmpi-bin or mpich)";
    Error::invalid(format!("{program} cannot be started: {error}"), remedy)
}

/// The command line of an `mpirun`, which differs between implementations.
fn mpirun(program: &str, version: &str, has_hosts: bool) -> String {
    let is_open_mpi = ["Open MPI", "OpenRTE", "PRTE"].iter().any(|name| version.contains(name));
    match (has_hosts, is_open_mpi) {
        (false, _) => format!("{program} -n {{ranks}}"),
        (true, true) => format!("{program} -n {{ranks}} --host {{slots}}"),
        (true, false) => format!("{program} -n {{ranks}} -ppn {{per_node}} -hosts {{hosts}}"),
    }
}

fn version_of(program: &str) -> Result<String> {
    let found = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let found = found.map_err(|error| cannot_start(program, &error))?;
    Ok(String::from_utf8_lossy(&found.stdout).into_owned())
}

/// What the ranks and their launcher have said.
#[derive(Default)]
struct Heard {
    /// Where each rank is, once all have started.
    homes: Vec<Home>,
    report: Option<Report>,
    failures: Vec<String>,
    /// The last other lines.
    rest: VecDeque<String>,
    /// Whether another launcher or library is the remedy of a failure.
    is_usage: bool,
    /// When the ranks were done, or the first had failed.
    ended: Option<Instant>,
    /// Why the launcher is killed, if it is.
    given_up: Option<String>,
}

impl Heard {
    /// Listens until the launcher ends. One that does not start all ranks in time is given up, and so is one that does not end
    /// after its ranks.
    fn from(lines: &Receiver<String>, start_max: Duration, end_max: Duration) -> Self {
        let mut heard = Self::default();
        loop {
            let line = match (heard.ended, heard.has_begun()) {
                (Some(ended), _) => lines.recv_timeout(end_max.saturating_sub(ended.elapsed())),
                // From here on each rank ends itself when nothing moves.
                (None, true) => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
                (None, false) => lines.recv_timeout(start_max),
            };
            match line {
                Ok(line) => heard.add(&line),
                Err(RecvTimeoutError::Timeout) => {
                    heard.given_up = Some(match heard.ended {
                        None => format!("has not started all ranks within {} s", start_max.as_secs_f64()),
                        Some(_) => {
                            format!("has not ended within {} s after its ranks", end_max.as_secs_f64())
                        }
                    });
                    return heard;
                }
                Err(RecvTimeoutError::Disconnected) => return heard,
            }
        }
    }

    fn add(&mut self, line: &str) {
        match serde_json::from_str(line) {
            Ok(FromRanks::Begun(homes)) => self.homes = homes,
            Ok(FromRanks::Done(report)) => {
                self.report = Some(report);
                self.ended.get_or_insert_with(Instant::now);
            }
            Ok(FromRanks::Failed { rank, host, how, is_usage }) => {
                self.add_failure(rank, &host, &how);
                self.is_usage |= is_usage;
                self.ended.get_or_insert_with(Instant::now);
            }
            Err(_) => self.add_rest(line.trim()),
        }
    }

    fn has_begun(&self) -> bool {
        !self.homes.is_empty()
    }

    fn add_failure(&mut self, rank: Option<u32>, host: &str, how: &str) {
        let rank = rank.map_or("a rank".to_owned(), |rank| format!("process {rank}"));
        let failure = format!("{rank} on {host} over MPI: {how}");
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    fn add_rest(&mut self, line: &str) {
        if !line.chars().all(|letter| "-=".contains(letter)) {
            self.rest.push_back(line.to_owned());
        }
        if self.rest.len() > LINES_MAX {
            self.rest.pop_front();
        }
    }

    fn finish(self, child: &mut Child) -> Result<Ran> {
        if self.given_up.is_some() {
            let _ = child.kill();
        }
        let status = child.wait().map_err(Error::pipe("wait for the MPI launcher"))?;
        let mut problems = self.failures;
        if let Some(how) = self.given_up {
            problems.push(format!("the MPI launcher {how}"));
        } else if problems.is_empty() && (!status.success() || self.report.is_none()) {
            let said = self.rest.iter().map(String::as_str).collect::<Vec<_>>().join(" / ");
            let pair = pair_of(&said, &self.homes);
            problems.push(format!("the MPI launcher has ended the ranks ({status}){pair}: {said}"));
        }
        let mut outcome = RunOutcome::default();
        let mut library = String::new();
        if let Some(report) = self.report.filter(|_| problems.is_empty()) {
            outcome.clock_uncertainty_s = report.clock_uncertainty_s;
            outcome.phases = phases(&report.hosts, report.logs);
            library = report.library;
        }
        outcome.problems = problems;
        Ok(Ran { outcome, library, is_usage: self.is_usage })
    }
}

/// The pair of the rank that died, which launchers name by its rank or by the number of its process.
fn pair_of(said: &str, homes: &[Home]) -> String {
    let said = said.to_lowercase();
    let numbers = |word: &'static str| {
        let said = &said;
        said.match_indices(word).filter_map(move |(at, word)| {
            let rest = said[at + word.len()..].trim_start_matches([' ', '=', ':', '#', '[']);
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse::<u32>().ok()
        })
    };
    let by_rank = numbers("rank").map(|rank| rank as usize).find(|rank| *rank < homes.len());
    let by_pid = || numbers("pid").find_map(|pid| homes.iter().position(|home| home.pid == pid));
    let Some(rank) = by_rank.or_else(by_pid) else { return String::new() };
    let half = homes.len() / 2;
    let first = rank % half.max(1);
    let name = |rank: usize| format!("process {rank} on {}", homes[rank].host);
    format!(", of the pair {} and {}", name(first), name(first + half))
}

/// The logs of all ranks by phase.
fn phases(hosts: &[String], logs: Vec<Vec<PhaseLog>>) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut nodes: Vec<&String> = Vec::new();
    for (rank, (host, of_rank)) in hosts.iter().zip(logs).enumerate() {
        let node = nodes.iter().position(|known| *known == host).unwrap_or_else(|| {
            nodes.push(host);
            nodes.len() - 1
        });
        for PhaseLog { phase, released, log } in of_rank {
            let log = (node as u32, rank as u32, log);
            match phases.iter_mut().find(|known| known.name == phase) {
                // Rank 0 comes first: the release is by its clock, which all times are corrected to.
                Some(known) => known.logs.push(log),
                None => phases.push(Phase { name: phase, released, logs: vec![log] }),
            }
        }
    }
    phases
}

/// Starts the ranks once with one small message, and returns the version of their library.
pub(crate) fn probe(launch: &Launch, plan: &Plan, ranks: Ranks<'_>) -> Result<String> {
    let Ran { outcome, library, is_usage } = launch.run(plan, ranks)?;
    if outcome.problems.is_empty() {
        return Ok(library);
    }
    let what = format!("MPI ranks cannot be started: {}", outcome.problems.join("; "));
    Err(match is_usage {
        true => Error::invalid(what, "a launcher and a library of one MPI, or --transport tcp"),
        false => Error::Incomplete { problems: vec![what] },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(template: &str, variables: &str) -> String {
        let launch = Launch { template: template.to_owned(), library: None };
        let hosts = ["a", "b"].map(str::to_owned);
        launch.words(Ranks { hosts: &hosts, per_node: 2, variables }).join(" ")
    }

    #[test]
    fn each_launcher_is_told_hosts_and_ranks_in_its_own_way() {
        let open = mpirun("mpirun", "mpirun (Open MPI) 4.1.4", true);
        assert_eq!(words(&open, ""), "mpirun -n 4 --host a:2,b:2");
        let hydra = mpirun("mpirun.mpich", "HYDRA build details:", true);
        assert_eq!(words(&hydra, "A=1 B=2"), "mpirun.mpich -n 4 -ppn 2 -hosts a,b env A=1 B=2");
        assert_eq!(words("run {nodes} {hosts}", ""), "run 2 a,b");
    }

    #[test]
    fn a_launcher_with_options_keeps_them_and_gets_its_places() {
        let of = |given: &str| {
            let version = |program: &str| match program {
                "mpirun" => Ok("mpirun (Open MPI) 4.1.4".to_owned()),
                other => panic!("the version of {other}"),
            };
            template(given, true, version)
        };
        assert_eq!(
            words(&of("mpirun --oversubscribe").unwrap(), ""),
            "mpirun --oversubscribe -n 4 --host a:2,b:2"
        );
        assert!(
            of("/usr/bin/srun --mpi=pmix").unwrap().starts_with("/usr/bin/srun --mpi=pmix --nodes={nodes}")
        );
        assert_eq!(words(&of("run {ranks} {slots}").unwrap(), ""), "run 4 a:2,b:2");
        assert!(of(" ").unwrap_err().to_string().contains("an empty --mpi-launcher"));
    }

    #[test]
    fn a_launcher_that_does_not_end_after_its_ranks_is_given_up() {
        let long = Duration::from_secs(600);
        let failed = FromRanks::Failed {
            rank: Some(1),
            host: "a".to_owned(),
            how: "lost".to_owned(),
            is_usage: false,
        };
        let report =
            Report { library: String::new(), hosts: Vec::new(), clock_uncertainty_s: None, logs: Vec::new() };
        for last in [failed, FromRanks::Done(report)] {
            let (sender, lines) = channel();
            for message in [FromRanks::Begun(vec![Home::default()]), last] {
                sender.send(crate::harness::output::json(&message).unwrap()).unwrap();
            }
            let heard = Heard::from(&lines, long, Duration::from_millis(5));
            assert_eq!(heard.given_up.unwrap(), "has not ended within 0.005 s after its ranks");
        }
        let (_sender, lines) = channel();
        let heard = Heard::from(&lines, Duration::from_millis(5), long);
        assert_eq!(heard.given_up.unwrap(), "has not started all ranks within 0.005 s");
    }

    #[test]
    fn the_pair_of_a_dead_rank_is_found_in_what_launchers_say() {
        let of = |said: &str, ranks: u32| {
            let home = |rank| Home { host: format!("n{}", rank / 2), pid: 100 + rank };
            pair_of(said, &(0..ranks).map(home).collect::<Vec<_>>())
        };
        let open = "mpirun noticed that process rank 1 with PID 0 on node a exited on signal 9 (Killed).";
        assert_eq!(of(open, 4), ", of the pair process 1 on n0 and process 3 on n1");
        let hydra = "= BAD TERMINATION OF ONE / =   PID 102 RUNNING AT n1 / =   EXIT CODE: 9";
        assert_eq!(of(hydra, 4), ", of the pair process 0 on n0 and process 2 on n1");
        assert_eq!(
            of("= RANK 6 PID 9 RUNNING AT n2", 8),
            ", of the pair process 2 on n1 and process 6 on n3"
        );
        assert_eq!(of("no slots", 4), "");
    }

    #[test]
    fn variables_need_names() {
        assert_eq!(variables(" A=1  B= ").unwrap(), "A=1 B=");
        for wrong in ["", "A", "=1", "A=1 b"] {
            assert!(variables(wrong).is_err(), "{wrong:?}");
        }
    }
}
