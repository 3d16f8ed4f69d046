//! Starting workers, letting them go together, and adding up what they say.

use std::{
    env,
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use crate::{
    COMMAND, Error, Result,
    harness::{measure::Figures, protocol::READY},
    peers::without_foreign,
    workloads::client,
};

/// What several workers did between the first one's begin and the last one's end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Total {
    pub(crate) procs: usize,
    pub(crate) seconds: f64,
    /// For how long all of them were at work.
    pub(crate) together_s: f64,
    pub(crate) user: f64,
    pub(crate) sys: f64,
    /// Of the process that took most.
    pub(crate) rss_kb: u64,
    pub(crate) fields: u64,
    pub(crate) bytes: u64,
    /// Of the process that waited longest.
    pub(crate) first_s: f64,
    /// Closing, after all that: of the process that took longest.
    pub(crate) close_s: f64,
    /// From the start of the first process to the end of the last, where `seconds` is what processes say of themselves.
    pub(crate) lifetime_s: Option<f64>,
}

impl Total {
    pub(crate) fn of(all: &[Figures]) -> Self {
        let sum = |part: fn(&Figures) -> f64| all.iter().map(part).sum::<f64>();
        let most = |part: fn(&Figures) -> f64| all.iter().map(part).fold(f64::NEG_INFINITY, f64::max);
        let least = |part: fn(&Figures) -> f64| all.iter().map(part).fold(f64::INFINITY, f64::min);
        let together_s = least(|figures| figures.t1) - most(|figures| figures.t0);
        Self {
            procs: all.len(),
            seconds: most(|figures| figures.t1) - least(|figures| figures.t0),
            together_s: together_s.max(0.0),
            user: sum(|figures| figures.user),
            sys: sum(|figures| figures.sys),
            rss_kb: all.iter().map(|figures| figures.rss_kb).max().unwrap_or_default(),
            fields: all.iter().map(|figures| figures.fields).sum(),
            bytes: all.iter().map(|figures| figures.bytes).sum(),
            first_s: most(|figures| figures.first_s),
            close_s: most(|figures| figures.close_s),
            lifetime_s: None,
        }
    }

    /// The part of the time in which all of them were at work.
    pub(crate) fn overlap(&self) -> f64 {
        if self.seconds > 0.0 { self.together_s / self.seconds } else { 1.0 }
    }
}

/// A worker's command line, after `bench`.
pub(crate) type Line = Vec<OsString>;

/// What the workers of a measurement work on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum On<'a> {
    /// No store.
    Nothing,
    Store(Store<'a>),
    Peer(&'a Peer),
}

/// Another field store: clients are this program, too, and find it through their environment.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// The copy of this program to start, beside which the peer's settings are.
    pub(crate) program: PathBuf,
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

/// Where the clients of a measurement have their store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store<'a> {
    pub(crate) root: &'a Path,
    /// Whether flush waits for the device.
    pub(crate) sync: bool,
}

/// Runs workers together, one for each command line.
pub(crate) fn run(lines: &[Line], on: On<'_>) -> Result<Total> {
    run_each(lines, on).map(|all| Total::of(&all))
}

/// As [`run`], with the figures of each.
pub(crate) fn run_each(lines: &[Line], on: On<'_>) -> Result<Vec<Figures>> {
    run_all(lines, &[], on).map(|(all, _)| all)
}

/// Runs workers together with others that go on until these have ended.
pub(crate) fn run_beside(lines: &[Line], going_on: &[Line], on: On<'_>) -> Result<(Total, Total)> {
    run_all(lines, going_on, on).map(|(all, others)| (Total::of(&all), Total::of(&others)))
}

type OfEach = (Vec<Figures>, Vec<Figures>);

fn run_all(lines: &[Line], going_on: &[Line], on: On<'_>) -> Result<OfEach> {
    let start = |lines: &[Line]| lines.iter().map(|line| Worker::start(line, on)).collect::<Result<Vec<_>>>();
    let (mut workers, mut others) = (start(lines)?, start(going_on)?);
    workers.iter_mut().chain(&mut others).try_for_each(Worker::wait_until_ready)?;
    workers.iter_mut().chain(&mut others).for_each(Worker::go);
    let done = workers.into_iter().map(Worker::finish).collect::<Result<Vec<_>>>()?;
    // One more line tells them to stop; all hear it before the first one is waited for.
    others.iter_mut().for_each(Worker::go);
    let others = others.into_iter().map(Worker::finish).collect::<Result<Vec<_>>>()?;
    Ok((done, others))
}

/// A process, ended when it is dropped.
struct Worker {
    command: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(line: &Line, on: On<'_>) -> Result<Self> {
        let program = match on {
            On::Peer(peer) => peer.program.clone(),
            _ => env::current_exe().map_err(Error::pipe("find this program"))?,
        };
        let mut command = Command::new(&program);
        command.arg(COMMAND).args(line).stdin(Stdio::piped()).stdout(Stdio::piped());
        match on {
            On::Nothing => {}
            On::Store(Store { root, sync }) => {
                command.env(client::ROOT, root).env(client::SYNC, if sync { "1" } else { "0" });
            }
            On::Peer(peer) => {
                without_foreign(&mut command).envs(peer.variables.iter().map(|(name, value)| (name, value)));
            }
        }
        let text = line.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut child = command.spawn().map_err(Error::io("start", &program))?;
        let missing = || Error::Worker { command: text.clone(), how: "has no pipes".to_owned() };
        let input = Some(child.stdin.take().ok_or_else(missing)?);
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        Ok(Self { command: text, child, input, output })
    }

    fn failed(&self, how: &str) -> Error {
        Error::Worker { command: self.command.clone(), how: how.to_owned() }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(Error::pipe(format!("read from `{}`", self.command)))?;
        Ok(line)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        match self.line()?.trim_end() {
            READY => Ok(()),
            "" => Err(self.failed("ended before it was ready")),
            other => Err(self.failed(&format!("said {other:?} instead of {READY}"))),
        }
    }

    /// Tells it to go, or to stop. One that has ended does not hear it; `finish` says how it ended.
    fn go(&mut self) {
        let _ = self.input.as_mut().map(|input| writeln!(input, "go"));
    }

    fn finish(mut self) -> Result<Figures> {
        let line = self.line()?;
        self.input = None;
        let status = self.child.wait().map_err(Error::pipe(format!("wait for `{}`", self.command)))?;
        if !status.success() {
            return Err(self.failed(&format!("ended with {status}")));
        }
        serde_json::from_str(&line).map_err(|_| self.failed(&format!("said {line:?} instead of its figures")))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already; either way nothing is left behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_worker_that_ended_before_it_was_told_to_stop_it_is_said_how_it_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo READY; exit 3"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut worker = Worker { command: "client retr1".to_owned(), child, input, output };
        worker.wait_until_ready().unwrap();
        worker.child.wait().unwrap();
        // The second time its pipe is known to be broken.
        worker.go();
        worker.go();
        let told = worker.finish().unwrap_err().to_string();
        assert_eq!(told, "worker `client retr1` ended with exit status: 3");
    }

    #[test]
    fn processes_add_up_and_time_is_from_the_first_begin_to_the_last_end() {
        let one = Figures {
            t0: 1.0,
            t1: 3.0,
            user: 1.0,
            sys: 0.5,
            rss_kb: 10,
            fields: 5,
            bytes: 50,
            ..Figures::default()
        };
        let two = Figures { t0: 2.0, t1: 4.5, rss_kb: 30, first_s: 0.25, close_s: 0.5, ..one };
        let total = Total::of(&[one, two]);
        assert_eq!((total.procs, total.seconds, total.user, total.sys), (2, 3.5, 2.0, 1.0));
        assert_eq!(total.together_s, 1.0, "from the last begin to the first end");
        assert_eq!((total.rss_kb, total.fields, total.bytes, total.first_s), (30, 10, 100, 0.25));
        assert_eq!((total.close_s, total.lifetime_s), (0.5, None), "after the time");
    }
}
