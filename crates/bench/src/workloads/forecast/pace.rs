//! The pace of writers and readers: windows for steps, and the polling of readers.

use std::{
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, harness::parse::seconds};

/// The options of the pace, with the names of fdb-hammer.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PaceArgs {
    /// The shortest time of a step of a writer, in seconds: it waits for the rest
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) step_window: Option<f64>,
    /// The largest delay of the start of a writer, as a percentage of the window
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    pub(crate) random_delay: Option<u8>,
    /// Seconds between two polls of a reader
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) poll_period: Option<f64>,
    /// Polls without news after which a reader gives up
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) poll_max_attempts: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pace {
    pub(crate) step_window: f64,
    pub(crate) random_delay: u8,
    pub(crate) poll_period: f64,
    pub(crate) poll_max_attempts: u32,
}

impl Pace {
    /// As fast as possible.
    pub(crate) const NONE: Self =
        Self { step_window: 0.0, random_delay: 0, poll_period: 0.01, poll_max_attempts: 6000 };
    /// The pace of fdb-hammer.
    pub(crate) const ITT: Self =
        Self { step_window: 10.0, random_delay: 100, poll_period: 1.0, poll_max_attempts: 200 };

    /// This pace with the given options.
    pub(crate) fn with(self, args: &PaceArgs) -> Self {
        Self {
            step_window: args.step_window.unwrap_or(self.step_window),
            random_delay: args.random_delay.unwrap_or(self.random_delay),
            poll_period: args.poll_period.unwrap_or(self.poll_period),
            poll_max_attempts: args.poll_max_attempts.unwrap_or(self.poll_max_attempts),
        }
    }

    pub(crate) fn delay(&self, writer: u32) -> Duration {
        // Multiples of the golden ratio are spread evenly for any number of writers.
        let part = (f64::from(writer) * 0.618_033_988_749_895).fract();
        Duration::from_secs_f64(self.step_window * f64::from(self.random_delay) / 100.0 * part)
    }

    /// Waits until the window of a step ends. Returns false if it had ended before.
    pub(crate) fn end_step(&self, began: Instant) -> bool {
        let rest = Duration::from_secs_f64(self.step_window).checked_sub(began.elapsed());
        rest.inspect(|rest| thread::sleep(*rest)).is_some() || self.step_window == 0.0
    }

    /// Waits until the next poll.
    pub(crate) fn pause(&self) {
        thread::sleep(Duration::from_secs_f64(self.poll_period));
    }
}

impl PaceArgs {
    /// Refuses options that have no effect.
    pub(crate) fn check_unused(&self) -> Result<()> {
        let given = [
            ("--step-window", self.step_window.is_some()),
            ("--random-delay", self.random_delay.is_some()),
            ("--poll-period", self.poll_period.is_some()),
            ("--poll-max-attempts", self.poll_max_attempts.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Error::invalid(format!("{name} without --itt"), "--itt as well")),
            None => Ok(()),
        }
    }
}
