//! The processes of the crowd, as the one that starts them sees them.

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use crate::ROLE;

/// What a process says, a line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Its `n`th flush has returned.
    Flushed(u64),
    /// It has stopped after so many flushes, or fields read.
    Count(u64),
    /// What it lists in the end.
    Digest(String),
    /// All is well.
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

/// A process that plays a role.
pub(crate) struct Child {
    role: String,
    process: std::process::Child,
    to: ChildStdin,
    from: Receiver<Said>,
    last: Option<u64>,
}

impl Child {
    pub(crate) fn start(role: &str) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--nocapture", "--test-threads=1"])
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

    pub(crate) fn tell(&mut self, word: &str) {
        writeln!(self.to, "{word}").unwrap();
    }

    fn next(&mut self) -> Said {
        self.from.recv().unwrap_or_else(|_| panic!("{}: {:?}", self.role, self.process.wait()))
    }

    pub(crate) fn expect(mut self, said: &Said) {
        assert_eq!(self.next(), *said, "{}", self.role);
        assert!(self.process.wait().unwrap().success(), "{}", self.role);
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

    /// How much it did, once it has stopped.
    pub(crate) fn count(&mut self) -> u64 {
        loop {
            match self.next() {
                Said::Flushed(_) => {}
                Said::Count(count) => return count,
                other => panic!("{}: {other:?}", self.role),
            }
        }
    }

    /// What it lists, after everyone has stopped.
    pub(crate) fn digest(&mut self) -> String {
        if !self.role.starts_with("digest") {
            self.tell("list");
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
