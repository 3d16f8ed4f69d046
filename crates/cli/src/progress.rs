//! Progress on standard error, only if that is a terminal, and only after two seconds.

use std::{
    io::{IsTerminal, stderr},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{Bytes, Rate, count};

/// The time that a command works before it shows its progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// The interval at which a spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// Progress in fields and bytes.
#[derive(Debug)]
pub(crate) struct Progress {
    /// All bytes, if known.
    total: Option<u64>,
    done: u64,
    fields: u64,
    /// What the fields are called.
    noun: &'static str,
    begin: Instant,
    is_terminal: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Progress at the beginning of `total` bytes, if their number is known.
    pub(crate) fn new(total: Option<u64>) -> Self {
        let is_terminal = stderr().is_terminal();
        Self { total, done: 0, fields: 0, noun: "field", begin: Instant::now(), is_terminal, bar: None }
    }

    /// The same for things that have another name than fields.
    pub(crate) fn of(self, noun: &'static str) -> Self {
        Self { noun, ..self }
    }

    /// Adds a field of this many bytes.
    pub(crate) fn add_field(&mut self, bytes: u64) {
        self.set(self.fields + 1, self.done + bytes, self.total);
    }

    /// Sets the fields and bytes that are done, and all bytes if known.
    pub(crate) fn set(&mut self, fields: u64, bytes: u64, total: Option<u64>) {
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

    /// Removes the bar before other output.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// The text beside the bar. The rate counts from the beginning of the command, not from the first display of the bar.
    fn message(&self, elapsed: Duration) -> String {
        let (done, rate) = (Bytes(self.done), Rate(self.done, elapsed));
        let fields = count(self.fields, self.noun);
        let Some(total) = self.total.filter(|total| *total >= self.done) else {
            return format!("{fields}, {done}, {rate}");
        };
        let left = elapsed.as_secs_f64() * (total - self.done) as f64 / self.done.max(1) as f64;
        format!("{fields}, {done} of {}, {rate}, {left:.0} s left", Bytes(total))
    }
}

/// Progress in datasets. A thread shows it on time, even during a long dataset.
#[derive(Debug)]
pub(crate) struct Steps {
    bar: ProgressBar,
    /// The thread that shows the bar, and the channel that ends it.
    display: Option<(Sender<()>, JoinHandle<bool>)>,
}

impl Steps {
    /// Progress at the beginning.
    pub(crate) fn new() -> Self {
        Self::with(stderr().is_terminal(), PATIENCE)
    }

    fn with(is_terminal: bool, patience: Duration) -> Self {
        let bar =
            styled(ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()), "{spinner} {msg}");
        let display = is_terminal.then(|| {
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
        Self { bar, display }
    }

    /// Sets the number of datasets that are done.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_message(format!("{done} of {}", count(total, "dataset")));
    }

    /// Removes the bar. Returns whether it was shown.
    pub(crate) fn finish(mut self) -> bool {
        let Some((done, thread)) = self.display.take() else { return false };
        drop(done);
        let was_shown = thread.join().unwrap_or(false);
        self.bar.finish_and_clear();
        was_shown
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => styled(ProgressBar::new(total), "{bar:30} {msg}"),
        None => styled(ProgressBar::new_spinner(), "{spinner} {msg}"),
    }
}

/// A bar with this template. With an invalid template the bar keeps its default style.
fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
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
        progress.add_field(3 << 20);
        progress.add_field(1 << 20);
        progress
    }

    #[test]
    fn progress_has_fields_bytes_rate_and_remaining_time() {
        let elapsed = Duration::from_secs(2);
        let message = after(Some(16 << 20)).message(elapsed);
        assert_eq!(message, "2 fields, 4.0 MiB of 16.0 MiB, 2.0 MiB/s, 6 s left");
        assert_eq!(after(None).message(elapsed), "2 fields, 4.0 MiB, 2.0 MiB/s");
        // The file has grown.
        assert_eq!(after(Some(1)).message(elapsed), "2 fields, 4.0 MiB, 2.0 MiB/s");
    }

    #[test]
    fn datasets_are_counted_on_a_terminal_after_a_while() {
        let mut steps = Steps::with(true, Duration::ZERO);
        steps.set(3, 40);
        assert_eq!(steps.bar.message(), "3 of 40 datasets");
        let (done, thread) = steps.display.take().unwrap();
        assert!(thread.join().unwrap(), "it is shown before the work is done");
        drop(done);
        assert!(!steps.finish());
        for (is_terminal, patience) in [(false, Duration::ZERO), (true, Duration::from_secs(3600))] {
            let steps = Steps::with(is_terminal, patience);
            steps.set(3, 40);
            assert!(!steps.finish(), "{is_terminal} {patience:?}");
        }
    }

    #[test]
    fn progress_is_hidden_without_a_terminal() {
        let mut progress = after(Some(1));
        progress.begin -= PATIENCE;
        progress.add_field(1);
        assert!(progress.bar.is_none());
    }
}
