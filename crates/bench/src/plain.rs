//! The limit: the same bytes written and read with plain system calls, one file per process.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
};

use crate::{Error, PlainArgs, PlainOp, Result, measure::Watch, protocol, workload};

/// Runs one plain worker.
pub(crate) fn run(args: &PlainArgs, out: &mut impl Write) -> Result<()> {
    let mut buffer = workload::block(args.size);
    protocol::wait_for_go(out)?;
    let mut watch = Watch::start();
    match args.op {
        PlainOp::Write => write(args, &buffer, &mut watch)?,
        PlainOp::Read => read(args, &mut buffer, &mut watch)?,
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
    for _ in 0..args.count {
        file.read_exact(buffer).map_err(Error::io("read", &args.path))?;
        watch.field(buffer.len() as u64);
    }
    Ok(())
}
