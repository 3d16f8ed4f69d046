//! Starts the processes of these tests and talks to them through pipes.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    ops::Range,
    process::{ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::ROLE;

/// The longest time that a slow machine may take for something immediate.
const PATIENCE: Duration = Duration::from_secs(120);

/// A line that a process prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Its `n`th flush has returned.
    Flushed(u64),
    /// It has stopped after so many flushes, or fields read.
    Count(u64),
    /// The digest of its final listing.
    Digest(String),
    /// Success.
    Done,
}

impl Said {
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Flushed(count) => format!("@flushed {count}"),
            Self::Count(count) => format!("@count {count}"),
            Self::Digest(digest) => format!("@digest {digest}"),
            Self::Done => "@done".to_owned(),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        // The test harness may have begun the line.
        let (_, said) = line.split_once('@')?;
        let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
        match word {
            "flushed" => Some(Self::Flushed(rest.parse().ok()?)),
            "count" => Some(Self::Count(rest.parse().ok()?)),
            "digest" => Some(Self::Digest(rest.to_owned())),
            "done" => Some(Self::Done),
            _ => None,
        }
    }
}

/// A process that runs a role.
pub(crate) struct Child {
    role: String,
    process: std::process::Child,
    to: ChildStdin,
    from: Receiver<Said>,
    last: Option<u64>,
}

impl Child {
    pub(crate) fn start(role: &str) -> Self {
        Self::start_by(&mut Command::new(env::current_exe().unwrap()), role)
    }

    /// Starts a process for each number.
    pub(crate) fn start_all(numbers: Range<u64>, role: impl Fn(u64) -> String) -> Vec<Self> {
        numbers.map(|number| Self::start(&role(number))).collect()
    }

    /// Starts this program through another one that takes it as its arguments, or with another environment.
    pub(crate) fn start_by(command: &mut Command, role: &str) -> Self {
        let mut process = command
            .args(["--exact", "child_process", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, from) = channel();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        thread::spawn(move || {
            let said = lines.map_while(Result::ok).filter_map(|line| Said::parse(&line));
            said.for_each(|said| drop(send.send(said)));
        });
        let to = process.stdin.take().unwrap();
        Self { role: role.to_owned(), process, to, from, last: None }
    }

    pub(crate) fn send(&mut self, word: &str) {
        writeln!(self.to, "{word}").unwrap();
    }

    fn next(&mut self) -> Said {
        self.from.recv().unwrap_or_else(|_| panic!("{}: {:?}", self.role, self.process.wait()))
    }

    pub(crate) fn expect(mut self, said: &Said) {
        assert_eq!(self.next(), *said, "{}", self.role);
        assert!(self.process.wait().unwrap().success(), "{}", self.role);
    }

    /// Kills it at any moment, and returns the number of the last flush that it reported. On a busy machine it may have done its work just
    /// before.
    pub(crate) fn kill(mut self) -> Option<u64> {
        self.assert_lives();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        // Read the rest of the pipe.
        while let Ok(said) = self.from.recv() {
            match said {
                Said::Flushed(count) => self.last = Some(count),
                Said::Done => {}
                said => panic!("{}: {said:?}", self.role),
            }
        }
        self.last
    }

    pub(crate) fn assert_lives(&mut self) {
        let ended = self.process.try_wait().unwrap();
        assert!(ended.is_none(), "{} ended of itself: {ended:?}", self.role);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits until the flush of this number or a later one has returned.
    pub(crate) fn wait_flushed(&mut self, number: u64) {
        let begin = Instant::now();
        while self.last < Some(number) {
            match self.from.recv_timeout(PATIENCE.saturating_sub(begin.elapsed())) {
                Ok(Said::Flushed(count)) => self.last = Some(count),
                Ok(other) => panic!("{}: {other:?}", self.role),
                Err(RecvTimeoutError::Timeout) => panic!("{} is held up at {:?}", self.role, self.last),
                Err(RecvTimeoutError::Disconnected) => panic!("{}: {:?}", self.role, self.process.wait()),
            }
        }
    }

    /// The number of the last flush known to have returned.
    pub(crate) fn last_flushed(&mut self) -> Option<u64> {
        if self.last.is_none()
            && let Said::Flushed(count) = self.next()
        {
            self.last = Some(count);
        }
        while let Ok(Said::Flushed(count)) = self.from.try_recv() {
            self.last = Some(count);
        }
        self.last
    }

    /// Its count, once it has stopped.
    pub(crate) fn count(&mut self) -> u64 {
        loop {
            match self.next() {
                Said::Flushed(_) => {}
                Said::Count(count) => return count,
                other => panic!("{}: {other:?}", self.role),
            }
        }
    }

    /// Stops processes. Returns the sum of their counts.
    pub(crate) fn stop(children: &mut [Self]) -> u64 {
        children.iter_mut().for_each(|child| child.send("stop"));
        children.iter_mut().map(Self::count).sum()
    }

    /// The final listing of these processes, which all list the same, as does one that starts now.
    pub(crate) fn same_digest<'c>(children: impl Iterator<Item = &'c mut Self>, place: &str) -> String {
        let digests: Vec<String> = children.map(Self::digest).collect();
        let fresh = Self::start(&format!("digest {place}")).digest();
        assert!(digests.iter().all(|digest| *digest == fresh), "{fresh} in a fresh process, {digests:?}");
        fresh
    }

    /// Its final listing, after all processes have stopped.
    fn digest(&mut self) -> String {
        if !self.role.starts_with("digest") {
            self.send("list");
        }
        match self.next() {
            Said::Digest(digest) => {
                assert!(self.process.wait().unwrap().success(), "{}", self.role);
                digest
            }
            other => panic!("{}: {other:?}", self.role),
        }
    }
}
