//! The limit: the same bytes written and read with plain system calls, one file per process, or copied in memory.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, Write},
    sync::atomic::Ordering,
};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::{
    Error, PlainArgs, PlainOp, Result,
    harness::{launcher::cpus, measure::Watch, protocol},
    workloads::ensemble,
};

/// How large the areas are that are copied, at least: more than caches hold.
const AREA: usize = 64 << 20;

/// Runs one plain worker.
pub(crate) fn run(args: &PlainArgs, out: &mut impl Write) -> Result<()> {
    // Whoever started it may be killed: nobody would read or clean up what it writes.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Error::pipe("ask to end with the driver")(error.into()))?;
    args.cpu.into_iter().for_each(cpus::stay_on);
    let mut buffer = ensemble::block(args.size);
    let area = if args.op == PlainOp::Copy { args.size.max(AREA) } else { 0 };
    let (from, mut to) = (vec![1; area], vec![2; area]);
    protocol::wait_for_go(out)?;
    let mut watch = Watch::start();
    match args.op {
        PlainOp::Write => write(args, &buffer, &mut watch)?,
        PlainOp::Read => read(args, &mut buffer, &mut watch)?,
        PlainOp::Copy => copy(args, &from, &mut to, &mut watch),
    }
    protocol::report(out, &watch.stop(|| ()))
}

fn write(args: &PlainArgs, buffer: &[u8], watch: &mut Watch) -> Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(&args.path);
    let mut file = file.map_err(Error::io("create", &args.path))?;
    for number in 1..=args.count {
        file.write_all(buffer).map_err(Error::io("write", &args.path))?;
        watch.field(buffer.len() as u64);
        if args.sync_every > 0 && number % args.sync_every == 0 {
            file.sync_data().map_err(Error::io("sync", &args.path))?;
        }
    }
    Ok(())
}

fn read(args: &PlainArgs, buffer: &mut [u8], watch: &mut Watch) -> Result<()> {
    let mut file = File::open(&args.path).map_err(Error::io("open", &args.path))?;
    let stop = args.looping.then(protocol::stop_asked);
    loop {
        for _ in 0..args.count {
            file.read_exact(buffer).map_err(Error::io("read", &args.path))?;
            watch.field(buffer.len() as u64);
            if stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(());
            }
        }
        if stop.is_none() {
            return Ok(());
        }
        file.rewind().map_err(Error::io("read", &args.path))?;
    }
}

fn copy(args: &PlainArgs, from: &[u8], to: &mut [u8], watch: &mut Watch) {
    let blocks = (from.len() / args.size).max(1) as u64;
    for number in 0..args.count {
        let at = (number % blocks) as usize * args.size;
        to[at..at + args.size].copy_from_slice(&from[at..at + args.size]);
        std::hint::black_box(&to[at..at + args.size]);
        watch.field(args.size as u64);
    }
}
