//! The driver of a process that measures itself: what starts the measurement, stops it, and takes its result.
//!
//! [`Terminal`] is the protocol of `bench client` for drivers outside this program: the process prints READY, waits for a
//! line, works, and prints its result as one line of JSON.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    Error, Result,
    harness::{output::json, usage::Usage},
};

const READY: &str = "READY";

/// The driver, as a process sees it.
pub(crate) trait Driver {
    /// Reports that this process is ready, and waits until all processes are.
    fn wait_for_start(&mut self) -> Result<()>;
    /// A flag that becomes true when the process must stop.
    fn stop_signal(&mut self) -> Result<Arc<AtomicBool>>;
    fn report(&mut self, usage: &Usage) -> Result<()>;
}

/// A driver that uses standard input and output.
pub(crate) struct Terminal<'o, W>(pub(crate) &'o mut W);

impl<W: Write> Driver for Terminal<'_, W> {
    fn wait_for_start(&mut self) -> Result<()> {
        writeln!(self.0, "{READY}").and_then(|()| self.0.flush()).map_err(Error::pipe("print READY"))?;
        match read_line()? {
            0 => Err(Error::invalid("standard input ended", "a line that starts the measurement")),
            _ => Ok(()),
        }
    }

    fn stop_signal(&mut self) -> Result<Arc<AtomicBool>> {
        Ok(flag_after(|| drop(read_line())))
    }

    fn report(&mut self, usage: &Usage) -> Result<()> {
        let line = json(usage)?;
        writeln!(self.0, "{line}").and_then(|()| self.0.flush()).map_err(Error::pipe("print figures"))
    }
}

/// A flag that becomes true when `wait` returns. A thread that waits for input holds nothing, and ends with the process.
pub(super) fn flag_after(wait: impl FnOnce() + Send + 'static) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let signal = Arc::clone(&stop);
    std::thread::spawn(move || {
        wait();
        signal.store(true, Ordering::Relaxed);
    });
    stop
}

fn read_line() -> Result<usize> {
    io::stdin().read_line(&mut String::new()).map_err(Error::pipe("read standard input"))
}
