//! A progress bar, for people who wait: on standard error, only if that is a terminal, only after two seconds.

use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{Bytes, Rate, count};

/// How long a command works before it shows how far it is.
const PATIENCE: Duration = Duration::from_secs(2);

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
    fn nothing_is_shown_where_there_is_no_terminal() {
        let mut progress = after(Some(1));
        progress.begin -= PATIENCE;
        progress.field(1);
        assert!(progress.bar.is_none());
    }
}
