//! What a worker and its driver say to each other: the worker prints READY, waits for a line, works, and prints its
//! figures as one line of JSON.
//!
//! All workers of a measurement are READY before any of them is told to go.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{Error, Result, harness::measure::Figures};

/// What a worker prints when it has made its preparations.
pub(crate) const READY: &str = "READY";

/// Says READY and waits to be told to go.
pub(crate) fn wait_for_go(out: &mut impl Write) -> Result<()> {
    writeln!(out, "{READY}").and_then(|()| out.flush()).map_err(Error::pipe("say READY"))?;
    match read_line()? {
        0 => Err(Error::invalid("standard input ended", "a line that says to go")),
        _ => Ok(()),
    }
}

/// Prints the figures.
pub(crate) fn report(out: &mut impl Write, figures: &Figures) -> Result<()> {
    let line =
        serde_json::to_string(figures).map_err(io::Error::from).map_err(Error::pipe("encode figures"))?;
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(Error::pipe("print figures"))
}

/// Becomes true when another line, or the end of input, comes.
pub(crate) fn stop_asked() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    // It ends with the process; a read that waits for ever holds nothing.
    std::thread::spawn(move || {
        let _ = read_line();
        told.store(true, Ordering::Relaxed);
    });
    stop
}

fn read_line() -> Result<usize> {
    io::stdin().read_line(&mut String::new()).map_err(Error::pipe("read standard input"))
}
