//! Starting workers, letting them go together, and adding up what they say.

use std::{
    env,
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use crate::{COMMAND, Error, Result, client, measure::Figures, protocol::READY};

/// What several workers did between the first one's begin and the last one's end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Total {
    pub(crate) procs: usize,
    pub(crate) seconds: f64,
    pub(crate) user: f64,
    pub(crate) sys: f64,
    /// Of the process that took most.
    pub(crate) rss_kb: u64,
    pub(crate) fields: u64,
    pub(crate) bytes: u64,
    /// Of the process that waited longest.
    pub(crate) first_s: f64,
}

impl Total {
    pub(crate) fn of(all: &[Figures]) -> Self {
        let sum = |part: fn(&Figures) -> f64| all.iter().map(part).sum::<f64>();
        let most = |part: fn(&Figures) -> f64| all.iter().map(part).fold(f64::NEG_INFINITY, f64::max);
        let begin = all.iter().map(|figures| figures.t0).fold(f64::INFINITY, f64::min);
        Self {
            procs: all.len(),
            seconds: most(|figures| figures.t1) - begin,
            user: sum(|figures| figures.user),
            sys: sum(|figures| figures.sys),
            rss_kb: all.iter().map(|figures| figures.rss_kb).max().unwrap_or_default(),
            fields: all.iter().map(|figures| figures.fields).sum(),
            bytes: all.iter().map(|figures| figures.bytes).sum(),
            first_s: most(|figures| figures.first_s),
        }
    }
}

/// A worker's command line, after `bench`.
pub(crate) type Line = Vec<OsString>;

/// Where the clients of a measurement have their store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store<'a> {
    pub(crate) root: &'a Path,
    /// Whether flush waits for the device.
    pub(crate) sync: bool,
}

/// Runs workers together, one for each command line.
pub(crate) fn run(lines: &[Line], store: Option<Store<'_>>) -> Result<Total> {
    let mut workers = lines.iter().map(|line| Worker::start(line, store)).collect::<Result<Vec<_>>>()?;
    workers.iter_mut().try_for_each(Worker::wait_until_ready)?;
    workers.iter_mut().try_for_each(Worker::go)?;
    let figures = workers.into_iter().map(Worker::finish).collect::<Result<Vec<_>>>()?;
    Ok(Total::of(&figures))
}

/// A process, ended when it is dropped.
struct Worker {
    command: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(line: &Line, store: Option<Store<'_>>) -> Result<Self> {
        let program = env::current_exe().map_err(Error::pipe("find this program"))?;
        let mut command = Command::new(&program);
        command.arg(COMMAND).args(line).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(Store { root, sync }) = store {
            command.env(client::ROOT, root).env(client::SYNC, if sync { "1" } else { "0" });
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

    fn go(&mut self) -> Result<()> {
        let told = self.input.as_mut().map_or(Ok(()), |input| writeln!(input, "go"));
        told.map_err(Error::pipe(format!("write to `{}`", self.command)))
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
        let two = Figures { t0: 2.0, t1: 4.5, rss_kb: 30, first_s: 0.25, ..one };
        let total = Total::of(&[one, two]);
        assert_eq!((total.procs, total.seconds, total.user, total.sys), (2, 3.5, 2.0, 1.0));
        assert_eq!((total.rss_kb, total.fields, total.bytes, total.first_s), (30, 10, 100, 0.25));
    }
}
