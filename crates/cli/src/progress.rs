//! A progress bar, for people who wait: on standard error, only if that is a terminal, only after two seconds.

use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// How long a command works before it shows how far it is.
const PATIENCE: Duration = Duration::from_secs(2);

/// How far a command is, in bytes.
#[derive(Debug)]
pub(crate) struct Progress {
    total: Option<u64>,
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
        self.done += bytes;
        self.fields += 1;
        if !self.is_terminal {
            return;
        }
        if self.bar.is_none() && self.begin.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
            bar.set_message(format!("{} fields", self.fields));
        }
    }

    /// Takes the bar away, so that what is printed next stands alone.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "{bar:30} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {msg}, {eta} left",
        ),
        None => (ProgressBar::new_spinner(), "{spinner} {binary_bytes} {binary_bytes_per_sec} {msg}"),
    };
    // A template that cannot be read leaves the library's own style.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
