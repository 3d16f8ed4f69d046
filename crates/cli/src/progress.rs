//! A progress bar, for people who wait: on standard error, only if that is a terminal, only after two seconds.

use std::{
    io::{IsTerminal, stderr},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{Bytes, Rate, count};

/// How long a command works before it shows how far it is.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often a bar turns that nobody moves.
const TICK: Duration = Duration::from_millis(100);

/// How far a command is.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Bytes in all, if their number is known.
    total: Option<u64>,
    /// Bytes so far.
    done: u64,
    fields: u64,
    begin: Instant,
    is_terminal: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// At the beginning of `total` bytes, if their number is known.
    pub(crate) fn new(total: Option<u64>) -> Self {
        let is_terminal = stderr().is_terminal();
        Self { total, done: 0, fields: 0, begin: Instant::now(), is_terminal, bar: None }
    }

    /// One more field of this many bytes.
    pub(crate) fn field(&mut self, bytes: u64) {
        self.reach(self.fields + 1, self.done + bytes, self.total);
    }

    /// This many fields and bytes so far, of `total` bytes if their number is known.
    pub(crate) fn reach(&mut self, fields: u64, bytes: u64, total: Option<u64>) {
        self.done = self.done.max(bytes);
        self.fields = self.fields.max(fields);
        self.total = total;
        let elapsed = self.begin.elapsed();
        if !self.is_terminal || elapsed < PATIENCE {
            return;
        }
        let message = self.message(elapsed);
        let bar = self.bar.get_or_insert_with(|| bar(self.total));
        bar.set_message(message);
        bar.set_position(self.done);
    }

    /// Takes the bar away, so that what is printed next stands alone.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// What stands beside the bar. The rate is that of all the time since the beginning, not of the time since the bar
    /// appeared.
    fn message(&self, elapsed: Duration) -> String {
        let (done, rate) = (Bytes(self.done), Rate(self.done, elapsed));
        let fields = count(self.fields, "field");
        let Some(total) = self.total.filter(|total| *total >= self.done) else {
            return format!("{fields}, {done}, {rate}");
        };
        let left = elapsed.as_secs_f64() * (total - self.done) as f64 / self.done.max(1) as f64;
        format!("{fields}, {done} of {}, {rate}, {left:.0} s left", Bytes(total))
    }
}

/// How far a command is that goes from dataset to dataset. It shows itself when the time has come, also in the midst of a long
/// dataset.
#[derive(Debug)]
pub(crate) struct Steps {
    bar: ProgressBar,
    /// Shows the bar in time, unless it is told that the work is done.
    shower: Option<(Sender<()>, JoinHandle<bool>)>,
}

impl Steps {
    /// At the beginning, with nothing to be seen yet.
    pub(crate) fn new() -> Self {
        Self::with(stderr().is_terminal(), PATIENCE)
    }

    fn with(is_terminal: bool, patience: Duration) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        let shower = is_terminal.then(|| {
            let (done, is_done) = channel();
            let bar = bar.clone();
            let show = move || {
                let is_late = is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
                if is_late {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
                is_late
            };
            (done, thread::spawn(show))
        });
        Self { bar, shower }
    }

    /// So many datasets are done.
    pub(crate) fn reach(&self, done: u64, total: u64) {
        self.bar.set_message(format!("{done} of {}", count(total, "dataset")));
    }

    /// Takes the bar away; whether it was there.
    pub(crate) fn finish(mut self) -> bool {
        let Some((done, shower)) = self.shower.take() else { return false };
        drop(done);
        let was_shown = shower.join().unwrap_or(false);
        self.bar.finish_and_clear();
        was_shown
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{bar:30} {msg}"),
        None => (ProgressBar::new_spinner(), "{spinner} {msg}"),
    };
    // A template that cannot be read leaves the library's own style.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(total: Option<u64>) -> Progress {
        let mut progress = Progress::new(total);
        progress.is_terminal = false;
        progress.field(3 << 20);
        progress.field(1 << 20);
        progress
    }

    #[test]
    fn it_says_how_far_it_is_and_how_long_it_takes() {
        let elapsed = Duration::from_secs(2);
        let message = after(Some(16 << 20)).message(elapsed);
        assert_eq!(message, "2 fields, 4.0 MiB of 16.0 MiB, 2.0 MiB/s, 6 s left");
        assert_eq!(after(None).message(elapsed), "2 fields, 4.0 MiB, 2.0 MiB/s");
        // A file that grew meanwhile.
        assert_eq!(after(Some(1)).message(elapsed), "2 fields, 4.0 MiB, 2.0 MiB/s");
    }

    #[test]
    fn datasets_are_counted_on_a_terminal_once_it_takes_long() {
        let mut steps = Steps::with(true, Duration::ZERO);
        steps.reach(3, 40);
        assert_eq!(steps.bar.message(), "3 of 40 datasets");
        let (done, shower) = steps.shower.take().unwrap();
        assert!(shower.join().unwrap(), "it shows itself before the work is done");
        drop(done);
        assert!(!steps.finish());
        for (is_terminal, patience) in [(false, Duration::ZERO), (true, Duration::from_secs(3600))] {
            let steps = Steps::with(is_terminal, patience);
            steps.reach(3, 40);
            assert!(!steps.finish(), "{is_terminal} {patience:?}");
        }
    }

    #[test]
    fn nothing_is_shown_where_there_is_no_terminal() {
        let mut progress = after(Some(1));
        progress.begin -= PATIENCE;
        progress.field(1);
        assert!(progress.bar.is_none());
    }
}
