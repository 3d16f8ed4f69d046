//! The watch of a rank, which ends the process when it makes no progress: nobody else would see that.
//!
//! What must stay true: a rank that waits for other pairs is not watched, because they may take as long as they need. Each pair
//! watches itself.

use std::{
    io::{Write, stdout},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Signal, getpid, kill_process};

use super::report::FromRanks;
use crate::{Error, Result, harness::output::json};

/// How often progress is checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);

/// The name of this host.
pub(super) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// One write, because launchers mix what ranks write.
pub(super) fn say(message: &FromRanks) -> Result<()> {
    let line = json(message)? + "\n";
    let mut out = stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Ends this process at once. Exit handlers do not run: those of MPI may wait for the rank that is stuck.
pub(super) fn end_process() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    std::process::abort();
}

/// What a rank waits for, and how long it may.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub(super) most: Duration,
    /// The option that sets it.
    pub(super) option: Option<&'static str>,
    pub(super) waits_for: String,
}

impl Limit {
    fn exceeded(&self) -> String {
        let option = self.option.map_or(String::new(), |option| format!(" ({option})"));
        let (seconds, what) = (self.most.as_secs_f64(), &self.waits_for);
        format!("nothing moved for {seconds} s{option} while it waited for {what}")
    }
}

/// Ends the process when it makes no progress.
#[derive(Clone)]
pub(super) struct Watch {
    /// How often the rank has got on.
    progress: Arc<AtomicU64>,
    state: Arc<Mutex<Watched>>,
}

struct Watched {
    rank: Option<u32>,
    host: String,
    /// None while the rank is not watched.
    limit: Option<Limit>,
    has_ended: bool,
}

/// The last progress that was seen.
struct Seen {
    progress: u64,
    since: Instant,
}

impl Seen {
    /// Whether there was no progress for longer than the limit.
    fn is_stuck(&mut self, progress: u64, limit: Option<&Limit>, now: Instant) -> bool {
        if progress != self.progress || limit.is_none() {
            *self = Self { progress, since: now };
        }
        limit.is_some_and(|limit| now - self.since > limit.most)
    }
}

impl Watch {
    pub(super) fn start(limit: Limit) -> Self {
        let watched = Watched { rank: None, host: host(), limit: Some(limit), has_ended: false };
        let own = Self { progress: Arc::default(), state: Arc::new(Mutex::new(watched)) };
        let watch = own.clone();
        thread::spawn(move || {
            let mut seen = Seen { progress: 0, since: Instant::now() };
            while !lock(&watch.state).has_ended {
                thread::sleep(WATCH_INTERVAL);
                if let Some(how) = watch.stuck(&mut seen) {
                    watch.say_failed(&how, false);
                    end_process();
                }
            }
        });
        own
    }

    /// How the rank is stuck, if it is.
    fn stuck(&self, seen: &mut Seen) -> Option<String> {
        let watched = lock(&self.state);
        let limit = watched.limit.as_ref().filter(|_| !watched.has_ended);
        let is_stuck = seen.is_stuck(self.progress.load(Ordering::Relaxed), limit, Instant::now());
        limit.filter(|_| is_stuck).map(Limit::exceeded)
    }

    pub(super) fn step(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    /// Watches from now on, by this limit.
    pub(super) fn limit(&self, limit: Limit) {
        self.step();
        lock(&self.state).limit = Some(limit);
    }

    /// Does not watch until the next limit: the rank waits for other pairs.
    pub(super) fn pause(&self) {
        lock(&self.state).limit = None;
    }

    pub(super) fn end(&self) {
        lock(&self.state).has_ended = true;
    }

    pub(super) fn set_rank(&self, rank: u32) {
        self.step();
        lock(&self.state).rank = Some(rank);
    }

    /// Says how this rank has failed, and whether the user can mend it by other options.
    pub(super) fn say_failed(&self, how: &str, is_usage: bool) {
        self.end();
        let (rank, host) = {
            let watched = lock(&self.state);
            (watched.rank, watched.host.clone())
        };
        let _ = say(&FromRanks::Failed { rank, host, how: how.to_owned(), is_usage });
    }
}

fn lock(state: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_stuck_only_while_it_is_watched_and_makes_no_progress() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let limit = Limit { most: Duration::from_secs(5), option: None, waits_for: "process 1".to_owned() };
        let mut seen = Seen { progress: 0, since: began };
        assert!(!seen.is_stuck(0, Some(&limit), at(5)));
        assert!(!seen.is_stuck(1, Some(&limit), at(9)), "it has got on");
        assert!(!seen.is_stuck(1, None, at(1000)), "another pair takes longer");
        assert!(!seen.is_stuck(1, Some(&limit), at(1005)), "the time of the pause does not count");
        assert!(seen.is_stuck(1, Some(&limit), at(1006)));
    }

    #[test]
    fn a_limit_names_its_option() {
        let limit = |option| Limit { most: Duration::from_secs(5), option, waits_for: "x".to_owned() };
        assert_eq!(limit(None).exceeded(), "nothing moved for 5 s while it waited for x");
        assert_eq!(
            limit(Some("--timeout")).exceeded(),
            "nothing moved for 5 s (--timeout) while it waited for x"
        );
    }
}
