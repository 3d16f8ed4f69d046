//! Measures what single points of a message cost against the whole message decoded by ecCodes, and compares the values.
//!
//! `cargo run --release -p isotach-grib --example jump` measures generated messages of several sizes and packings. With
//! `-- FILE...` it measures nothing, but checks every message of these files: all values, and some alone.
//!
//! A message is *cold* if its file has left the page cache. The temporary folder has to be on a disk for that.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::slice::from_ref;
use std::time::{Duration, Instant};

use isotach_grib::{Eccodes, FieldName, ForecastPlan, JumpError, JumpInfo, MessageMaker, MessageScanner};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let eccodes = Eccodes::load()?;
    let files: Vec<_> = std::env::args().skip(1).collect();
    if !files.is_empty() {
        return check_files(eccodes, &files);
    }
    println!("ecCodes {}; times are medians", eccodes.version());
    println!(
        "{:11} {:>8} {:>8} | {:>6} {:>8} {:>6} | {:>8} {:>8} {:>8} | {:>8} {:>6} | {:>8} {:>8} {:>5}",
        "packing",
        "message",
        "points",
        "index",
        "build",
        "MB/s",
        "ecCodes",
        "ours",
        "2 thr.",
        "point",
        "ratio",
        "cold",
        "cold 1",
        "ratio"
    );
    for size in [4 << 10, 64 << 10, 1 << 20, 13 << 20] {
        let plan = ForecastPlan { message_size: size, ..ForecastPlan::default() };
        let simple = MessageMaker::new(eccodes, plan)?.message(FieldName {
            member: 1,
            step: 6,
            level: 850,
            param: 130,
        })?;
        measure(eccodes, "simple", &simple)?;
        measure(eccodes, "ccsds", &eccodes.edit_message(&simple, [("packingType", "grid_ccsds")])?)?;
        let fine = [("setBitsPerValue", "24"), ("packingType", "grid_ccsds")];
        measure(eccodes, "ccsds 24", &eccodes.edit_message(&simple, fine)?)?;
    }
    Ok(())
}

fn measure(eccodes: &'static Eccodes, packing: &str, message: &[u8]) -> Outcome<()> {
    let info = JumpInfo::of(message)?;
    check(eccodes, message, &info)?;
    let index = info.to_bytes();
    let build = median(|| JumpInfo::of(message).map(|info| info.to_bytes()))?;
    let theirs = median(|| eccodes.values(message))?;
    let ours = median(|| info.decode(message, 1))?;
    let two = median(|| info.decode(message, 2))?;
    let mut number = 0;
    let mut next = || {
        number = (number * 69_069 + 1) % info.points();
        number..number + 1
    };
    // With the decoding of the index, which comes from a catalogue.
    let point = median(|| {
        let info = JumpInfo::from_bytes(&index)?;
        info.extract(&[next()], |range| {
            Ok::<_, JumpError>(&message[range.start as usize..range.end as usize])
        })
    })?;
    let (cold, cold_point) = cold(eccodes, message, &index)?;
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    println!(
        "{packing:11} {:>8} {:>8} | {:>6} {:>6.1}us {:>6.0} | {:>6.0}us {:>6.0}us {:>6.0}us | {:>6.2}us {:>6.0} | {:>6.0}us {:>6.0}us {:>5.1}",
        message.len(),
        info.points(),
        index.len(),
        us(build),
        message.len() as f64 / us(build),
        us(theirs),
        us(ours),
        us(two),
        us(point),
        us(theirs) / us(point),
        us(cold),
        us(cold_point),
        us(cold) / us(cold_point),
    );
    Ok(())
}

/// The whole message read from a cold file and decoded by ecCodes, and one point of it read and decoded alone.
fn cold(eccodes: &'static Eccodes, message: &[u8], index: &[u8]) -> Outcome<(Duration, Duration)> {
    let mut file = tempfile::tempfile()?;
    file.write_all(message)?;
    file.sync_all()?;
    let read = |range: std::ops::Range<u64>| -> Result<Vec<u8>, Box<dyn Error>> {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        file.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    };
    let mut times = (Vec::new(), Vec::new());
    for round in 0..15_u64 {
        evict(&file)?;
        let start = Instant::now();
        black_box(eccodes.values(&read(0..message.len() as u64)?)?);
        times.0.push(start.elapsed());
        evict(&file)?;
        let start = Instant::now();
        let info = JumpInfo::from_bytes(index)?;
        let point = round * 7919 * 104_729 % info.points();
        black_box(info.extract(from_ref(&(point..point + 1)), read)?);
        times.1.push(start.elapsed());
    }
    times.0.sort_unstable();
    times.1.sort_unstable();
    Ok((times.0[times.0.len() / 2], times.1[times.1.len() / 2]))
}

fn evict(file: &File) -> Outcome<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// The median of as many runs as take a fifth of a second.
fn median<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<Duration, E> {
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 5 || begin.elapsed() < Duration::from_millis(200) {
        let start = Instant::now();
        black_box(work()?);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn check_files(eccodes: &'static Eccodes, files: &[String]) -> Outcome<()> {
    let (mut equal, mut whole, mut bad) = (0, 0, 0);
    for path in files {
        for message in MessageScanner::new(File::open(path)?).skip_bad(true).flatten() {
            let place = format!("{path}: message {} at byte {}", message.number, message.offset);
            match JumpInfo::of(&message.bytes) {
                Ok(info) => {
                    if let Err(error) = check(eccodes, &message.bytes, &info) {
                        println!("{place}: {error}");
                        bad += 1;
                    }
                    equal += 1;
                }
                Err(error) => {
                    println!("{place}: {error}");
                    whole += 1;
                }
            }
        }
    }
    println!("{equal} messages with an index, of which {bad} differ from ecCodes; {whole} without");
    if bad > 0 { Err("values differ".into()) } else { Ok(()) }
}

/// Compares all values with those of ecCodes, bit for bit, and some alone.
fn check(eccodes: &'static Eccodes, message: &[u8], info: &JumpInfo) -> Outcome<()> {
    let expected = eccodes.values(message)?;
    let same = |ours: &[f64], theirs: &[f64]| {
        let equal =
            |(our, their): (&f64, &f64)| our.to_bits() == their.to_bits() || (our.is_nan() && their.is_nan());
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(equal)
    };
    let stored = JumpInfo::from_bytes(&info.to_bytes())?;
    if stored != *info || !same(&info.decode(message, 2)?, &expected) {
        return Err("the values differ from those of ecCodes".into());
    }
    for point in (0..info.points()).step_by(info.points() as usize / 50 + 1) {
        let end = info.points().min(point + 3);
        let read = |range: std::ops::Range<u64>| {
            Ok::<_, JumpError>(&message[range.start as usize..range.end as usize])
        };
        if !same(&info.extract(from_ref(&(point..end)), read)?, &expected[point as usize..end as usize]) {
            return Err(format!("points {point} to {end} differ from those of ecCodes").into());
        }
    }
    Ok(())
}
