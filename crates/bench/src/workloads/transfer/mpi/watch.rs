//! The watch of a rank, which ends the process when it makes no progress: nobody else would see that.

use std::{
    io::{Write, stdout},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

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

/// Ends the process when it makes no progress.
pub(super) struct Watch {
    /// How often the rank has got on; `u64::MAX` when it has finished.
    progress: Arc<AtomicU64>,
    state: Arc<Mutex<Watched>>,
}

#[derive(Clone)]
struct Watched {
    rank: Option<u32>,
    host: String,
    waits_for: String,
}

impl Watched {
    fn failed(&self, how: &str) -> FromRanks {
        FromRanks::Failed { rank: self.rank, host: self.host.clone(), how: how.to_owned() }
    }
}

impl Watch {
    pub(super) fn start(timeout: Duration) -> Self {
        let watched = Watched { rank: None, host: host(), waits_for: "the start of MPI".to_owned() };
        let own = Self { progress: Arc::default(), state: Arc::new(Mutex::new(watched)) };
        let (progress, state) = (Arc::clone(&own.progress), Arc::clone(&own.state));
        thread::spawn(move || {
            let (mut last, mut since) = (0, Instant::now());
            loop {
                thread::sleep(WATCH_INTERVAL);
                match progress.load(Ordering::Relaxed) {
                    u64::MAX => return,
                    now if now != last => (last, since) = (now, Instant::now()),
                    _ if since.elapsed() > timeout => {
                        let watched = lock(&state);
                        let (seconds, what) = (timeout.as_secs_f64(), &watched.waits_for);
                        let how =
                            format!("nothing moved for {seconds} s (--timeout) while it waited for {what}");
                        let _ = say(&watched.failed(&how));
                        std::process::exit(1);
                    }
                    _ => {}
                }
            }
        });
        own
    }

    pub(super) fn step(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.progress.store(u64::MAX, Ordering::Relaxed);
    }

    pub(super) fn set_rank(&self, rank: u32) {
        self.step();
        lock(&self.state).rank = Some(rank);
    }

    pub(super) fn set_waits_for(&self, what: &str) {
        self.step();
        lock(&self.state).waits_for = what.to_owned();
    }

    pub(super) fn say_failed(&self, how: &str) {
        self.end();
        let failed = lock(&self.state).failed(how);
        let _ = say(&failed);
    }
}

fn lock(state: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
